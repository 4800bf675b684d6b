/** The cases of `bench capacity throughput`: configurations by kinds of lookups. */
import { CLUSTER } from '../../../servers/coredns-cluster/cluster.ts';
import { definitionOf } from '../../../servers/coredns-cluster/definition.ts';
import type { Server } from '../../../servers/server.ts';
import { findFreePort } from '../../../targets/local/free-port.ts';
import { clusterLookups, type LookupKind } from '../../../workload/cluster-names.ts';
import type { BenchWorkload } from '../../../workload/workload.ts';
import { CONFIGURATIONS } from '../configurations.ts';
import type { RunnableCase } from './planned.ts';
import type { ThroughputSettings } from './settings.ts';

/** The node's own search domain of the published measurements: an external name costs five queries. */
export const PUBLISHED_SEARCH: readonly string[] = ['mydomain.com'];

/** Type A only, as published. */
export const LOOKUP_RULES = { search: PUBLISHED_SEARCH, ndots: 5, types: ['A'] } as const;

/** All of them, with their five candidates, fit into a cache of 9,984 entries. */
const NAMES = 400;

export const ADDRESS = '127.0.0.1';

/** Of both kinds, as far as they are asked for, by their names in a run. */
export function lookupWorkloads(kinds: readonly LookupKind[]): BenchWorkload[] {
  return kinds.map((kind) =>
    clusterLookups(`lookup-${kind}`, { cluster: CLUSTER, kind, names: NAMES }, LOOKUP_RULES),
  );
}

export async function throughputCases(
  settings: ThroughputSettings,
  servers: readonly Server[],
): Promise<RunnableCase[]> {
  const cases: RunnableCase[] = [];
  for (const base of servers) {
    for (const configuration of settings.configurations) {
      const metricsPort = await findFreePort(ADDRESS);
      const surroundings = {
        metricsPort,
        nodeSearch: PUBLISHED_SEARCH,
        upstreamDelaySeconds: settings.upstreamDelay / 1000,
      };
      const name = configuration === 'default' ? base.name : `${base.name}+${configuration}`;
      const server = { ...base, name, ...definitionOf(CONFIGURATIONS[configuration].choice, surroundings) };
      for (const lookup of settings.lookups) {
        cases.push({
          server,
          workload: `lookup-${lookup}`,
          metricsPort,
          atHalf: true,
          facts: {
            key: `${base.name}/${configuration}/${lookup}`,
            server: base.name,
            configuration,
            lookup,
            cache: configuration === 'nocache' ? 'off' : 'cached',
            names: NAMES,
            queriesPerLookup: null,
          },
        });
      }
    }
  }
  return cases;
}
