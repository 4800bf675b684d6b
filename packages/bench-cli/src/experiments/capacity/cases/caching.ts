/** What `bench capacity caching` measures on this machine: who caches, what is asked, and whether it is in the cache. */
import { defineCluster } from '@dinodns-bench/cluster-objects';
import type { PlannedTrial, Subject } from '../../../engine/experiment.ts';
import { planServers } from '../../../engine/servers.ts';
import type { TrialContext } from '../../../measure/trial-context.ts';
import { definitionOf } from '../../../servers/coredns-cluster/definition.ts';
import { dnsmasq } from '../../../servers/dnsmasq/index.ts';
import { loadServers } from '../../../servers/load.ts';
import type { Server, ServerDefinition } from '../../../servers/server.ts';
import { findFreePort } from '../../../targets/local/free-port.ts';
import { clusterLookups, type LookupKind } from '../../../workload/cluster-names.ts';
import type { BenchWorkload } from '../../../workload/workload.ts';
import type { World } from '../../../world.ts';
import { demandClusterServers } from '../machine.ts';
import { CACHE_ENTRIES } from '../memory/queries.ts';
import { PUBLISHED_SEARCH } from '../published.ts';
import { DNSMASQ_ENTRIES, dnsmasqTier, nodeLocalTier } from './caching-servers.ts';
import { type CasesPlan, secondsPerTrial } from './cases.ts';
import { openServerCases, type Runnable, type ServerCases } from './server-cases.ts';
import type { CachingSettings } from './settings.ts';
import { DNSMASQ, NEGATIVE, NO_DENIAL, NODE_LOCAL, tierName } from './subjects.ts';
import { ADDRESS, LOOKUP_RULES, workloadName } from './throughput.ts';

/** `--cache off` is a point of its own. */
export type CacheState = 'cached' | 'uncached' | 'overflow';

export function cacheStates({ cache }: Pick<CachingSettings, 'cache'>): CacheState[] {
  return cache.map((name) => (name === 'off' ? 'uncached' : name));
}

/** What fits into every cache, with the five candidates of each external name. */
const CACHED_NAMES = 100;
/** Three times the cache. An external name has five entries of its own, four of them negative. */
const OVERFLOW = 3;
const QUERIES_OF_EXTERNAL = 5;

/** The answer check asks this many of the queries of a large workload. */
const CHECKED = 2000;

interface Point {
  readonly lookup: LookupKind;
  readonly cache: CacheState;
}

function namesFor({ cache, lookup }: Point, entries: number): number {
  if (cache !== 'overflow') return CACHED_NAMES;
  return Math.ceil((OVERFLOW * entries) / (lookup === 'external' ? QUERIES_OF_EXTERNAL : 1));
}

/** One namespace with enough services, so that a pod's internal names can overflow the cache. */
function clusterFor({ lookup }: Point, names: number) {
  const services = Math.max(820, Math.ceil((lookup === 'internal' ? names : 0) * 1.2));
  return defineCluster({ namespaces: 1, services, pods: 1000, endpoints: 1000 });
}

const entriesOf = (subject: string) => (subject.startsWith(DNSMASQ) ? DNSMASQ_ENTRIES : CACHE_ENTRIES);

/** How many names a case looks up, and the name of that workload. */
function lookupsFor(subject: string, point: Point): { readonly names: number; readonly name: string } {
  const names = namesFor(point, entriesOf(subject));
  return { names, name: `${point.lookup}-${names}` };
}

function workloadFor(name: string, point: Point, names: number): BenchWorkload {
  const cluster = clusterFor(point, names);
  const workload = clusterLookups(name, { cluster, kind: point.lookup, names }, LOOKUP_RULES);
  const queries = () => Array.from(workload.queries()).slice(0, CHECKED);
  return { ...workload, queries, size: Math.min(CHECKED, workload.size) };
}

/** Without a cache, the negative one makes no difference; NodeLocal DNSCache has a cache for everything. */
export function subjectsAt<S extends Pick<Subject, 'name'>>(subjects: readonly S[], cache: CacheState): S[] {
  return subjects.filter(({ name }) => cache !== 'uncached' || !(name.includes('+') || name === NODE_LOCAL));
}

