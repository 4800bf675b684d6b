/** Waits for pods, bounded in time, and ends early on what cannot recover. */
import type { V1Deployment, V1Pod } from '@kubernetes/client-node';
import { BenchError } from '../../errors.ts';
import type { KubeClient } from '../../kubernetes-api/client.ts';
import { lastLogLines } from '../../kubernetes-api/logs.ts';
import { followTo, followUntil } from '../../kubernetes-api/watch.ts';
import type { ClusterRun } from './cluster-run.ts';
import { describeRoom } from './node-room.ts';
import { CONTAINER } from './objects/pods.ts';
import { assessCreation, assessPod, type PodFailure } from './pod-state.ts';

const LOG_LINES = 15;

/** Pods end within 5 seconds, or their grace period; a slow kubelet takes longer to report it. */
const GONE_SECONDS = 60;
/** The same, and the requests: the first Ctrl-C does not stop removals, but they are bounded. */
const REMOVAL_SECONDS = 90;

export interface PodSelection {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  /** What messages call these pods: "coredns", "the loader". */
  readonly what: string;
  readonly signal: AbortSignal;
}

export interface WaitOptions {
  readonly pods: number;
  readonly seconds: number;
  readonly scheduleSeconds: number;
}

const nameOf = (pod: V1Pod) => pod.metadata?.name ?? '';
const placeOf = ({ spec }: V1Pod) => (spec?.nodeName === undefined ? '' : ` on node ${spec.nodeName}`);

/** The failure of a pod as an error: Kubernetes' reason, the last lines of its log, the fix. */
export async function podError(
  { client, namespace, what, signal }: PodSelection,
  pod: V1Pod,
  failure: PodFailure,
): Promise<BenchError> {
  const reference = { namespace, pod: nameOf(pod), container: CONTAINER };
  const lines = failure.hasLog ? await lastLogLines(client, reference, LOG_LINES, signal) : [];
  return new BenchError(failure.code, `${what}: pod ${nameOf(pod)}${placeOf(pod)} ${failure.message}`, {
    fix: failure.fix,
    evidence: lines,
  });
}

async function unschedulable(
  { client, what, signal }: PodSelection,
  pod: V1Pod,
  reason: string,
): Promise<BenchError> {
  return new BenchError('E_POD_UNSCHEDULABLE', `${what}: no node accepts pod ${nameOf(pod)}`, {
    evidence: [reason, ...(await describeRoom(client, pod, signal))],
    fix: 'Choose a smaller tier, a smaller --cpu-request or --loader-cpu, other nodes (--server-node, --loader-node), or --schedule-time 10m if an autoscaler adds nodes.',
  });
}

async function describeStuck(
  selection: PodSelection,
  seconds: number,
  last: readonly V1Pod[],
): Promise<BenchError> {
  const { client, namespace, what, signal } = selection;
  const states = last.map((pod) => {
    const verdict = assessPod(pod);
    return `pod ${nameOf(pod)}${placeOf(pod)}: ${'reason' in verdict ? verdict.reason : verdict.kind}`;
  });
  const { items } = await client.list('Event', { namespace }, signal).catch(() => ({ items: [] }));
  const events = items
    .filter(({ type }) => type === 'Warning')
    .map(({ reason, message }) => `event ${reason}: ${message}`);
  return new BenchError('E_POD_TIMEOUT', `${what} was not ready within ${seconds} seconds`, {
    evidence: [...(states.length === 0 ? ['no pod was created'] : states), ...new Set(events.slice(-8))],
    fix: 'Raise --ready-time if the nodes just need longer, for example to pull images.',
  });
}

interface Watched {
  /** When a pod was first seen without a node, by its name. */
  readonly unplaced: Map<string, number>;
  last: readonly V1Pod[];
}

type Decision =
  | { pods: readonly V1Pod[] }
  | { pod: V1Pod; failure: PodFailure }
  | { pod: V1Pod; reason: string };

function decide(
  selection: PodSelection,
  options: WaitOptions,
  state: Watched,
  pods: readonly V1Pod[],
): Decision | undefined {
  state.last = pods;
  const now = selection.client.clock.monotonicSeconds();
  let done = 0;
  for (const pod of pods) {
    const verdict = assessPod(pod);
    if (verdict.kind === 'ready') done += 1;
    if (verdict.kind === 'failed') return { pod, failure: verdict };
    if (verdict.kind !== 'unschedulable') continue;
    const since = state.unplaced.get(nameOf(pod)) ?? now;
    state.unplaced.set(nameOf(pod), since);
    if (now - since >= options.scheduleSeconds) return { pod, reason: verdict.reason };
  }
  return done === options.pods && pods.length === options.pods ? { pods } : undefined;
}

/** Checks pods without a node again when their time is over, because no event reports that. */
async function watchTheClock(
  selection: PodSelection,
  options: WaitOptions,
  state: Watched,
  signal: AbortSignal,
): Promise<Decision> {
  const { clock } = selection.client;
  for (;;) {
    await clock.sleep(Math.min(1, options.scheduleSeconds / 2 + 0.05), signal);
    const decision = decide(selection, options, state, state.last);
    if (decision !== undefined && 'reason' in decision) return decision;
  }
}

/** Events say why controllers cannot create a pod. Settles only with a failure. */
function watchCreation(
  { client, namespace }: PodSelection,
  unit: string,
  signal: AbortSignal,
): Promise<PodFailure> {
  const request = { kind: 'Event', namespace, fields: 'reason=FailedCreate', signal } as const;
  return followTo(client, request, ({ objects }) =>
    objects
      .filter(({ involvedObject }) => involvedObject.name?.startsWith(unit))
      .map(({ message = '' }) => assessCreation(message))
      .find((failure) => failure !== null),
  );
}

