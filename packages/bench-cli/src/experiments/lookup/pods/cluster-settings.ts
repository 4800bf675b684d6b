/** The settings of Calico Enterprise that a run changes: the DNS policy mode, and the CPU limit of calico-node. */
import type { PlannedEdit } from '../../../cluster-changes/change.ts';
import { type ClusterApi, read } from '../../../cluster-changes/cluster-api.ts';
import type { Guarded } from '../../../cluster-changes/guarded.ts';
import { waitUntil } from '../../../cluster-changes/wait-until.ts';
import { BenchError, clusterRefuses } from '../../../errors.ts';
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
import type { LookupPods } from './objects.ts';

/** Requests of `api` end with the second Ctrl-C. */
type SettingsRequest = Pick<LookupPods, 'run' | 'api' | 'signal' | 'say'> & { readonly guarded: Guarded };

export interface ClusterSettings {
  /** Sets the mode and reads it back. */
  setMode(mode: PolicyMode): Promise<void>;
  /** Sets the limit and waits until calico-node runs with it. */
  setNodeCpuLimit(limit: string): Promise<void>;
}

/** tiger-bench waits as long for calico-node. */
export const ROLLOUT_SECONDS = 600;
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

const awaitCalico = (
  { run, signal }: SettingsRequest,
  seconds: number,
  problem: () => Promise<string | null>,
) =>
  waitUntil({
    ...{ clock: run.client.clock, pollSeconds: POLL_SECONDS, seconds, signal, problem },
    late: (reason) =>
      new BenchError('E_POD_TIMEOUT', `${reason}, for ${seconds} seconds`, {
        fix: 'Look at the pods of calico-system and tigera-operator. Everything is put back.',
      }),
  });

async function statusProblem(api: ClusterApi): Promise<string | null> {
  for (const name of ['apiserver', 'calico']) {
    const status = await read(api, `/apis/operator.tigera.io/v1/tigerastatuses/${name}`);
    if (!isAvailable(status)) return `TigeraStatus ${name} is not Available`;
  }
  return null;
}

/**
 * Inline needs a kernel that can do it: otherwise Felix says so in its log, and uses another mode.
 * @param since When the mode was set, in seconds of the monotonic clock; null if it was set before, and so is what the log says. A
 *   moment by the clock of this machine says little to a node.
 */
async function demandInline(request: SettingsRequest, since: number | null): Promise<void> {
  const { api, run, signal } = request;
  const { clock } = run.client;
  await awaitCalico(request, AVAILABLE_SECONDS, () => statusProblem(api));
  await clock.sleep(FALLBACK_SECONDS, signal);
  const namespace = 'calico-system';
  const { items } = await run.client.list('Pod', { namespace, labels: { 'k8s-app': 'calico-node' } }, signal);
  for (const { metadata } of items) {
    const path = `/api/v1/namespaces/${namespace}/pods/${metadata?.name}/log`;
    const recent = since === null ? '' : `&sinceSeconds=${Math.ceil(clock.monotonicSeconds() - since) + 1}`;
    const query = `container=calico-node${recent}`;
    const log = await run.client.text(`${path}?${query}`, `get pods/log in namespace ${namespace}`, signal);
    if (!log.includes(INLINE_FALLBACK)) continue;
    throw clusterRefuses(
      `${metadata?.name} cannot do the mode Inline and uses DelayDeniedPacket`,
      'Inline needs a newer kernel on the nodes. Omit the mode.',
    );
  }
}

/** @throws BenchError `E_CLUSTER_REFUSED` if the cluster does not have it */
export async function readNode(api: ClusterApi): Promise<unknown> {
  const daemonSet = await read(api, CALICO_PATHS.node);
  if (daemonSet !== null) return daemonSet;
  throw clusterRefuses(
    '--calico-node-cpu: the DaemonSet calico-node in calico-system is missing',
    "It is that of Calico's operator: see `kubectl get tigerastatus`.",
  );
}

export function clusterSettings(request: SettingsRequest): ClusterSettings {
  const { api, run, guarded } = request;
  const { session } = guarded;
  let current: { readonly number: number } | null = null;
  /**
   * Replaces the change before: the journal always leads back to what the cluster had at first. Resolves with whether there was
   * anything to change.
   */
  const replace = async (plan: () => Promise<PlannedEdit | null>) => {
    if (current !== null) await session.revert(current.number);
    current = null;
    const edit = await plan();
    if (edit !== null) current = { number: await session.apply(edit) };
    return edit !== null;
  };
  return {
    async setMode(mode) {
      const since = run.client.clock.monotonicSeconds();
      const isChanged = await replace(async () => {
        const { felix, installation } = await readCalico(api);
        return modeChange(felix, installation, mode);
      });
      const { felix, installation } = await readCalico(api);
      if (modeChange(felix, installation, mode) !== null) {
        throw clusterRefuses(
          `FelixConfiguration default did not keep the mode ${mode}`,
          'Something else writes it: look for an operator or a GitOps tool.',
        );
      }
      if (mode === 'Inline') await demandInline(request, isChanged ? since : null);
    },
    async setNodeCpuLimit(limit) {
      const { installation } = await readCalico(api);
      const edit = cpuLimitChange(installation, limit);
      if (edit === null) return;
      const before = runningCpuLimit(await readNode(api));
      guarded.alsoAwait(async () => nodeProblem(await readNode(api), before));
      await session.apply(edit);
      const wanted = nodeCpuLimit((await readCalico(api)).installation);
      request.say(`CPU limit of calico-node: ${wanted === '' ? 'none' : wanted}`);
      await awaitCalico(request, ROLLOUT_SECONDS, async () => nodeProblem(await readNode(api), wanted));
    },
  };
}
