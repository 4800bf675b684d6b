/** Published figures and ratios beside ours: what a row is, and its verdict. Pure. */
import { type EngineRecord, okTrials } from '../../../engine/record.ts';
import { versionOf } from '../../../engine/words.ts';
import { type Judgement, verdictOn } from '../../../history/reproduce/procedure.ts';
import { comparePairs, pairTrials, summaryOf } from '../../../stats/summarize.ts';
import { levelOfRecord } from '../../../stats/until.ts';
import type { CasesRecord } from '../cases/evidence.ts';
import type { Summary } from '../figures.ts';
import type { MemoryRecord } from '../memory/evidence.ts';

/** The records of ours that a reproduction rests on, as far as there are any. */
export interface Sources {
  readonly memory?: MemoryRecord;
  readonly throughput?: CasesRecord;
  readonly caching?: CasesRecord;
}

type AnyRecord = Pick<EngineRecord<unknown, unknown>, 'id' | 'programs' | 'until' | 'settings'>;

export type Unit = 'lookups/s' | 'queries/s' | 'seconds' | 'bytes' | 'bytes an object' | 'ratio';

/** A figure of ours with its 95 % interval, where there is one. */
export interface OurFigure extends Summary {
  /** Of CoreDNS. */
  readonly version: string;
  /** CPUs of its limit; absent for memory, and where there was none. */
  readonly tier?: number | undefined;
  readonly run: string;
  /** For a ratio, that of `bench reproduce`; for a figure of another machine, null. */
  readonly judgement: Judgement | null;
}

export interface ReproducedRow {
  readonly section: string;
  readonly name: string;
  readonly unit: Unit;
  readonly published: number;
  /** One for each version and tier that was measured. */
  readonly ours: readonly OurFigure[];
  /** Measures it; null if none does. */
  readonly command: string | null;
}

export function ourFigure(
  { record, server, tier }: Pick<OwnCase, 'record' | 'server' | 'tier'>,
  summary: Summary | null,
): OurFigure[] {
  if (summary === null) return [];
  const { median, low, high } = summary;
  const version = versionOf(record, server);
  return [{ version, ...(tier && { tier }), run: record.id, median, low, high, judgement: null }];
}

/** What of ours stands for a published figure: the trials of a case. */
export interface OwnCase {
  readonly record: AnyRecord;
  /** The program of the record by whose version it is known. */
  readonly server: string;
  readonly tier?: OurFigure['tier'];
  /** The same for the two cases of a ratio. */
  readonly peer: string;
  readonly values: readonly { readonly round: number; readonly value: number }[];
  /** Whether something other than the server kept it from being better. */
  readonly isBound: boolean;
}

/** A figure of the trials of a case, of those that have it. */
export const valuesOf = <E>(
  record: Pick<EngineRecord<E>, 'trials'>,
  key: string,
  of: (evidence: E) => number | null,
): OwnCase['values'] =>
  okTrials(record, key).flatMap(({ round, evidence }) => {
    const value = of(evidence);
    return value === null ? [] : [{ round, value }];
  });

/** A published figure, with ours: one for each version and tier. */
export interface Beside extends Pick<ReproducedRow, 'unit'> {
  /** Undefined where it was not published: then there is no row. */
  readonly published: number | undefined;
  readonly ours: readonly OwnCase[];
}

type Heading = Pick<ReproducedRow, 'section' | 'name' | 'command'>;

export function figureRow(heading: Heading, { published, unit, ours }: Beside): ReproducedRow[] {
  if (published === undefined) return [];
  const figures = ours.flatMap((own) => ourFigure(own, summaryOf(own.values.map(({ value }) => value))));
  return [{ ...heading, unit, published, ours: figures }];
}

/** The ratio of the medians with the interval of the paired trials. */
function ourRatio(own: OwnCase, other: OwnCase, published: number): OurFigure[] {
  const level = levelOfRecord(own.record.until, own.record.settings);
  const delta = comparePairs(
    pairTrials(own.values, other.values, ({ value }) => ({ value })),
    { level },
  );
  if (delta === null) return [];
  const [low = null, high = null] = [delta.low, delta.high].map((end) => (end === null ? null : end + 1));
  const judgement = verdictOn(published, { low, high }, own.isBound || other.isBound);
  const figures = ourFigure(own, { median: delta.relative + 1, low, high });
  return figures.map((figure) => ({ ...figure, judgement }));
}

export function ratioRow(heading: Heading, item: Beside, baseline: Beside): ReproducedRow[] {
  if (item.published === undefined || baseline.published === undefined) return [];
  const published = item.published / baseline.published;
  const ours = item.ours.flatMap((own) => {
    const other = baseline.ours.find(({ peer }) => peer === own.peer);
    return other === undefined ? [] : ourRatio(own, other, published);
  });
  return [{ ...heading, unit: 'ratio', published, ours }];
}
