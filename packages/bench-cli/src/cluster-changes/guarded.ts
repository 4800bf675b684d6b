/**
 * Changes of a cluster that are put back whatever happens: by this process at its end, and by the guard if it cannot. The one
 * rule of giving up: once the guard is there, whatever is not put back and verified is left to it, and the run's namespace
 * stays until it has finished.
 */
import { messageOf } from '@dinodns-bench/program';
import { BenchError } from '../errors.ts';
import type { Right } from '../kubernetes-api/access.ts';
import type { KubeClient } from '../kubernetes-api/client.ts';
import type { ClusterRun } from '../targets/kubernetes/cluster-run.ts';
import { readyPods } from '../targets/kubernetes/deployment.ts';
import { JOURNAL_ANNOTATION, namespaceOf, unitSelector } from '../targets/kubernetes/objects/labels.ts';
import { type OpenedCluster, type OpenRequest, openCluster } from '../targets/kubernetes/open-cluster.ts';
import { describeChange } from './change.ts';
import { deployGuard, GUARD, sessionRights } from './guard.ts';
import { demandRights } from './rights.ts';
import { type ChangeSession, demandNoJournal, isLost, openSession, type SessionRequest } from './session.ts';
import { waitUntil } from './wait-until.ts';

export interface GuardedRequest extends SessionRequest {
  readonly run: ClusterRun;
  /** How long it may take until everything is as before. */
  readonly settleSeconds: number;
}

export interface Guarded {
  /** Changes something only while a guard is ready. */
  readonly session: ChangeSession;
  /** Deploys the guard for the objects at these paths. Before it resolves, nothing may be changed. */
  protect(paths: readonly string[], signal: AbortSignal): Promise<void>;
  /** Why the cluster is not as before yet besides the changes themselves, such as pods that restart; null if it is. */
  alsoAwait(problem: () => Promise<string | null>): void;
  /**
   * Puts everything back, waits until it is so, and ends the session. Does nothing if that was done, or left to the guard.
   * @param restored Called in between with the changes that someone else has made meanwhile, which are left. Default: says so.
   * @throws BenchError `E_LEASE_LOST` if the guard has to go on
   */
  end(restored?: (left: readonly string[]) => Promise<void>): Promise<void>;
  /** Whether the guard needs the namespace of the run, which it deletes itself. */
  isLeftToGuard(): boolean;
}

function leftToGuard(cause: unknown): BenchError {
  const why = isLost(cause) ? '' : `: ${messageOf(cause)}`;
  return new BenchError('E_LEASE_LOST', `the guard in the cluster puts everything back${why}`, {
    fix: '`bench swap status` shows how far it is, and `bench swap restore` does the same at once.',
    cause,
  });
}

/**
 * Its node may have been drained while no other one has its image: then nothing would put back what is changed now.
 * @throws BenchError `E_POD_TIMEOUT`
 */
async function demandGuard(
  { client, namespace, runId, settings: { readyTime: seconds } }: ClusterRun,
  signal: AbortSignal,
): Promise<void> {
  const guard = { namespace, labels: unitSelector(runId, GUARD) };
  await waitUntil({
    ...{ clock: client.clock, seconds, signal },
    problem: async () => ((await readyPods(client, guard, signal)).length > 0 ? null : 'it has no ready pod'),
    late: (problem) =>
      new BenchError('E_POD_TIMEOUT', `the guard does not run: ${problem} for ${seconds} seconds`, {
        fix: 'Find out why: `kubectl describe pod -A -l app.kubernetes.io/name=guard`. Its image must be on every node that may take it (--loader-image).',
      }),
  });
}

