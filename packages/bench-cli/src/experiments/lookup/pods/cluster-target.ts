/** A cluster as the place of a lookup run: opened, furnished, measured trial by trial, and left as it was. */

import { type ClusterApi, create, read } from '../../../cluster-changes/cluster-api.ts';
import { connectedApi } from '../../../cluster-changes/connected-api.ts';
import { explainFailure } from '../../../cluster-changes/explain.ts';
import { sessionRights } from '../../../cluster-changes/guard.ts';
import { demandRights } from '../../../cluster-changes/rights.ts';
import { BenchError } from '../../../errors.ts';
import { createClient, type KubeClient } from '../../../kubernetes-api/client.ts';
import type { Cluster } from '../../../results/record.ts';
import { candidateNodes } from '../../../targets/kubernetes/cluster-facts.ts';
import type { ClusterRun } from '../../../targets/kubernetes/cluster-run.ts';
import { namespaceOf } from '../../../targets/kubernetes/objects/labels.ts';
import { type OpenedCluster, openCluster } from '../../../targets/kubernetes/open-cluster.ts';
import type { Permission } from '../../../targets/kubernetes/permissions.ts';
import type { ClusterDetails } from '../../../tiger-bench/results-file.ts';
import type { World } from '../../../world.ts';
import type { Measured } from '../measure.ts';
import type { Subject } from '../record.ts';
import { readClusterDetails } from '../tiger/cluster-details.ts';
import type { TrialHead } from '../trial.ts';
import { CALICO_PATHS, demandVersion, modeChange } from './calico.ts';
import type { ClusterOptions } from './cluster-options.ts';
import {
  type ClusterSettings,
  LeftToGuard,
  readCalico,
  readNode,
  withClusterSettings,
} from './cluster-settings.ts';
import { dnsPolicy, policyDomains } from './dns-policy.ts';
import { measuredOf } from './merge-pods.ts';
import { uploadPrograms } from './programs.ts';
import { type PodsRequest, sampleInPods, sampleOneByOne } from './sample-in-pods.ts';
import { createPolicies, deployStanding, deployWeb, standingServices } from './standing.ts';
import { withStress } from './stress.ts';

export interface ClusterRequest {
  readonly world: World;
  readonly runId: string;
  readonly options: ClusterOptions;
  readonly signal: AbortSignal;
  readonly force: AbortSignal;
  readonly say: (text: string) => void;
  /** Gets the cluster as tiger-bench describes it, before anything is created; may refuse it by throwing. */
  readonly onDetails?: (details: ClusterDetails) => void;
}

export interface ClusterPlace {
  readonly cluster: Cluster;
  /** Names of the nodes with a sampler pod. */
  readonly nodes: readonly string[];
  readonly warnings: readonly string[];
  measure(subject: Subject, head: Omit<TrialHead, 'startedAt'>): Promise<Measured>;
}

/** Beside the permissions of every run; k8s/rbac-lookup.yaml grants them. */
const PERMISSIONS: readonly Permission[] = [
  { verb: 'create', group: '', resource: 'pods', scope: 'namespace' },
  { verb: 'delete', group: '', resource: 'pods', scope: 'namespace' },
  { verb: 'list', group: '', resource: 'services', scope: 'namespace' },
];
const STRESS_PERMISSION: Permission = {
  verb: 'patch',
  group: 'apps',
  resource: 'deployments/scale',
  scope: 'namespace',
};
const POLICY_PERMISSION: Permission = {
  verb: 'create',
  group: 'networking.k8s.io',
  resource: 'networkpolicies',
  scope: 'namespace',
};

function permissionsOf({ stress, policies, policy }: ClusterOptions): Permission[] {
  const dns: Record<string, Permission> = {
    calico: { ...POLICY_PERMISSION, group: 'projectcalico.org' },
    cilium: { ...POLICY_PERMISSION, group: 'cilium.io', resource: 'ciliumnetworkpolicies' },
  };
  const own = policy === null ? undefined : dns[policy];
  return [
    ...PERMISSIONS,
    ...(stress ? [STRESS_PERMISSION] : []),
    ...(policies.active + policies.idle > 0 ? [POLICY_PERMISSION] : []),
    ...(own === undefined ? [] : [own]),
  ];
}

