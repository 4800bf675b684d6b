/** What the parts of the page are made of. */
import type { RawOutput } from '../../results/raw-output.ts';
import type { RunRecord } from '../../results/record.ts';
import type { DeltaDefinition } from '../../stats/deltas.ts';
import type { ChartData, DrawnPlots } from '../charts/index.ts';

export interface PageData {
  readonly record: RunRecord;
  readonly delta: DeltaDefinition;
  readonly charts: ChartData;
  readonly plots: DrawnPlots;
  readonly raw: RawOutput;
}
