/** Finds the workload that is the cluster's DNS: its container, image and Service. */
import type { V1Container, V1Pod, V1PodTemplateSpec, V1Service } from '@kubernetes/client-node';
import { BenchError } from '../../../errors.ts';
import type { KubeClient } from '../../../kubernetes-api/client.ts';
import { pathOf } from '../../../kubernetes-api/kinds.ts';
import { parseQuantity } from '../../../quantity.ts';
import { imageParts } from '../../../servers/image-record.ts';
import { dnsContainer, podPortOf } from '../dns-container.ts';

export const WORKLOAD_KINDS = ['Deployment', 'DaemonSet', 'StatefulSet'] as const;
export type WorkloadKind = (typeof WORKLOAD_KINDS)[number];

export interface WorkloadName {
  readonly namespace: string;
  readonly kind: WorkloadKind;
  readonly name: string;
}

/** The user's choice; what is absent is found. */
export interface WorkloadChoice {
  readonly workload?: WorkloadName;
  readonly container?: string;
  /** A Service in the namespace of the workload. */
  readonly service?: string;
}

export interface DnsWorkload extends WorkloadName {
  /** `Deployment kube-system/coredns`. */
  readonly title: string;
  /** Of the API. */
  readonly path: string;
  readonly uid: string;
  readonly container: string;
  readonly containerIndex: number;
  readonly image: string;
  /** Images of the other containers, by name. */
  readonly sidecars: Readonly<Record<string, string>>;
  readonly replicas: number | null;
  /** Of the container; null without one. */
  readonly cpuLimitCores: number | null;
  readonly memoryLimitBytes: number | null;
  /** Selects its pods. */
  readonly labels: Readonly<Record<string, string>>;
  readonly service: { readonly name: string; readonly address: string };
  readonly podPort: number;
}

const DNS_PORT = 53;

/** OpenShift; kubeadm, kind and most clouds. */
const PLACES: readonly (WorkloadName & { readonly service: string })[] = [
  { namespace: 'openshift-dns', kind: 'DaemonSet', name: 'dns-default', service: 'dns-default' },
  { namespace: 'kube-system', kind: 'Deployment', name: 'coredns', service: 'kube-dns' },
];

/** Pods of a workload that are not being deleted. */
export async function podsOf(
  client: KubeClient,
  { namespace, labels }: Pick<DnsWorkload, 'namespace' | 'labels'>,
  signal: AbortSignal,
): Promise<V1Pod[]> {
  const { items } = await client.list('Pod', { namespace, labels }, signal);
  return items.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
}

/** The image of its container in one of its pods. */
export function imageIn(pod: V1Pod, { container }: Pick<DnsWorkload, 'container'>): string {
  return pod.spec?.containers.find(({ name }) => name === container)?.image ?? '';
}

/** `coredns@1.13.1` by the image's tag, so that runs of the same versions can be compared; otherwise the image itself. */
export function serverNameOf(image: string): string {
  const version = /^v?(\d+\.\d+\.\d+\S*)$/.exec(imageParts(image).tag)?.[1];
  return version === undefined ? image : `coredns@${version}`;
}

/** From settings. */
export function choiceOf({
  workload,
  container,
  service,
}: Readonly<Partial<Record<'workload' | 'container' | 'service', string | undefined>>>): WorkloadChoice {
  return {
    ...(workload === undefined ? {} : { workload: parseWorkload(workload) }),
    ...(container === undefined ? {} : { container }),
    ...(service === undefined ? {} : { service }),
  };
}

/** `kube-system/deployment/coredns`. @throws BenchError `E_USAGE`. */
export function parseWorkload(text: string): WorkloadName {
  const [namespace = '', kindText = '', name = '', ...rest] = text.split('/');
  const kind = WORKLOAD_KINDS.find((known) => known.toLowerCase() === kindText.toLowerCase());
  if (namespace !== '' && name !== '' && kind !== undefined && rest.length === 0)
    return { namespace, kind, name };
  throw new BenchError('E_USAGE', `--workload: "${text}" is not NAMESPACE/KIND/NAME`, {
    fix: `Name a ${WORKLOAD_KINDS.join(', ')}, for example kube-system/deployment/coredns.`,
  });
}

interface Found {
  readonly metadata?: { readonly uid?: string };
  readonly spec?: {
    readonly template: V1PodTemplateSpec;
    readonly selector: { readonly matchLabels?: Record<string, string> };
    readonly replicas?: number;
  };
}

const nameOf = ({ namespace, kind, name }: WorkloadName) => `${namespace}/${kind.toLowerCase()}/${name}`;

const servesDns = ({ name, ports = [] }: V1Container) =>
  /dns/.test(name) ||
  ports.some(({ containerPort, protocol }) => protocol === 'UDP' && [53, 5353].includes(containerPort));

/** Workloads that look like DNS, for the message that none was found. */
async function candidates(client: KubeClient, signal: AbortSignal): Promise<string[]> {
  const found: string[] = [];
  for (const kind of WORKLOAD_KINDS) {
    const { items } = await client.list(kind, {}, signal).catch(() => ({ items: [] }));
    for (const { metadata, spec } of items) {
      if (!(spec?.template.spec?.containers ?? []).some(servesDns)) continue;
      found.push(nameOf({ namespace: metadata?.namespace ?? '', kind, name: metadata?.name ?? '' }));
    }
  }
  return found.map((name) => `candidate: ${name}`);
}

