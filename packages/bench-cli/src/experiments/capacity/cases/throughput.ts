/** What `bench capacity throughput` measures: configurations of CoreDNS by kinds of lookups, on this machine or on a cluster. */
import { caseNameOf } from '../../../config/server-name.ts';
import { planServers } from '../../../engine/servers.ts';
import { CLUSTER } from '../../../servers/coredns-cluster/cluster.ts';
import { definitionOf } from '../../../servers/coredns-cluster/definition.ts';
import { findFreePort } from '../../../targets/local/free-port.ts';
import { clusterLookups, type LookupKind } from '../../../workload/cluster-names.ts';
import type { World } from '../../../world.ts';
import { CONFIGURATIONS, type ConfigurationName } from '../configurations.ts';
import { demandClusterServers } from '../machine.ts';
import { PUBLISHED_SEARCH } from '../published.ts';
import type { CasesPlan } from './evidence.ts';
import { openServerCases, type ServerCases } from './server-cases.ts';
import { secondsPerTrial, type ThroughputSettings } from './settings.ts';

/** Type A only, as published. */
export const LOOKUP_RULES = { search: PUBLISHED_SEARCH, ndots: 5, types: ['A'] } as const;

/** All of them, with their five candidates, fit into a cache of 9,984 entries. */
const NAMES = 400;

export const ADDRESS = '127.0.0.1';

const PREFIX = 'lookup-';

/** The names of the workloads by which cases are planned. */
export const workloadName = (lookup: LookupKind) => `${PREFIX}${lookup}`;

/** The subject, as `bench run` names it: `coredns-cluster@1.11.3+autopath`. */
function subjectsOf({ servers, configurations }: ThroughputSettings): string[] {
  return servers.flatMap((server) =>
    configurations.map((name) => caseNameOf(name === 'default' ? server : `${server}+${name}`)),
  );
}

export async function throughputPlan(settings: ThroughputSettings, world: World): Promise<CasesPlan> {
  demandClusterServers(settings.servers);
  const { lookup: lookups, upstreamDelay, target } = settings;
  const names = subjectsOf(settings);
  const workload = lookups.map(workloadName);
  const planned = await planServers(
    world,
    'capacity throughput',
    { ...settings, servers: names, baseline: names[0], mode: 'multi', workload },
    secondsPerTrial(settings),
  );
  const cases: ServerCases = {
    servers: {
      ...planned.decided,
      workloads: lookups.map((kind) =>
        clusterLookups(workloadName(kind), { cluster: CLUSTER, kind, names: NAMES }, LOOKUP_RULES),
      ),
    },
    async runnable({ case: { subject, point } }) {
      const base = cases.servers.servers.find(({ name }) => name === subject);
      if (base === undefined) throw new Error(`no server ${subject}`);
      // The plan has no others.
      const configuration = (base.variant ?? 'default') as ConfigurationName;
      const metricsPort = target === 'local' ? await findFreePort(ADDRESS) : null;
      const surroundings = {
        ...(metricsPort === null ? {} : { metricsPort }),
        nodeSearch: PUBLISHED_SEARCH,
        isReadyLate: true as const,
        upstreamDelaySeconds: upstreamDelay / 1000,
      };
      return {
        server: { ...base, ...definitionOf(CONFIGURATIONS[configuration], surroundings) },
        workload: workloadName(point.lookup as LookupKind),
        names: NAMES,
        metricsPort,
      };
    },
  };
  return {
    ...planned,
    cases: planned.cases.map(({ key, subject, point: { tier, workload: name }, expectedSeconds }) => ({
      ...{ key, subject, expectedSeconds },
      point: { lookup: String(name).slice(PREFIX.length), tier: tier ?? 0 },
    })),
    decided: { open: (request) => openServerCases(request, cases) },
  };
}
