/**
 * A private CoreDNS on a cluster that belongs to others: synthetic objects, and starts of it that are measured. Everything is
 * deleted at the end.
 */
import { ENDPOINT_SLICES, PODS, SERVICES } from '@dinodns-bench/cluster-objects';
import type { KubernetesSettings } from '../../../config/kubernetes-settings.ts';
import { corednsImageReference } from '../../../servers/coredns/image.ts';
import { existingNames } from '../beside/existing-names.ts';
import { countObjects } from '../cluster-counts.ts';
import type { Size } from '../memory-basis.ts';
import type { Configuration } from '../published.ts';
import type { Created } from './created.ts';
import { type StartRequest, type StartResult, startDns } from './start-dns.ts';
import { needsPods, type SyntheticSize } from './synthetic-objects.ts';
import { openSyntheticRun, type SyntheticRequest, type SyntheticRun } from './synthetic-run.ts';

/** The image of a version that was named; null for the default one. */
export function corednsImage(settings: KubernetesSettings, version: string | null): string {
  return corednsImageReference({ settings, version, isNamed: version !== null });
}

export interface PrivateDnsRequest extends Omit<SyntheticRequest, 'withPods' | 'size'> {
  readonly configuration: Configuration;
  /** What is created, where the cluster has this. */
  sizeBeside(own: Size): SyntheticSize;
}

/** What each start decides for itself. */
export interface DnsStart
  extends Omit<StartRequest, 'unit' | 'corefile' | 'names' | 'corednsImage' | 'changes' | 'signal'> {
  readonly image: string;
}

export interface PrivateDns extends AsyncDisposable, Created {
  readonly clusterDns: SyntheticRun['clusterDns'];
  readonly warnings: SyntheticRun['warnings'];
  /** What the cluster had before: its CoreDNS reads that as well. */
  readonly own: Size;
  /** One after the other. */
  start(start: DnsStart): Promise<StartResult>;
}

/** @throws as `openSyntheticRun` and `sizeBeside` do */
export async function openPrivateDns(request: PrivateDnsRequest): Promise<PrivateDns> {
  const withPods = needsPods(request.configuration);
  // Before anything is created: if it fails, there is nothing to delete.
  const own = await countObjects(request.client, request.signal);
  const run = await openSyntheticRun({ ...request, size: request.sizeBeside(own), withPods });
  const { cluster, creation, clusterDns, warnings } = run;
  return {
    counts: {
      services: SERVICES.count(cluster),
      endpointSlices: ENDPOINT_SLICES.count(cluster),
      endpoints: cluster.spec.endpoints,
      pods: withPods ? PODS.count(cluster) : 0,
    },
    ...{ creation, clusterDns, warnings, own },
    start: ({ image, ...start }) =>
      startDns(run, {
        ...start,
        unit: `start-${run.jobs + 1}`,
        corednsImage: image,
        corefile: withPods ? { pods: 'verified', autopath: '@kubernetes' } : {},
        names: existingNames(cluster),
        changes: request.podRules !== undefined,
        signal: request.signal,
      }),
    [Symbol.asyncDispose]: () => run[Symbol.asyncDispose](),
  };
}