function get(client: KubeClient, { kind, name, namespace }: WorkloadName, signal: AbortSignal) {
  return client.get(kind, name, namespace, signal) as Promise<Found | null>;
}

async function notFound(client: KubeClient, what: string, signal: AbortSignal): Promise<BenchError> {
  return new BenchError('E_CONFIG', what, {
    evidence: await candidates(client, signal),
    fix: 'Name the workload with --workload NAMESPACE/KIND/NAME, for example kube-system/deployment/coredns.',
  });
}

async function locate(
  client: KubeClient,
  { workload }: WorkloadChoice,
  signal: AbortSignal,
): Promise<{ place: WorkloadName & { service?: string }; object: Found }> {
  const places = workload === undefined ? PLACES : [workload];
  for (const place of places) {
    const object = await get(client, place, signal);
    if (object !== null) return { place, object };
  }
  const what =
    workload === undefined
      ? 'the DNS of this cluster is in none of the usual places'
      : `there is no ${nameOf(workload)}`;
  throw await notFound(client, what, signal);
}

/** The Service of this name, or the only one for these pods that has port 53 over UDP. */
async function findService(
  client: KubeClient,
  { namespace }: WorkloadName,
  template: V1PodTemplateSpec,
  wanted: string | undefined,
  signal: AbortSignal,
): Promise<V1Service> {
  const { items } = await client.list('Service', { namespace }, signal);
  const labels = template.metadata?.labels ?? {};
  const fits = ({ spec }: V1Service) => {
    const selector = Object.entries(spec?.selector ?? {});
    const ports = spec?.ports ?? [];
    return (
      selector.length > 0 &&
      selector.every(([key, value]) => labels[key] === value) &&
      ports.some(({ port, protocol }) => port === DNS_PORT && protocol !== 'TCP')
    );
  };
  const fitting = items.filter(
    (service) => fits(service) && (wanted === undefined || service.metadata?.name === wanted),
  );
  const [found] = fitting;
  if (found !== undefined && fitting.length === 1) return found;
  const names = fitting.map(({ metadata }) => metadata?.name ?? '');
  throw new BenchError(
    'E_CONFIG',
    names.length === 0
      ? `no Service ${wanted === undefined ? '' : `${wanted} `}in namespace ${namespace} leads to its pods on port ${DNS_PORT}/UDP`
      : `several Services lead to its pods: ${names.join(', ')}`,
    { fix: 'Name it with --service.' },
  );
}

function chooseContainer(
  template: V1PodTemplateSpec,
  podPort: number,
  wanted: string | undefined,
  title: string,
): V1Container {
  const containers = template.spec?.containers ?? [];
  const found =
    wanted === undefined
      ? dnsContainer(template as V1Pod, podPort)
      : containers.find(({ name }) => name === wanted);
  if (found !== undefined) return found;
  throw new BenchError('E_CONFIG', `${title} has no container ${wanted ?? ''}`.trim(), {
    fix: `Its containers are ${containers.map(({ name }) => name).join(', ')}; name one with --container.`,
  });
}

/** @throws BenchError `E_CONFIG` with the candidates if it is not there, or not what the user said. */
export async function findWorkload(
  client: KubeClient,
  choice: WorkloadChoice,
  signal: AbortSignal,
): Promise<DnsWorkload> {
  const { place, object } = await locate(client, choice, signal);
  const { namespace, kind, name } = place;
  const title = `${kind} ${namespace}/${name}`;
  const { spec } = object;
  if (spec === undefined) throw new Error(`${title} has no specification`);
  const { template } = spec;
  const service = await findService(client, place, template, choice.service ?? place.service, signal);
  const podPort = podPortOf(service, DNS_PORT, template);
  const container = chooseContainer(template, podPort, choice.container, title);
  const containers = template.spec?.containers ?? [];
  const address = service.spec?.clusterIP ?? '';
  if (address === '' || address === 'None') {
    throw new BenchError(
      'E_CONFIG',
      `Service ${namespace}/${service.metadata?.name} has no address of its own`,
      {
        fix: 'Name another with --service.',
      },
    );
  }
  return {
    namespace,
    kind,
    name,
    title,
    path: `${pathOf(kind, namespace)}/${name}`,
    uid: object.metadata?.uid ?? '',
    container: container.name,
    containerIndex: containers.indexOf(container),
    image: container.image ?? '',
    sidecars: Object.fromEntries(
      containers.filter((item) => item !== container).map((item) => [item.name, item.image ?? '']),
    ),
    replicas: kind === 'DaemonSet' ? null : (spec.replicas ?? 1),
    cpuLimitCores: parseQuantity(container.resources?.limits?.cpu),
    memoryLimitBytes: parseQuantity(container.resources?.limits?.memory),
    labels: spec.selector.matchLabels ?? {},
    service: { name: service.metadata?.name ?? '', address },
    podPort,
  };
}