/** Takes the Lease and opens the journal. @throws as `openSession` */
export async function openGuarded(request: GuardedRequest): Promise<Guarded> {
  const { run, apiUntil, leaseNamespace, settleSeconds, force, say } = request;
  const { world, runId: token } = run;
  const { clock } = world;
  const holder = `${world.machine.hostname}/${world.processes.ownPid}/${token}`;
  const session = await openSession(request, holder);
  let guarding: AbortSignal = session.signal;
  const awaited: (() => Promise<string | null>)[] = [];
  let state: 'unguarded' | 'guarded' | 'left' | 'ended' = 'unguarded';

  const firstProblem = async () => {
    const [unsettled] = await session.unsettled();
    if (unsettled !== undefined) return unsettled;
    for (const problem of awaited) {
      const found = await problem();
      if (found !== null) return found;
    }
    return null;
  };
  const settled = async () => {
    let shown: string | null = null;
    await waitUntil({
      ...{ clock, seconds: settleSeconds, signal: session.signal },
      async problem() {
        const found = await firstProblem();
        if (found !== null && found !== shown) say(`restoring: ${found}`);
        shown = found;
        return found;
      },
      late: (problem) =>
        new BenchError(
          'E_POD_TIMEOUT',
          `not everything was as before within ${settleSeconds} seconds: ${problem}`,
          { fix: 'The guard in the cluster goes on; `bench swap status` shows what is left.' },
        ),
    });
  };
  const restore = async () => {
    const superseded = await session.revertAll();
    // Where somebody else has changed something meanwhile, nobody knows what else to wait for.
    if (superseded.length > 0) awaited.length = 0;
    await settled();
    return superseded.map(
      (change) => `${describeChange(change)} (${change.found ?? 'changed by somebody else'})`,
    );
  };
  return {
    session: {
      ...session,
      async apply(edit, onSend) {
        await demandGuard(run, guarding);
        return session.apply(edit, onSend);
      },
    },
    async protect(paths, signal) {
      const api = apiUntil(AbortSignal.any([signal, force]));
      await deployGuard({ run, api, leaseNamespace, holder, token, paths, signal });
      guarding = signal;
      state = 'guarded';
    },
    alsoAwait: (problem) => void awaited.push(problem),
    async end(
      restored = async (left) => {
        for (const change of left) say(`Note: left as it was found: ${change}`);
      },
    ) {
      if (state === 'left' || state === 'ended') return;
      try {
        // Without a change there is nothing to wait for, and closing outlasts a second Ctrl-C.
        await restored(session.changes().length === 0 ? [] : await restore());
        await session.close();
        state = 'ended';
      } catch (cause) {
        if (state === 'unguarded') throw cause;
        state = 'left';
        session.abandon();
        throw leftToGuard(cause);
      }
    },
    isLeftToGuard: () => state === 'left',
  };
}

export interface GuardedClusterRequest extends OpenRequest, Omit<GuardedRequest, 'run' | 'force' | 'say'> {
  readonly client: KubeClient;
  /** Of the objects that may be changed. None: there is no guard. */
  readonly paths: readonly string[];
  /** Beyond those of every run, and of changing these objects. */
  readonly rights: readonly Right[];
  /** The file that grants all of them. */
  readonly role: string;
  /** Asked after the rights. Default: nothing. */
  demandReady?(): Promise<void>;
  readonly display: { line(text: string): void };
}

export interface GuardedCluster {
  readonly opened: OpenedCluster;
  /** Null where nothing may be changed. */
  readonly guarded: Guarded | null;
  /** That of the request, which is aborted as well when the Lease is lost. */
  readonly signal: AbortSignal;
  /** Puts everything back, and removes the run's namespace unless the guard needs it. */
  readonly made: AsyncDisposableStack;
}

/**
 * Makes the run's namespace, and protects what may be changed. Nothing is left if it fails.
 * @throws BenchError `E_CLUSTER_FORBIDDEN` that names every missing right, and as `demandNoJournal`, before anything is created
 */
export async function openGuardedCluster(request: GuardedClusterRequest): Promise<GuardedCluster> {
  const { paths, display, signal, leaseNamespace, client, settings, runId } = request;
  const own = namespaceOf(settings.namespacePrefix, runId);
  const changing = paths.length === 0 ? [] : sessionRights(paths, leaseNamespace, own);
  await demandRights(client, [...request.rights, ...changing], request.role, signal);
  // A killed run of the same ID may have left a guard at work in the namespace that this run would delete first.
  if (paths.length > 0)
    await demandNoJournal(request.apiUntil(signal), leaseNamespace, request.world.clock.now());
  await request.demandReady?.();
  const annotations = paths.length === 0 ? {} : { annotations: { [JOURNAL_ANNOTATION]: leaseNamespace } };
  const opened = await openCluster({ ...request, ...annotations });
  await using made = new AsyncDisposableStack();
  let guarded: Guarded | null = null;
  made.defer(async () => {
    if (guarded?.isLeftToGuard() !== true) await opened.close();
  });
  if (paths.length === 0) return { opened, guarded, signal, made: made.move() };
  const { run } = opened;
  const say = (text: string) => display.line(`  ${text}`);
  const opening = await openGuarded({ ...request, run, say });
  guarded = opening;
  made.defer(() => opening.end());
  const until = AbortSignal.any([signal, opening.session.signal]);
  await opening.protect(paths, until);
  return { opened, guarded, signal: until, made: made.move() };
}
