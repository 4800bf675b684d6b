/**
 * What all pods of a run have in common: placement, account and restrictions. They comply with the `restricted`
 * Pod Security Standard. Pure.
 * https://kubernetes.io/docs/concepts/security/pod-security-standards/
 */
import type {
  V1Affinity,
  V1Container,
  V1PodAffinityTerm,
  V1PodSpec,
  V1PodTemplateSpec,
  V1ResourceRequirements,
  V1Toleration,
  V1Volume,
} from '@kubernetes/client-node';
import type { KubernetesSettings } from '../../../config/kubernetes-settings.ts';
import { pathsOf } from '../../../config/paths.ts';
import { type Component, LABELS } from './labels.ts';

export interface PodRequest {
  readonly settings: KubernetesSettings;
  readonly labels: Readonly<Record<string, string>>;
  readonly component: Component;
  readonly image: string;
  readonly args: readonly string[];
  /** Replaces the image's entry point. */
  readonly command?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly resources?: V1ResourceRequirements;
  /** ConfigMaps by the directory that holds their files. */
  readonly mounts?: Readonly<Record<string, ConfigMapMount>>;
  readonly ports?: V1Container['ports'];
  /** Names of Secrets in the run's namespace. */
  readonly pullSecrets: readonly string[];
  readonly restartPolicy: 'Always' | 'Never';
  /** This very node, whatever it repels. Default: where the settings and the scheduler place it. */
  readonly node?: string;
  /**
   * CoreDNS's official binary carries the file capability `cap_net_bind_service=ep`, and the kernel refuses to
   * start it where that is not in the bounding set. It is the only capability that `restricted` allows to add.
   */
  readonly needsBindService?: boolean;
  /** In the network of its node, as root, but without any capability: `privileged` alone allows it. */
  readonly inNodeNetwork?: boolean;
}

export interface ConfigMapMount {
  readonly configMap: string;
  /** File paths by key: keys cannot contain a slash. */
  readonly items: Readonly<Record<string, string>>;
}

/** The name of the one container of every pod. */
export const CONTAINER = 'main';

/** `pool=dns` → `{ pool: 'dns' }`. */
function labelsIn(pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}

/** `pool=dns,zone=a` → labels; a bare name → the label that holds a node's name. */
export function nodeSelectorOf(node: string | undefined): Record<string, string> | undefined {
  if (node === undefined) return undefined;
  return node.includes('=') ? labelsIn(node.split(',')) : { 'kubernetes.io/hostname': node };
}

/** `dedicated=dns:NoSchedule` → a toleration; without a value any value, without an effect any effect. */
export function tolerationOf(text: string): V1Toleration {
  const [rest = '', effect] = text.split(':');
  const [key = '', value] = rest.split('=');
  return {
    key,
    operator: value === undefined ? 'Exists' : 'Equal',
    ...(value === undefined ? {} : { value }),
    ...(effect === undefined ? {} : { effect }),
  };
}

/** The nodes that have pods with these labels. */
const nodesWith = (matchLabels: Record<string, string>): V1PodAffinityTerm => ({
  labelSelector: { matchLabels },
  topologyKey: 'kubernetes.io/hostname',
});

const nodesOf = (labels: PodRequest['labels'], component: Component) =>
  nodesWith({ [LABELS.run]: labels[LABELS.run] ?? '', [LABELS.component]: component });

/**
 * Prefers a node without servers for a loader, because they would compete for CPU; and after that one without other
 * loaders, so that several of them are spread over the nodes.
 */
function awayFromOthers(labels: PodRequest['labels']): V1Affinity {
  return {
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 100, podAffinityTerm: nodesOf(labels, 'server') },
        { weight: 50, podAffinityTerm: nodesOf(labels, 'loader') },
      ],
    },
  };
}

/** Through a Service that leads to pods of the client's node only, a client elsewhere reaches none. */
function besideServers(labels: PodRequest['labels']): V1Affinity {
  return {
    podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [nodesOf(labels, 'server')] },
  };
}

/** `--replicas`, for the pods of one deployment: other servers of a duet are where they like. */
function amongReplicas(how: 'spread' | 'packed', labels: PodRequest['labels']): V1Affinity {
  const own = nodesWith({ [LABELS.run]: labels[LABELS.run] ?? '', [LABELS.unit]: labels[LABELS.unit] ?? '' });
  const rule = { requiredDuringSchedulingIgnoredDuringExecution: [own] };
  return how === 'spread' ? { podAntiAffinity: rule } : { podAffinity: rule };
}

