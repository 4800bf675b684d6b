/**
 * Who caches on a cluster, as containers of one pod that share its loopback: CoreDNS, dnsmasq with kube-dns's flags in front of
 * CoreDNS, and kube-dns itself, with the arguments of its own manifest (cluster/addons/dns/kube-dns of Kubernetes). Pure.
 */
import { renderCorefile } from '@dinodns-bench/cluster-objects';
import type { V1Container, V1Probe } from '@kubernetes/client-node';
import { dnsmasq as dnsmasqKind } from '../../../../servers/dnsmasq/index.ts';
import { dnsmasqFlags, kubeDnsFlags } from '../caching-servers.ts';
import { type CacheState, corednsCache, DNSMASQ, dnsmasqEntries, isNegative, KUBE_DNS } from '../subjects.ts';

export interface TierImages {
  readonly coredns: string;
  /** Its entry point is dnsmasq; null: that tier is not measured. */
  readonly dnsmasq: string | null;
  /** Of kube-dns's own containers; null: it is not measured. */
  readonly kubeDns: { readonly kubedns: string; readonly dnsmasq: string; readonly sidecar: string } | null;
}

/** What counts as the server, by the names of processes: all of the tier, and not the upstream. */
export const SERVER_PROCESSES = ['coredns', DNSMASQ, 'dnsmasq-nanny', 'kube-dns', 'sidecar'];

const LOOPBACK = '127.0.0.1';
export const UPSTREAM_PORT = 5301;
/** Of the manifest. */
const BACKEND_PORT = 10_053;
/** Ports below 1024 are not for everybody. */
const FRONT_PORT = 5353;
const KUBE_DNS_PORT = 53;

/** Where the files of the pod are. */
export const FILES_DIRECTORY = '/etc/bench';

/** What a container needs besides its image and its arguments. */
export interface TierContainer {
  readonly name: string;
  readonly image: string;
  readonly args: readonly string[];
  /** It counts as started when this succeeds; without one, at once. */
  readonly startupProbe?: V1Probe;
  /** Instead of that of all pods of bench. */
  readonly securityContext?: V1Container['securityContext'];
  readonly mountPath: string;
}

export interface Tier {
  /** In the order of their start. */
  readonly containers: readonly TierContainer[];
  /** Files of the pod, by name. */
  readonly files: Readonly<Record<string, string>>;
  /** Where it answers. */
  readonly port: number;
}

interface Point {
  readonly subject: string;
  readonly cache: CacheState;
}

const probe = (check: Pick<V1Probe, 'httpGet' | 'tcpSocket'>): V1Probe => ({
  ...check,
  periodSeconds: 1,
  failureThreshold: 120,
});

function corefileOf(port: number, cache: 'on' | 'off' | 'no-denial'): string {
  return renderCorefile({ upstream: `${LOOPBACK}:${UPSTREAM_PORT}`, port, cache, lameduckSeconds: 0 });
}

function corednsContainer({ coredns: image }: TierImages): TierContainer {
  return {
    name: 'coredns',
    image,
    args: ['-conf', `${FILES_DIRECTORY}/Corefile`],
    startupProbe: probe({ httpGet: { path: '/ready', port: 8181 } }),
    mountPath: FILES_DIRECTORY,
  };
}

function corednsTier(images: TierImages, { subject, cache }: Point): Tier {
  return {
    containers: [corednsContainer(images)],
    files: { Corefile: corefileOf(FRONT_PORT, corednsCache(subject, cache)) },
    port: FRONT_PORT,
  };
}

function dnsmasqTier(images: TierImages, image: string, point: Point): Tier {
  const place = {
    address: LOOPBACK,
    port: FRONT_PORT,
    backendPort: BACKEND_PORT,
    upstreamPort: UPSTREAM_PORT,
    // The kubelet looks from outside whether it has started.
    listenAddress: '0.0.0.0',
  };
  const front: TierContainer = {
    name: dnsmasqKind.name,
    image,
    args: dnsmasqFlags(place, dnsmasqEntries(point.cache), isNegative(point.subject)),
    startupProbe: probe({ tcpSocket: { port: FRONT_PORT } }),
    mountPath: FILES_DIRECTORY,
  };
  return {
    containers: [corednsContainer(images), front],
    files: { Corefile: corefileOf(BACKEND_PORT, 'off') },
    port: FRONT_PORT,
  };
}

/** The rights of its containers in the manifest: dnsmasq begins as root, for port 53. */
const RESTRICTED = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  runAsUser: 1001,
  runAsGroup: 1001,
} as const;
const FOR_DNSMASQ = {
  runAsUser: 0,
  runAsNonRoot: false,
  capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE', 'SETGID'] },
};

/** kube-dns reads from its ConfigMap that other names are asked of our upstream, and dnsmasq then ignores /etc/resolv.conf. */
function kubeDnsTier(images: NonNullable<TierImages['kubeDns']>, point: Point): Tier {
  const probes = [`kubedns,${LOOPBACK}:${BACKEND_PORT}`, `dnsmasq,${LOOPBACK}:${KUBE_DNS_PORT}`];
  return {
    containers: [
      {
        name: 'kubedns',
        image: images.kubedns,
        args: [
          '--domain=cluster.local.',
          `--dns-port=${BACKEND_PORT}`,
          '--config-dir=/kube-dns-config',
          '--v=2',
        ],
        startupProbe: probe({ httpGet: { path: '/readiness', port: 8081 } }),
        securityContext: RESTRICTED,
        mountPath: '/kube-dns-config',
      },
      {
        name: dnsmasqKind.name,
        image: images.dnsmasq,
        args: [
          ...['-v=2', '-logtostderr', '-configDir=/etc/k8s/dns/dnsmasq-nanny', '-restartDnsmasq=true', '--'],
          ...kubeDnsFlags(
            `${LOOPBACK}#${BACKEND_PORT}`,
            dnsmasqEntries(point.cache),
            isNegative(point.subject),
          ),
          '--log-facility=-',
        ],
        securityContext: FOR_DNSMASQ,
        startupProbe: probe({ tcpSocket: { port: KUBE_DNS_PORT } }),
        mountPath: '/etc/k8s/dns/dnsmasq-nanny',
      },
      {
        name: 'sidecar',
        image: images.sidecar,
        args: [
          '--v=2',
          '--logtostderr',
          ...probes.map((target) => `--probe=${target},kubernetes.default.svc.cluster.local,5,SRV`),
        ],
        securityContext: RESTRICTED,
        mountPath: FILES_DIRECTORY,
      },
    ],
    files: { upstreamNameservers: JSON.stringify([`${LOOPBACK}:${UPSTREAM_PORT}`]) },
    port: KUBE_DNS_PORT,
  };
}

/** What runs for a case. */
export function tierOf(images: TierImages, point: Point): Tier {
  if (point.subject.startsWith(KUBE_DNS) && images.kubeDns !== null)
    return kubeDnsTier(images.kubeDns, point);
  if (point.subject.startsWith(DNSMASQ) && images.dnsmasq !== null) {
    return dnsmasqTier(images, images.dnsmasq, point);
  }
  return corednsTier(images, point);
}
