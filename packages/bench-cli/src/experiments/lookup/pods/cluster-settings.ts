/**
 * The settings of Calico Enterprise that a run changes: the DNS policy mode, and the CPU limit of calico-node. Each is in the
 * journal before it is made, and the guard puts everything back if this process cannot.
 */
import { messageOf } from '@dinodns-bench/program';
import { describeChange, type PlannedEdit } from '../../../cluster-changes/change.ts';
import { type ClusterApi, read } from '../../../cluster-changes/cluster-api.ts';
import { deployGuard } from '../../../cluster-changes/guard.ts';
import { type ChangeSession, isLost, openSession } from '../../../cluster-changes/session.ts';
import { BenchError } from '../../../errors.ts';
import type { ClusterRun } from '../../../targets/kubernetes/cluster-run.ts';
import { managedLabels, runLabels } from '../../../targets/kubernetes/objects/labels.ts';
import type { PolicyMode } from '../policy/modes.ts';
import {
  CALICO_PATHS,
  cpuLimitChange,
  demandEnterprise,
  INLINE_FALLBACK,
  isAvailable,
  modeChange,
  nodeCpuLimit,
  nodeProblem,
  runningCpuLimit,
} from './calico.ts';

export interface SettingsRequest {
  readonly run: ClusterRun;
  /** Its requests end with the second Ctrl-C. */
  readonly api: ClusterApi;
  /** For what must be done even then. */
  apiUntil(signal: AbortSignal): ClusterApi;
  /** With Node.js. */
  readonly image: string;
  readonly leaseNamespace: string;
  readonly leaseSeconds: number;
  readonly signal: AbortSignal;
  /** The second Ctrl-C. */
  readonly force: AbortSignal;
  readonly say: (text: string) => void;
}

export interface ClusterSettings {
  /** Aborted when the Lease is lost. */
  readonly signal: AbortSignal;
  /** Sets the mode and reads it back. */
  setMode(mode: PolicyMode): Promise<void>;
  /** Sets the limit and waits until calico-node runs with it. */
  setNodeCpuLimit(limit: string): Promise<void>;
}

/** tiger-bench waits as long for calico-node. */
const ROLLOUT_SECONDS = 600;
const AVAILABLE_SECONDS = 60;
/** After the status says so, Felix may still fall back: tiger-bench waits as long before it reads the logs. */
const FALLBACK_SECONDS = 10;
const POLL_SECONDS = 1;

/** What the cluster has of Calico Enterprise. @throws BenchError `E_CLUSTER_REFUSED` that names what is missing */
export async function readCalico(api: ClusterApi): Promise<{ felix: unknown; installation: unknown }> {
  const found = {
    felix: await read(api, CALICO_PATHS.felix),
    installation: await read(api, CALICO_PATHS.installation),
  };
  demandEnterprise(found);
  return found;
}

/** Polls until `problem` resolves with null. */
async function waitUntil(
  { run, signal }: SettingsRequest,
  seconds: number,
  problem: () => Promise<string | null>,
): Promise<void> {
  const { clock } = run.client;
  const startedAt = clock.monotonicSeconds();
  for (;;) {
    const reason = await problem();
    if (reason === null) return;
    if (clock.monotonicSeconds() - startedAt > seconds) {
      throw new BenchError('E_POD_TIMEOUT', `${reason}, for ${seconds} seconds`, {
        fix: 'Look at the pods of calico-system and tigera-operator. Everything is put back.',
      });
    }
    await clock.sleep(POLL_SECONDS, signal);
  }
}

async function statusProblem(api: ClusterApi): Promise<string | null> {
  for (const name of ['apiserver', 'calico']) {
    const status = await read(api, `/apis/operator.tigera.io/v1/tigerastatuses/${name}`);
    if (!isAvailable(status)) return `TigeraStatus ${name} is not Available`;
  }
  return null;
}

/** Inline needs a kernel that can do it: otherwise Felix says so in its log, and uses another mode. */
async function demandInline(request: SettingsRequest, since: Date): Promise<void> {
  const { api, run, signal } = request;
  await waitUntil(request, AVAILABLE_SECONDS, () => statusProblem(api));
  await run.client.clock.sleep(FALLBACK_SECONDS, signal);
  const namespace = 'calico-system';
  const { items } = await run.client.list('Pod', { namespace, labels: { 'k8s-app': 'calico-node' } }, signal);
  for (const { metadata } of items) {
    const path = `/api/v1/namespaces/${namespace}/pods/${metadata?.name}/log`;
    const query = `container=calico-node&sinceTime=${since.toISOString()}`;
    const log = await run.client.text(`${path}?${query}`, `get pods/log in namespace ${namespace}`, signal);
    if (!log.includes(INLINE_FALLBACK)) continue;
    throw new BenchError(
      'E_CLUSTER_REFUSED',
      `${metadata?.name} cannot do the mode Inline and uses DelayDeniedPacket`,
      {
        fix: 'Inline needs a newer kernel on the nodes. Omit the mode.',
      },
    );
  }
}

/** @throws BenchError `E_CLUSTER_REFUSED` if the cluster does not have it */
export async function readNode(api: ClusterApi): Promise<unknown> {
  const daemonSet = await read(api, CALICO_PATHS.node);
  if (daemonSet !== null) return daemonSet;
  throw new BenchError(
    'E_CLUSTER_REFUSED',
    '--calico-node-cpu: the DaemonSet calico-node in calico-system is missing',
    { fix: "It is that of Calico's operator: see `kubectl get tigerastatus`." },
  );
}

