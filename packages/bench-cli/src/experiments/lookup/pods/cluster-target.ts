/** A cluster as the place of a lookup run: opened, furnished, measured trial by trial, and left as it was. */

import { type ChangeableCluster, openChangeable } from '../../../cluster-changes/changeable.ts';
import { type ClusterApi, create, read } from '../../../cluster-changes/cluster-api.ts';
import { explained } from '../../../cluster-changes/explain.ts';
import { openGuardedCluster } from '../../../cluster-changes/guarded.ts';
import type { KubernetesSettings } from '../../../config/kubernetes-settings.ts';
import type { Opened, OpenRequest } from '../../../engine/experiment.ts';
import { describeEnvironment } from '../../../environment/describe.ts';
import { BenchError } from '../../../errors.ts';
import type { KubeClient } from '../../../kubernetes-api/client.ts';
import { candidateNodes, machineWarnings } from '../../../targets/kubernetes/cluster-facts.ts';
import type { ClusterRun } from '../../../targets/kubernetes/cluster-run.ts';
import { type Permission, permissions } from '../../../targets/kubernetes/permissions.ts';
import type { ClusterDetails } from '../../../tiger-bench/results-file.ts';
import { BENCH_VERSION } from '../../../version.ts';
import type { World } from '../../../world.ts';
import type { LookupEvidence } from '../evidence.ts';
import type { DecidedLookup } from '../plan.ts';
import {
  asksNothingBefore,
  conditionsOfSettings,
  type LookupSettings,
  policyKind,
  trialSeconds,
} from '../settings.ts';
import type { LookupSubject } from '../subjects.ts';
import { CALICO_PATHS, demandVersion, modeChange } from './calico.ts';
import { conditionsOfDetails, readClusterDetails } from './cluster-details.ts';
import {
  type ClusterSettings,
  clusterSettings,
  ROLLOUT_SECONDS,
  readCalico,
  readNode,
} from './cluster-settings.ts';
import { dnsPolicy, policyDomains } from './dns-policy.ts';
import { evidenceOfPods } from './merge-pods.ts';
import { uploadForPods } from './programs.ts';
import { type PodsRequest, sampleInPods, sampleOneByOne } from './sample-in-pods.ts';
import { createPolicies, deployPods, standingServices } from './standing.ts';
import { withStress } from './stress.ts';

/** What the trials of a run on a cluster share. */
export interface ClusterContext {
  readonly decided: DecidedLookup;
  readonly settings: LookupSettings;
  measure(subject: LookupSubject, order: number, seconds: number): Promise<LookupEvidence>;
}

type Request = OpenRequest<LookupSettings, DecidedLookup>;

/** The cluster before anything is created. */
interface Connected extends Request, ChangeableCluster {
  readonly image: string;
  readonly say: (text: string) => void;
}

/** Beside the permissions of every run; k8s/rbac-lookup.yaml grants them. */
function permissionsOf(settings: LookupSettings): Permission[] {
  const { stress, standingPolicies, idlePolicies } = settings;
  const own = (group: string, rules: Parameters<typeof permissions>[2]) =>
    permissions('namespace', group, rules);
  const policies = { networkpolicies: ['create'] };
  const kind = policyKind(settings);
  return [
    ...own('', { pods: ['create', 'delete'], services: ['list'] }),
    ...(stress ? own('apps', { 'deployments/scale': ['patch'] }) : []),
    ...(standingPolicies + idlePolicies > 0 ? own('networking.k8s.io', policies) : []),
    ...(kind === 'calico' ? own('projectcalico.org', policies) : []),
    ...(kind === 'cilium' ? own('cilium.io', { ciliumnetworkpolicies: ['create'] }) : []),
  ];
}

/** Objects of the cluster that the run changes. */
function changedPaths({ policyModes, calicoNodeCpu }: LookupSettings): string[] {
  return [
    ...(policyModes === undefined ? [] : [CALICO_PATHS.felix]),
    ...(calicoNodeCpu === undefined ? [] : [CALICO_PATHS.installation]),
  ];
}

