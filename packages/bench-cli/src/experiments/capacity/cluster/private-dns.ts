/**
 * A private CoreDNS on a cluster that belongs to others: synthetic objects, and starts of it that are measured. Everything is
 * deleted at the end.
 */
import { ENDPOINT_SLICES, PODS, SERVICES } from '@dinodns-bench/cluster-objects';
import { LastTrial } from '../../../engine/experiment.ts';
import { BenchError } from '../../../errors.ts';
import { existingNames } from '../beside/existing-names.ts';
import type { Configuration } from '../published.ts';
import type { Created } from './created.ts';
import { type StartRequest, type StartResult, startDns } from './start-dns.ts';
import { needsPods } from './synthetic-objects.ts';
import { openSyntheticRun, type SyntheticRequest, type SyntheticRun } from './synthetic-run.ts';

export interface PrivateDnsRequest extends Omit<SyntheticRequest, 'withPods'> {
  readonly configuration: Configuration;
}

/** What each start decides for itself. */
export interface DnsStart
  extends Omit<StartRequest, 'unit' | 'corefile' | 'names' | 'corednsImage' | 'changes' | 'signal'> {
  readonly image: string;
}

export interface PrivateDns extends AsyncDisposable, Created {
  readonly clusterDns: SyntheticRun['clusterDns'];
  /** One after the other. */
  start(start: DnsStart): Promise<StartResult>;
}

/** @throws as `openSyntheticRun` does */
export async function openPrivateDns(request: PrivateDnsRequest): Promise<PrivateDns> {
  const withPods = needsPods(request.configuration);
  const run = await openSyntheticRun({ ...request, withPods });
  const { cluster, creation, clusterDns } = run;
  return {
    counts: {
      services: SERVICES.count(cluster),
      endpointSlices: ENDPOINT_SLICES.count(cluster),
      endpoints: cluster.spec.endpoints,
      pods: withPods ? PODS.count(cluster) : 0,
    },
    creation,
    clusterDns,
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

/** Keeps the objects of a point until others are wanted: the engine's order has trials of a point next to each other. */
export class KeptObjects<Point, Objects extends AsyncDisposable = PrivateDns> implements AsyncDisposable {
  readonly #nameOf: (point: Point) => string;
  readonly #open: (point: Point, name: string) => Promise<Objects>;
  #kept: { readonly name: string; readonly objects: Objects } | undefined;

  /** @param nameOf the same for points with the same objects */
  constructor(nameOf: (point: Point) => string, open: (point: Point, name: string) => Promise<Objects>) {
    this.#nameOf = nameOf;
    this.#open = open;
  }

  async of(point: Point): Promise<Objects> {
    const name = this.#nameOf(point);
    if (this.#kept?.name === name) return this.#kept.objects;
    await this[Symbol.asyncDispose]();
    try {
      const objects = await this.#open(point, name);
      this.#kept = { name, objects };
      return objects;
    } catch (error) {
      throw endIfRefused(error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { objects } = this.#kept ?? {};
    this.#kept = undefined;
    await objects?.[Symbol.asyncDispose]();
  }
}

/** Whoever runs the cluster is not asked twice. */
export function endIfRefused(error: unknown): unknown {
  return error instanceof BenchError && error.code === 'E_CLUSTER_REFUSED' ? new LastTrial(error) : error;
}
