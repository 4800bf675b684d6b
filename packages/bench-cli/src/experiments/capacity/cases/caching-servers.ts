/**
 * kube-dns's caching tier in front of CoreDNS: Debian's dnsmasq with kube-dns's flags, and behind it CoreDNS without a cache.
 * It is never called kube-dns, whose own program is another backend.
 */
import { join } from 'node:path';
import { type ClusterSpec, renderCorefile } from '@dinodns-bench/cluster-objects';
import { API_SERVER, companionsOf, UPSTREAM } from '../../../servers/coredns-cluster/definition.ts';
import { dnsmasq } from '../../../servers/dnsmasq/index.ts';
import type { InstanceRequest, ServerDefinition } from '../../../servers/server.ts';

/** Entries of kube-dns's dnsmasq. */
export const DNSMASQ_ENTRIES = 1000;

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

function backendFile(request: InstanceRequest, tier: CachingTier): string {
  const { address } = request;
  return renderCorefile({
    endpoint: `http://${address}:${portOf(request, API_SERVER)}`,
    upstream: `${address}:${portOf(request, UPSTREAM)}`,
    address,
    port: tier.backendPort,
    cache: 'off',
    lameduckSeconds: 0,
    health: `${address}:0`,
    ready: `${address}:0`,
    metrics: `${address}:${tier.backendMetricsPort}`,
  });
}

/** As in kube-dns's manifest of Kubernetes 1.12, with what one machine needs. */
function dnsmasqFlags(
  request: InstanceRequest,
  tier: CachingTier,
  cacheSize: number,
  isNegative: boolean,
): string[] {
  const { address, port } = request;
  const backend = `${address}#${tier.backendPort}`;
  return [
    '-k',
    `--cache-size=${cacheSize}`,
    ...(isNegative ? [] : ['--no-negcache']),
    '--dns-loop-detect',
    `--server=/cluster.local/${backend}`,
    `--server=/in-addr.arpa/${backend}`,
    `--server=/ip6.arpa/${backend}`,
    '--no-resolv',
    '--no-hosts',
    `--server=${address}#${portOf(request, UPSTREAM)}`,
    `--listen-address=${address}`,
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

/** dnsmasq in front of CoreDNS; the CPU time of both counts. */
export function dnsmasqTier(tier: CachingTier, cacheSize: number, isNegative: boolean): ServerDefinition {
  return {
    ...dnsmasq.definition,
    answersNamesOf: 'generated-cluster',
    companions: companionsOf({ spec: tier.spec, upstreamDelaySeconds: tier.upstreamDelaySeconds }),
    plan(request) {
      return {
        files: [{ path: 'Corefile', chunks: [backendFile(request, tier)] }],
        command: [...request.program, ...dnsmasqFlags(request, tier, cacheSize, isNegative)],
        beside: [[...tier.coredns, '-conf', join(request.directory, 'Corefile')]],
        env: {},
        readiness: { kind: 'answer' },
        workers: 1,
      };
    },
  };
}