/** Objects of the cluster that the run changes. */
function changedPaths({ modes, nodeCpuLimit }: ClusterOptions): string[] {
  return [
    ...(modes.length > 0 ? [CALICO_PATHS.felix] : []),
    ...(nodeCpuLimit === null ? [] : [CALICO_PATHS.installation]),
  ];
}

/** Everything that the cluster may lack, before anything is created. */
async function preflight(request: ClusterRequest, client: KubeClient, api: ClusterApi): Promise<void> {
  const { runId, options, signal, onDetails } = request;
  const { policy, modes, nodeCpuLimit, leaseNamespace, kubernetes } = options;
  const { all, samplers } = await findNodes(request, client);
  onDetails?.(await readClusterDetails(api, all, samplers));
  if (policy === 'cilium') await demandCilium(api);
  if (policy === 'calico' || modes.length > 0 || nodeCpuLimit !== null) {
    const { felix, installation } = await readCalico(api);
    const information = await read(api, CALICO_PATHS.information);
    for (const mode of modes) {
      modeChange(felix, installation, mode);
      demandVersion(information, installation, mode);
    }
    if (nodeCpuLimit !== null) await readNode(api);
  }
  const paths = changedPaths(options);
  if (paths.length === 0) return;
  const namespace = namespaceOf(kubernetes.namespacePrefix, runId);
  await demandRights(client, sessionRights(paths, leaseNamespace, namespace), 'k8s/rbac-lookup.yaml', signal);
}

async function demandCilium(api: ClusterApi): Promise<void> {
  if ((await read(api, '/apis/cilium.io/v2')) !== null) return;
  throw new BenchError(
    'E_CLUSTER_REFUSED',
    'the cluster has no Cilium: the API group cilium.io/v2 is missing',
    {
      fix: 'toFQDNs policies are a feature of Cilium; --policy calico works with Calico Enterprise, --simulate-policy without any.',
    },
  );
}

/** All nodes, and the names of those that get a sampler pod. */
async function findNodes({ options, signal }: ClusterRequest, client: KubeClient) {
  const { loaderNode, loaderTolerations } = options.kubernetes;
  const { items } = await client.list('Node', {}, signal);
  const samplers = candidateNodes(items, loaderNode, loaderTolerations);
  return { all: items, samplers: samplers.map(({ metadata }) => metadata?.name ?? '') };
}

/** Everything around the sampler pods. */
async function furnish(request: ClusterRequest, run: ClusterRun, api: ClusterApi) {
  const { options, signal, say } = request;
  const { image, webAddress: externalAddress, policy, policies, standingPods, domains, url } = options;
  const programs = await uploadPrograms(run, signal);
  const standing = { run, image, programs, externalAddress, signal, say };
  say('deploying the web pods');
  await deployWeb(standing);
  await deployStanding(standing, standingPods);
  await createPolicies(standing, api, policies);
  if (policy !== null) {
    const { path, object } = dnsPolicy(policy, {
      runId: run.runId,
      namespace: run.namespace,
      domains: policyDomains(url.href, domains, run.runId),
    });
    await create(api, path, object);
  }
  return { programs, services: standingServices(standing) };
}

