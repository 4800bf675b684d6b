/** From options to a decided run: settings merged and checked, cases and trials planned. Writes nothing. */
import type { ZoneSet } from '@dinodns-bench/zones';
import {
  type ConfigurationSources,
  configure,
  parseConfigurationFile,
  type RunConfiguration,
  unreadableConfiguration,
} from '../../config/configuration.ts';
import { BenchError } from '../../errors.ts';
import { type Plan, planRun } from '../../plan/plan.ts';
import type { RunRecord } from '../../results/record.ts';
import { newRunId } from '../../results/run-id.ts';
import { createStore, type RunStore } from '../../results/store.ts';
import { serverKinds } from '../../servers/registry.ts';
import type { ServerKind } from '../../servers/server.ts';
import { CLUSTER_WORKLOADS } from '../../targets/kubernetes/cluster-workloads.ts';
import { noImage } from '../../targets/kubernetes/objects/server.ts';
import { loadWorkload } from '../../workload/load-workload.ts';
import { type BenchWorkload, zoneSetOf } from '../../workload/workload.ts';
import type { World } from '../../world.ts';

export interface RunOptions {
  readonly flags: ConfigurationSources['flags'];
  /** Defaults of `bench matrix`. */
  readonly base?: ConfigurationSources['base'];
  readonly preset?: string | undefined;
  readonly configFile?: string | undefined;
  /** ID of the run to resume. */
  readonly resume?: string | undefined;
  readonly dryRun: boolean;
  readonly json: boolean;
  /** As typed, for the record. */
  readonly argv: readonly string[];
}

/** A run that is decided: nothing has been provisioned, started or written yet. */
export interface DecidedRun {
  readonly configuration: RunConfiguration;
  readonly servers: readonly ServerKind[];
  readonly plan: Plan;
  readonly zoneSet: ZoneSet;
  readonly workload: BenchWorkload;
  readonly store: RunStore;
  readonly directory: string;
  readonly id: string;
  /** The record to resume. */
  readonly previous: RunRecord | undefined;
}

/** Decides a new run, or how to resume an interrupted one. */
export function decideRun(world: World, options: RunOptions): Promise<DecidedRun> {
  return options.resume === undefined
    ? decideNew(world, options)
    : decideToResume(world, options, options.resume);
}

async function readConfigurationFile(world: World, path: string | undefined) {
  if (path === undefined) return undefined;
  try {
    const text = await world.fs.readFile(path.startsWith('/') ? path : `${world.cwd}/${path}`, 'utf8');
    return { path, values: parseConfigurationFile(path, text) };
  } catch (error) {
    throw error instanceof BenchError ? error : unreadableConfiguration(path, error);
  }
}

/** What can be compared with what, and where. */
function demandTarget(servers: readonly ServerKind[], { kubernetes, workload }: RunConfiguration): void {
  const existing = servers.find((server) => server.existing);
  const problem = (message: string, fix: string) => new BenchError('E_CONFIG', message, { fix });
  if (kubernetes.target === 'kubernetes') {
    const imageless = servers.find((server) => server.image === null && !server.existing);
    if (imageless !== undefined) throw noImage(imageless);
  }
  if (existing === undefined) return;
  if (kubernetes.target !== 'kubernetes') {
    throw problem(`${existing.name} is part of a cluster`, 'Add --target kubernetes.');
  }
  if (servers.length > 1) {
    throw problem(
      `${existing.name} is queried for names of its cluster, which other servers do not have`,
      `Measure it alone: --servers ${existing.name}.`,
    );
  }
  if (!(CLUSTER_WORKLOADS as readonly string[]).includes(workload)) {
    throw problem(
      `--workload: "${workload}" is not a workload for ${existing.name}`,
      `Use one of ${CLUSTER_WORKLOADS.join(', ')}.`,
    );
  }
}

/** Until the cluster has been asked what names it has. */
function clusterPlaceholder(name: string): BenchWorkload {
  return { name, description: `names of the cluster (${name})`, size: 0, queries: () => [] };
}

async function planFor(
  world: World,
  configuration: RunConfiguration,
): Promise<Pick<DecidedRun, 'servers' | 'plan' | 'zoneSet' | 'workload'>> {
  const servers = serverKinds(configuration.servers);
  for (const server of servers) {
    for (const mode of configuration.modes) {
      const reason = server.unsupported(mode, configuration.transport);
      if (reason !== null) {
        throw new BenchError(
          'E_CONFIG',
          `${server.name} cannot be run with --mode ${mode} --transport ${configuration.transport}: ${reason}`,
          {
            fix: 'Omit the server, or choose another mode or transport.',
          },
        );
      }
    }
  }
  demandTarget(servers, configuration);
  const zoneSet = zoneSetOf(configuration.zones);
  return {
    servers,
    // The cluster's nodes are only known once it is asked; this machine's CPUs say nothing about them.
    plan: planRun(
      configuration,
      configuration.kubernetes.target === 'kubernetes'
        ? Number.POSITIVE_INFINITY
        : world.machine.availableCpus,
    ),
    zoneSet,
    workload: servers.some((server) => server.existing)
      ? clusterPlaceholder(configuration.workload)
      : await loadWorkload(world, configuration.workload, zoneSet),
  };
}

async function decideNew(world: World, options: RunOptions): Promise<DecidedRun> {
  const configuration = configure({
    ...(options.base === undefined ? {} : { base: options.base }),
    preset: options.preset,
    file: await readConfigurationFile(world, options.configFile),
    env: world.env,
    flags: options.flags,
  });
  const store = createStore(world, configuration.out);
  const id = newRunId(world.clock.now());
  return {
    configuration,
    ...(await planFor(world, configuration)),
    store,
    id,
    directory: store.directoryOf(id),
    previous: undefined,
  };
}

/** A run is resumed with its own settings: with others, its trials could not be compared. */
async function decideToResume(world: World, options: RunOptions, reference: string): Promise<DecidedRun> {
  const { out = 'results', provision: _provision, ...others } = options.flags;
  const given = Object.keys(others);
  if (given.length > 0 || options.preset !== undefined || options.configFile !== undefined) {
    throw new BenchError('E_USAGE', '--resume continues with the settings of the run and accepts no others', {
      evidence: given.map((name) => `also given: ${name}`),
      fix: 'Omit the other settings, or start a new run without --resume.',
    });
  }
  const store = createStore(world, String(out));
  const { record, directory } = await store.load(reference);
  const configuration = configure({
    file: { path: `${record.id}/run.json`, values: { ...record.configuration, loader: record.loader.kind } },
    env: {},
    flags: {},
  });
  return {
    configuration,
    ...(await planFor(world, configuration)),
    store,
    id: record.id,
    directory,
    previous: record,
  };
}
