/** Waits for the pods of the DNS to run an image; ends early when they never will. */
import { type ClusterApi, read } from '../../../cluster-changes/cluster-api.ts';
import { textAt, valueAt } from '../../../cluster-changes/json.ts';
import { rolloutOf } from '../../../cluster-changes/rollout.ts';
import { waitUntil } from '../../../cluster-changes/wait-until.ts';
import { BenchError } from '../../../errors.ts';
import type { KubeClient } from '../../../kubernetes-api/client.ts';
import { lastLogLines } from '../../../kubernetes-api/logs.ts';
import { type DnsWorkload, imageIn, podsOf } from '../../../targets/kubernetes/dns-copy/find-workload.ts';
import { containerFailures } from '../../../targets/kubernetes/pod-state.ts';

export interface RolloutRequest {
  readonly client: KubeClient;
  readonly api: ClusterApi;
  readonly workload: DnsWorkload;
  readonly image: string;
  /** How long all pods together may take. */
  readonly seconds: number;
  readonly signal: AbortSignal;
}

const LOG_LINES = 15;

const imagePointer = ({ containerIndex }: DnsWorkload) =>
  `/spec/template/spec/containers/${containerIndex}/image`;

/** Somebody else has changed the image: usually a reconciler. */
export function reverted(workload: DnsWorkload, expected: string, found: string): BenchError {
  return new BenchError(
    'E_CLUSTER_CHANGED',
    `${workload.title}: somebody else set the image of ${workload.container} to ${found || 'nothing'}, instead of ${expected}`,
    {
      fix: 'Find out who manages it (an operator, a managed add-on, GitOps) and pause that first; `kubectl get --show-managed-fields` names the last writer.',
    },
  );
}

/** Somebody else has changed the number of pods, which the figures depend on. */
function rescaled({ title, replicas }: DnsWorkload, found: unknown): BenchError {
  return new BenchError(
    'E_CLUSTER_CHANGED',
    `${title}: somebody else set its replicas to ${String(found)}, instead of ${replicas}`,
    {
      fix: 'Find out who scales it (an autoscaler, an operator, GitOps) and pause that first. The replicas were left alone.',
    },
  );
}

/** @throws BenchError `E_CLUSTER_CHANGED` if somebody else has changed the image or the replicas. */
export function demandUntouched(workload: DnsWorkload, image: string, object: unknown): void {
  const found = textAt(object, imagePointer(workload));
  if (found !== image) throw reverted(workload, image, found);
  const replicas = valueAt(object, '/spec/replicas');
  if (replicas !== workload.replicas) throw rescaled(workload, replicas);
}

async function demandNoFailure({ client, workload, image, signal }: RolloutRequest): Promise<void> {
  for (const pod of await podsOf(client, workload, signal)) {
    if (imageIn(pod, workload) !== image) continue;
    // Sidecars count, too.
    const [found] = containerFailures(pod);
    if (found === undefined) continue;
    const { failure, container } = found;
    const reference = { namespace: workload.namespace, pod: pod.metadata?.name ?? '', container };
    throw new BenchError(failure.code, `${workload.title}: pod ${reference.pod} ${failure.message}`, {
      fix: failure.fix,
      evidence: failure.hasLog ? await lastLogLines(client, reference, LOG_LINES, signal) : [],
    });
  }
}

/**
 * Resolves with the seconds that it took.
 * @throws BenchError with the pod's own reason, `E_POD_TIMEOUT`, or `E_CLUSTER_CHANGED` if somebody else changes the image or
 * the replicas meanwhile.
 */
export function awaitRollout(request: RolloutRequest): Promise<number> {
  const { client, api, workload, image, seconds, signal } = request;
  return waitUntil({
    ...{ clock: client.clock, seconds, signal },
    async problem() {
      const object = await read(api, workload.path);
      demandUntouched(workload, image, object);
      const state = rolloutOf(object);
      if (state !== null) await demandNoFailure(request);
      return state;
    },
    late: (state) =>
      new BenchError('E_POD_TIMEOUT', `${workload.title} has not rolled out within ${seconds} seconds`, {
        evidence: [state],
        fix: 'Raise --ready-time if its nodes just need longer, for example for a slow rolling update.',
      }),
  });
}
