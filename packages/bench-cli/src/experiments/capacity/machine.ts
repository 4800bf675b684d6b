/** What every measurement of this experiment needs of the machine: programs, the target, the loader. */

import { type ConfigurationSources, configure, type RunConfiguration } from '../../config/configuration.ts';
import { parseServerName } from '../../config/server-name.ts';
import { describeEnvironment } from '../../environment/describe.ts';
import { BenchError } from '../../errors.ts';
import type { Interruption } from '../../interruption.ts';
import { openLocalSession, type Programs, preparePrograms, type Session } from '../../measure/session.ts';
import type { Display } from '../../progress/display.ts';
import type { Environment } from '../../results/record.ts';
import { EXTERNAL } from '../../servers/coredns-cluster/cluster.ts';
import { corednsCluster } from '../../servers/coredns-cluster/index.ts';
import { loadServers } from '../../servers/load.ts';
import { NO_SERVERS } from '../../servers/registry.ts';
import type { Server } from '../../servers/server.ts';
import type { World } from '../../world.ts';

/** Settings of `bench run` that these commands take as well. */
export interface CommonFlags {
  readonly out?: string;
  readonly loader?: string;
  readonly corednsVersion?: string;
  readonly provision?: boolean;
}

/** @throws BenchError `E_CONFIG` */
export function commonConfiguration(
  world: World,
  servers: readonly string[],
  { out, loader, corednsVersion, provision }: CommonFlags,
  others: ConfigurationSources['flags'] = {},
): RunConfiguration {
  const env = Object.fromEntries(
    Object.entries(world.env).filter(([name]) => /_(OUT|LOADER|COREDNS_VERSION|PROVISION|CPU)$/.test(name)),
  );
  return configure({
    env,
    flags: {
      ...others,
      servers,
      baseline: servers[0],
      out,
      loader,
      corednsVersion,
      ...(provision === false ? { provision } : {}),
    },
  });
}

/**
 * `--servers` names CoreDNS as clusters run it, in any version.
 * @throws BenchError `E_CONFIG` for any other, and for a variant: the configuration is an axis of its own.
 */
export function demandClusterServers(servers: readonly string[]): void {
  for (const entry of servers) {
    const name = parseServerName(entry);
    if (name?.kind === corednsCluster.name && name.variant === null) continue;
    const isVariant = name?.kind === corednsCluster.name;
    throw new BenchError(
      'E_CONFIG',
      `--servers: "${entry}" ${isVariant ? 'names a variant' : `is not ${corednsCluster.name}`}`,
      {
        fix:
          NO_SERVERS.get(name?.kind ?? '') ??
          `Give versions of it, for example ${corednsCluster.name}@1.11.3,${corednsCluster.name}@1.15.0; configurations are named by --configurations.`,
      },
    );
  }
}

/** Those of `--servers`. @throws BenchError as `demandClusterServers` does */
export async function clusterServers(world: World, configuration: RunConfiguration): Promise<Server[]> {
  demandClusterServers(configuration.servers);
  return loadServers(world, configuration.servers, configuration);
}

export interface OpenMachine {
  readonly session: Session;
  readonly programs: Programs;
  readonly environment: Environment;
}

/**
 * Finds the programs and opens the target. The caller must always close the session. A server is ready when it answers
 * a name of the upstream, which CoreDNS does before it has read the cluster.
 */
export async function openMachine(
  world: World,
  runId: string,
  configuration: RunConfiguration,
  servers: readonly Server[],
  display: Display,
  { signal, force }: Pick<Interruption, 'signal' | 'force'>,
): Promise<OpenMachine> {
  const environment = await describeEnvironment(world);
  const programs = await preparePrograms(world, servers, configuration, [], display, signal);
  const session = await openLocalSession({
    world,
    runId,
    configuration,
    choice: programs.loader,
    cases: [],
    readinessQueries: () => [{ name: EXTERNAL.name(0), type: 'A' }],
    signal,
    force,
  });
  return { session, programs, environment };
}
