/** The settings of the kubernetes target; part of the one table in `settings.ts`. */
import { z } from 'zod';
import { parseQuantity } from '../quantity.ts';
import { SERVICE_PATHS } from './paths.ts';
import { defaultsOf, type SettingsOf, type SettingTable } from './setting.ts';
import { choice, list, listFromText, seconds, text, yesOrNo } from './value-schemas.ts';

/** RFC 1123 label with room for the run's ID after it. */
const namePrefix = z
  .string('must be text')
  .regex(
    /^[a-z0-9](?:[a-z0-9-]{0,28}[a-z0-9])?$/,
    'must be up to 30 lower-case letters, digits and hyphens, for example dns-team',
  );

/** A quantity of CPU or memory, kept as text, or `word`. A number in a file is one, too. */
export const quantity = (example: string, word?: string) =>
  z.preprocess(
    (value) => (typeof value === 'number' ? String(value) : value),
    z
      .string('must be a quantity')
      .refine(
        (value) => value === word || (parseQuantity(value) ?? 0) > 0,
        `must be a quantity, for example ${example}${word === undefined ? '' : `, or ${word}`}`,
      ),
  );

const memoryMessage = 'must be at least 1Mi of memory, with its unit, for example 512Mi';

/** `--loader-cpu published`: what the loader of the published matrix had; see `loaderCpuFor`. */
export const PUBLISHED_CPU = 'published';

const pair = z
  .string('must be text')
  .regex(/^[\w.-]+(?:\/[\w.-]+)?=[\w.-]*$/, 'must be key=value, for example team=dns');

const nodeMessage = 'must be the name of a node or labels, for example worker-1 or pool=dns';
const node = z
  .string(nodeMessage)
  .regex(/^[\w.-]+(?:\/[\w.-]+)?(?:=[\w.-]*)?(?:,[\w.-]+(?:\/[\w.-]+)?=[\w.-]*)*$/, nodeMessage);

const tolerationMessage = 'must be key[=value][:effect], for example dedicated=dns:NoSchedule';
const toleration = z
  .string(tolerationMessage)
  .regex(
    /^[\w.-]+(?:\/[\w.-]+)?(?:=[\w.-]*)?(?::(?:NoSchedule|PreferNoSchedule|NoExecute))?$/,
    tolerationMessage,
  );

const serverImageMessage =
  'must be KIND=IMAGE, where KIND is echo, knot or nsd, for example knot=registry.example/knot:3.4';
const serverImage = z.string(serverImageMessage).regex(/^(?:echo|knot|nsd)=\S+$/, serverImageMessage);

const secretMessage = 'must be names of Secrets, each [namespace/]name, for example default/registry';
const secret = z.string(secretMessage).regex(/^(?:[a-z0-9-]+\/)?[a-z0-9.-]+$/, secretMessage);

const userMessage = 'must be a user ID above 0, or image';
const user = z.preprocess(
  (value) => (typeof value === 'number' ? String(value) : value),
  z.string(userMessage).regex(/^(?:image|[1-9]\d{0,9})$/, userMessage),
);

const pathsMessage = `must be one of ${SERVICE_PATHS.join(', ')}, or a list of them without repeats`;
/** One text, whether it is one or several: what most runs have is one word in every record. */
const servicePaths = list(z.enum(SERVICE_PATHS, pathsMessage), pathsMessage)
  .refine((paths) => new Set(paths).size === paths.length, pathsMessage)
  .transform((paths) => paths.join(','));

