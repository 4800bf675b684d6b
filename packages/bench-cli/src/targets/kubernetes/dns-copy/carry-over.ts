/**
 * What of the cluster's DNS a copy in the run's namespace can have, and what it cannot: in words, for the record. Pure.
 * Pods there have no rights on nodes and may not be privileged, and other programs must not mistake them for the DNS.
 */
import type {
  V1Affinity,
  V1ConfigMap,
  V1Container,
  V1LabelSelector,
  V1Node,
  V1PodAffinity,
  V1PodAffinityTerm,
  V1PodSpec,
  V1Volume,
  V1VolumeMount,
} from '@kubernetes/client-node';

/** Plugins that read files, with the place of the first path among their words. */
const FILE_PLUGINS: Readonly<Record<string, string>> = {
  hosts: 'the hosts file',
  file: 'the zone file',
  auto: 'the directory of zone files',
  sign: 'the keys and zone files',
  tls: 'the certificate',
  dnssec: 'the keys',
  import: 'the imported files',
  kubeconfig: 'the kubeconfig',
};

/** Plugins that other servers or accounts must know of, so that a copy behaves differently. */
const OUTSIDE_PLUGINS: Readonly<Record<string, string>> = {
  transfer: 'zone transfers (`transfer`): secondary servers do not know the copies',
  secondary: 'zone transfers (`secondary`): primary servers may not know the copies',
  bind: 'addresses to listen on (`bind`)',
  etcd: 'access to etcd (`etcd`)',
  route53: 'the account of Route 53 (`route53`)',
  azure: 'the account of Azure DNS (`azure`)',
  clouddns: 'the account of Cloud DNS (`clouddns`)',
};

const isBelow = (path: string, directory: string) =>
  path === directory || path.startsWith(directory.endsWith('/') ? directory : `${directory}/`);

/** What the Corefile refers to and a copy does not have. `directories` are those that it has. */
export function corefileGaps(corefile: string, directories: readonly string[]): string[] {
  const gaps = corefile.split('\n').flatMap((line): string[] => {
    const [plugin = '', ...words] = line.trim().split(/\s+/);
    const outside = OUTSIDE_PLUGINS[plugin];
    if (outside !== undefined) return [outside];
    const what = FILE_PLUGINS[plugin];
    const path = words.find((word) => word.startsWith('/'));
    if (what === undefined || path === undefined) return [];
    return directories.some((directory) => isBelow(path, directory))
      ? []
      : [`${what} ${path} (\`${plugin}\`), which is no part of a ConfigMap`];
  });
  return [...new Set(gaps)];
}

export interface CarriedMount {
  readonly mountPath: string;
  readonly configMap: string;
  /** Keys by file name; null for all. */
  readonly items: Readonly<Record<string, string>> | null;
}

function mountOf(mount: V1VolumeMount, volume: V1Volume | undefined): CarriedMount | string | null {
  const { mountPath, subPath } = mount;
  const { configMap } = volume ?? {};
  if (volume?.emptyDir !== undefined) return null;
  if (configMap?.name === undefined || subPath !== undefined)
    return `the files in ${mountPath} (volume ${mount.name})`;
  const items = configMap.items?.map(({ key, path }): [string, string] => [key, path]);
  return {
    mountPath,
    configMap: configMap.name,
    items: items === undefined ? null : Object.fromEntries(items),
  };
}

/** ConfigMaps that the container sees are copied; other volumes are not. */
export function carriedMounts(spec: V1PodSpec, container: V1Container) {
  const found = (container.volumeMounts ?? []).map((mount) =>
    mountOf(
      mount,
      spec.volumes?.find(({ name }) => name === mount.name),
    ),
  );
  return {
    mounts: found.filter((item) => item !== null && typeof item !== 'string'),
    gaps: found.filter((item) => typeof item === 'string'),
  };
}

/** Environment variables with a value of their own; the others refer to objects of another namespace. */
export function carriedEnv(container: V1Container): { env: Record<string, string>; gaps: string[] } {
  const all = container.env ?? [];
  const plain = all.flatMap(({ name, value }): [string, string][] =>
    value === undefined ? [] : [[name, value]],
  );
  const gaps = all.filter(({ value }) => value === undefined).map(({ name }) => `the variable ${name}`);
  return { env: Object.fromEntries(plain), gaps };
}

/** What the pods of the DNS have beside its container. */
export function podGaps(spec: V1PodSpec, container: V1Container): string[] {
  const sidecars = spec.containers.filter((item) => item !== container).map(({ name }) => name);
  const hostPorts = (container.ports ?? []).flatMap(({ hostPort }) => hostPort ?? []);
  return [
    ...(sidecars.length === 0 ? [] : [`sidecars: ${sidecars.join(', ')}`]),
    ...(spec.hostNetwork === true ? ['the network of the nodes (hostNetwork)'] : []),
    ...(hostPorts.length === 0 ? [] : [`ports of the nodes: ${hostPorts.join(', ')}`]),
    ...(spec.priorityClassName === undefined ? [] : [`the priority class ${spec.priorityClassName}`]),
    ...((container.envFrom ?? []).length === 0 ? [] : ['variables from other objects (envFrom)']),
  ];
}

export type Placement = Pick<V1PodSpec, 'nodeSelector' | 'tolerations'>;

/** The nodes that pods of a copy may take: those of the DNS, unless one was chosen. */
export function placementOf(chosen: Placement, { nodeSelector, tolerations = [] }: V1PodSpec): Placement {
  const selector = chosen.nodeSelector ?? nodeSelector;
  return {
    ...(selector === undefined ? {} : { nodeSelector: selector }),
    tolerations: [...(chosen.tolerations ?? []), ...tolerations],
  };
}

