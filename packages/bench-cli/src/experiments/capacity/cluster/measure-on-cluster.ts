/**
 * The memory of a CoreDNS on a cluster: synthetic objects, a private CoreDNS that is started several times, and what became
 * of the cluster's own DNS meanwhile. Everything is deleted at the end.
 */
import {
  type Cluster,
  ENDPOINT_SLICES,
  PODS,
  SERVICES,
  specForObjects,
} from '@dinodns-bench/cluster-objects';
import type { KubernetesSettings } from '../../../config/kubernetes-settings.ts';
import { BenchError } from '../../../errors.ts';
import type { KubeClient } from '../../../kubernetes-api/client.ts';
import { formatCount } from '../../../report/numbers.ts';
import { corednsImageReference } from '../../../servers/coredns/image.ts';
import { checkerImage } from '../../../targets/kubernetes/images.ts';
import { namespaceOf, runLabels } from '../../../targets/kubernetes/objects/labels.ts';
import { copyPullSecrets } from '../../../targets/kubernetes/pull-secrets.ts';
import type { World } from '../../../world.ts';
import { existingNames } from '../beside/existing-names.ts';
import type { Phase } from '../beside/phases.ts';
import type { Configuration } from '../published.ts';
import type { ClusterDnsState } from './cluster-dns-guard.ts';
import type { Paced } from './create-paced.ts';
import { dnsFiles } from './dns-job.ts';
import { type StartResult, startDns } from './start-dns.ts';
import { type SyntheticSize, syntheticCluster, syntheticCount } from './synthetic-objects.ts';
import { openSyntheticRun, type SyntheticRun } from './synthetic-run.ts';

export interface ClusterMemoryRequest {
  readonly world: World;
  readonly client: KubeClient;
  readonly settings: KubernetesSettings;
  readonly runId: string;
  readonly size: SyntheticSize;
  /** Refused before anything is created if the size has more pods and services. */
  readonly maxObjects: number;
  readonly configuration: Configuration;
  /** The version of `--coredns-image`; null for the default one. */
  readonly version: string | null;
  readonly starts: number;
  readonly phases: readonly Phase[];
  readonly seconds: number;
  readonly queriesPerSecond: number;
  readonly memory: { readonly request: string; readonly limit: string } | null;
  /** Called at the end of each start, with all so far. */
  readonly onStart?: (result: ClusterMemoryResult) => Promise<void>;
  /** What is being done, as a short sentence. */
  readonly tell: (text: string) => void;
  readonly signal: AbortSignal;
}

export interface ClusterMemoryResult {
  readonly corednsImage: string;
  /** Objects that CoreDNS could read, those of the cluster included. */
  readonly counts: {
    readonly services: number;
    readonly endpointSlices: number;
    readonly endpoints: number;
    readonly pods: number;
  };
  readonly creation: Paced;
  readonly clusterDns: { readonly before: ClusterDnsState; readonly after: ClusterDnsState } | null;
  readonly starts: readonly StartResult[];
}

/** On somebody's cluster; the smallest published size still fits. */
export const DEFAULT_MAX_OBJECTS = 20_000;

/** @throws BenchError `E_USAGE` for more pods and services than a cluster may be given */
export function demandBounded(objects: number, maxObjects: number): void {
  if (objects <= maxObjects) return;
  throw new BenchError(
    'E_USAGE',
    `${formatCount(objects)} objects are more than --max-objects allows on a cluster (${formatCount(maxObjects)})`,
    { fix: `Give --max-objects ${objects} if the cluster may have so many, or fewer objects.` },
  );
}

/** CoreDNS watches pods only with `pods verified`, which autopath needs: without them, they need not exist. */
const needsPods = (configuration: Configuration) => configuration === 'autopath';

/** Objects that are created for so many pods and services. */
export function createdFor(objects: number, configuration: Configuration): number {
  const cluster = syntheticCluster(specForObjects(objects), 'dry-run');
  return syntheticCount(cluster, { withPods: needsPods(configuration) });
}

const corefileOf = (configuration: Configuration) =>
  configuration === 'autopath' ? ({ pods: 'verified', autopath: '@kubernetes' } as const) : {};

async function startAll(
  request: ClusterMemoryRequest,
  namespace: string,
  cluster: Cluster,
  corednsImage: string,
  onStart: (starts: readonly StartResult[]) => Promise<void>,
): Promise<StartResult[]> {
  const { client, settings, runId, starts, signal } = request;
  const labels = runLabels(runId);
  const pullSecrets = await copyPullSecrets(client, settings.pullSecrets ?? [], namespace, labels, signal);
  const files = dnsFiles({
    namespace,
    runId,
    name: 'dns',
    corefile: corefileOf(request.configuration),
    reads: 'through the program',
    names: existingNames(cluster),
  });
  await client.create('ConfigMap', files.object, signal);
  const results: StartResult[] = [];
  for (let start = 1; start <= starts; start += 1) {
    request.tell(`start ${start} of ${starts} of the private CoreDNS`);
    results.push(
      await startDns({
        ...request,
        namespace,
        unit: `start-${start}`,
        podsVerified: needsPods(request.configuration),
        corednsImage,
        observerImage: checkerImage(settings),
        mount: files.mount,
        pullSecrets,
      }),
    );
    await onStart(results);
  }
  return results;
}

/**
 * @throws BenchError `E_USAGE` above `maxObjects`, `E_CLUSTER_FORBIDDEN` without a right, `E_CLUSTER_REFUSED` if the API server
 * gets slow or the cluster's own DNS would be in danger. Nothing is left in any case.
 */
export async function measureOnCluster(request: ClusterMemoryRequest): Promise<ClusterMemoryResult> {
  demandBounded(request.size.pods + request.size.services, request.maxObjects);
  const { world, client, settings, runId, size, configuration, signal } = request;
  const namespace = namespaceOf(settings.namespacePrefix, runId);
  const cluster = syntheticCluster(size, namespace);
  const corednsImage = corednsImageReference({
    settings,
    version: request.version,
    isNamed: request.version !== null,
  });
  const withPods = needsPods(configuration);
  request.tell('creating objects');
  const run: SyntheticRun = await openSyntheticRun({
    world,
    client,
    runId,
    namespace,
    cluster,
    withPods,
    onProgress: () => undefined,
    signal,
  });
  try {
    const counts = {
      services: SERVICES.count(cluster),
      endpointSlices: ENDPOINT_SLICES.count(cluster),
      endpoints: cluster.spec.endpoints,
      pods: withPods ? PODS.count(cluster) : 0,
    };
    const { creation, clusterDns } = run;
    const resultOf = (starts: readonly StartResult[]) => ({
      corednsImage,
      counts,
      creation,
      clusterDns,
      starts,
    });
    return resultOf(
      await startAll(request, namespace, cluster, corednsImage, async (starts) =>
        request.onStart?.(resultOf(starts)),
      ),
    );
  } finally {
    request.tell('deleting everything');
    await run.close();
  }
}
