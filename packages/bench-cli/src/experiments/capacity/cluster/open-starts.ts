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
import { guardClusterDns, unwatched } from './cluster-dns-guard.ts';
import { corednsImage } from './private-dns.ts';
import type { CLUSTER_SETTINGS } from './settings.ts';
import { type SyntheticRequest, syntheticPermissions } from './synthetic-run.ts';

type Place = Pick<SyntheticRequest, 'world' | 'client' | 'settings' | 'runId' | 'podRules' | 'signal'>;

/** What differs between the measurements of a private CoreDNS. */
export interface Starts<Point, Objects> {
  readonly withPods: boolean;
  readonly podRules?: readonly V1PolicyRule[];
  /** The same for points with the same objects. */
  nameOf(point: Point): string;
  openObjects(place: Place, point: Point): Promise<Objects>;
}

type StartsSettings = SettingsOf<typeof CLUSTER_SETTINGS> & {
  readonly servers: readonly string[];
  readonly corednsVersion: string;
};

export interface OpenedStarts<Point, Objects> {
  /** Kept until others are wanted: the engine's order has trials of a point next to each other. */
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
  let kept: { readonly name: string; readonly objects: Objects } | undefined;
  const drop = async () => {
    const { objects } = kept ?? {};
    kept = undefined;
    await objects?.[Symbol.asyncDispose]();
  };
  async function objectsOf(point: Point): Promise<Objects> {
    const name = nameOf(point);
    if (kept?.name === name) return kept.objects;
    await drop();
    display.line('creating the namespace and its objects');
    try {
      const objects = await openObjects(place, point);
      kept = { name, objects };
      return objects;
    } catch (error) {
      throw endIfRefused(error);
    }
  }
  const named = settings.corednsVersion === DEFAULTS.corednsVersion ? null : settings.corednsVersion;
  const imageOf = (server: string) => corednsImage(cluster, parseServerName(server)?.version ?? named);
  const servers = [...new Set(settings.servers.map(canonicalServerName))];
  return {
    objectsOf,
    imageOf,
    signal,
    opened: {
      ...described,
      warnings: [...described.warnings, ...unwatched(guard.before)],
      programs: servers.map((server) => imageRecord(server, 'coredns-cluster', imageOf(server))),
      provisioned: [],
      lost: guard.signal,
      closing: guard.closing,
      async [Symbol.asyncDispose]() {
        await guard.end();
        display.line('deleting everything');
        await drop();
      },
    },
  };
}

/** Whoever runs the cluster is not asked twice. */
export function endIfRefused(error: unknown): unknown {
  return error instanceof BenchError && error.code === 'E_CLUSTER_REFUSED' ? new LastTrial(error) : error;
}
