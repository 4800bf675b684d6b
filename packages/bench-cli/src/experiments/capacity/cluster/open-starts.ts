/** A cluster for the starts of a measurement: what all of them share, and objects that are kept while trials want the same. */
import type { V1PolicyRule } from '@kubernetes/client-node';
import { kubernetesOf } from '../../../config/kubernetes-settings.ts';
import { canonicalServerName, parseServerName } from '../../../config/server-name.ts';
import type { SettingsOf } from '../../../config/setting.ts';
import { DEFAULTS } from '../../../config/settings.ts';
import { LastTrial, type Opened, type TargetRequest } from '../../../engine/experiment.ts';
import { BenchError } from '../../../errors.ts';
import { imageRecord } from '../../../servers/image-record.ts';
import { describeBoth } from '../../../targets/kubernetes/cluster-facts.ts';
import { namespaceOf } from '../../../targets/kubernetes/objects/labels.ts';
import { openClient } from '../../../targets/kubernetes/open-cluster.ts';
import { demandPermissions } from '../../../targets/kubernetes/permissions.ts';
import { guardClusterDns } from './cluster-dns-guard.ts';
import { corednsImage } from './private-dns.ts';
import type { CLUSTER_SETTINGS } from './settings.ts';
import { type SyntheticRequest, syntheticPermissions } from './synthetic-run.ts';

/** Keeps the objects of a point until others are wanted: the engine's order has trials of a point next to each other. */
class KeptObjects<Point, Objects extends AsyncDisposable> implements AsyncDisposable {
  readonly #kept: Kept<Point, Objects>;
  #last: { readonly name: string; readonly objects: Objects } | undefined;

  constructor(kept: Kept<Point, Objects>) {
    this.#kept = kept;
  }

  async of(point: Point): Promise<Objects> {
    const name = this.#kept.nameOf(point);
    if (this.#last?.name === name) return this.#last.objects;
    await this[Symbol.asyncDispose]();
    try {
      const objects = await this.#kept.open(point);
      this.#last = { name, objects };
      return objects;
    } catch (error) {
      throw endIfRefused(error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { objects } = this.#last ?? {};
    this.#last = undefined;
    await objects?.[Symbol.asyncDispose]();
  }
}

interface Kept<Point, Objects> {
  /** The same for points with the same objects. */
  nameOf(point: Point): string;
  open(point: Point): Promise<Objects>;
}

type Place = Pick<SyntheticRequest, 'world' | 'client' | 'settings' | 'runId' | 'podRules' | 'signal'>;

/** What differs between the measurements of a private CoreDNS. */
export interface Starts<Point, Objects> extends Pick<Kept<Point, Objects>, 'nameOf'> {
  readonly withPods: boolean;
  readonly podRules?: readonly V1PolicyRule[];
  openObjects(place: Place, point: Point): Promise<Objects>;
}

type StartsSettings = SettingsOf<typeof CLUSTER_SETTINGS> & {
  readonly servers: readonly string[];
  readonly corednsVersion: string;
};

export interface OpenedStarts<Point, Objects> {
  objectsOf(point: Point): Promise<Objects>;
  imageOf(server: string): string;
  readonly signal: AbortSignal;
  /** What a record says of it, and its end. */
  readonly opened: Omit<Opened<never>, 'context' | 'conditions' | 'revised'>;
}

/** A cluster for starts of a private CoreDNS, of versions that are named; its own DNS is watched until the end. */
export async function openStarts<Point, Objects extends AsyncDisposable>(
  { world, settings, runId, display, signal: asked }: TargetRequest<StartsSettings>,
  { withPods, podRules, nameOf, openObjects }: Starts<Point, Objects>,
): Promise<OpenedStarts<Point, Objects>> {
  const cluster = kubernetesOf(settings);
  const client = await openClient(world, cluster.context);
  const namespace = namespaceOf(cluster.namespacePrefix, runId);
  await demandPermissions(client, syntheticPermissions(withPods, podRules), namespace, asked);
  const described = await describeBoth(world, client, cluster, asked);
  const guard = await guardClusterDns(client, asked);
  const signal = AbortSignal.any([asked, guard.signal]);
  const place = { world, client, settings: cluster, runId, signal, ...(podRules && { podRules }) };
  const objects = new KeptObjects<Point, Objects>({
    nameOf,
    open(point) {
      display.line('creating the namespace and its objects');
      return openObjects(place, point);
    },
  });
  const named = settings.corednsVersion === DEFAULTS.corednsVersion ? null : settings.corednsVersion;
  const imageOf = (server: string) => corednsImage(cluster, parseServerName(server)?.version ?? named);
  const servers = [...new Set(settings.servers.map(canonicalServerName))];
  return {
    objectsOf: (point: Point) => objects.of(point),
    imageOf,
    signal,
    opened: {
      ...described,
      programs: servers.map((server) => imageRecord(server, 'coredns-cluster', imageOf(server))),
      provisioned: [],
      lost: guard.signal,
      closing: guard.closing,
      async [Symbol.asyncDispose]() {
        await guard.end();
        display.line('deleting everything');
        await objects[Symbol.asyncDispose]();
      },
    },
  };
}

/** Whoever runs the cluster is not asked twice. */
export function endIfRefused(error: unknown): unknown {
  return error instanceof BenchError && error.code === 'E_CLUSTER_REFUSED' ? new LastTrial(error) : error;
}