/** Until calico-node runs with this CPU limit, empty for none, on all nodes. */
async function waitForNode(request: SettingsRequest, limit: string): Promise<void> {
  await waitUntil(request, ROLLOUT_SECONDS, async () => nodeProblem(await readNode(request.api), limit));
}

interface OpenSettings extends ClusterSettings {
  /** What calico-node ran with before its limit was changed; null if it was not. */
  limitBefore(): string | null;
}

function settingsOf(request: SettingsRequest, session: ChangeSession): OpenSettings {
  const { api, run } = request;
  let current: { readonly number: number } | null = null;
  let limitBefore: string | null = null;
  /** Replaces the change before: the journal always leads back to what the cluster had at first. */
  const replace = async (plan: () => Promise<PlannedEdit | null>) => {
    if (current !== null) await session.revert(current.number);
    current = null;
    const edit = await plan();
    if (edit !== null) current = { number: await session.apply(edit) };
  };
  return {
    signal: session.signal,
    limitBefore: () => limitBefore,
    async setMode(mode) {
      const since = run.client.clock.now();
      await replace(async () => {
        const { felix, installation } = await readCalico(api);
        return modeChange(felix, installation, mode);
      });
      const { felix, installation } = await readCalico(api);
      if (modeChange(felix, installation, mode) !== null) {
        throw new BenchError(
          'E_CLUSTER_REFUSED',
          `FelixConfiguration default did not keep the mode ${mode}`,
          {
            fix: 'Something else writes it: look for an operator or a GitOps tool.',
          },
        );
      }
      if (mode === 'Inline') await demandInline(request, since);
    },
    async setNodeCpuLimit(limit) {
      const { installation } = await readCalico(api);
      const edit = cpuLimitChange(installation, limit);
      if (edit === null) return;
      limitBefore ??= runningCpuLimit(await readNode(api));
      await session.apply(edit);
      const wanted = nodeCpuLimit((await readCalico(api)).installation);
      request.say(`CPU limit of calico-node: ${wanted === '' ? 'none' : wanted}`);
      await waitForNode(request, wanted);
    },
  };
}

/** Puts everything back and verifies it. Resolves with what somebody else has changed meanwhile. */
async function putBack(
  request: SettingsRequest,
  session: ChangeSession,
  limitBefore: string | null,
): Promise<string[]> {
  const superseded = await session.revertAll();
  const awake = { ...request, signal: session.signal };
  await waitUntil(awake, ROLLOUT_SECONDS, async () => (await session.unsettled())[0] ?? null);
  // Where somebody else has changed it meanwhile, nobody knows which limit to wait for.
  if (limitBefore !== null && superseded.length === 0) await waitForNode(awake, limitBefore);
  await session.close();
  return superseded.map(
    (change) => `${describeChange(change)} (${change.found ?? 'changed by somebody else'})`,
  );
}

export interface SettingsResult<T> {
  readonly result: T;
  /** What somebody else has changed meanwhile, and was left. */
  readonly superseded: readonly string[];
}

/** The guard in the cluster has taken over: the namespace must stay until it has finished. */
export class LeftToGuard extends Error {
  override readonly name = 'LeftToGuard';
  /** Why the run ended before, in words; null if it did not. */
  readonly endedBy: string | null;

  /** @param failure Of putting back. */
  constructor(failure: unknown, endedBy: string | null) {
    const why = isLost(failure) ? '' : `: ${messageOf(failure)}`;
    super(`the guard in the cluster puts everything back${why}`, { cause: failure });
    this.endedBy = endedBy;
  }
}

/**
 * Calls `use` with the guard in place, and puts everything back, whatever happens.
 * @param paths Of the objects that may be changed.
 * @throws LeftToGuard if this process has lost the cluster
 */
export async function withClusterSettings<T>(
  request: SettingsRequest,
  paths: readonly string[],
  use: (settings: ClusterSettings) => Promise<T>,
): Promise<SettingsResult<T>> {
  const { run, api, apiUntil, image, leaseNamespace, leaseSeconds, signal, force, say } = request;
  const { world, runId, namespace } = run;
  const holder = `${world.machine.hostname}/${world.processes.ownPid}/${runId}`;
  const session = await openSession({
    apiUntil,
    force,
    clock: world.clock,
    leaseNamespace,
    leaseSeconds,
    runId,
    experiment: 'lookup',
    namespace,
    holder,
    labels: { ...managedLabels, ...runLabels(runId) },
    onEvent: ({ state, text }) => say(`${state}: ${text}`),
  });
  const settings = settingsOf(request, session);
  try {
    await deployGuard({ run, api, image, leaseNamespace, holder, token: runId, paths, signal });
  } catch (error) {
    // Nothing is changed yet, and nobody else would close it.
    await session.close().catch((closing: unknown) => say(`Note: ${messageOf(closing)}`));
    throw error;
  }
  let outcome: { readonly result: T } | { readonly error: unknown };
  try {
    outcome = { result: await use(settings) };
  } catch (error) {
    outcome = { error };
  }
  let superseded: string[];
  try {
    superseded = await putBack(request, session, settings.limitBefore());
  } catch (cause) {
    session.abandon();
    throw new LeftToGuard(cause, 'error' in outcome ? messageOf(outcome.error) : null);
  }
  if ('error' in outcome) throw outcome.error;
  return { ...outcome, superseded };
}
