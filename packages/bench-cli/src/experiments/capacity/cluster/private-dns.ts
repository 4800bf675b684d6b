/**
 * A private CoreDNS on a cluster that belongs to others: synthetic objects, and starts of it that are measured. Everything is
 * deleted at the end.
 */
import { ENDPOINT_SLICES, PODS, SERVICES } from '@dinodns-bench/cluster-objects';
import type { KubernetesSettings } from '../../../config/kubernetes-settings.ts';
import type { KubeClient } from '../../../kubernetes-api/client.ts';
import { checkerImage } from '../../../targets/kubernetes/images.ts';
import { namespaceOf, runLabels } from '../../../targets/kubernetes/objects/labels.ts';
import { copyPullSecrets } from '../../../targets/kubernetes/pull-secrets.ts';
import type { World } from '../../../world.ts';
import { existingNames } from '../beside/existing-names.ts';
import type { Phase } from '../beside/phases.ts';
import type { Configuration } from '../published.ts';
import type { Created } from './created.ts';
import { dnsFiles } from './dns-job.ts';
import { type StartResult, startDns } from './start-dns.ts';
import { needsPods, type SyntheticSize, syntheticCluster } from './synthetic-objects.ts';
import { openSyntheticRun, type SyntheticRun } from './synthetic-run.ts';

export interface PrivateDnsRequest {
  readonly world: World;
  readonly client: KubeClient;
  readonly settings: KubernetesSettings;
  readonly runId: string;
  readonly size: SyntheticSize;
  readonly configuration: Configuration;
  readonly signal: AbortSignal;
}

export interface DnsStart {
  readonly image: string;
  readonly phases: readonly Phase[];
  /** Of `rest` and `load`. */
  readonly seconds: number;
  readonly queriesPerSecond: number;
  /** Request and limit; null for none. */
  readonly memory: { readonly request: string; readonly limit: string } | null;
}

export interface PrivateDns extends AsyncDisposable, Created {
  readonly clusterDns: SyntheticRun['clusterDns'];
  /** One after the other. */
  start(start: DnsStart): Promise<StartResult>;
}

/**
 * @throws BenchError `E_CLUSTER_FORBIDDEN` without a right, `E_CLUSTER_REFUSED` if the API server gets slow or the cluster's own
 * DNS would be in danger. Nothing is left in any case.
 */
export async function openPrivateDns(request: PrivateDnsRequest): Promise<PrivateDns> {
  const { client, settings, runId, configuration, signal } = request;
  const namespace = namespaceOf(settings.namespacePrefix, runId);
  const cluster = syntheticCluster(request.size, namespace);
  const withPods = needsPods(configuration);
  const run = await openSyntheticRun({
    ...request,
    ...{ namespace, cluster, withPods, onProgress: () => undefined },
  });
  try {
    const labels = runLabels(runId);
    const pullSecrets = await copyPullSecrets(client, settings.pullSecrets ?? [], namespace, labels, signal);
    const files = dnsFiles({
      ...{ namespace, runId, name: 'dns', reads: 'through the program', names: existingNames(cluster) },
      corefile: withPods ? { pods: 'verified', autopath: '@kubernetes' } : {},
    });
    await client.create('ConfigMap', files.object, signal);
    let starts = 0;
    return {
      counts: {
        services: SERVICES.count(cluster),
        endpointSlices: ENDPOINT_SLICES.count(cluster),
        endpoints: cluster.spec.endpoints,
        pods: withPods ? PODS.count(cluster) : 0,
      },
      creation: run.creation,
      clusterDns: run.clusterDns,
      start({ image, ...start }) {
        starts += 1;
        return startDns({
          ...{ ...start, client, settings, namespace, runId, signal, pullSecrets },
          unit: `start-${starts}`,
          podsVerified: withPods,
          corednsImage: image,
          observerImage: checkerImage(settings),
          mount: files.mount,
        });
      },
      [Symbol.asyncDispose]: () => run.close(),
    };
  } catch (error) {
    // The error is what matters; what is left, `bench cleanup` removes.
    await run.close().catch(() => undefined);
    throw error;
  }
}
