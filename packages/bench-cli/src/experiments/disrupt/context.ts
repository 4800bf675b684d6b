/** What all trials share, on either target. */
import type { PlannedTrial, TrialEvents } from '../../engine/experiment.ts';
import type { DisruptEvidence } from './evidence.ts';

export interface DisruptContext {
  measure(planned: PlannedTrial, on: TrialEvents): Promise<DisruptEvidence>;
}
