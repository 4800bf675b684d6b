/** The cases of `bench capacity caching`: who caches, what is asked, and whether it is in the cache. */
import { defineCluster } from '@dinodns-bench/cluster-objects';
import { definitionOf } from '../../../servers/coredns-cluster/definition.ts';
import type { Server } from '../../../servers/server.ts';
import { findFreePort } from '../../../targets/local/free-port.ts';
import { clusterLookups, type LookupKind } from '../../../workload/cluster-names.ts';
import type { BenchWorkload } from '../../../workload/workload.ts';
import { CACHE_ENTRIES } from '../memory/queries.ts';
import { DNSMASQ_ENTRIES, dnsmasqTier } from './caching-servers.ts';
import type { CapacityCase } from './cases-record.ts';
import type { RunnableCase } from './planned.ts';
import type { CachingSettings } from './settings.ts';
import { ADDRESS, LOOKUP_RULES, PUBLISHED_SEARCH } from './throughput-cases.ts';

export const DNSMASQ_NAME = 'dnsmasq + CoreDNS backend';

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

async function dnsmasqCase(means: Means, point: Omit<Point, 'entries'>, isNegative: boolean): Promise<Made> {
  const { workload, names } = workloadFor({ ...point, entries: DNSMASQ_ENTRIES });
  const tier = {
    spec: clusterFor(point.lookup === 'internal' ? names : 0).spec,
    upstreamDelaySeconds: means.settings.upstreamDelay / 1000,
    coredns: means.corednsProgram,
    backendPort: await findFreePort(ADDRESS),
    backendMetricsPort: await findFreePort(ADDRESS),
  };
  const configuration = isNegative ? 'negative cache' : 'default';
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
  const configuration = isNegative ? 'default' : 'no negative cache';
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

/** Without a cache, the negative one makes no difference: that case is measured once. */
export async function cachingCases(
  means: Means,
): Promise<{ cases: RunnableCase[]; workloads: BenchWorkload[] }> {
  const made: Made[] = [];
  const { lookups, caches } = means.settings;
  for (const cache of caches) {
    for (const lookup of lookups) {
      const point = { lookup, cache };
      made.push(await dnsmasqCase(means, point, false));
      if (cache !== 'off') made.push(await dnsmasqCase(means, point, true));
      made.push(await corednsCase(means, point, true));
      if (cache !== 'off') made.push(await corednsCase(means, point, false));
    }
  }
  const workloads = [...new Map(made.map(({ workload }) => [workload.name, workload])).values()];
  return { cases: made.map(({ item }) => item), workloads };
}
