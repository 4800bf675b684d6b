/** What the ways to measure propagation, here and on a cluster, take and give. */
import type { OpenRequest, PlannedTrial, TrialEvents } from '../../../engine/experiment.ts';
import type { PropagationEvidence } from './evidence.ts';
import type { PropagationSettings } from './settings.ts';

/** What all trials share. */
export interface PropagationContext {
  measure(planned: PlannedTrial, on: TrialEvents): Promise<PropagationEvidence>;
}

export type PropagationRequest = Omit<OpenRequest<PropagationSettings, unknown>, 'decided'>;
