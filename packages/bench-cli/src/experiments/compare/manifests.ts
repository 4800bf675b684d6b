/** The objects of a run as plain manifests, for people who want to see or apply them without bench. Apart from the keys of encrypted servers, pure. */
import type { ZoneSet } from '@dinodns-bench/zones';
import { stringify } from 'yaml';
import { type Certificates, makeCertificates } from '../../certificates/certificates.ts';
import type { RunConfiguration } from '../../config/configuration.ts';
import { pathsOf } from '../../config/paths.ts';
import { BenchError } from '../../errors.ts';
import { KINDS, type Kind, type Kinds } from '../../kubernetes-api/kinds.ts';
import { QUERY_PATH, timedCommand } from '../../loaders/cluster-job.ts';
import { dnsperfArguments } from '../../loaders/dnsperf/command.ts';
import { loaderCpuFor, loadFor } from '../../measure/load.ts';
import type { PlannedCase } from '../../plan/plan.ts';
import { isEncrypted } from '../../results/record.ts';
import type { Server } from '../../servers/server.ts';
import type { Images } from '../../targets/kubernetes/cluster-run.ts';
import { imagesOf } from '../../targets/kubernetes/images.ts';
import { configMapOf } from '../../targets/kubernetes/objects/config-map.ts';
import { trustOf } from '../../targets/kubernetes/objects/encryption.ts';
import { jobOf } from '../../targets/kubernetes/objects/job.ts';
import { runLabels, unitLabels } from '../../targets/kubernetes/objects/labels.ts';
import { namespaceObject } from '../../targets/kubernetes/objects/namespace.ts';
import { type ObjectsRun, portOn, serverObjects } from '../../targets/kubernetes/objects/server.ts';
import { SERVICE_ACCOUNT } from '../../targets/kubernetes/open-cluster.ts';
import { secretReference } from '../../targets/kubernetes/pull-secrets.ts';
import type { BenchWorkload } from '../../workload/workload.ts';

const MANIFEST_RUN = 'manifests';

