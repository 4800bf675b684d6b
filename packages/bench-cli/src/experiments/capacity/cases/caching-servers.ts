/**
 * Caching tiers in front of CoreDNS. That of kube-dns: Debian's dnsmasq with kube-dns's flags, and behind it CoreDNS without a
 * cache; it is never called kube-dns, whose own program is another backend. And that of NodeLocal DNSCache: CoreDNS with its
 * documented Corefile, and behind it CoreDNS as clusters run it; `node-cache` itself, which is CoreDNS with a few plugins and
 * sets up a network interface, cannot be built from a module.
 */
import { join } from 'node:path';
import { type ClusterSpec, renderCorefile, renderNodeLocalCorefile } from '@dinodns-bench/cluster-objects';
import { coredns } from '../../../servers/coredns/index.ts';
import {
  API_SERVER,
  companionsOf,
  MISSING_NAME,
  READ_SECONDS,
  UPSTREAM,
} from '../../../servers/coredns-cluster/definition.ts';
import { dnsmasq } from '../../../servers/dnsmasq/index.ts';
import type { InstanceRequest, ServerDefinition } from '../../../servers/server.ts';

export interface CachingTier {
  readonly spec: ClusterSpec;
  readonly upstreamDelaySeconds: number;
  /** CoreDNS's program, for the backend. */
  readonly coredns: readonly string[];
  /** Where the backend listens. */
  readonly backendPort: number;
  readonly backendMetricsPort: number;
}

function portOf({ companionPorts = {} }: InstanceRequest, name: string): number {
  const port = companionPorts[name];
  if (port === undefined) throw new Error(`no companion "${name}"`);
  return port;
}

function backendFile(request: InstanceRequest, tier: CachingTier, cache: 'on' | 'off'): string {
  const { address } = request;
  return renderCorefile({
    endpoint: `http://${address}:${portOf(request, API_SERVER)}`,
    upstream: `${address}:${portOf(request, UPSTREAM)}`,
    address,
    port: tier.backendPort,
    cache,
    lameduckSeconds: 0,
    health: `${address}:0`,
    ready: `${address}:0`,
    metrics: `${address}:${tier.backendMetricsPort}`,
  });
}

/** The part of dnsmasq's flags that kube-dns's manifest of Kubernetes 1.12 has, for a backend at `ADDRESS#PORT`. */
export function kubeDnsFlags(backend: string, cacheSize: number, isNegative: boolean): string[] {
  return [
    '-k',
    `--cache-size=${cacheSize}`,
    ...(isNegative ? [] : ['--no-negcache']),
    '--dns-loop-detect',
    `--server=/cluster.local/${backend}`,
    `--server=/in-addr.arpa/${backend}`,
    `--server=/ip6.arpa/${backend}`,
  ];
}

export interface DnsmasqPlace {
  readonly address: string;
  readonly port: number;
  readonly backendPort: number;
  readonly upstreamPort: number;
  /** Default: `address`, which is also that of the backend and the upstream. */
  readonly listenAddress?: string;
}

/** Those of kube-dns, with what a dnsmasq needs that is not alone. */
export function dnsmasqFlags(
  { address, port, backendPort, upstreamPort, listenAddress = address }: DnsmasqPlace,
  cacheSize: number,
  isNegative: boolean,
): string[] {
  return [
    ...kubeDnsFlags(`${address}#${backendPort}`, cacheSize, isNegative),
    '--no-resolv',
    '--no-hosts',
    `--server=${address}#${upstreamPort}`,
    `--listen-address=${listenAddress}`,
    '--bind-interfaces',
    `--port=${port}`,
    '--conf-file=/dev/null',
    '--pid-file',
    '--user=',
    '--log-facility=-',
    // More than its default of 150 are in flight here.
    '--dns-forward-max=1000',
  ];
}

/** What both tiers have in common: the CPU time of both servers counts. */
function tierDefinition(
  base: ServerDefinition,
  tier: CachingTier,
  cache: 'on' | 'off',
  front: (request: InstanceRequest) => { readonly command: string[]; readonly corefile?: string },
): ServerDefinition {
  const { spec, upstreamDelaySeconds } = tier;
  return {
    ...base,
    answersNamesOf: 'generated-cluster',
    companions: companionsOf({ spec, upstreamDelaySeconds }),
    plan(request) {
      const { command, corefile } = front(request);
      return {
        files: [
          { path: BACKEND_FILE, chunks: [backendFile(request, tier, cache)] },
          ...(corefile === undefined ? [] : [{ path: FRONT_FILE, chunks: [corefile] }]),
        ],
        command,
        beside: [[...tier.coredns, '-conf', join(request.directory, BACKEND_FILE)]],
        env: {},
        readiness: { kind: 'answer', loadSeconds: READ_SECONDS, name: MISSING_NAME },
        workers: corefile === undefined ? 1 : null,
      };
    },
  };
}

const BACKEND_FILE = 'Corefile';
const FRONT_FILE = 'Corefile-node';

/** dnsmasq in front of CoreDNS without a cache. */
export function dnsmasqTier(tier: CachingTier, cacheSize: number, isNegative: boolean): ServerDefinition {
  return tierDefinition(dnsmasq.definition, tier, 'off', (request) => {
    const { address, port, program } = request;
    const upstreamPort = portOf(request, UPSTREAM);
    const place = { address, port, backendPort: tier.backendPort, upstreamPort };
    return { command: [...program, ...dnsmasqFlags(place, cacheSize, isNegative)] };
  });
}

/** CoreDNS with the Corefile of NodeLocal DNSCache in front of CoreDNS. Its metrics are at `metricsPort`. */
export function nodeLocalTier(tier: CachingTier, metricsPort: number): ServerDefinition {
  const { transports: _transports, ...base } = coredns.definition;
  return tierDefinition({ ...base, image: null }, tier, 'on', (request) => {
    const { address, port, program, directory } = request;
    const corefile = renderNodeLocalCorefile({
      clusterDns: `${address}:${tier.backendPort}`,
      upstream: `${address}:${portOf(request, UPSTREAM)}`,
      address,
      port,
      health: `${address}:0`,
      metrics: `${address}:${metricsPort}`,
    });
    return { command: [...program, '-conf', join(directory, FRONT_FILE)], corefile };
  });
}