/** What says which pods may be beside which, where a copy has a node of its own. */
export function placementGaps({ affinity, topologySpreadConstraints }: V1PodSpec): string[] {
  return [
    ...(affinity === undefined ? [] : ['rules on which pods may share a node (affinity)']),
    ...(topologySpreadConstraints === undefined ? [] : ['rules on how pods are spread over nodes']),
  ];
}

type Labels = Readonly<Record<string, string>>;

/** Pods of the DNS, as selectors find them. */
export interface OwnPods {
  readonly namespace: string;
  /** Of their namespace. */
  readonly namespaceLabels: Labels;
  readonly labels: Labels;
}

/** Pods of the DNS, and those of a copy of it. */
export interface CopiedPods {
  readonly dns: OwnPods;
  /** Select the pods of the copy. */
  readonly labels: Labels;
}

/** Whether a selector finds pods with these labels. */
function selects({ matchLabels = {}, matchExpressions = [] }: V1LabelSelector, labels: Labels): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = labels[key];
      if (operator === 'Exists' || operator === 'DoesNotExist')
        return (value !== undefined) === (operator === 'Exists');
      return (value !== undefined && values.includes(value)) === (operator === 'In');
    })
  );
}

/** Whether a rule of the DNS's pods is about these pods themselves: in one of its namespaces, which is their own if it names none. */
function isAboutOwn(
  { labelSelector, namespaces = [], namespaceSelector }: V1PodAffinityTerm,
  { namespace, namespaceLabels, labels }: OwnPods,
): boolean {
  const isBeside =
    namespaces.includes(namespace) ||
    (namespaceSelector === undefined ? namespaces.length === 0 : selects(namespaceSelector, namespaceLabels));
  return isBeside && labelSelector !== undefined && selects(labelSelector, labels);
}

/** How many pods of a copy these nodes can take at once, as far as the DNS's pods may not be together; infinite without such a rule. */
export function mostApart({ affinity }: V1PodSpec, dns: OwnPods, nodes: readonly V1Node[]): number {
  const rules = affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const most = rules.flatMap((term) => {
    const places = nodes.map(({ metadata }) => metadata?.labels?.[term.topologyKey]);
    // On a node without the label, the rule has no effect.
    return isAboutOwn(term, dns) && !places.includes(undefined) ? [new Set(places).size] : [];
  });
  return Math.min(...most);
}

/** What is said of the DNS's own pods is said of the copy's; what is said of others goes on to mean those beside the DNS. */
function carriedTerm(term: V1PodAffinityTerm, { dns, labels }: CopiedPods): V1PodAffinityTerm {
  const { labelSelector: _, namespaces = [], namespaceSelector, ...rest } = term;
  if (isAboutOwn(term, dns)) return { ...rest, labelSelector: { matchLabels: { ...labels } } };
  return namespaces.length > 0 || namespaceSelector !== undefined
    ? term
    : { ...term, namespaces: [dns.namespace] };
}

function carriedAffinity(affinity: V1PodAffinity, pods: CopiedPods): V1PodAffinity {
  const { requiredDuringSchedulingIgnoredDuringExecution: required } = affinity;
  const { preferredDuringSchedulingIgnoredDuringExecution: preferred } = affinity;
  return {
    ...(required && {
      requiredDuringSchedulingIgnoredDuringExecution: required.map((term) => carriedTerm(term, pods)),
    }),
    ...(preferred && {
      preferredDuringSchedulingIgnoredDuringExecution: preferred.map((each) => ({
        ...each,
        podAffinityTerm: carriedTerm(each.podAffinityTerm, pods),
      })),
    }),
  };
}

/** The DNS's rules on which nodes its pods take, and how they share them, for the pods of a copy. */
export function carriedRules(
  { affinity, topologySpreadConstraints: spread }: V1PodSpec,
  pods: CopiedPods,
): Pick<V1PodSpec, 'affinity' | 'topologySpreadConstraints'> {
  const { podAffinity, podAntiAffinity, ...ofNodes } = affinity ?? {};
  const carried: V1Affinity = {
    ...ofNodes,
    ...(podAffinity === undefined ? {} : { podAffinity: carriedAffinity(podAffinity, pods) }),
    ...(podAntiAffinity === undefined ? {} : { podAntiAffinity: carriedAffinity(podAntiAffinity, pods) }),
  };
  return {
    ...(affinity === undefined ? {} : { affinity: carried }),
    // They count pods of their own namespace only.
    ...(spread && {
      topologySpreadConstraints: spread.map((rule) => ({
        ...rule,
        labelSelector: { matchLabels: { ...pods.labels } },
      })),
    }),
  };
}

/** The Corefile among the files of the ConfigMaps: the one that `-conf` names. */
export function corefileOf(
  container: V1Container,
  mounts: readonly CarriedMount[],
  maps: ReadonlyMap<string, V1ConfigMap>,
): string {
  const words = [...(container.command ?? []), ...(container.args ?? [])];
  const path = words[words.indexOf('-conf') + 1] ?? '';
  for (const { mountPath, configMap, items } of mounts) {
    if (!isBelow(path, mountPath)) continue;
    const file = path.slice(mountPath.length).replace(/^\//, '');
    const data = maps.get(configMap)?.data ?? {};
    const key = items === null ? file : Object.keys(items).find((name) => items[name] === file);
    const content = key === undefined ? undefined : data[key];
    if (content !== undefined) return content;
  }
  return '';
}