async function placeOf(
  request: ClusterRequest,
  { run, cluster }: OpenedCluster,
  api: ClusterApi,
  settings: ClusterSettings | null,
): Promise<ClusterPlace> {
  const { options, say } = request;
  const signal = settings === null ? request.signal : AbortSignal.any([request.signal, settings.signal]);
  const { image, url, paceSeconds, capture, stress, podPerSample, policy, nodeCpuLimit } = options;
  const { all, samplers: nodes } = await findNodes(request, run.client);
  if (nodeCpuLimit !== null) await settings?.setNodeCpuLimit(nodeCpuLimit);
  const { programs, services } = await furnish({ ...request, signal }, run, api);
  const hasPolicy = policy !== null;
  const pods = { run, image, programs, nodes, paceSeconds, signal, url: url.href };
  /** Pods that only look whether they could begin: one sample, and no capture. */
  const check = (unit: string, what: Pick<PodsRequest, 'readyUrl' | 'before' | 'hasPolicy'>) =>
    sampleInPods({ ...pods, ...what, unit, client: 'curl', seconds: 0, capture: false });
  say(`looking whether pods reach ${url.href}`);
  await check('check', { readyUrl: null, before: 'check', hasPolicy });
  return {
    cluster,
    nodes,
    warnings:
      all.length > 1
        ? []
        : ['The sampler pod and the web pods share the only node, and compete for its CPU.'],
    async measure(subject, head) {
      if (subject.policy !== null) await settings?.setMode(subject.policy);
      const readyUrl = await services.scaleTo(Number(subject.conditions.services ?? 0));
      const unit = `trial-${head.order}`;
      // The policy would neither let a pod wait for a Service, nor may it see a packet before the first sample.
      const isCold = hasPolicy || podPerSample;
      if (isCold && readyUrl !== null) {
        await check(`${unit}-ready`, { readyUrl, before: 'nothing', hasPolicy: false });
      }
      const startedAt = run.client.clock.now().toISOString();
      const common = { ...pods, client: subject.client, capture, hasPolicy };
      const sample = () =>
        podPerSample
          ? sampleOneByOne({ ...common, unit, readyUrl: null, before: 'nothing', seconds: head.seconds })
          : sampleInPods({
              ...{ ...common, unit, seconds: head.seconds },
              ...(isCold ? { readyUrl: null, before: 'nothing' } : { readyUrl, before: 'warm' }),
            });
      if (!stress) return measuredOf({ ...head, startedAt }, await sample(), isCold);
      const { result, stress: done } = await withStress({ run, image, api, signal }, sample);
      for (const warning of done.warnings) say(`Note: stress: ${warning}`);
      return measuredOf({ ...head, startedAt }, result, isCold);
    },
  };
}

/** Names first what ended the run: without that nobody would know why anything had to be put back. */
export function leftToGuard(cause: LeftToGuard): BenchError {
  const { endedBy, message } = cause;
  return new BenchError('E_LEASE_LOST', endedBy === null ? message : `${endedBy}; ${message}`, {
    fix: '`bench swap status` shows how far it is, and `bench swap restore` does the same at once.',
    cause,
  });
}

/**
 * Calls `use` with the cluster ready to be measured; before this resolves or rejects, everything is as before. If this process
 * loses the cluster, the guard does that, and the namespace of the run goes with it.
 */
export async function inCluster<T>(
  request: ClusterRequest,
  use: (place: ClusterPlace) => Promise<T>,
): Promise<T> {
  const { world, runId, options, signal, force, say } = request;
  const { kubernetes, capture, image, leaseNamespace, leaseSeconds } = options;
  const { connect } = await import('../../../kubernetes-api/connect.ts');
  const connection = await connect(world, kubernetes.context);
  const { clock } = world;
  // Not ended by Ctrl-C, after which everything is put back.
  const apiUntil = (until: AbortSignal) => connectedApi({ connection, clock, signal: until });
  const api = apiUntil(force);
  await preflight(request, createClient(connection, { clock }), api);
  const opened = await openCluster({
    world,
    runId,
    settings: { ...kubernetes, observe: 'none' },
    images: { loader: image, checker: image, companions: image, of: () => image },
    loadSeconds: options.trialSeconds,
    serverCores: 0,
    loaders: 1,
    podSecurity: capture ? 'privileged' : 'restricted',
    permissions: permissionsOf(options),
    signal,
    force,
  });
  let isGuarded = false;
  try {
    const paths = changedPaths(options);
    if (paths.length === 0) return await use(await placeOf(request, opened, api, null));
    const { run } = opened;
    const changes = { run, api, apiUntil, image, leaseNamespace, leaseSeconds, signal, force, say };
    const { result, superseded } = await withClusterSettings(changes, paths, async (settings) =>
      use(await placeOf(request, opened, api, settings)),
    );
    for (const change of superseded) say(`Note: left as it was found: ${change}`);
    return result;
  } catch (error) {
    if (!(error instanceof LeftToGuard)) throw explainFailure(error);
    isGuarded = true;
    throw leftToGuard(error);
  } finally {
    if (!isGuarded) await opened.close();
  }
}