export interface ManifestRequest {
  readonly configuration: RunConfiguration;
  readonly cases: readonly PlannedCase[];
  readonly servers: readonly Server[];
  readonly zoneSet: ZoneSet;
  readonly workloads: readonly BenchWorkload[];
  /** When the certificates begin to be valid. */
  readonly now: Date;
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

/** Lines of a query file. */
function queryLines(workload: BenchWorkload): string[] {
  return [...workload.queries()].map(({ name, type }) => `${name} ${type}\n`);
}

/** What the objects of all cases have in common. */
interface Shared {
  readonly common: ObjectsRun;
  readonly images: Images;
  /** In manifests whose servers are encrypted. */
  readonly certificates: Certificates;
  /** By the name of the workload. */
  readonly queries: ReadonlyMap<string, ReturnType<typeof configMapOf>>;
}

function sharedOf({ configuration, workloads, now }: ManifestRequest): Shared {
  const settings = configuration.kubernetes;
  const namespace = settings.namespacePrefix;
  return {
    common: {
      settings: { ...settings, serviceAccount: settings.serviceAccount ?? SERVICE_ACCOUNT },
      namespace,
      runId: MANIFEST_RUN,
      pullSecrets: (settings.pullSecrets ?? []).map((text) => secretReference(text).name),
    },
    images: imagesOf(settings, 'dnsperf'),
    certificates: makeCertificates([], now),
    queries: new Map(
      workloads.map((workload, index) => {
        const name = workloads.length === 1 ? 'queries' : `queries-${index + 1}`;
        const metadata = { name, namespace, labels: runLabels(MANIFEST_RUN) };
        const files = [{ path: 'queries.txt', chunks: queryLines(workload) }];
        return [workload.name, configMapOf(metadata, 'the query file', files)];
      }),
    ),
  };
}

/** The namespace, the account and the queries. */
function runManifests({ common, queries }: Shared): Manifest[] {
  const { namespace, settings } = common;
  return [
    {
      kind: 'Namespace',
      object: namespaceObject({ name: namespace, runId: MANIFEST_RUN, host: '', owner: '' }),
    },
    {
      kind: 'ServiceAccount',
      object: {
        metadata: {
          name: settings.serviceAccount ?? SERVICE_ACCOUNT,
          namespace,
          labels: runLabels(MANIFEST_RUN),
        },
        automountServiceAccountToken: false,
      },
    },
    ...[...queries.values()].map(({ object }): Manifest => ({ kind: 'ConfigMap', object })),
  ];
}

/** The name that the objects of a case share: its server and its point. */
function unitOf({ server, tier, mode }: PlannedCase): string {
  return `${server}-tier${tier}-${mode}`.toLowerCase().replaceAll(/[^a-z0-9-]/g, '-');
}

/** The load of a case, suspended. */
function jobManifest(
  { configuration }: ManifestRequest,
  { common, images, queries, certificates }: Shared,
  planned: PlannedCase,
  { address, path }: { readonly address: string; readonly path: string },
): Manifest {
  const cpu = loaderCpuFor(configuration, planned);
  const endpoint = {
    address,
    port: portOn(path),
    instances: planned.instances,
    ...(isEncrypted(planned.transport) ? { trust: trustOf(certificates) } : {}),
  };
  const args = dnsperfArguments({
    ...loadFor(configuration, endpoint),
    endpoint,
    transport: planned.transport,
    queryFile: QUERY_PATH,
    dnssecOk: configuration.dnssec,
    durationSeconds: configuration.durationSeconds,
    ratePerSecond: planned.ratePerSecond,
    timeoutSeconds: configuration.timeoutSeconds,
  });
  const name = `load-${unitOf(planned)}`;
  const mount = queries.get(planned.workload)?.mount;
  const job = jobOf({
    ...common,
    name,
    labels: unitLabels(MANIFEST_RUN, 'loader', name),
    component: 'loader',
    image: images.loader,
    ...timedCommand(['dnsperf', ...args]),
    ...(cpu === undefined ? {} : { resources: { requests: { cpu }, limits: { cpu } } }),
    mounts: mount === undefined ? {} : { '/queries': mount },
    deadlineSeconds: configuration.durationSeconds + configuration.timeoutSeconds + 60,
  });
  return {
    kind: 'Job',
    object: { ...job, spec: { ...job.spec, template: job.spec?.template ?? {}, suspend: true } },
  };
}

/** A case: its server and its load. */
function caseManifests(request: ManifestRequest, shared: Shared, planned: PlannedCase): Manifest[] {
  const server = request.servers.find(({ name }) => name === planned.server);
  if (server === undefined) return [];
  const objects = serverObjects({
    ...shared.common,
    ...planned,
    server,
    unit: unitOf(planned),
    image: shared.images.of(server),
    companionImage: shared.images.companions,
    zoneSet: request.zoneSet,
    certificates: isEncrypted(planned.transport) ? shared.certificates : null,
    coresOfNode: null,
  });
  return [
    { kind: 'ConfigMap', object: objects.configMap },
    { kind: 'Service', object: objects.service },
    { kind: 'Deployment', object: objects.deployment },
    jobManifest(request, shared, planned, {
      address: objects.name,
      path: server.path ?? shared.common.settings.path,
    }),
  ];
}

/**
 * Everything that the cases need, in the order in which it can be applied: the namespace, the account, the
 * queries, and for each case its server and a suspended Job, because servers are measured one at a time.
 * `kubectl patch job NAME -p '{"spec":{"suspend":false}}'` starts one.
 * @throws BenchError `E_CONFIG` for `--path pod`
 */
export function manifestsOf(request: ManifestRequest): Manifest[] {
  if (pathsOf(request.configuration.kubernetes.path).includes('pod')) {
    throw new BenchError(
      'E_CONFIG',
      '--path pod: a pod has no address before it runs, so no manifest can name it',
      {
        fix: 'Use --path headless, which leads to the same pod, or `bench run`.',
      },
    );
  }
  const shared = sharedOf(request);
  return [
    ...runManifests(shared),
    ...request.cases.flatMap((planned) => caseManifests(request, shared, planned)),
  ];
}
