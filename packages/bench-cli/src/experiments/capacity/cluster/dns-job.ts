/**
 * A private CoreDNS as a Job of one pod: CoreDNS itself, unmodified, and a program beside it. For memory, it passes CoreDNS's
 * requests on to the API server, watches its memory, asks it, and makes it read all objects again. Pure.
 */
import { type CorefileOptions, renderCorefile } from '@dinodns-bench/cluster-objects';
import type { V1PodSpec } from '@kubernetes/client-node';
import type { KubernetesSettings } from '../../../config/kubernetes-settings.ts';
import { checkerImage } from '../../../targets/kubernetes/images.ts';
import { textFiles } from '../../../targets/kubernetes/objects/config-map.ts';
import { CONTAINER, containerOf } from '../../../targets/kubernetes/objects/pods.ts';
import type { OnceRequest } from '../../../targets/kubernetes/run-job.ts';
import { programFiles } from '../beside/program.ts';

/** The container of CoreDNS; the other one is `main`. Its state is the pod's first by name, so that its end is the Job's. */
export const DNS_CONTAINER = 'dns';

const FILES_DIRECTORY = '/etc/bench';
const RELAY_PORT = 8001;
const DNS_PORT = 5353;
const TOKEN_DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount';

/** What the pod of a private CoreDNS is made of. */
export interface DnsPodRequest {
  readonly corednsImage: string;
  readonly corefile: Pick<CorefileOptions, 'pods' | 'autopath' | 'cache'>;
  /** How CoreDNS reads the API server: through the program beside it, or by itself. */
  readonly reads: 'through the program' | 'by itself';
  /** Request and limit of CoreDNS's memory. Default: none. */
  readonly memory?: { readonly request: string; readonly limit: string } | null;
  /** Of CoreDNS. Default: nothing. */
  readonly corednsEnv?: Readonly<Record<string, string>>;
  /** Names of Services that it is asked for. Default: none. */
  readonly names?: readonly string[];
  /** The program beside it, of `beside/program`, and its own settings. */
  readonly entry: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Of a pod whose containers see each other's processes and read the API server themselves. */
export const TOGETHER = {
  shareProcessNamespace: true,
  automountServiceAccountToken: true,
  // Other names go where the node sends them, and not through the cluster's own DNS.
  dnsPolicy: 'Default',
} as const satisfies Partial<V1PodSpec>;

/** The pod of one start, for `runOnce`, and its Corefile. */
export function dnsPod(settings: KubernetesSettings, namespace: string, request: DnsPodRequest) {
  const { corednsImage: image, corednsEnv: env = {}, memory = null, reads, names = [] } = request;
  const corefile = renderCorefile({
    ...request.corefile,
    ...(reads === 'by itself' ? {} : { endpoint: `http://127.0.0.1:${RELAY_PORT}` }),
    port: DNS_PORT,
    lameduckSeconds: 0,
  });
  const coredns = containerOf({
    ...{ settings, image, env, args: ['-conf', `${FILES_DIRECTORY}/Corefile`], needsBindService: true },
    resources:
      memory === null ? {} : { requests: { memory: memory.request }, limits: { memory: memory.limit } },
  });
  const pod = {
    label: 'server',
    what: 'the private CoreDNS',
    image: checkerImage(settings),
    command: ['node', `${FILES_DIRECTORY}/${request.entry}`],
    env: {
      ...request.env,
      NAMESPACE: namespace,
      RELAY_PORT: String(RELAY_PORT),
      TOKEN_FILE: `${TOKEN_DIRECTORY}/token`,
      CA_FILE: `${TOKEN_DIRECTORY}/ca.crt`,
      DNS_PORT: String(DNS_PORT),
    },
    files: {
      directory: FILES_DIRECTORY,
      list: textFiles({ Corefile: corefile, 'names.txt': names.join('\n'), ...programFiles() }),
    },
    change(spec) {
      const volumeMounts = spec.containers.find(({ name }) => name === CONTAINER)?.volumeMounts ?? [];
      const containers = [{ ...coredns, name: DNS_CONTAINER, volumeMounts }, ...spec.containers];
      return { ...spec, ...TOGETHER, containers };
    },
  } as const satisfies Partial<OnceRequest>;
  return { ...pod, corefile };
}
