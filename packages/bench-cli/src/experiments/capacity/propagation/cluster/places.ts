/** The namespace of a run, with as many objects as a start wants: kept for the next start that wants the same. */

import type { ClusterSpec } from '@dinodns-bench/cluster-objects';
import type { KubernetesSettings } from '../../../../config/kubernetes-settings.ts';
import { closedAfter } from '../../../../engine/close.ts';
import type { KubeClient } from '../../../../kubernetes-api/client.ts';
import { formatCount } from '../../../../report/numbers.ts';
import { runLabels } from '../../../../targets/kubernetes/objects/labels.ts';
import type { ConfigMapMount } from '../../../../targets/kubernetes/objects/pods.ts';
import { copyPullSecrets } from '../../../../targets/kubernetes/pull-secrets.ts';
import type { World } from '../../../../world.ts';
import { dnsFiles } from '../../cluster/dns-job.ts';
import { SERVICE_RULE } from '../../cluster/pod-rights.ts';
import { syntheticCluster } from '../../cluster/synthetic-objects.ts';
import { openSyntheticRun, type SyntheticRun } from '../../cluster/synthetic-run.ts';
import { CONFIGURATIONS, type ConfigurationName } from '../../configurations.ts';

export interface PlacesRequest {
  readonly world: World;
  readonly client: KubeClient;
  readonly settings: KubernetesSettings;
  readonly runId: string;
  readonly namespace: string;
  onFiles(server: string, files: Readonly<Record<string, string>>): void;
  /** What is being done, as a short sentence. */
  tell(text: string): void;
  readonly signal: AbortSignal;
}

export interface Place {
  readonly mount: ConfigMapMount;
  readonly pullSecrets: readonly string[];
}

export interface Places {
  /** As a start needs it. @throws BenchError as `openSyntheticRun` does */
  open(start: Start): Promise<Place>;
  /** Deletes everything. */
  close(): Promise<void>;
}

interface Opened {
  readonly objects: string;
  readonly run: SyntheticRun;
  readonly pullSecrets: readonly string[];
  readonly mounts: Map<ConfigurationName, ConfigMapMount>;
}

/** What a start reads, and how it is configured. */
export interface Start {
  readonly server: string;
  readonly configuration: ConfigurationName;
  readonly cluster: ClusterSpec;
}

const sizeText = ({ cluster: { services, pods } }: Start) =>
  `${formatCount(services)} services, ${formatCount(pods)} pods`;

export function createPlaces(request: PlacesRequest): Places {
  const { world, client, settings, runId, namespace, signal } = request;
  let opened: Opened | undefined;

  async function close(): Promise<void> {
    if (opened === undefined) return;
    request.tell('deleting everything');
    const { run } = opened;
    opened = undefined;
    await run.close();
  }

  async function openSize(start: Start): Promise<Opened> {
    const { services, pods, endpoints } = start.cluster;
    request.tell(services + pods === 0 ? 'creating the namespace' : `creating objects: ${sizeText(start)}`);
    const run = await openSyntheticRun({
      world,
      client,
      runId,
      namespace,
      cluster: syntheticCluster({ services, pods, endpoints }, namespace),
      // Only their addresses are read, in EndpointSlices.
      withPods: false,
      podRules: [SERVICE_RULE],
      onProgress: () => undefined,
      signal,
    });
    try {
      const labels = runLabels(runId);
      const pullSecrets = await copyPullSecrets(
        client,
        settings.pullSecrets ?? [],
        namespace,
        labels,
        signal,
      );
      // Only what is whole is used for the next start of this size.
      opened = { objects: sizeText(start), run, pullSecrets, mounts: new Map() };
      return opened;
    } catch (error) {
      return closedAfter(error, () => run.close());
    }
  }

  async function createFiles({ server, configuration }: Start): Promise<ConfigMapMount> {
    const { object, mount } = dnsFiles({
      namespace,
      runId,
      name: `dns-${configuration}`,
      corefile: { cache: CONFIGURATIONS[configuration].choice.cache ?? 'on' },
      reads: 'by itself',
      names: [],
    });
    await client.create('ConfigMap', object, signal);
    request.onFiles(server, { Corefile: object.data?.Corefile ?? '' });
    return mount;
  }

  return {
    async open(start) {
      if (opened !== undefined && opened.objects !== sizeText(start)) await close();
      const { mounts, pullSecrets } = opened ?? (await openSize(start));
      const mount = mounts.get(start.configuration) ?? (await createFiles(start));
      mounts.set(start.configuration, mount);
      return { mount, pullSecrets };
    },
    close,
  };
}
