/** A cluster as the place of a lookup run: opened, furnished, measured trial by trial, and left as it was. */
import type { V1Node } from '@kubernetes/client-node';
import { type ClusterApi, create, read } from '../../../cluster-changes/cluster-api.ts';
import { type ChangeableCluster, openChangeable } from '../../../cluster-changes/connected-api.ts';
import { explained } from '../../../cluster-changes/explain.ts';
import { openGuardedCluster } from '../../../cluster-changes/guarded.ts';
import type { KubernetesSettings } from '../../../config/kubernetes-settings.ts';
import type { Measuring, Opened } from '../../../engine/experiment.ts';
import { describeEnvironment } from '../../../environment/describe.ts';
import { clusterRefuses } from '../../../errors.ts';
import type { KubeClient } from '../../../kubernetes-api/client.ts';
import { candidateNodes, machineWarnings } from '../../../targets/kubernetes/cluster-facts.ts';
import type { ClusterRun } from '../../../targets/kubernetes/cluster-run.ts';
import { imagesOf } from '../../../targets/kubernetes/images.ts';
import { type Permission, permissions } from '../../../targets/kubernetes/permissions.ts';
import type { ClusterDetails } from '../../../tiger-bench/results-file.ts';
import type { World } from '../../../world.ts';
import type { LookupEvidence } from '../evidence.ts';
import { type LookupRequest, type Measure, measuring } from '../place.ts';
import {
  asksNothingBefore,
  conditionsOfSettings,
  type LookupSettings,
  policyKind,
  trialSeconds,
} from '../settings.ts';
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
import type { LookupPods } from './objects.ts';
import { uploadForPods } from './programs.ts';
import { evidenceOfPods, type PodsRequest, sampleInPods, sampleOneByOne } from './sample-in-pods.ts';
import { createPolicies, deployPods, standingServices } from './standing.ts';
import { withStress } from './stress.ts';

/** The cluster before anything is created. */
interface Connected extends LookupRequest, ChangeableCluster {
  readonly say: (text: string) => void;
}

