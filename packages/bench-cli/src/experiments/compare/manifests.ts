/** The objects of a run as plain manifests, for people who want to see or apply them without bench. Pure. */
import type { ZoneSet } from '@dinodns-bench/zones';
import { stringify } from 'yaml';
import type { RunConfiguration } from '../../config/configuration.ts';
import { KINDS, type Kind, type Kinds } from '../../kubernetes-api/kinds.ts';
import { QUERY_PATH, timedCommand } from '../../loaders/cluster-job.ts';
import { dnsperfArguments } from '../../loaders/dnsperf/command.ts';
import { loadFor } from '../../measure/load.ts';
import type { PlannedCase } from '../../plan/plan.ts';
import type { ServerKind } from '../../servers/server.ts';
import { imagesOf } from '../../targets/kubernetes/images.ts';
import { configMapOf } from '../../targets/kubernetes/objects/config-map.ts';
import { jobOf } from '../../targets/kubernetes/objects/job.ts';
import { runLabels, unitLabels } from '../../targets/kubernetes/objects/labels.ts';
import { namespaceObject } from '../../targets/kubernetes/objects/namespace.ts';
import { noImage, SERVICE_PORT, serverObjects } from '../../targets/kubernetes/objects/server.ts';
import { SERVICE_ACCOUNT } from '../../targets/kubernetes/open-cluster.ts';
import { secretReference } from '../../targets/kubernetes/pull-secrets.ts';
import type { BenchWorkload } from '../../workload/workload.ts';

const MANIFEST_RUN = 'manifests';

export interface ManifestRequest {
  readonly configuration: RunConfiguration;
  readonly cases: readonly PlannedCase[];
  readonly servers: readonly ServerKind[];
  readonly zoneSet: ZoneSet;
  readonly workload: BenchWorkload;
}

export interface Manifest {
  readonly kind: Kind;
  readonly object: Kinds[Kind];
}

function document({ kind, object }: Manifest): string {
  return stringify({ apiVersion: KINDS[kind].apiVersion, kind, ...object }, { lineWidth: 0 });
}

export function renderManifests(manifests: readonly Manifest[]): string {
  return manifests.map(document).join('---\n');
}

function queryLines(workload: BenchWorkload): string[] {
  return [...workload.queries()].map(({ name, type }) => `${name} ${type}\n`);
}

/**
 * Everything that the cases need, in the order in which it can be applied: the namespace, the account, the
 * queries, and for each case its server and a suspended Job, because servers are measured one at a time.
 * `kubectl patch job NAME -p '{"spec":{"suspend":false}}'` starts one.
 */
export function manifestsOf(request: ManifestRequest): Manifest[] {
  const { configuration, cases, servers, zoneSet, workload } = request;
  const settings = { ...configuration.kubernetes };
  const account = settings.serviceAccount ?? SERVICE_ACCOUNT;
  const images = imagesOf(settings, configuration.corednsVersion, 'dnsperf');
  const namespace = settings.namespacePrefix;
  const labels = runLabels(MANIFEST_RUN);
  const queries = configMapOf({ name: 'queries', namespace, labels }, 'the query file', [
    { path: 'queries.txt', chunks: queryLines(workload) },
  ]);
  const pullSecrets = (settings.pullSecrets ?? []).map((text) => secretReference(text).name);
  const manifests: Manifest[] = [
    {
      kind: 'Namespace',
      object: namespaceObject({ name: namespace, runId: MANIFEST_RUN, host: '', owner: '' }),
    },
    {
      kind: 'ServiceAccount',
      object: { metadata: { name: account, namespace, labels }, automountServiceAccountToken: false },
    },
    { kind: 'ConfigMap', object: queries.object },
  ];
  for (const planned of cases) {
    const server = servers.find(({ name }) => name === planned.server);
    if (server === undefined || server.image === null) {
      if (server !== undefined) throw noImage(server);
      continue;
    }
    const tier = String(planned.tier).replace('.', '-');
    const unit = `${planned.server}-tier${tier}-${planned.mode}`;
    const common = {
      settings: { ...settings, serviceAccount: account },
      namespace,
      runId: MANIFEST_RUN,
      pullSecrets,
    };
    const objects = serverObjects({
      ...common,
      unit,
      server,
      image: images.of(server.image),
      zoneSet,
      mode: planned.mode,
      transport: planned.transport,
      allowances: planned.allowances,
      nodeCpus: null,
    });
    const cpu = settings.loaderCpu;
    const endpoint = { address: objects.name, port: SERVICE_PORT, instances: planned.instances };
    const args = dnsperfArguments({
      ...loadFor(configuration, endpoint),
      endpoint,
      transport: planned.transport,
      queryFile: QUERY_PATH,
      durationSeconds: configuration.durationSeconds,
      ratePerSecond: configuration.ratePerSecond,
      timeoutSeconds: configuration.timeoutSeconds,
    });
    const job = jobOf({
      ...common,
      name: `load-${unit}`,
      labels: unitLabels(MANIFEST_RUN, 'loader', `load-${unit}`),
      component: 'loader',
      image: images.loader,
      ...timedCommand(['dnsperf', ...args]),
      ...(cpu === undefined ? {} : { resources: { requests: { cpu }, limits: { cpu } } }),
      mounts: { '/queries': queries.mount },
      deadlineSeconds: configuration.durationSeconds + configuration.timeoutSeconds + 60,
    });
    manifests.push(
      { kind: 'ConfigMap', object: objects.configMap },
      { kind: 'Service', object: objects.service },
      { kind: 'Deployment', object: objects.deployment },
      {
        kind: 'Job',
        object: { ...job, spec: { ...job.spec, template: job.spec?.template ?? {}, suspend: true } },
      },
    );
  }
  return manifests;
}
