/**
 * A private CoreDNS as a Job of one pod: CoreDNS itself, unmodified, and a program beside it. For memory, it passes CoreDNS's
 * requests on to the API server, watches its memory, asks it, and makes it read all objects again. Pure.
 */
import { type CorefileOptions, renderCorefile } from '@dinodns-bench/cluster-objects';
import type {
  V1ClusterRole,
  V1ClusterRoleBinding,
  V1ConfigMap,
  V1Container,
  V1Job,
  V1Namespace,
  V1ServiceAccount,
} from '@kubernetes/client-node';
import type { KubernetesSettings } from '../../../config/kubernetes-settings.ts';
import { configMapOf } from '../../../targets/kubernetes/objects/config-map.ts';
import { runLabels, unitLabels } from '../../../targets/kubernetes/objects/labels.ts';
import { type ConfigMapMount, podTemplate } from '../../../targets/kubernetes/objects/pods.ts';
import type { Phase } from '../beside/phases.ts';
import { programFiles } from '../beside/program.ts';

/** The container of CoreDNS; the other one is `main`. Its state is the pod's first by name, so that its end is the Job's. */
export const DNS_CONTAINER = 'dns';

const FILES_DIRECTORY = '/etc/bench';
const RELAY_PORT = 8001;
const DNS_PORT = 5353;
const TOKEN_DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount';

/** What the Corefile's `kubernetes` plugin reads, and nothing else: the rules of CoreDNS's own role. */
const READER_RULES = [
  { apiGroups: [''], resources: ['endpoints', 'services', 'pods', 'namespaces'], verbs: ['list', 'watch'] },
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
];

export interface DnsAccount {
  readonly account: V1ServiceAccount;
  readonly role: V1ClusterRole;
  readonly binding: V1ClusterRoleBinding;
}

/**
 * The account that the pod runs under, and its right to read. The role and its binding are outside the namespace, but are
 * owned by it: whoever deletes the namespace, also after a SIGKILL, deletes them.
 */
export function dnsAccount(namespace: V1Namespace, runId: string): DnsAccount {
  const { name: owner = '', uid = '' } = namespace.metadata ?? {};
  const labels = runLabels(runId);
  const outside = {
    name: `${owner}-dns`,
    labels,
    ownerReferences: [{ apiVersion: 'v1', kind: 'Namespace', name: owner, uid }],
  };
  return {
    account: { metadata: { name: 'dns', namespace: owner, labels } },
    role: { metadata: outside, rules: READER_RULES },
    binding: {
      metadata: outside,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: outside.name },
      subjects: [{ kind: 'ServiceAccount', name: 'dns', namespace: owner }],
    },
  };
}

export interface DnsFilesRequest {
  readonly namespace: string;
  readonly runId: string;
  readonly name: string;
  readonly corefile: Pick<CorefileOptions, 'pods' | 'autopath' | 'cache'>;
  /** How CoreDNS reads the API server: through the program beside it, or by itself. */
  readonly reads: 'through the program' | 'by itself';
  /** Names of Services that it is asked for. */
  readonly names: readonly string[];
}

/** The Corefile, the program and the names in one ConfigMap. */
export function dnsFiles(request: DnsFilesRequest): { object: V1ConfigMap; mount: ConfigMapMount } {
  const { namespace, runId, name, names, reads } = request;
  const corefile = renderCorefile({
    ...request.corefile,
    ...(reads === 'by itself' ? {} : { endpoint: `http://127.0.0.1:${RELAY_PORT}` }),
    port: DNS_PORT,
    lameduckSeconds: 0,
  });
  return configMapOf({ name, namespace, labels: runLabels(runId) }, 'the files of the private CoreDNS', [
    { path: 'Corefile', chunks: [corefile] },
    { path: 'names.txt', chunks: [names.join('\n')] },
    ...Object.entries(programFiles()).map(([path, text]) => ({ path, chunks: [text] })),
  ]);
}

