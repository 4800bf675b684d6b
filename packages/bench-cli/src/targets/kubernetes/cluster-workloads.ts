/**
 * Queries for the cluster's own DNS: names of Services, of pods, names that do not exist, and names outside the
 * cluster, as in kubernetes/perf-tests. The correct answers follow from the cluster itself.
 */
import type { Query, ResourceRecord } from '@dinodns-bench/zones';
import { BenchError } from '../../errors.ts';
import type { KubeClient } from '../../kubernetes-api/client.ts';
import type { BenchWorkload, Expectation } from '../../workload/workload.ts';

export const CLUSTER_WORKLOADS = ['service', 'pod-ip', 'nx', 'outside'] as const;
export type ClusterWorkloadName = (typeof CLUSTER_WORKLOADS)[number];

/** Whether a workload asks for names of the cluster, not of the zone set. */
export function isClusterWorkload(name: string): name is ClusterWorkloadName {
  return CLUSTER_WORKLOADS.some((known) => known === name);
}

/** Kubernetes' default; a cluster with another domain answers none of the names. */
const DOMAIN = 'cluster.local';

/** More names only make the check longer. */
const MAX_NAMES = 200;
const MISSING_NAMES = 100;

const IPV4 = /^\d+\.\d+\.\d+\.\d+$/;

/** Reserved for examples (RFC 2606), and what a pod with `ndots:5` makes of one of them. */
const OUTSIDE_NAMES = [
  'example.com',
  'www.example.com',
  'example.net',
  'www.example.net',
  'example.org',
  'www.example.org',
];

const query = (name: string): Query => ({ name, type: 'A' }) as Query;

function workloadOf(name: string, description: string, expectations: readonly Expectation[]): BenchWorkload {
  const byName = new Map(expectations.map((expectation) => [expectation.query.name, expectation]));
  return {
    name,
    description,
    size: expectations.length,
    queries: () => expectations.map((expectation) => expectation.query),
    expectation: (asked) => byName.get(asked.name) ?? null,
    settle: ({ name: asked }, code) => {
      const expectation = byName.get(asked);
      if (expectation === undefined || expectation.orCode === undefined) return;
      const { orCode, ...rest } = expectation;
      byName.set(asked, code === orCode ? { ...rest, code: orCode, records: [] } : rest);
    },
  };
}

function address(name: string, data: string): Expectation {
  const record: ResourceRecord = { name, type: 'A', ttl: 30, data };
  return { query: query(name), code: 'NOERROR', records: [record] };
}

async function services(
  client: KubeClient,
  signal: AbortSignal,
  namespaces?: readonly string[],
): Promise<Expectation[]> {
  const { items } = await client.list('Service', {}, signal);
  return items.flatMap(({ metadata, spec }) => {
    if (namespaces?.includes(metadata?.namespace ?? '') === false) return [];
    const ip = spec?.clusterIP ?? '';
    // A headless Service has the addresses of its pods, which may change during the run.
    if (!IPV4.test(ip)) return [];
    return [address(`${metadata?.name}.${metadata?.namespace}.svc.${DOMAIN}`, ip)];
  });
}

function missing(): Expectation[] {
  return Array.from({ length: MISSING_NAMES }, (_, index) => ({
    query: query(`no-such-service-${index + 1}.default.svc.${DOMAIN}`),
    code: 'NXDOMAIN',
    records: [],
  }));
}

/** Servers need not answer for pods (CoreDNS: `pods insecure`); if they do, the address must be correct. */
async function podAddresses(client: KubeClient, signal: AbortSignal): Promise<Expectation[]> {
  const { items } = await client.list('Pod', {}, signal);
  return items.flatMap(({ metadata, status, spec }) => {
    const ip = status?.podIP ?? '';
    if (status?.phase !== 'Running' || spec?.hostNetwork === true || !IPV4.test(ip)) return [];
    const name = `${ip.replaceAll('.', '-')}.${metadata?.namespace}.pod.${DOMAIN}`;
    return [{ ...address(name, ip), orCode: 'NXDOMAIN' }];
  });
}

function outside(): Expectation[] {
  return OUTSIDE_NAMES.map((name) => ({
    query: query(name),
    code: 'NOERROR',
    records: null,
    orCode: 'NXDOMAIN',
  }));
}

type Make = (
  client: KubeClient,
  signal: AbortSignal,
  namespaces?: readonly string[],
) => Expectation[] | Promise<Expectation[]>;

const WORKLOADS: Readonly<Record<ClusterWorkloadName, readonly [description: string, make: Make]>> = {
  service: ['names of existing Services in the cluster, type A', services],
  'pod-ip': ['names of existing pods in the cluster, type A', podAddresses],
  nx: ['names in the cluster that do not exist, type A', missing],
  outside: ['names outside the cluster, which its DNS forwards, type A', outside],
};

/**
 * @param namespaces Of Services; default: all. Others may come and go while they are asked for.
 * @throws BenchError `E_CONFIG` if the cluster has no such names.
 */
export async function clusterWorkload(
  client: KubeClient,
  name: string,
  signal: AbortSignal,
  namespaces?: readonly string[],
): Promise<BenchWorkload> {
  const [description, make] = WORKLOADS[name as ClusterWorkloadName];
  const expectations = (await make(client, signal, namespaces)).slice(0, MAX_NAMES);
  if (expectations.length > 0) return workloadOf(name, description, expectations);
  throw new BenchError('E_CONFIG', `--workload ${name}: the cluster has no such names`, {
    fix: `Choose another of ${CLUSTER_WORKLOADS.join(', ')}.`,
  });
}