function affinityOf({ settings, component, labels }: PodRequest): V1Affinity | undefined {
  const role = labels[LABELS.component];
  if (role === 'server' && settings.replicas !== undefined) return amongReplicas(settings.replicas, labels);
  const isClient = role === 'loader' || role === 'checker';
  // With several paths, too: a longer way for some of them would count as what a path costs.
  if (isClient && pathsOf(settings.path).includes('local')) return besideServers(labels);
  return component === 'loader' ? awayFromOthers(labels) : undefined;
}

function placement(request: PodRequest): Partial<V1PodSpec> {
  const { settings, component, node } = request;
  if (node !== undefined) return { nodeName: node, tolerations: [{ operator: 'Exists' }] };
  const atServer = component === 'server';
  const selector = nodeSelectorOf(atServer ? settings.serverNode : settings.loaderNode);
  const affinity = affinityOf(request);
  const tolerations = (atServer ? settings.serverTolerations : settings.loaderTolerations) ?? [];
  return {
    ...(affinity === undefined ? {} : { affinity }),
    ...(selector === undefined ? {} : { nodeSelector: selector }),
    ...(tolerations.length === 0 ? {} : { tolerations: tolerations.map(tolerationOf) }),
  };
}

/** The only place where a pod may write. */
export const SCRATCH_DIRECTORY = '/tmp';
const SCRATCH: V1Volume = { name: 'tmp', emptyDir: { sizeLimit: '64Mi' } };

function volumesOf(mounts: PodRequest['mounts'] = {}): V1Volume[] {
  const maps = Object.values(mounts).map(
    ({ configMap, items }, index): V1Volume => ({
      name: `files-${index + 1}`,
      configMap: {
        name: configMap,
        items: Object.entries(items).map(([key, path]) => ({ key, path })),
      },
    }),
  );
  return [...maps, SCRATCH];
}

/** The container of a pod, or one of several. */
export function containerOf(
  request: Omit<PodRequest, 'labels' | 'component' | 'pullSecrets' | 'restartPolicy'>,
): V1Container {
  const { settings, image, command, args, env = {}, resources, mounts = {}, ports } = request;
  return {
    name: CONTAINER,
    image,
    imagePullPolicy: settings.pullPolicy,
    ...(command === undefined ? {} : { command: [...command] }),
    args: [...args],
    ...(Object.keys(env).length === 0
      ? {}
      : { env: Object.entries(env).map(([name, value]) => ({ name, value })) }),
    ...(resources === undefined ? {} : { resources }),
    ...(ports === undefined ? {} : { ports }),
    volumeMounts: [
      ...Object.keys(mounts).map((mountPath, index) => ({
        name: `files-${index + 1}`,
        mountPath,
        readOnly: true,
      })),
      { name: SCRATCH.name, mountPath: SCRATCH_DIRECTORY },
    ],
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: {
        drop: ['ALL'],
        ...(request.needsBindService === true ? { add: ['NET_BIND_SERVICE'] } : {}),
      },
    },
  };
}

/** A pod of one container. */
export interface PodTemplate extends V1PodTemplateSpec {
  readonly spec: V1PodSpec & { readonly containers: [V1Container] };
}

export function podTemplate(request: PodRequest): PodTemplate {
  const { settings, labels, component, mounts, pullSecrets, restartPolicy, inNodeNetwork = false } = request;
  const chosen = settings.runAsUser === 'image' ? undefined : Number(settings.runAsUser);
  const user = inNodeNetwork ? 0 : chosen;
  return {
    metadata: { labels: { ...labelsIn(settings.podLabels ?? []), ...labels } },
    spec: {
      ...placement(request),
      ...(inNodeNetwork ? { hostNetwork: true } : {}),
      automountServiceAccountToken: false,
      ...(settings.serviceAccount === undefined ? {} : { serviceAccountName: settings.serviceAccount }),
      // Variables for every Service would only make the environment larger.
      enableServiceLinks: false,
      restartPolicy,
      // An aborted dnsperf needs no time to finish; servers end at once without queries.
      terminationGracePeriodSeconds: component === 'server' ? 5 : 1,
      securityContext: {
        runAsNonRoot: !inNodeNetwork,
        ...(user === undefined ? {} : { runAsUser: user, runAsGroup: user }),
        seccompProfile: { type: 'RuntimeDefault' },
      },
      ...(pullSecrets.length === 0 ? {} : { imagePullSecrets: pullSecrets.map((name) => ({ name })) }),
      containers: [containerOf(request)],
      volumes: volumesOf(mounts),
    },
  };
}
