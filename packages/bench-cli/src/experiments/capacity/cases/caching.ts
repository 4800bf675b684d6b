/** What `bench capacity caching` measures on this machine: who caches, what is asked, and whether it is in the cache. */
import { defineCluster } from '@dinodns-bench/cluster-objects';
import type { PlannedTrial } from '../../../engine/experiment.ts';
import { planServers } from '../../../engine/servers.ts';
import type { TrialContext } from '../../../measure/trial-context.ts';
import { definitionOf } from '../../../servers/coredns-cluster/definition.ts';
import { dnsmasq } from '../../../servers/dnsmasq/index.ts';
import { loadServers } from '../../../servers/load.ts';
import type { ServerDefinition } from '../../../servers/server.ts';
import { findFreePort } from '../../../targets/local/free-port.ts';
import { clusterLookups } from '../../../workload/cluster-names.ts';
import type { BenchWorkload } from '../../../workload/workload.ts';
import type { World } from '../../../world.ts';
import { demandClusterServers } from '../machine.ts';
import { CACHE_ENTRIES } from '../memory/queries.ts';
import { PUBLISHED_SEARCH } from '../published.ts';
import { dnsmasqTier, nodeLocalTier } from './caching-servers.ts';
import type { CasesPlan } from './evidence.ts';
import { openServerCases, type Runnable, type ServerCases } from './server-cases.ts';
import { type CachingSettings, secondsPerTrial } from './settings.ts';
import {
  corednsCache,
  DNSMASQ,
  DNSMASQ_ENTRIES,
  dnsmasqEntries,
  isNegative,
  NEGATIVE,
  NODE_LOCAL,
  planTiers,
  type TierPoint,
  tierPoint,
} from './subjects.ts';
import { ADDRESS, LOOKUP_RULES, workloadName } from './throughput.ts';

/** What fits into every cache, with the five candidates of each external name. */
const CACHED_NAMES = 100;
/** Three times the cache. An external name has five entries of its own, four of them negative, where these are kept. */
const OVERFLOW = 3;
const QUERIES_OF_EXTERNAL = 5;

/** The answer check asks this many of the queries of a large workload. */
const CHECKED = 2000;

function namesFor(subject: string, { cache, lookup }: TierPoint): number {
  if (cache !== 'overflow') return CACHED_NAMES;
  // dnsmasq has one cache for all of them; CoreDNS has another for negative answers, which would be full while the answers fit.
  const isAll = lookup === 'external' && subject.startsWith(DNSMASQ) && isNegative(subject);
  return Math.ceil((OVERFLOW * entriesOf(subject)) / (isAll ? QUERIES_OF_EXTERNAL : 1));
}

/** One namespace with enough services, so that a pod's internal names can overflow the cache. */
function clusterFor({ lookup }: TierPoint, names: number) {
  const services = Math.max(820, Math.ceil((lookup === 'internal' ? names : 0) * 1.2));
  return defineCluster({ namespaces: 1, services, pods: 1000, endpoints: 1000 });
}

const entriesOf = (subject: string) => (subject.startsWith(DNSMASQ) ? DNSMASQ_ENTRIES : CACHE_ENTRIES);

/** How many names a case looks up, and the name of that workload. */
function lookupsFor(subject: string, point: TierPoint): { readonly names: number; readonly name: string } {
  const names = namesFor(subject, point);
  return { names, name: `${point.lookup}-${names}` };
}

function workloadFor(name: string, point: TierPoint, names: number): BenchWorkload {
  const cluster = clusterFor(point, names);
  const workload = clusterLookups(name, { cluster, kind: point.lookup, names }, LOOKUP_RULES);
  const queries = () => Array.from(workload.queries()).slice(0, CHECKED);
  return { ...workload, queries, size: Math.min(CHECKED, workload.size) };
}

interface Running {
  readonly names: number;
  /** Of the upstream, in seconds. */
  readonly delay: number;
  /** The program. */
  readonly coredns: readonly string[];
}

/** The tier of a subject, as it is run at a point. */
async function definitionFor(
  subject: string,
  point: TierPoint,
  { names, delay: upstreamDelaySeconds, coredns }: Running,
): Promise<{ readonly definition: ServerDefinition; readonly metricsPort: number }> {
  const metricsPort = await findFreePort(ADDRESS);
  const beside = { spec: clusterFor(point, names).spec, upstreamDelaySeconds };
  const tier = async () => ({ ...beside, coredns, backendPort: await findFreePort(ADDRESS) });
  if (subject === NODE_LOCAL) {
    const behind = { ...(await tier()), backendMetricsPort: await findFreePort(ADDRESS) };
    return { definition: nodeLocalTier(behind, metricsPort), metricsPort };
  }
  if (subject.startsWith(DNSMASQ)) {
    const behind = { ...(await tier()), backendMetricsPort: metricsPort };
    const definition = dnsmasqTier(behind, dnsmasqEntries(point.cache), isNegative(subject));
    return { definition, metricsPort };
  }
  const surroundings = { ...beside, metricsPort, nodeSearch: PUBLISHED_SEARCH, isReadyLate: true } as const;
  return {
    definition: definitionOf({ cache: corednsCache(subject, point.cache) }, surroundings),
    metricsPort,
  };
}

export async function cachingPlan(settings: CachingSettings, world: World): Promise<CasesPlan> {
  demandClusterServers(settings.servers);
  const seconds = secondsPerTrial(settings);
  const { decided } = await planServers(
    world,
    'capacity caching',
    {
      ...settings,
      ...{ baseline: settings.servers[0], mode: 'multi', workload: settings.lookup.map(workloadName) },
    },
    seconds,
  );
  const [coredns] = decided.servers;
  const [helper] = await loadServers(world, [dnsmasq.name], decided.configuration);
  if (coredns === undefined || helper === undefined) throw new Error('no servers');
  const tiers = [DNSMASQ, `${DNSMASQ}${NEGATIVE}`, NODE_LOCAL];
  const limits = settings.tier.map((tier) => ({ tier }));
  const plan = planTiers(coredns, tiers, settings, limits, seconds);
  // Many cases have the same, which takes a tenth of a second to build.
  const asked = new Map(
    plan.cases.map((item) => {
      const { name, names } = lookupsFor(item.subject, tierPoint(item));
      return [name, { point: tierPoint(item), names }] as const;
    }),
  );
  const runnable = async ({ case: item }: PlannedTrial, { programOf }: TrialContext): Promise<Runnable> => {
    const [subject, at] = [item.subject, tierPoint(item)];
    const { name, names } = lookupsFor(subject, at);
    const delay = settings.upstreamDelay / 1000;
    const tier = await definitionFor(subject, at, { names, delay, coredns: programOf(coredns) });
    const base = subject.startsWith(DNSMASQ) ? helper : coredns;
    return {
      ...{ workload: name, names, metricsPort: tier.metricsPort },
      server: { ...base, ...tier.definition },
    };
  };
  const cases: ServerCases = {
    servers: {
      ...decided,
      servers: [coredns, helper],
      workloads: Array.from(asked, ([name, { point, names }]) => workloadFor(name, point, names)),
    },
    runnable,
  };
  return { ...plan, decided: { open: (request) => openServerCases(request, cases) } };
}
