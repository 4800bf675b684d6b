/** Servers as pods of a cluster, behind a Service of their own. */

import type { ZoneSet } from '@dinodns-bench/zones';
import type { V1Pod } from '@kubernetes/client-node';
import { type Certificates, makeCertificates } from '../../certificates/certificates.ts';
import type { DnsQuery } from '../../dns/client.ts';
import { BenchError } from '../../errors.ts';
import { once } from '../../process.ts';
import { isEncrypted } from '../../results/record.ts';
import { readinessQueriesOf } from '../../servers/server.ts';
import type { Deployment, DeployRequest, Target } from '../target.ts';
import type { ClusterRun } from './cluster-run.ts';
import { deploymentOf } from './deployment.ts';
import { adoptService } from './existing-service.ts';
import { trustOf } from './objects/encryption.ts';
import { POD_PORT, portOn, type ServerObjects, serverObjects } from './objects/server.ts';
import { removeServer, startDeployment } from './wait-for-pods.ts';

export interface KubernetesTargetOptions {
  readonly run: ClusterRun;
  readonly readinessQueries: (zoneSet: ZoneSet) => readonly DnsQuery[];
  /** Aborted by the second Ctrl-C: stop waiting for pods to end. */
  readonly force: AbortSignal;
}

interface DeployOptions extends KubernetesTargetOptions {
  /** The certificate of the run's servers, made for the first that needs it. */
  readonly certificates: () => Certificates;
}

/**
 * `--workers node`: the cores of the node that the instance will run on, whichever that is; null if that is not asked for.
 * @throws BenchError `E_CONFIG` if the nodes differ
 */
export function coresOfServerNode({
  nodeCpus,
  settings,
}: Pick<ClusterRun, 'nodeCpus'> & { readonly settings: Pick<ClusterRun['settings'], 'workers'> }):
  | number
  | null {
  if (settings.workers !== 'node') return null;
  const [cores = null, ...others] = new Set(nodeCpus.values());
  if (others.length === 0) return cores;
  const nodes = [...nodeCpus].map(([node, cpus]) => `${node} has ${cpus}`);
  throw new BenchError(
    'E_CONFIG',
    '--workers node: a server gets as many workers as its node has cores, and the nodes for servers differ',
    { evidence: nodes, fix: 'Choose nodes that are alike, or one of them: --server-node.' },
  );
}

/** Creates what the pods need; resolves with where the Service is reached. */
async function createService(
  run: ClusterRun,
  objects: ServerObjects,
  path: string,
  signal: AbortSignal,
): Promise<string> {
  await run.client.create('ConfigMap', objects.configMap, signal);
  const service = await run.client.create('Service', objects.service, signal);
  if (path === 'headless') return `${objects.name}.${run.namespace}.svc`;
  const address = service.spec?.clusterIP;
  if (address === undefined || address === '' || address === 'None') {
    throw new BenchError('E_CLUSTER_REFUSED', `the Service ${objects.name} got no cluster address`, {
      fix: 'See its events: `kubectl get events`.',
    });
  }
  return address;
}

/** Where the loader sends; a path without a load balancer leads to one pod (see `cross-checks.ts`). */
function endpointOf(path: string, service: string, pods: readonly V1Pod[]) {
  return { address: path === 'pod' ? (pods[0]?.status?.podIP ?? '') : service, port: portOn(path) };
}

export async function deployServer(
  { run, readinessQueries, force, certificates: make }: DeployOptions,
  request: DeployRequest,
  unit: string,
): Promise<Deployment> {
  const { namespace, settings, images } = run;
  const { server, zoneSet, mode, transport, allowances, signal } = request;
  const certificates = isEncrypted(transport) ? make() : null;
  const path = server.path ?? settings.path;
  const objects = serverObjects({
    ...run,
    ...request,
    ...{ unit, certificates },
    image: images.of(server),
    companionImage: images.companions,
    coresOfNode: mode === 'multi' ? coresOfServerNode(run) : null,
  });
  const [readiness] = readinessQueriesOf(objects.plan, readinessQueries(zoneSet));
  if (readiness === undefined) throw new Error('a zone set without a record');
  const kinds = ['Deployment', 'Service', 'ConfigMap'] as const;
  const deleteNow = () => removeServer(run, { ...objects, kinds, what: server.name, force });
  // --keep keeps the last server; earlier ones would compete with the next one for CPU.
  const remove = settings.keep
    ? async () => {
        run.kept.push(deleteNow);
      }
    : deleteNow;
  let pods: readonly V1Pod[];
  let address: string;
  try {
    address = await createService(run, objects, path, signal);
    pods = await startDeployment(run, objects.deployment, server.name, signal);
  } catch (error) {
    // Report the first failure; `close` removes the namespace anyway.
    if (!settings.keep) await remove().catch(() => undefined);
    throw error;
  }
  return deploymentOf({
    run,
    request,
    namespace,
    pods,
    labels: objects.labels,
    service: {
      ...endpointOf(path, address, pods),
      instances: allowances.length,
      ...(certificates === null ? {} : { trust: trustOf(certificates) }),
    },
    podPort: POD_PORT,
    command: objects.plan.command,
    workers: objects.plan.workers,
    files: objects.files,
    readiness,
    remove,
    ownsPods: true,
  });
}

/**
 * Warnings about where the pods of the run were placed.
 * @param trialLoaders The nodes of the loaders of a trial.
 */
export function placementWarnings(
  { placement, loaderNodes }: Pick<ClusterRun, 'placement' | 'loaderNodes'>,
  trialLoaders: readonly string[],
): string[] {
  const warnings: string[] = [];
  const shared = [...placement.servers].filter((node) => placement.loaders.has(node));
  if (shared.length > 0) {
    warnings.push(
      `servers and the loader shared node ${shared.join(', ')} and competed for CPU: give each its own node with --server-node and --loader-node`,
    );
  }
  const crowded = trialLoaders.filter((node, index) => trialLoaders.indexOf(node) !== index);
  if (crowded.length > 0 && loaderNodes.length > 1) {
    warnings.push(
      `loaders of a trial shared node ${[...new Set(crowded)].sort().join(', ')} and competed for CPU, though ${loaderNodes.length} nodes take loaders: give each its own with fewer --loaders, or with more nodes (--loader-node)`,
    );
  }
  return warnings;
}

/** The target of a run whose namespace exists. The namespace's owner closes it. */
export function createKubernetesTarget(options: KubernetesTargetOptions): Target {
  const { run } = options;
  const deployments = new Set<Deployment>();
  // Loaders verify a name: the addresses of pods and Services do not matter.
  const certificates = once(() => makeCertificates([], run.world.clock.now()));
  let deployed = 0;
  return {
    kind: 'kubernetes',
    cpuLimits: { method: 'pod-limit', reason: null },
    deploy: async (request) => {
      deployed += 1;
      for (const removeKept of run.kept.splice(0)) await removeKept();
      await run.world.fs.mkdir(request.logDirectory, { recursive: true });
      const unit = `${String(deployed).padStart(3, '0')}-${request.server.name}`;
      const { existing } = request.server;
      const deployment =
        existing !== undefined && existing.kind !== 'address'
          ? await adoptService(run, request, existing)
          : await deployServer({ ...options, certificates }, request, unit);
      deployments.add(deployment);
      return deployment;
    },
    warnings: (loaderNodes) => placementWarnings(run, loaderNodes),
    close: async () => {
      for (const deployment of deployments) await deployment.remove();
      deployments.clear();
    },
  };
}
