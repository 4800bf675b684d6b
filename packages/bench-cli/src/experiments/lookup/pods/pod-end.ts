/** Whether all pods of a trial have ended, or one of them cannot; for pods of two containers. Pure. */
import type { V1Pod } from '@kubernetes/client-node';
import { containerFailures, type PodFailure } from '../../../targets/kubernetes/pod-state.ts';

/** A container that ended with an error still leaves what it printed; a pod that cannot start leaves nothing. */
const startFailure = (pod: V1Pod) => containerFailures(pod).find(({ isOver }) => !isOver)?.failure;

const hasEnded = (pod: V1Pod) => pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';

export type PodsEnd =
  | { readonly kind: 'ended' }
  | { readonly kind: 'failed'; readonly pod: V1Pod; readonly failure: PodFailure };

/** Undefined while any of the pods runs. */
export function endOf(pods: readonly V1Pod[], count: number): PodsEnd | undefined {
  for (const pod of pods) {
    const failure = startFailure(pod);
    if (failure !== undefined) return { kind: 'failed', pod, failure };
  }
  return pods.length === count && pods.every(hasEnded) ? { kind: 'ended' } : undefined;
}
