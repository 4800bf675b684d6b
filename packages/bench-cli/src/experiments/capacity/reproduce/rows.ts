/** Published figures and ratios beside ours: what a row is, and its verdict. Pure. */
import { type Judgement, verdictOn } from '../../../history/reproduce/procedure.ts';
import { comparePairs, type Pair } from '../../../stats/summarize.ts';
import type { CasesRecord } from '../cases/evidence.ts';
import type { MemoryRecord } from '../memory/evidence.ts';

/** A record of memory. */
export interface MemorySource {
  readonly record: MemoryRecord;
}

/** The records of ours that a reproduction rests on; undefined where there is none. */
export interface Sources {
  readonly memory: MemorySource | undefined;
  readonly throughput: CasesRecord | undefined;
  readonly caching: CasesRecord | undefined;
}

type AnyRecord = Pick<CasesRecord, 'id' | 'programs'>;

export type Unit = 'lookups/s' | 'queries/s' | 'seconds' | 'bytes' | 'bytes an object' | 'ratio';

/** A figure of ours with its 95 % interval, where there is one. */
export interface OurFigure {
  /** Of CoreDNS. */
  readonly version: string;
  readonly run: string;
  readonly median: number;
  readonly low: number | null;
  readonly high: number | null;
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

interface Summary {
  readonly median: number;
  readonly low: number | null;
  readonly high: number | null;
}

/** A program of a record by its name: its version. */
export function versionOf({ programs }: AnyRecord, server: string): string {
  return programs.find(({ name }) => name === server)?.version ?? server;
}

export function ourFigure(
  { record }: { readonly record: AnyRecord },
  server: string,
  summary: Summary | null,
): OurFigure[] {
  if (summary === null) return [];
  const { median, low, high } = summary;
  return [{ version: versionOf(record, server), run: record.id, median, low, high, judgement: null }];
}

/** The ratio of the medians with the interval of the paired trials. */
export function ourRatio(
  { record }: { readonly record: AnyRecord },
  server: string,
  pairs: readonly Pair[],
  published: number,
): OurFigure[] {
  const delta = comparePairs(pairs);
  if (delta === null) return [];
  const { relative, low, high } = delta;
  const interval = low === null || high === null ? null : { low: low + 1, high: high + 1 };
  return [
    {
      version: versionOf(record, server),
      run: record.id,
      median: relative + 1,
      low: interval?.low ?? null,
      high: interval?.high ?? null,
      judgement:
        interval === null
          ? { verdict: 'too few trials', contradiction: null }
          : verdictOn(published, interval.low, interval.high),
    },
  ];
}
