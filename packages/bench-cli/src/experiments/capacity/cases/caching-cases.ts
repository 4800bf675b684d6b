/** The cases of `bench capacity caching`: who caches, what is asked, and whether it is in the cache. */
import { defineCluster } from '@dinodns-bench/cluster-objects';
import { definitionOf } from '../../../servers/coredns-cluster/definition.ts';
import { dnsmasq } from '../../../servers/dnsmasq/index.ts';
import type { Server } from '../../../servers/server.ts';
import { findFreePort } from '../../../targets/local/free-port.ts';
import { clusterLookups, type LookupKind } from '../../../workload/cluster-names.ts';
import type { BenchWorkload } from '../../../workload/workload.ts';
import { CACHE_ENTRIES } from '../memory/queries.ts';
import { DNSMASQ_ENTRIES, dnsmasqTier, nodeLocalTier } from './caching-servers.ts';
import type { CapacityCase } from './cases-record.ts';
import type { RunnableCase } from './planned.ts';
import type { CachingSettings } from './settings.ts';
import { ADDRESS, LOOKUP_RULES, PUBLISHED_SEARCH } from './throughput-cases.ts';

export const DNSMASQ_NAME = 'dnsmasq + CoreDNS backend';
/** It is not node-cache. */
export const NODE_LOCAL_NAME = 'CoreDNS as NodeLocal DNSCache + CoreDNS';

/** Names of the configurations: of the tier, and of CoreDNS itself. */
export const CACHING_DNSMASQ = { default: 'default', negative: 'negative cache' } as const;
export const CACHING_COREDNS = { on: 'default', noDenial: 'no negative cache' } as const;

/** What fits into every cache, with the five candidates of each external name. */
const CACHED_NAMES = 100;
/** Three times the cache. An external name has five entries of its own, four of them negative. */
const OVERFLOW = 3;
const QUERIES_OF_EXTERNAL = 5;

/** The answer check asks this many of the queries of a large workload. */
const CHECKED = 2000;

type CacheState = CapacityCase['cache'];

function namesFor(state: CacheState, kind: LookupKind, entries: number): number {
  if (state !== 'overflow') return CACHED_NAMES;
  return Math.ceil((OVERFLOW * entries) / (kind === 'external' ? QUERIES_OF_EXTERNAL : 1));
}

/** One namespace with enough services, so that a pod's internal names can overflow the cache. */
function clusterFor(names: number) {
  const services = Math.max(820, Math.ceil(names * 1.2));
  return defineCluster({ namespaces: 1, services, pods: 1000, endpoints: 1000 });
}

interface Point {
  readonly lookup: LookupKind;
  readonly cache: CacheState;
  readonly entries: number;
}

function workloadFor({ lookup, cache, entries }: Point): { workload: BenchWorkload; names: number } {
  const names = namesFor(cache, lookup, entries);
  const cluster = clusterFor(lookup === 'internal' ? names : 0);
  const name = `${lookup}-${names}`;
  const workload = clusterLookups(name, { cluster, kind: lookup, names }, LOOKUP_RULES);
  const checked = () => Array.from(workload.queries()).slice(0, CHECKED);
  return { workload: { ...workload, queries: checked, size: Math.min(CHECKED, workload.size) }, names };
}

/** What a case needs besides its point. */
interface Means {
  readonly settings: CachingSettings;
  readonly coredns: Server;
  readonly corednsProgram: readonly string[];
  readonly dnsmasqServer: Server;
}

type Made = { readonly item: RunnableCase; readonly workload: BenchWorkload };

async function tierFor(
  { settings, corednsProgram }: Means,
  { lookup }: Omit<Point, 'entries'>,
  names: number,
) {
  return {
    spec: clusterFor(lookup === 'internal' ? names : 0).spec,
    upstreamDelaySeconds: settings.upstreamDelay / 1000,
    coredns: corednsProgram,
    backendPort: await findFreePort(ADDRESS),
    backendMetricsPort: await findFreePort(ADDRESS),
  };
}