/** The cluster as it was found. */
interface Found {
  readonly nodes: readonly V1Node[];
  /** Names of the nodes that get a sampler pod. */
  readonly samplers: readonly string[];
  readonly details: ClusterDetails;
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

/** Everything that the cluster may lack, before anything is created. */
async function preflight(request: Connected): Promise<Found> {
  const { settings, decided, signal, client, api } = request;
  const { policyModes: modes = [], calicoNodeCpu } = settings;
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
  return describe(decided.kubernetes, client, api, signal);
}

async function demandCilium(api: ClusterApi): Promise<void> {
  if ((await read(api, '/apis/cilium.io/v2')) !== null) return;
  throw clusterRefuses(
    'the cluster has no Cilium: the API group cilium.io/v2 is missing',
    'toFQDNs policies are a feature of Cilium; --policy calico works with Calico Enterprise, --simulate-policy without any.',
  );
}

async function describe(
  { loaderNode, loaderTolerations }: KubernetesSettings,
  client: KubeClient,
  api: ClusterApi,
  signal: AbortSignal,
): Promise<Found> {
  const { items: nodes } = await client.list('Node', {}, signal);
  const samplers = candidateNodes(nodes, loaderNode, loaderTolerations).map(
    ({ metadata }) => metadata?.name ?? '',
  );
  return { nodes, samplers, details: await readClusterDetails(api, nodes, samplers) };
}

/** Everything around the sampler pods. */
async function furnish({ settings, decided }: Connected, pods: LookupPods): Promise<void> {
  const { runId, namespace } = pods.run;
  pods.say('deploying the web pods');
  await deployPods(pods, settings);
  await createPolicies(pods, settings);
  const policy = policyKind(settings);
  if (policy === null) return;
  const domains = policyDomains(decided.url.href, settings.domains, runId);
  const { path, object } = dnsPolicy(policy, { runId, namespace, domains });
  await create(pods.api, path, object);
}

/** From the first pods on: what all trials need stands, and the page was reached. */
async function furnished(
  request: Connected,
  run: ClusterRun,
  changes: ClusterSettings | null,
  nodes: readonly string[],
): Promise<Measure> {
  const { settings, decided, signal, say, api } = request;
  const { url, paceSeconds } = decided;
  const { capture, stress, podPerSample, calicoNodeCpu } = settings;
  if (calicoNodeCpu !== undefined) await changes?.setNodeCpuLimit(calicoNodeCpu);
  const pods: LookupPods = { run, api, signal, say, programs: await uploadForPods(run, signal) };
  await furnish(request, pods);
  const scaleTo = standingServices(pods);
  const hasPolicy = policyKind(settings) !== null;
  const isCold = asksNothingBefore(settings);
  const sampling = { ...pods, nodes, paceSeconds, url: url.href };
  /** Pods that only look whether they could begin: one sample, and no capture. */
  const check = (unit: string, what: Pick<PodsRequest, 'readyUrl' | 'before' | 'hasPolicy'>) =>
    sampleInPods({ ...sampling, ...what, unit, client: 'curl', seconds: 0, capture: false });
  say(`looking whether pods reach ${url.href}`);
  await check('check', { readyUrl: null, before: 'check', hasPolicy });
  return async ({ policy, client, services: count }, { order }, seconds) => {
    if (policy !== null) await changes?.setMode(policy);
    const readyUrl = await scaleTo(count);
    const unit = `trial-${order}`;
    // The policy would neither let a pod wait for a Service, nor may it see a packet before the first sample.
    if (isCold && readyUrl !== null) {
      await check(`${unit}-ready`, { readyUrl, before: 'nothing', hasPolicy: false });
    }
    const before: Pick<PodsRequest, 'readyUrl' | 'before'> = isCold
      ? { readyUrl: null, before: 'nothing' }
      : { readyUrl, before: 'warm' };
    const asked = { ...sampling, ...before, unit, client, capture, hasPolicy, seconds };
    const sample = async () =>
      podPerSample ? sampleOneByOne(asked) : { pods: await sampleInPods(asked), seconds };
    return evidenceOfPods(await (stress ? withStress(pods, sample) : sample()), isCold);
  };
}

/** The cluster of these settings as tiger-bench describes it. */
export async function detailsOfCluster(world: World, settings: KubernetesSettings): Promise<ClusterDetails> {
  const { signal } = new AbortController();
  const { client, api } = await openChangeable(world, settings.context, signal);
  return (await describe(settings, client, api, signal)).details;
}

/**
 * The cluster, ready to be measured. When it is closed, everything is as before; if this process loses the cluster, the guard does
 * that, and the namespace of the run goes with it.
 */
export async function openPods(request: LookupRequest): Promise<Opened<Measuring<LookupEvidence>>> {
  const { world, decided, force, display } = request;
  // Not ended by Ctrl-C, after which everything is put back.
  const cluster = await openChangeable(world, decided.kubernetes.context, force);
  const say = (text: string) => display.line(`  ${text}`);
  return await explained(() => openFound({ ...request, ...cluster, say }));
}

async function openFound(request: Connected): Promise<Opened<Measuring<LookupEvidence>>> {
  const { world, runId, settings, decided, signal, force, client, apiUntil, api, display, say } = request;
  const { nodes, samplers, details } = await preflight(request);
  const { leaseNamespace, lease: leaseSeconds } = settings;
  const { opened, guarded, ...held } = await openGuardedCluster({
    ...{ world, runId, signal, force, display, client, apiUntil, leaseNamespace, leaseSeconds },
    ...{ paths: changedPaths(settings), rights: [], role: 'k8s/rbac-lookup.yaml' },
    settings: { ...decided.kubernetes, observe: 'none' },
    // In that of the built-in loader is everything that a sampler pod needs.
    images: imagesOf(decided.kubernetes, 'builtin'),
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
  const measure = await furnished({ ...request, signal: until }, run, changes, samplers);
  const environment = await describeEnvironment(world);
  const closing = made.move();
  return {
    context: measuring(request, (...asked) => explained(() => measure(...asked))),
    ...(guarded === null ? {} : { lost: guarded.session.signal }),
    environment: { ...environment, cluster },
    programs: [],
    provisioned: [],
    conditions: { ...conditionsOfSettings(settings), ...conditionsOfDetails(details) },
    warnings:
      nodes.length > 1
        ? machineWarnings(nodes)
        : ['The sampler pod and the web pods share the only node, and compete for its CPU.'],
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}
