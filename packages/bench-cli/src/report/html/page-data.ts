/** What the parts of the page are made of. */
import type { RunRecord } from '../../results/record.ts';
import type { DeltaDefinition } from '../../stats/deltas.ts';
import type { ChartData, DrawnPlots } from '../charts/index.ts';

/** What a tool printed in a trial. */
export interface RawFile {
  /** Relative to the run's folder, with forward slashes. */
  readonly path: string;
  /** Null where it is not part of the page: too long, or too much in all. */
  readonly text: string | null;
}

/** By the trial's key. */
export type RawOutput = ReadonlyMap<string, readonly RawFile[]>;

export interface PageData {
  readonly record: RunRecord;
  readonly delta: DeltaDefinition;
  readonly charts: ChartData;
  readonly plots: DrawnPlots;
  readonly raw: RawOutput;
}
