/** What both methods of a swap give to the engine. */
import type { OpenRequest, PlannedTrial } from '../../engine/experiment.ts';
import type { ServerRecord } from '../../results/record.ts';
import type { OpenedCluster } from '../../targets/kubernetes/open-cluster.ts';
import type { Side, SwapEvidence } from './evidence.ts';
import type { SwapPlan } from './plan.ts';
import type { SwapSettings } from './settings.ts';

export interface SwapRequest extends OpenRequest<SwapSettings, SwapPlan> {
  /** What is done just now, for people. */
  readonly say: (text: string) => void;
}

/** A cluster in which placements can be measured. */
export interface OpenedSwap {
  /** A and B, as the programs say themselves. */
  readonly programs: readonly ServerRecord[];
  readonly opened: Pick<OpenedCluster, 'cluster' | 'warnings'>;
  place(planned: PlannedTrial, side: Side): Promise<SwapEvidence>;
  /** See `Opened`. */
  readonly lost?: AbortSignal;
  closing?(): readonly string[];
  close(): Promise<void>;
}
