/** Whether all pods of a trial have ended, or one of them cannot; for pods of two containers. Pure. */
import type { V1Pod } from '@kubernetes/client-node';
import { assessPod, type PodFailure } from '../../../targets/kubernetes/pod-state.ts';

/** The pod as if it had this container only, because the common judgement is about one. */
function views(pod: V1Pod): V1Pod[] {
  return (pod.status?.containerStatuses ?? []).map((status) => ({
    ...pod,
    spec: {
      ...pod.spec,
      containers: (pod.spec?.containers ?? []).filter(({ name }) => name === status.name),
    },
    status: { ...pod.status, containerStatuses: [status] },
  }));
}

/** A container that ended with an error still leaves what it printed; a pod that cannot start leaves nothing. */
function startFailure(pod: V1Pod): PodFailure | null {
  for (const view of views(pod)) {
    const verdict = assessPod(view);
    const isOver = view.status?.containerStatuses?.[0]?.state?.terminated !== undefined;
    if (verdict.kind === 'failed' && !isOver) return verdict;
  }
  return null;
}

const hasEnded = (pod: V1Pod) => pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';

export type PodsEnd =
  | { readonly kind: 'ended' }
  | { readonly kind: 'failed'; readonly pod: V1Pod; readonly failure: PodFailure };

/** Undefined while any of the pods runs. */
export function endOf(pods: readonly V1Pod[], count: number): PodsEnd | undefined {
  for (const pod of pods) {
    const failure = startFailure(pod);
    if (failure !== null) return { kind: 'failed', pod, failure };
  }
  return pods.length === count && pods.every(hasEnded) ? { kind: 'ended' } : undefined;
}
