/**
 * What the state of a pod means for whoever waits for it: is it ready, may it still become so, or is waiting
 * pointless? Pure.
 */
import type { V1ContainerStatus, V1Pod } from '@kubernetes/client-node';
import type { ErrorCode } from '../../errors.ts';

export type PodVerdict =
  | { readonly kind: 'ready' }
  /** It ended with exit status 0. */
  | { readonly kind: 'ended' }
  /** Nothing is wrong yet; `reason` is what it waits for. */
  | { readonly kind: 'waiting'; readonly reason: string }
  /** No node accepts it. One may become free, so the caller decides how long to wait. */
  | { readonly kind: 'unschedulable'; readonly reason: string }
  | PodFailure;

export interface PodFailure {
  readonly kind: 'failed';
  readonly code: ErrorCode;
  /** Kubernetes' own reason, for example `ImagePullBackOff`. */
  readonly reason: string;
  /** Completes "pod x …". */
  readonly message: string;
  readonly fix: string;
  /** True if its log may say why. */
  readonly hasLog: boolean;
}

/** Reasons of a container that waits in vain. `ErrImagePull` is followed by one of them. */
const IMAGE_REASONS = new Set([
  'ImagePullBackOff',
  'ErrImageNeverPull',
  'InvalidImageName',
  'ImageInspectError',
]);
const CREATION_REASONS = new Set(['CreateContainerConfigError', 'CreateContainerError', 'RunContainerError']);

const IMAGE_FIX: Readonly<Record<string, string>> = {
  ErrImageNeverPull: 'Load the image onto the node, or choose --pull-policy IfNotPresent.',
  InvalidImageName: 'Correct the name of the image; `bench images` lists them all.',
};

const failed = (
  code: ErrorCode,
  reason: string,
  message: string,
  fix: string,
  hasLog = false,
): PodFailure => ({ kind: 'failed', code, reason, message, fix, hasLog });

const imageFailure = (image: string, reason: string, detail: string) =>
  failed(
    'E_POD_IMAGE',
    reason,
    `cannot get its image ${image} (${reason})${detail === '' ? '' : `: ${detail}`}`,
    IMAGE_FIX[reason] ??
      'Push the image to a registry that the nodes can reach (see k8s/README.md), name it with --coredns-image, --dinodns-image or --loader-image, and give --pull-secrets if the registry requires a password.',
  );

const died = (reason: string, message: string, fix: string, hasLog = true) =>
  failed('E_SERVER_DIED', reason, message, fix, hasLog);

const outOfMemory = () =>
  died(
    'OOMKilled',
    'ran out of memory and was killed (OOMKilled)',
    'Raise --memory-limit, or choose fewer zones with --zones.',
  );

const crash = (reason: string, message: string) =>
  failed(
    'E_SERVER_START',
    reason,
    message,
    'Its last log lines are above. Check that the image is the right one and that its entry point starts the server.',
    true,
  );

function assessWaiting(status: V1ContainerStatus, image: string): PodVerdict | null {
  const { waiting } = status.state ?? {};
  if (waiting === undefined) return null;
  const { reason = 'Waiting', message = '' } = waiting;
  if (IMAGE_REASONS.has(reason)) return imageFailure(image, reason, message);
  if (status.lastState?.terminated?.reason === 'OOMKilled') return outOfMemory();
  if (reason === 'CrashLoopBackOff') {
    const exit = status.lastState?.terminated?.exitCode;
    return crash(reason, `ends as soon as it starts (CrashLoopBackOff, exit status ${exit ?? 'unknown'})`);
  }
  if (CREATION_REASONS.has(reason)) return crash(reason, `cannot be started (${reason}): ${message}`);
  return { kind: 'waiting', reason: message === '' ? reason : `${reason}: ${message}` };
}

function assessTerminated(status: V1ContainerStatus): PodVerdict | null {
  const { terminated } = status.state ?? {};
  const ended = terminated ?? status.lastState?.terminated;
  if (ended === undefined) return null;
  const { exitCode, reason = 'Error', message = '' } = ended;
  if (reason === 'OOMKilled') return outOfMemory();
  if (exitCode === 0 && terminated !== undefined) return { kind: 'ended' };
  const detail = message.trim() === '' ? '' : `: ${message.trim()}`;
  return crash(reason, `ended with exit status ${exitCode} (${reason})${detail}`);
}

/** Pods that Kubernetes ended: evicted, past their deadline, or on a lost node. */
function assessPhase(pod: V1Pod): PodVerdict | null {
  if (pod.status?.phase !== 'Failed') return null;
  const { reason = 'Failed', message = '' } = pod.status;
  const text = `was ended by Kubernetes (${reason})${message === '' ? '' : `: ${message}`}`;
  return died(reason, text, 'See the events of the node: `kubectl describe node NAME`.');
}

/** Why a container that starts before the main one never will; null if none of them is in the way. */
function assessInitContainers({ status }: V1Pod): PodVerdict | null {
  const judged = (status?.initContainerStatuses ?? []).map((item) => assessWaiting(item, item.image));
  return judged.find((verdict) => verdict?.kind === 'failed') ?? null;
}

const conditionOf = ({ status }: V1Pod, wanted: string) =>
  status?.conditions?.find(({ type }) => type === wanted);