/** Everything that the cluster may lack, before anything is created. Resolves with the cluster as tiger-bench describes it. */
async function preflight(request: Connected): Promise<ClusterDetails> {
  const { settings, decided, signal, client, api } = request;
  const { policyModes: modes = [], calicoNodeCpu } = settings;
  const { all, samplers } = await findNodes(decided.kubernetes, client, signal);
  const kind = policyKind(settings);
  if (kind === 'cilium') await demandCilium(api);
  if (kind === 'calico' || calicoNodeCpu !== undefined) {
    const { felix, installation } = await readCalico(api);
    const information = await read(api, CALICO_PATHS.information);
    for (const mode of modes) {
      modeChange(felix, installation, mode);
      demandVersion(information, installation, mode);
    }
    if (calicoNodeCpu !== undefined) await readNode(api);
  }
  return readClusterDetails(api, all, samplers);
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
async function findNodes(
  { loaderNode, loaderTolerations }: KubernetesSettings,
  client: KubeClient,
  signal: AbortSignal,
) {
  const { items } = await client.list('Node', {}, signal);
  const samplers = candidateNodes(items, loaderNode, loaderTolerations);
  return { all: items, samplers: samplers.map(({ metadata }) => metadata?.name ?? '') };
}

/** Everything around the sampler pods. */
async function furnish(request: Connected, run: ClusterRun) {
  const { api, settings, decided, image, signal, say } = request;
  const { webAddress: externalAddress = null, standingPods, domains } = settings;
  const programs = await uploadForPods(run, signal);
  const standing = { run, image, programs, externalAddress, signal, say };
  say('deploying the web pods');
  await deployPods(standing, standingPods);
  await createPolicies(standing, api, settings);
  const policy = policyKind(settings);
  if (policy !== null) {
    const { path, object } = dnsPolicy(policy, {
      runId: run.runId,
      namespace: run.namespace,
      domains: policyDomains(decided.url.href, domains, run.runId),
    });
    await create(api, path, object);
  }
  return { programs, services: standingServices(standing) };
}

/** From the first pods on: what all trials need stands, and the page was reached. */
async function measuring(
  request: Connected,
  run: ClusterRun,
  changes: ClusterSettings | null,
): Promise<ClusterContext['measure']> {
  const { settings, decided, image, signal, say, api } = request;
  const { url, paceSeconds } = decided;
  const { capture, stress, podPerSample, calicoNodeCpu } = settings;
  const { samplers: nodes } = await findNodes(decided.kubernetes, run.client, signal);
  if (calicoNodeCpu !== undefined) await changes?.setNodeCpuLimit(calicoNodeCpu);
  const { programs, services } = await furnish(request, run);
  const hasPolicy = policyKind(settings) !== null;
  const isCold = asksNothingBefore(settings);
  const pods = { run, image, programs, nodes, paceSeconds, signal, url: url.href };
  /** Pods that only look whether they could begin: one sample, and no capture. */
  const check = (unit: string, what: Pick<PodsRequest, 'readyUrl' | 'before' | 'hasPolicy'>) =>
    sampleInPods({ ...pods, ...what, unit, client: 'curl', seconds: 0, capture: false });
  say(`looking whether pods reach ${url.href}`);
  await check('check', { readyUrl: null, before: 'check', hasPolicy });
  return async ({ policy, client, services: count }, order, seconds) => {
    if (policy !== null) await changes?.setMode(policy);
    const readyUrl = await services.scaleTo(count);
    const unit = `trial-${order}`;
    // The policy would neither let a pod wait for a Service, nor may it see a packet before the first sample.
    if (isCold && readyUrl !== null) {
      await check(`${unit}-ready`, { readyUrl, before: 'nothing', hasPolicy: false });
    }
    const before: Pick<PodsRequest, 'readyUrl' | 'before'> = isCold
      ? { readyUrl: null, before: 'nothing' }
      : { readyUrl, before: 'warm' };
    const asked = { ...pods, ...before, unit, client, capture, hasPolicy, seconds };
    const sample = () => (podPerSample ? sampleOneByOne(asked) : sampleInPods(asked));
    if (!stress) return evidenceOfPods(await sample(), seconds, isCold);
    const { result, stress: done } = await withStress({ run, image, api, signal }, sample);
    for (const warning of done.warnings) say(`Note: stress: ${warning}`);
    return evidenceOfPods(result, seconds, isCold);
  };
}

/** The built-in loader's, in which everything is that a sampler pod needs. */
const imageOf = ({ kubernetes }: DecidedLookup) =>
  kubernetes.loaderImage ?? `dinodns-bench/load:${BENCH_VERSION}`;

/** The cluster of these settings as tiger-bench describes it. */
export async function detailsOfCluster(world: World, settings: KubernetesSettings): Promise<ClusterDetails> {
  const { signal } = new AbortController();
  const { client, api } = await openChangeable(world, settings.context, signal);
  const { all, samplers } = await findNodes(settings, client, signal);
  return readClusterDetails(api, all, samplers);
}

/**
 * The cluster, ready to be measured. When it is closed, everything is as before; if this process loses the cluster, the guard does
 * that, and the namespace of the run goes with it.
 */
export async function openPods(request: Request): Promise<Opened<ClusterContext>> {
  const { world, decided, force, display } = request;
  // Not ended by Ctrl-C, after which everything is put back.
  const cluster = await openChangeable(world, decided.kubernetes.context, force);
  const say = (text: string) => display.line(`  ${text}`);
  return await explained(() => openFound({ ...request, ...cluster, image: imageOf(decided), say }));
}

async function openFound(request: Connected): Promise<Opened<ClusterContext>> {
  const { world, runId, settings, decided, signal, force, image, apiUntil, api, display, say } = request;
  const details = await preflight(request);
  const { client } = request;
  const { leaseNamespace, lease: leaseSeconds } = settings;
  const { opened, guarded, ...held } = await openGuardedCluster({
    ...{ world, runId, signal, force, display, client, apiUntil, leaseNamespace, leaseSeconds },
    ...{ paths: changedPaths(settings), rights: [], role: 'k8s/rbac-lookup.yaml' },
    settings: { ...decided.kubernetes, observe: 'none' },
    images: { loader: image, checker: image, companions: image, of: () => image },
    loadSeconds: trialSeconds(settings),
    serverCores: 0,
    loaders: 1,
    podSecurity: settings.capture ? 'privileged' : 'restricted',
    permissions: permissionsOf(settings),
    experiment: 'lookup',
    settleSeconds: ROLLOUT_SECONDS,
  });
  await using made = held.made;
  const { run, cluster } = opened;
  const until = held.signal;
  const changes = guarded === null ? null : clusterSettings({ run, api, guarded, signal: until, say });
  const measure = await measuring({ ...request, signal: until }, run, changes);
  const environment = await describeEnvironment(world);
  const { all } = await findNodes(decided.kubernetes, run.client, signal);
  const closing = made.move();
  return {
    context: {
      decided,
      settings,
      measure: (...asked) => explained(() => measure(...asked)),
    },
    ...(guarded === null ? {} : { lost: guarded.session.signal }),
    environment: { ...environment, cluster },
    programs: [],
    provisioned: [],
    conditions: { ...conditionsOfSettings(settings), ...conditionsOfDetails(details) },
    warnings:
      all.length > 1
        ? machineWarnings(all)
        : ['The sampler pod and the web pods share the only node, and compete for its CPU.'],
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}
