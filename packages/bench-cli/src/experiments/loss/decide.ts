/** From flags to a decided run: settings checked, servers and workloads loaded, repetitions planned. Writes nothing. */
import type { ZoneSet } from '@dinodns-bench/zones';
import { configure, type RunConfiguration } from '../../config/configuration.ts';
import { defaultsOf, flagName, type Setting } from '../../config/setting.ts';
import { SETTINGS, type SettingName } from '../../config/settings.ts';
import { BenchError } from '../../errors.ts';
import { type Plan, planRun } from '../../plan/plan.ts';
import { locateServers } from '../../servers/at/index.ts';
import { loadServers } from '../../servers/load.ts';
import type { Server } from '../../servers/server.ts';
import { loadWorkload } from '../../workload/load-workload.ts';
import { type BenchWorkload, zoneSetOf } from '../../workload/workload.ts';
import type { World } from '../../world.ts';
import { LOSS_BASE, LOSS_SETTINGS, type LossSettings, SHARED_SETTINGS } from './settings.ts';

export interface LossOptions {
  /** As typed, under the names of `LOSS_SETTINGS`. */
  readonly own: Readonly<Record<string, unknown>>;
  /** As typed, under the names of the settings of a run. */
  readonly shared: Readonly<Partial<Record<SettingName, unknown>>>;
  readonly json: boolean;
  readonly argv: readonly string[];
}

export interface DecidedLoss {
  readonly settings: LossSettings;
  readonly configuration: RunConfiguration;
  readonly servers: readonly Server[];
  readonly plan: Plan;
  readonly zoneSet: ZoneSet;
  readonly workloads: readonly BenchWorkload[];
}

const FIX = 'Correct it; `bench loss --help` shows every setting.';

function decideOwn(given: LossOptions['own']): LossSettings {
  const values: Record<string, unknown> = { ...defaultsOf(LOSS_SETTINGS) };
  const problems: string[] = [];
  for (const [name, setting] of Object.entries<Setting>(LOSS_SETTINGS)) {
    if (given[name] === undefined) continue;
    const { success, data, error } = setting.schema.safeParse(given[name]);
    if (success) values[name] = data;
    else problems.push(`${flagName(setting)}: "${String(given[name])}" ${error.issues[0]?.message}`);
  }
  const [first] = problems;
  if (first !== undefined) {
    throw new BenchError(
      'E_CONFIG',
      problems.length === 1 ? first : `${problems.length} settings are wrong`,
      {
        evidence: problems.length === 1 ? [] : problems,
        fix: FIX,
      },
    );
  }
  // Checked by the table.
  const settings = values as LossSettings;
  if (new Set(settings.bands).size < settings.bands.length)
    throw new BenchError('E_CONFIG', '--bands names a share twice', { fix: 'Give each once.' });
  return { ...settings, bands: settings.bands.toSorted((a, b) => a - b) };
}

/** The environment's settings that this command has as flags. */
function ownEnvironment(env: World['env']): World['env'] {
  const suffixes = SHARED_SETTINGS.map((name) => flagName(SETTINGS[name]).replace(/^--(no-)?/, ''));
  const names = suffixes.map((suffix) => `DINODNS_BENCH_${suffix.replaceAll('-', '_').toUpperCase()}`);
  return Object.fromEntries(Object.entries(env).filter(([name]) => names.includes(name)));
}

/** Only what is reached from this machine. */
function demandHere(servers: readonly Server[]): void {
  const inCluster = servers.find(({ existing }) => existing !== undefined && existing.kind !== 'address');
  if (inCluster === undefined) return;
  throw new BenchError(
    'E_CONFIG',
    `--servers: ${inCluster.name} is part of a cluster; bench loss measures on this machine`,
    { fix: 'Give a server of this machine, or the address of one: at=ADDRESS:PORT.' },
  );
}

/** Every case must be possible over UDP. */
function demandModes(servers: readonly Server[], plan: Plan, { ip }: RunConfiguration): void {
  for (const { server: name, mode } of plan.cases) {
    const server = servers.find((candidate) => candidate.name === name);
    const reason = server?.unsupported(mode, 'udp', ip) ?? null;
    if (reason === null) continue;
    throw new BenchError('E_CONFIG', `${name} cannot be run with --mode ${mode}: ${reason}`, {
      fix: 'Omit the server, or choose another mode.',
    });
  }
}

/** A capture has its own timing. */
function demandRates(workloads: readonly BenchWorkload[]): void {
  const timed = workloads.find(({ builtin }) => builtin?.isTimed === true);
  if (timed === undefined) return;
  throw new BenchError(
    'E_CONFIG',
    `--workload: ${timed.name} is replayed with its own timing, not at a rate`,
    {
      fix: 'Use another workload, or a query file.',
    },
  );
}

/** @throws BenchError `E_CONFIG` for the first thing that is wrong, with every problem of the settings. */
export async function decideLoss(world: World, { own, shared }: LossOptions): Promise<DecidedLoss> {
  const settings = decideOwn(own);
  const configuration = configure({ base: LOSS_BASE, env: ownEnvironment(world.env), flags: shared });
  const loaded = await loadServers(world, configuration.servers, configuration);
  demandHere(loaded);
  const servers = await locateServers(loaded, configuration);
  const plan = planRun(configuration, world.machine.availableCpus);
  demandModes(servers, plan, configuration);
  const zoneSet = zoneSetOf(configuration.zones, configuration.types);
  const workloads = await Promise.all(
    configuration.workloads.map((name) => loadWorkload(world, name, { ...configuration, zoneSet })),
  );
  demandRates(workloads);
  return { settings, configuration, servers, plan, zoneSet, workloads };
}