/** `True`, `False` or `Unknown`; undefined where nobody has said so yet. */
const readinessOf = (pod: V1Pod) => conditionOf(pod, 'Ready')?.status;

/** Judges a pod of one container, and of those that start before it. */
export function assessPod(pod: V1Pod): PodVerdict {
  const blocked = assessInitContainers(pod);
  if (blocked !== null) return blocked;
  const [status] = pod.status?.containerStatuses ?? [];
  const image = pod.spec?.containers[0]?.image ?? '';
  if (status !== undefined) {
    const judged = assessWaiting(status, image) ?? assessTerminated(status);
    if (judged !== null) return judged;
  }
  const ended = assessPhase(pod);
  if (ended !== null) return ended;
  const scheduled = conditionOf(pod, 'PodScheduled');
  if (scheduled?.status === 'False' && scheduled.reason === 'Unschedulable') {
    return { kind: 'unschedulable', reason: scheduled.message ?? 'Unschedulable' };
  }
  if (pod.metadata?.deletionTimestamp !== undefined)
    return { kind: 'waiting', reason: 'it is being deleted' };
  if (readinessOf(pod) === 'True') return { kind: 'ready' };
  return { kind: 'waiting', reason: pod.status?.phase ?? 'Pending' };
}

const RESTARTED = 'was restarted while it was being measured';
const ABOVE = 'Its last log lines are above.';

/** Why a pod that was ready no longer is; null if it is well. */
export function assessRunningPod(pod: V1Pod): PodFailure | null {
  const name = pod.metadata?.name ?? '';
  if (pod.metadata?.deletionTimestamp !== undefined) {
    return died(
      'Deleted',
      'was deleted while it was being measured',
      `\`kubectl get events\` shows who deleted it; pod ${name}.`,
      false,
    );
  }
  const verdict = assessPod(pod);
  if (verdict.kind === 'failed') return { ...verdict, code: 'E_SERVER_DIED' };
  if (verdict.kind === 'ended') {
    return died('Completed', 'ended while it was being measured (exit status 0)', ABOVE);
  }
  if (restartsOf(pod) > 0) return died('Restarted', RESTARTED, ABOVE);
  if (verdict.kind === 'waiting') {
    return died(
      'NotReady',
      `became unready while it was being measured (${verdict.reason})`,
      'Check that its node is healthy: `kubectl get nodes`.',
    );
  }
  return null;
}

/** The same for a pod that existed before the run: only restarts since then count. */
export function assessAdoptedPod(pod: V1Pod, restartsBefore: number): PodFailure | null {
  if (restartsOf(pod) > restartsBefore)
    return died('Restarted', RESTARTED, 'See its log: `kubectl logs --previous`.', false);
  if (pod.metadata?.deletionTimestamp !== undefined) return assessRunningPod(pod);
  return readinessOf(pod) === 'True'
    ? null
    : assessRunningPod({ ...pod, status: { ...pod.status, containerStatuses: [] } });
}

/**
 * Whether its node is lost: the last that the kubelet said is that its containers run, and the node controller has called it unready
 * since. Of a pod that was ready, and has no readiness gates.
 */
export function isOnLostNode(pod: V1Pod): boolean {
  const containers = pod.status?.containerStatuses ?? [];
  return (
    !['True', undefined].includes(readinessOf(pod)) &&
    pod.metadata?.deletionTimestamp === undefined &&
    containers.length > 0 &&
    containers.every(({ ready, state }) => ready && state?.running !== undefined)
  );
}

/** Of each container by itself that has failed, whether it has ended or cannot start. */
export function containerFailures(pod: V1Pod) {
  return (pod.status?.containerStatuses ?? []).flatMap((status) => {
    const containers = (pod.spec?.containers ?? []).filter(({ name }) => name === status.name);
    const alone = {
      ...{ ...pod, spec: { ...pod.spec, containers } },
      status: { ...pod.status, containerStatuses: [status] },
    };
    const failure = assessPod(alone);
    const isOver = status.state?.terminated !== undefined;
    return failure.kind === 'failed' ? [{ container: status.name, failure, isOver }] : [];
  });
}

/** Restarts of all containers of a pod. */
export function restartsOf(pod: V1Pod): number {
  return (pod.status?.containerStatuses ?? []).reduce((sum, { restartCount }) => sum + restartCount, 0);
}

const REFUSED =
  /violates PodSecurity|admission webhook|is forbidden: unable to validate|minimum cpu|maximum cpu/i;

/** Whether a message of the controllers that create pods means that it will never work; null if it may. */
export function assessCreation(message: string): PodFailure | null {
  if (/exceeded quota/i.test(message)) {
    return failed(
      'E_CLUSTER_QUOTA',
      'FailedCreate',
      `cannot be created, because a quota is exceeded: ${message}`,
      'Raise the quota of the namespace, or choose smaller tiers (--tier) and a smaller loader (--loader-cpu).',
    );
  }
  if (REFUSED.test(message)) {
    return failed(
      'E_CLUSTER_REFUSED',
      'FailedCreate',
      `cannot be created, because the cluster refuses it: ${message}`,
      "The cluster's message says why; on OpenShift try --run-as-user image.",
    );
  }
  return null;
}