/**
 * Resolves with the pods when all of them are ready.
 * Rejects with a BenchError that holds the pod's own reason, or with the signal's reason.
 * @param owner Beginning of the names of the objects that create the pods.
 */
export async function waitForPods(
  selection: PodSelection,
  owner: string,
  options: WaitOptions,
): Promise<readonly V1Pod[]> {
  const { client, namespace, labels, what } = selection;
  const stop = new AbortController();
  const signal = AbortSignal.any([selection.signal, stop.signal]);
  const state: Watched = { unplaced: new Map(), last: [] };
  const pods = followUntil(
    client,
    { kind: 'Pod', namespace, labels, signal, seconds: options.seconds },
    ({ objects }) => decide(selection, options, state, objects),
    () => describeStuck(selection, options.seconds, state.last),
  );
  const overdue = watchTheClock(selection, options, state, signal);
  const creation = watchCreation(selection, owner, signal);
  const all = [pods, overdue, creation];
  // The losers of the race are stopped below, and reject then.
  for (const promise of all) promise.catch(() => undefined);
  try {
    // Without permission to read events, the rest still works.
    const never = new Promise<never>(() => undefined);
    const outcome = await Promise.race([pods, overdue, creation.catch(() => never)]);
    if ('kind' in outcome) {
      throw new BenchError(outcome.code, `${what}: its pod ${outcome.message}`, { fix: outcome.fix });
    }
    if ('failure' in outcome) throw await podError(selection, outcome.pod, outcome.failure);
    if ('reason' in outcome) throw await unschedulable(selection, outcome.pod, outcome.reason);
    return outcome.pods;
  } catch (error) {
    selection.signal.throwIfAborted();
    throw error;
  } finally {
    stop.abort(new Error('the wait is over'));
  }
}

/** Creates a Deployment of the run, and resolves with its pods as `waitForPods` does, within the limits of the run. */
export async function startDeployment(
  { client, namespace, settings }: ClusterRun,
  deployment: V1Deployment,
  what: string,
  signal: AbortSignal,
): Promise<readonly V1Pod[]> {
  const { metadata, spec } = deployment;
  await client.create('Deployment', deployment, signal);
  const selection = { client, namespace, labels: spec?.selector.matchLabels ?? {}, what, signal };
  return waitForPods(selection, metadata?.name ?? '', {
    pods: spec?.replicas ?? 1,
    seconds: settings.readyTime,
    scheduleSeconds: settings.scheduleTime,
  });
}

/** Rejects as soon as one of the ready pods fails. Never resolves. */
export function watchForDeath(
  selection: PodSelection,
  names: ReadonlySet<string>,
  assess: (pod: V1Pod) => PodFailure | null,
): Promise<never> {
  const { client, namespace, labels, signal } = selection;
  return followTo<'Pod', never>(
    client,
    { kind: 'Pod', namespace, labels, signal },
    async ({ objects, deleted }) => {
      const mine = objects.filter((pod) => names.has(nameOf(pod)));
      const gone = deleted !== null && names.has(nameOf(deleted)) ? deleted : undefined;
      for (const pod of gone === undefined ? mine : [gone]) {
        const failure =
          pod === gone
            ? assess({ ...pod, metadata: { ...pod.metadata, deletionTimestamp: new Date(0) } })
            : assess(pod);
        if (failure !== null) throw await podError(selection, pod, failure);
      }
      return undefined;
    },
  );
}

/** Resolves when no pod of the selection is left. */
export async function waitUntilGone(selection: PodSelection, seconds: number): Promise<void> {
  const { client, namespace, labels, what, signal } = selection;
  let left: readonly V1Pod[] = [];
  await followUntil(
    client,
    { kind: 'Pod', namespace, labels, signal, seconds },
    ({ objects }) => {
      left = objects;
      return objects.length === 0 ? true : undefined;
    },
    () =>
      new BenchError(
        'E_CLUSTER_LEFTOVERS',
        `pods of ${what} still exist ${seconds} seconds after their deletion`,
        {
          evidence: left.map((pod) => `pod ${nameOf(pod)} is on node ${pod.spec?.nodeName ?? 'none'}`),
          fix: 'Check that their node is healthy: `kubectl get nodes`. `bench cleanup` removes the leftovers.',
        },
      ),
  );
}

/** What a server of a run consists of. */
export interface Removal extends Pick<PodSelection, 'labels' | 'what'> {
  /** Of all its objects. */
  readonly name: string;
  readonly kinds: readonly ('Deployment' | 'Service' | 'ConfigMap')[];
  /** Of its pods, for as long as they may go on. Default: that of every run. */
  readonly graceSeconds?: number | undefined;
  /** Aborted by the second Ctrl-C. Default: nothing stops it. */
  readonly force?: AbortSignal;
}

/** Resolves when its pods are gone. */
export async function removeServer(
  { client, namespace }: Pick<ClusterRun, 'client' | 'namespace'>,
  { name, labels, what, kinds, graceSeconds = 0, force }: Removal,
): Promise<void> {
  const limit = AbortSignal.timeout((REMOVAL_SECONDS + graceSeconds) * 1000);
  const signal = force === undefined ? limit : AbortSignal.any([force, limit]);
  for (const kind of kinds) await client.delete(kind, name, namespace, signal);
  await waitUntilGone({ client, namespace, labels, what, signal }, GONE_SECONDS + graceSeconds);
}
