/**
 * A private CoreDNS on a cluster that belongs to others: synthetic objects, and starts of it that are measured. Everything is
 * deleted at the end.
 */
import { ENDPOINT_SLICES, PODS, SERVICES } from '@dinodns-bench/cluster-objects';
import type { V1PolicyRule } from '@kubernetes/client-node';
import type { KubernetesSettings } from '../../../config/kubernetes-settings.ts';
import { LastTrial } from '../../../engine/experiment.ts';
import { BenchError } from '../../../errors.ts';
import type { KubeClient } from '../../../kubernetes-api/client.ts';
import { checkerImage } from '../../../targets/kubernetes/images.ts';
import { namespaceOf, runLabels } from '../../../targets/kubernetes/objects/labels.ts';
import { copyPullSecrets } from '../../../targets/kubernetes/pull-secrets.ts';
import type { World } from '../../../world.ts';
import { existingNames } from '../beside/existing-names.ts';
import type { Configuration } from '../published.ts';
import type { Created } from './created.ts';
import { dnsFiles } from './dns-job.ts';
import { type StartRequest, type StartResult, startDns } from './start-dns.ts';
import { needsPods, type SyntheticSize, syntheticCluster } from './synthetic-objects.ts';
import { openSyntheticRun, type SyntheticRun } from './synthetic-run.ts';

export interface PrivateDnsRequest {
  readonly world: World;
  readonly client: KubeClient;
  readonly settings: KubernetesSettings;
  readonly runId: string;
  readonly size: SyntheticSize;
  readonly configuration: Configuration;
  /** What the program beside CoreDNS may change in the namespace. Default: nothing. */
  readonly podRules?: readonly V1PolicyRule[];
  readonly signal: AbortSignal;
}

export interface DnsStart
  extends Pick<
    StartRequest,
    'phases' | 'seconds' | 'queriesPerSecond' | 'memory' | 'corednsEnv' | 'besideEnv' | 'moreSeconds'
  > {
  readonly image: string;
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
          changes: request.podRules !== undefined,
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

/** Keeps the objects of a point until others are wanted: the engine's order has trials of a point next to each other. */
export class KeptObjects<Point> implements AsyncDisposable {
  readonly #nameOf: (point: Point) => string;
  readonly #open: (point: Point) => Promise<PrivateDns>;
  #kept: { readonly name: string; readonly dns: PrivateDns } | undefined;

  /** @param nameOf the same for points with the same objects */
  constructor(nameOf: (point: Point) => string, open: (point: Point) => Promise<PrivateDns>) {
    this.#nameOf = nameOf;
    this.#open = open;
  }

  async of(point: Point): Promise<PrivateDns> {
    const name = this.#nameOf(point);
    if (this.#kept?.name === name) return this.#kept.dns;
    await this[Symbol.asyncDispose]();
    try {
      const dns = await this.#open(point);
      this.#kept = { name, dns };
      return dns;
    } catch (error) {
      throw endIfRefused(error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { dns } = this.#kept ?? {};
    this.#kept = undefined;
    await dns?.[Symbol.asyncDispose]();
  }
}

/** Whoever runs the cluster is not asked twice. */
export function endIfRefused(error: unknown): unknown {
  return error instanceof BenchError && error.code === 'E_CLUSTER_REFUSED' ? new LastTrial(error) : error;
}