/** What every private CoreDNS needs. */
export interface DnsPodRequest {
  readonly settings: KubernetesSettings;
  readonly namespace: string;
  readonly runId: string;
  /** Of the Job: `start-1`. */
  readonly unit: string;
  readonly corednsImage: string;
  /** Any image with Node.js. */
  readonly observerImage: string;
  readonly mount: ConfigMapMount;
  readonly pullSecrets: readonly string[];
  /** Request and limit of CoreDNS's memory; null for none. */
  readonly memory: { readonly request: string; readonly limit: string } | null;
  /** Of CoreDNS. Default: nothing. */
  readonly corednsEnv?: Readonly<Record<string, string>>;
  readonly deadlineSeconds: number;
}

/** A program of `beside/program`, with its own settings. */
interface Beside {
  readonly entry: string;
  readonly env: Readonly<Record<string, string>>;
}

function dnsContainer(request: DnsPodRequest): V1Container {
  const { settings, corednsImage: image, corednsEnv: env = {}, mount, memory } = request;
  const [container] =
    podTemplate({
      settings,
      labels: {},
      component: 'server',
      image,
      args: ['-conf', `${FILES_DIRECTORY}/Corefile`],
      env,
      mounts: { [FILES_DIRECTORY]: mount },
      resources:
        memory === null ? {} : { requests: { memory: memory.request }, limits: { memory: memory.limit } },
      pullSecrets: [],
      restartPolicy: 'Never',
      needsBindService: true,
    }).spec?.containers ?? [];
  if (container === undefined) throw new Error('a pod template without a container');
  return { ...container, name: DNS_CONTAINER };
}

/** The Job of one start. */
export function dnsPodJob(request: DnsPodRequest, { entry, env }: Beside): V1Job {
  const { settings, namespace, runId, unit, mount, pullSecrets } = request;
  const labels = unitLabels(runId, 'server', unit);
  const template = podTemplate({
    settings: { ...settings, serviceAccount: 'dns' },
    labels,
    component: 'server',
    image: request.observerImage,
    command: ['node', `${FILES_DIRECTORY}/${entry}`],
    args: [],
    env: {
      ...env,
      NAMESPACE: namespace,
      RELAY_PORT: String(RELAY_PORT),
      TOKEN_FILE: `${TOKEN_DIRECTORY}/token`,
      CA_FILE: `${TOKEN_DIRECTORY}/ca.crt`,
      DNS_PORT: String(DNS_PORT),
    },
    mounts: { [FILES_DIRECTORY]: mount },
    pullSecrets,
    restartPolicy: 'Never',
  });
  const { spec } = template;
  if (spec === undefined) throw new Error('a pod template without a specification');
  return {
    metadata: { name: unit, namespace, labels },
    spec: {
      backoffLimit: 0,
      activeDeadlineSeconds: Math.ceil(request.deadlineSeconds),
      template: {
        ...template,
        spec: {
          ...spec,
          // The program beside it reads its memory from /proc, and ends it.
          shareProcessNamespace: true,
          automountServiceAccountToken: true,
          // Other names go where the node sends them, and not through the cluster's own DNS.
          dnsPolicy: 'Default',
          containers: [dnsContainer(request), ...spec.containers],
        },
      },
    },
  };
}

export interface DnsJobRequest extends DnsPodRequest {
  readonly phases: readonly Phase[];
  /** Whether only pods that exist have a name. */
  readonly podsVerified: boolean;
  /** Of `rest` and `load`. */
  readonly seconds: number;
  readonly queriesPerSecond: number;
  /** More settings of the program. */
  readonly besideEnv?: Readonly<Record<string, string>>;
}

/** The Job of a start whose memory is measured. */
export function dnsJob(request: DnsJobRequest): V1Job {
  const { phases, seconds, queriesPerSecond, podsVerified, besideEnv = {} } = request;
  return dnsPodJob(request, {
    entry: 'main.mjs',
    env: {
      ...besideEnv,
      PHASES: phases.join(','),
      SECONDS: String(seconds),
      QUERIES_PER_SECOND: String(queriesPerSecond),
      PODS_VERIFIED: String(podsVerified),
    },
  });
}
