/** The settings of the kubernetes target; part of the one table in `settings.ts`. */
import { z } from 'zod';
import { parseQuantity } from '../quantity.ts';
import { booleanFromText, choice, list, listFromText, seconds, text } from './value-schemas.ts';

/** RFC 1123 label with room for the run's id behind it. */
const namePrefix = z
  .string('must be text')
  .regex(
    /^[a-z0-9](?:[a-z0-9-]{0,28}[a-z0-9])?$/,
    'must be up to 30 lower-case letters, digits and hyphens, for example dns-team',
  );

/** A quantity of CPU or memory, kept as text. A number in a file is one, too. */
const quantity = (example: string) =>
  z.preprocess(
    (value) => (typeof value === 'number' ? String(value) : value),
    z
      .string('must be a quantity')
      .refine((value) => (parseQuantity(value) ?? 0) > 0, `must be a quantity, for example ${example}`),
  );

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

const secretMessage = 'must be names of Secrets, each [namespace/]name, for example default/registry';
const secret = z.string(secretMessage).regex(/^(?:[a-z0-9-]+\/)?[a-z0-9.-]+$/, secretMessage);

const userMessage = 'must be the number of a user above 0, or image';
const user = z.preprocess(
  (value) => (typeof value === 'number' ? String(value) : value),
  z.string(userMessage).regex(/^(?:image|[1-9]\d{0,9})$/, userMessage),
);

export const kubernetesShape = {
  target: choice(['local', 'kubernetes']),
  context: text,
  namespacePrefix: namePrefix,
  corednsImage: text,
  dinodnsImage: text,
  loaderImage: text,
  pullPolicy: choice(['IfNotPresent', 'Always', 'Never']),
  pullSecrets: list(secret, secretMessage),
  serverNode: node,
  loaderNode: node,
  serverTolerations: list(toleration, tolerationMessage),
  loaderTolerations: list(toleration, tolerationMessage),
  serviceAccount: text,
  cpuRequest: quantity('500m'),
  memoryLimit: quantity('512Mi'),
  loaderCpu: quantity('7'),
  podLabels: z.preprocess(listFromText, z.array(pair).min(1)),
  runAsUser: user,
  workers: choice(['quota', 'node']),
  observe: choice(['auto', 'summary', 'metrics', 'none']),
  scheduleTime: seconds(0, 'must be a duration, for example 30 or 5m'),
  readyTime: seconds(5, 'must be a duration of at least 5 seconds, for example 5m'),
  keep: z.preprocess(booleanFromText, z.boolean('must be true or false')),
};

export const KUBERNETES_DEFAULTS = {
  target: 'local',
  namespacePrefix: 'dinodns-bench',
  pullPolicy: 'IfNotPresent',
  // The user "nonroot" of distroless images, CoreDNS's among them.
  runAsUser: '65532',
  workers: 'quota',
  observe: 'auto',
  // A node that an autoscaler has to add takes longer: then this must be raised.
  scheduleTime: 20,
  readyTime: 300,
  keep: false,
} as const;

export const KUBERNETES_DESCRIPTIONS = {
  target: { flag: '--target <name>', description: 'where servers run: local or kubernetes' },
  context: {
    flag: '--context <name>',
    description: 'context of the kubeconfig (default: its current one)',
  },
  namespacePrefix: {
    flag: '--namespace-prefix <text>',
    description: "a run's namespace is this and the run's id",
  },
  corednsImage: {
    flag: '--coredns-image <image>',
    description: 'default: coredns/coredns with the version',
  },
  dinodnsImage: {
    flag: '--dinodns-image <image>',
    description: 'made from k8s/images/server; see `bench images`',
  },
  loaderImage: { flag: '--loader-image <image>', description: 'made from k8s/images/dnsperf' },
  pullPolicy: { flag: '--pull-policy <policy>', description: 'IfNotPresent, Always or Never' },
  pullSecrets: {
    flag: '--pull-secrets <list>',
    description: "Secrets for private registries, copied into the run's namespace: [namespace/]name",
  },
  serverNode: { flag: '--server-node <node>', description: 'where servers run: a name, or pool=dns' },
  loaderNode: { flag: '--loader-node <node>', description: 'where the loader runs: a name, or pool=load' },
  serverTolerations: {
    flag: '--server-tolerations <list>',
    description: 'taints that servers tolerate: dedicated=dns:NoSchedule',
  },
  loaderTolerations: {
    flag: '--loader-tolerations <list>',
    description: 'taints that the loader tolerates',
  },
  serviceAccount: {
    flag: '--service-account <name>',
    description: 'made in the namespace for the pods; without a token (default: its default)',
  },
  cpuRequest: {
    flag: '--cpu-request <quantity>',
    description: 'CPU request of a server pod (default: its limit, which the tier says)',
  },
  memoryLimit: {
    flag: '--memory-limit <quantity>',
    description: 'memory request and limit of a server pod (default: none)',
  },
  loaderCpu: {
    flag: '--loader-cpu <quantity>',
    description: 'CPU request and limit of the loader (default: no limit)',
  },
  podLabels: { flag: '--pod-labels <list>', description: 'further labels of all pods: team=dns,env=lab' },
  runAsUser: { flag: '--run-as-user <id>', description: "user of all pods; image: the image's own" },
  workers: {
    flag: '--workers <how>',
    description: "workers of DinoDNS in cluster mode: by its quota, or the node's cores as published",
  },
  observe: {
    flag: '--observe <how>',
    description: "the kubelet's summary, the metrics API, none, or auto: the best that is allowed",
  },
  scheduleTime: {
    flag: '--schedule-time <time>',
    description: 'how long a pod may find no node before that is an error',
  },
  readyTime: { flag: '--ready-time <time>', description: 'how long pods may take to become ready' },
  keep: { flag: '--keep', description: "leave the run's namespace and its last server in the cluster" },
} as const;

export type KubernetesSettingName = keyof typeof kubernetesShape;

type Shape = typeof kubernetesShape;

/** Settings of the kubernetes target, checked. Optional ones are absent, not undefined. */
export type KubernetesSettings = {
  readonly [K in keyof typeof KUBERNETES_DEFAULTS]: z.output<Shape[K]>;
} & {
  readonly [K in Exclude<keyof Shape, keyof typeof KUBERNETES_DEFAULTS>]?: z.output<Shape[K]>;
};

/** The settings of this table among all. */
export function kubernetesSettingsOf(settings: KubernetesSettings): KubernetesSettings {
  const names = Object.keys(kubernetesShape) as KubernetesSettingName[];
  const entries = names.flatMap((name) => (settings[name] === undefined ? [] : [[name, settings[name]]]));
  return Object.fromEntries(entries) as KubernetesSettings;
}