export const KUBERNETES_SETTINGS = {
  target: {
    flag: '--target <name>',
    description: 'where servers run: local or kubernetes',
    schema: choice(['local', 'kubernetes']),
    default: 'local',
  },
  context: {
    flag: '--context <name>',
    rare: true,
    description: 'context of the kubeconfig (default: its current one)',
    schema: text,
  },
  namespacePrefix: {
    flag: '--namespace-prefix <text>',
    rare: true,
    description: "prefix of a run's namespace; the run's id follows",
    schema: namePrefix,
    default: 'dinodns-bench',
  },
  corednsImage: {
    flag: '--coredns-image <image>',
    rare: true,
    description: 'image of CoreDNS (default: coredns/coredns with the version)',
    schema: text,
  },
  dinodnsImage: {
    flag: '--dinodns-image <image>',
    rare: true,
    description: 'image of DinoDNS: built from k8s/images/server; see `bench images`',
    schema: text,
  },
  serverImages: {
    flag: '--server-images <list>',
    rare: true,
    description: 'images of other servers, built from k8s/images: echo=IMAGE,knot=IMAGE,nsd=IMAGE',
    schema: list(serverImage, serverImageMessage),
  },
  loaderImage: {
    flag: '--loader-image <image>',
    rare: true,
    description: 'image of the load generator: built from k8s/images/dnsperf',
    schema: text,
  },
  pullPolicy: {
    flag: '--pull-policy <policy>',
    rare: true,
    description: 'IfNotPresent, Always or Never',
    schema: choice(['IfNotPresent', 'Always', 'Never']),
    default: 'IfNotPresent',
  },
  pullSecrets: {
    flag: '--pull-secrets <list>',
    rare: true,
    description: "Secrets for private registries, copied into the run's namespace: [namespace/]name",
    schema: list(secret, secretMessage),
  },
  serverNode: {
    flag: '--server-node <node>',
    rare: true,
    description: 'where servers run: a name, or pool=dns',
    schema: node,
  },
  loaderNode: {
    flag: '--loader-node <node>',
    rare: true,
    description: 'where the loader runs: a name, or pool=load',
    schema: node,
  },
  serverTolerations: {
    flag: '--server-tolerations <list>',
    rare: true,
    description: 'taints that servers tolerate: dedicated=dns:NoSchedule',
    schema: list(toleration, tolerationMessage),
  },
  loaderTolerations: {
    flag: '--loader-tolerations <list>',
    rare: true,
    description: 'taints that the loader tolerates',
    schema: list(toleration, tolerationMessage),
  },
  replicas: {
    flag: '--replicas <how>',
    rare: true,
    description:
      'nodes of the pods of mode single: spread (one on each) or packed (all on one) (default: as the cluster places them)',
    schema: choice(['spread', 'packed']),
  },
  path: {
    flag: '--path <list>',
    rare: true,
    description:
      "how queries reach the pods: service, pod (none between), local (the Service, pods of the loader's node only), headless (a pod by the Service's name); several are compared",
    schema: servicePaths,
    default: 'service',
  },
  serviceAccount: {
    flag: '--service-account <name>',
    rare: true,
    description: 'service account created for the pods, without a token (default: the namespace default)',
    schema: text,
  },
  cpuRequest: {
    flag: '--cpu-request <quantity>',
    rare: true,
    description: 'CPU request of a server pod (default: its limit, given by the tier)',
    schema: quantity('500m'),
  },
  memoryLimit: {
    flag: '--memory-limit <quantity>',
    rare: true,
    description: 'memory request and limit of a server pod (default: none)',
    schema: quantity('512Mi').refine((value) => (parseQuantity(value) ?? 0) >= 2 ** 20, memoryMessage),
  },
  loaderCpu: {
    flag: '--loader-cpu <quantity>',
    rare: true,
    description:
      'CPU request and limit of the loader; published: the tier, and 7 in mode single (default: no limit)',
    schema: quantity('7', PUBLISHED_CPU),
  },
  podLabels: {
    flag: '--pod-labels <list>',
    rare: true,
    description: 'additional labels for all pods: team=dns,env=lab',
    schema: z.preprocess(listFromText, z.array(pair).min(1)),
  },
  runAsUser: {
    flag: '--run-as-user <id>',
    rare: true,
    description: "user ID of all pods; image: the image's own",
    schema: user,
    // The user "nonroot" of distroless images, such as CoreDNS's.
    default: '65532',
  },
  workers: {
    flag: '--workers <how>',
    rare: true,
    description: "workers of DinoDNS in cluster mode: by its quota, or the node's cores as published",
    schema: choice(['quota', 'node']),
    default: 'quota',
  },
  observe: {
    flag: '--observe <how>',
    rare: true,
    description: "the kubelet's summary, the metrics API, none, or auto: the best one permitted",
    schema: choice(['auto', 'summary', 'metrics', 'none']),
    default: 'auto',
  },
  scheduleTime: {
    flag: '--schedule-time <time>',
    rare: true,
    description: 'how long a pod may stay unscheduled before that is an error',
    schema: seconds(0, 'must be a duration, for example 30 or 5m'),
    // A node that an autoscaler adds takes longer: raise it then.
    default: 20,
  },
  readyTime: {
    flag: '--ready-time <time>',
    rare: true,
    description: 'how long pods may take to become ready',
    schema: seconds(5, 'must be a duration of at least 5 seconds, for example 5m'),
    default: 300,
  },
  keep: {
    flag: '--keep',
    rare: true,
    description: "leave the run's namespace and its last server in the cluster",
    schema: yesOrNo,
    default: false,
  },
} as const satisfies SettingTable;

export const KUBERNETES_DEFAULTS = defaultsOf(KUBERNETES_SETTINGS);

/** Settings of the kubernetes target, checked. Optional ones are absent, not undefined. */
export type KubernetesSettings = SettingsOf<typeof KUBERNETES_SETTINGS>;

/** Their values, without the rest and without what is undefined. */
export function pickKubernetes(values: Readonly<Record<string, unknown>>): KubernetesSettings {
  const entries = Object.keys(KUBERNETES_SETTINGS).flatMap((name) =>
    values[name] === undefined ? [] : [[name, values[name]]],
  );
  return Object.fromEntries(entries) as KubernetesSettings;
}

/** As the parts of the kubernetes target take them, from the settings of an experiment. */
export function kubernetesOf(settings: Readonly<Record<string, unknown>>): KubernetesSettings {
  return pickKubernetes({ ...KUBERNETES_DEFAULTS, ...settings, target: 'kubernetes' });
}