function subjectsFor(coredns: Server): Subject[] {
  return [
    { name: coredns.name, title: coredns.title },
    { name: `${coredns.name}${NO_DENIAL}`, title: `${coredns.title} (no negative cache)` },
    ...[DNSMASQ, `${DNSMASQ}${NEGATIVE}`, NODE_LOCAL].map((name) => ({ name, title: tierName(name) })),
  ];
}

/** The tier of a subject, as it is run at a point. */
async function definitionFor(
  subject: string,
  point: Point,
  {
    names,
    delay,
    coredns,
  }: { readonly names: number; readonly delay: number; readonly coredns: readonly string[] },
): Promise<{ readonly definition: ServerDefinition; readonly metricsPort: number }> {
  const metricsPort = await findFreePort(ADDRESS);
  const { spec } = clusterFor(point, names);
  const isTier = subject.startsWith(DNSMASQ) || subject === NODE_LOCAL;
  if (!isTier) {
    const cache = point.cache === 'uncached' ? 'off' : subject.endsWith(NO_DENIAL) ? 'no-denial' : 'on';
    const surroundings = {
      spec,
      upstreamDelaySeconds: delay,
      metricsPort,
      nodeSearch: PUBLISHED_SEARCH,
      isReadyLate: true as const,
    };
    return { definition: definitionOf({ cache }, surroundings), metricsPort };
  }
  const others = { spec, upstreamDelaySeconds: delay, coredns, backendPort: await findFreePort(ADDRESS) };
  if (subject === NODE_LOCAL) {
    const tier = { ...others, backendMetricsPort: await findFreePort(ADDRESS) };
    return { definition: nodeLocalTier(tier, metricsPort), metricsPort };
  }
  const size = point.cache === 'uncached' ? 0 : DNSMASQ_ENTRIES;
  const tier = { ...others, backendMetricsPort: metricsPort };
  return { definition: dnsmasqTier(tier, size, subject.endsWith(NEGATIVE)), metricsPort };
}

export async function cachingPlan(settings: CachingSettings, world: World): Promise<CasesPlan> {
  demandClusterServers(settings.servers);
  const { lookup: lookups, tier: tiers, upstreamDelay } = settings;
  const workload = lookups.map(workloadName);
  const { decided } = await planServers(
    world,
    'capacity caching',
    { ...settings, baseline: settings.servers[0], mode: 'multi', workload },
    secondsPerTrial(settings),
  );
  const [coredns] = decided.servers;
  const [helper] = await loadServers(world, [dnsmasq.name], decided.configuration);
  if (coredns === undefined || helper === undefined) throw new Error('no servers');
  const subjects = subjectsFor(coredns);
  const points = cacheStates(settings).flatMap((cache) =>
    lookups.flatMap((lookup) => tiers.map((tier) => ({ lookup, cache, tier }))),
  );
  // Many cases have the same, which takes a tenth of a second to build.
  const asked = new Map(
    points.flatMap((point) =>
      subjects.map((subject) => {
        const { name, names } = lookupsFor(subject.name, point);
        return [name, { point, names }] as const;
      }),
    ),
  );
  const runnable = async (
    { case: { subject, point } }: PlannedTrial,
    { programOf }: TrialContext,
  ): Promise<Runnable> => {
    // The plan has no others.
    const at = point as unknown as Point;
    const { name, names } = lookupsFor(subject, at);
    const program = programOf(coredns);
    const delay = upstreamDelay / 1000;
    const { definition, metricsPort } = await definitionFor(subject, at, { names, delay, coredns: program });
    const base = subject.startsWith(DNSMASQ) ? helper : coredns;
    return { server: { ...base, ...definition }, workload: name, names, metricsPort };
  };
  const cases: ServerCases = {
    servers: {
      ...decided,
      servers: [coredns, helper],
      workloads: Array.from(asked, ([name, { point, names }]) => workloadFor(name, point, names)),
    },
    runnable,
  };
  return {
    subjects,
    baseline: coredns.name,
    cases: points.flatMap((point) =>
      subjectsAt(subjects, point.cache).map(({ name }) => ({
        key: `${name}/${point.lookup}/${point.cache}/tier=${point.tier}`,
        subject: name,
        point,
        expectedSeconds: secondsPerTrial(settings),
      })),
    ),
    decided: { open: (request) => openServerCases(request, cases) },
  };
}
