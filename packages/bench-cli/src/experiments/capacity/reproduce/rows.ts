/** Published figures and ratios beside ours: what a row is, and its verdict. Pure. */
import { type Judgement, verdictOn } from '../../../history/reproduce/procedure.ts';
import { comparePairs, type Pair } from '../../../stats/summarize.ts';
import type { CasesRecord } from '../cases/evidence.ts';
import type { Summary } from '../figures.ts';
import type { MemoryRecord } from '../memory/evidence.ts';

/** The records of ours that a reproduction rests on, as far as there are any. */
export interface Sources {
  readonly memory?: MemoryRecord;
  readonly throughput?: CasesRecord;
  readonly caching?: CasesRecord;
}

type AnyRecord = Pick<CasesRecord, 'id' | 'programs'>;

export type Unit = 'lookups/s' | 'queries/s' | 'seconds' | 'bytes' | 'bytes an object' | 'ratio';

/** A figure of ours with its 95 % interval, where there is one. */
export interface OurFigure extends Summary {
  /** Of CoreDNS. */
  readonly version: string;
  readonly run: string;
  /** For a ratio, that of `bench reproduce`; for a figure of another machine, null. */
  readonly judgement: Judgement | null;
}

export interface ReproducedRow {
  readonly section: string;
  readonly name: string;
  readonly unit: Unit;
  readonly published: number;
  /** One for each version that was measured. */
  readonly ours: readonly OurFigure[];
  /** Measures it; null if none does. */
  readonly command: string | null;
}

/** A program of a record by its name: its version. */
export function versionOf({ programs }: AnyRecord, server: string): string {
  return programs.find(({ name }) => name === server)?.version ?? server;
}

export function ourFigure(record: AnyRecord, server: string, summary: Summary | null): OurFigure[] {
  if (summary === null) return [];
  const { median, low, high } = summary;
  return [{ version: versionOf(record, server), run: record.id, median, low, high, judgement: null }];
}

/** The ratio of the medians with the interval of the paired trials. */
export function ourRatio(
  record: AnyRecord,
  server: string,
  pairs: readonly Pair[],
  published: number,
): OurFigure[] {
  const delta = comparePairs(pairs);
  if (delta === null) return [];
  const [low, high] = [delta.low, delta.high].map((end) => (end === null ? null : end + 1));
  const judgement: Judgement =
    low == null || high == null
      ? { verdict: 'too few trials', contradiction: null }
      : verdictOn(published, low, high);
  return ourFigure(record, server, { median: delta.relative + 1, low: low ?? null, high: high ?? null }).map(
    (figure) => ({ ...figure, judgement }),
  );
}

/** Values of two cases from the same round. */
export function pairsOf(
  values: readonly { readonly round: number; readonly value: number }[],
  baseline: typeof values,
): Pair[] {
  const before = new Map(baseline.map(({ round, value }) => [round, value]));
  return values.flatMap(({ round, value }) => {
    const other = before.get(round);
    return other === undefined ? [] : [{ value, baseline: other }];
  });
}