async function dnsmasqCase(means: Means, point: Omit<Point, 'entries'>, isNegative: boolean): Promise<Made> {
  const { workload, names } = workloadFor({ ...point, entries: DNSMASQ_ENTRIES });
  const tier = await tierFor(means, point, names);
  const configuration = isNegative ? CACHING_DNSMASQ.negative : CACHING_DNSMASQ.default;
  const size = point.cache === 'off' ? 0 : DNSMASQ_ENTRIES;
  const facts = factsOf(DNSMASQ_NAME, configuration, point, names);
  const server = {
    ...means.dnsmasqServer,
    name: `dnsmasq-${isNegative ? 'neg' : 'default'}-${point.cache}`,
    ...dnsmasqTier(tier, size, isNegative),
  };
  return {
    workload,
    item: { server, workload: workload.name, metricsPort: tier.backendMetricsPort, atHalf: false, facts },
  };
}

/** In its documented configuration, which has a cache for everything. */
async function nodeLocalCase(means: Means, point: Omit<Point, 'entries'>): Promise<Made> {
  const { workload, names } = workloadFor({ ...point, entries: CACHE_ENTRIES });
  const tier = await tierFor(means, point, names);
  const metricsPort = await findFreePort(ADDRESS);
  const facts = factsOf(NODE_LOCAL_NAME, 'documented Corefile', point, names);
  const server = {
    ...means.coredns,
    name: `node-local-${point.cache}`,
    ...nodeLocalTier(tier, metricsPort),
  };
  return { workload, item: { server, workload: workload.name, metricsPort, atHalf: false, facts } };
}

async function corednsCase(means: Means, point: Omit<Point, 'entries'>, isNegative: boolean): Promise<Made> {
  const { workload, names } = workloadFor({ ...point, entries: CACHE_ENTRIES });
  const metricsPort = await findFreePort(ADDRESS);
  const cache = point.cache === 'off' ? 'off' : isNegative ? 'on' : 'no-denial';
  const definition = definitionOf(
    { cache },
    {
      spec: clusterFor(point.lookup === 'internal' ? names : 0).spec,
      upstreamDelaySeconds: means.settings.upstreamDelay / 1000,
      metricsPort,
      nodeSearch: PUBLISHED_SEARCH,
    },
  );
  const configuration = isNegative ? CACHING_COREDNS.on : CACHING_COREDNS.noDenial;
  const facts = factsOf(means.coredns.name, configuration, point, names);
  const server = { ...means.coredns, name: `${means.coredns.name}-${cache}-${point.cache}`, ...definition };
  return { workload, item: { server, workload: workload.name, metricsPort, atHalf: false, facts } };
}

function factsOf(
  server: string,
  configuration: string,
  { lookup, cache }: Omit<Point, 'entries'>,
  names: number,
): CapacityCase {
  return {
    key: `${server}/${configuration}/${lookup}/${cache}`,
    server,
    configuration,
    lookup,
    cache,
    names,
    queriesPerLookup: null,
  };
}

/** Servers beside CoreDNS that the cases need. */
export const CACHING_HELPERS: readonly string[] = [dnsmasq.name];

/** Without a cache, the negative one makes no difference: that case is measured once. */
export async function cachingCases(
  settings: CachingSettings,
  [coredns]: readonly Server[],
  [dnsmasqServer]: readonly Server[],
  programOf: (server: Server) => readonly string[],
): Promise<{ cases: RunnableCase[]; workloads: BenchWorkload[] }> {
  if (coredns === undefined || dnsmasqServer === undefined) throw new Error('no servers');
  const means = { settings, coredns, corednsProgram: programOf(coredns), dnsmasqServer };
  const made: Made[] = [];
  const { lookups, caches } = settings;
  for (const cache of caches) {
    for (const lookup of lookups) {
      const point = { lookup, cache };
      made.push(await dnsmasqCase(means, point, false));
      if (cache !== 'off') made.push(await dnsmasqCase(means, point, true));
      made.push(await corednsCase(means, point, true));
      if (cache === 'off') continue;
      made.push(await corednsCase(means, point, false), await nodeLocalCase(means, point));
    }
  }
  const workloads = [...new Map(made.map(({ workload }) => [workload.name, workload])).values()];
  return { cases: made.map(({ item }) => item), workloads };
}
