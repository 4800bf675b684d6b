/** The measuring commands of the capacity experiment, with their flags. */
import type { Command } from 'commander';
import { type Setting, shownValue } from '../../config/setting.ts';
import type { Call } from '../../engine/registered.ts';
import type { World } from '../../world.ts';
import { addClusterFlags } from './cluster/cluster-flags.ts';
import type { ClusterMeasurementOptions } from './cluster/cluster-measurement.ts';
import { DEFAULT_MAX_OBJECTS } from './cluster/settings.ts';
import type { CommonFlags } from './machine.ts';
import type { MeasurementOptions } from './open-run.ts';
import { PROPAGATION_SETTINGS } from './propagation/settings.ts';
import { targetOf } from './target.ts';

const pick = (values: Readonly<Record<string, unknown>>, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, values[name]]));

/** The flag's name, as commander stores it: `--service-share` is `serviceShare`. */
function storedName({ flag }: Setting): string {
  const name = flag.split(' ')[0]?.slice(2) ?? '';
  return name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

function addSettings(command: Command, settings: Readonly<Record<string, Setting>>): Command {
  for (const setting of Object.values(settings)) {
    const { default: value } = setting;
    const isShown =
      value !== undefined && typeof value !== 'boolean' && !setting.description.includes('default:');
    command.option(
      setting.flag,
      setting.description + (isShown ? ` (default: ${shownValue(setting, value)})` : ''),
    );
  }
  return command;
}

/** What was typed, under the names of the settings. */
function givenSettings(
  values: Readonly<Record<string, unknown>>,
  settings: Readonly<Record<string, Setting>>,
) {
  return Object.fromEntries(
    Object.entries(settings).map(([name, setting]) => [name, values[storedName(setting)]]),
  );
}

function addCommon(command: Command, hasLoader = true): Command {
  if (hasLoader) command.option('--loader <name>', 'dnsperf, builtin or auto (default: auto)');
  return command
    .option('--out <directory>', 'directory of the runs (default: results)')
    .option('--coredns-version <version>', 'version of CoreDNS where --servers names none')
    .option('--no-provision', 'never install a missing tool');
}

const commonOf = (values: Readonly<Record<string, unknown>>): CommonFlags =>
  pick(values, ['out', 'loader', 'corednsVersion', 'provision']);

const RESUME = ['--resume <run>', 'continue an interrupted run: its id, or latest'] as const;

/** `--target kubernetes`, with what it needs. */
function addTarget(command: Command): Command {
  return addClusterFlags(command)
    .option(
      '--target <name>',
      'local, or kubernetes: synthetic objects and a private CoreDNS (default: local)',
    )
    .option('--context <name>', 'context of the kubeconfig (default: its current one)')
    .option(
      '--max-objects <n>',
      `pods and services to create on a cluster, at most (default: ${DEFAULT_MAX_OBJECTS})`,
    );
}

interface Measurement {
  readonly name: string;
  readonly description: string;
  readonly settings: Readonly<Record<string, Setting>>;
  run(world: World, options: MeasurementOptions): Promise<number>;
  /** With `--target kubernetes`; missing where there is only this machine. */
  runOnCluster?(world: World, options: ClusterMeasurementOptions): Promise<number>;
  /** Further flags of that. */
  addFlags?(command: Command): Command;
}

/** Measurements whose load generator is given. */
const MEASUREMENTS: readonly Measurement[] = [
  {
    name: 'propagation',
    description: 'how long a new Service takes to resolve, by objects and by changes a second',
    settings: PROPAGATION_SETTINGS,
    run: async (world, options) => (await import('./propagation/run.ts')).propagationCommand(world, options),
    runOnCluster: async (world, options) =>
      (await import('./propagation/cluster/run.ts')).clusterPropagationCommand(world, options),
  },
];

function addMeasurement(
  capacity: Command,
  call: Call,
  { name, description, settings, run, runOnCluster, addFlags }: Measurement,
): void {
  const command = addCommon(addSettings(capacity.command(name), settings), false);
  if (runOnCluster !== undefined) addTarget(command);
  addFlags?.(command);
  command
    .description(description)
    .option(...RESUME)
    .option('--json', 'print the record instead of the table')
    .addHelpText('after', call.exitStatusHelp)
    .action(async (values: Record<string, unknown>) => {
      const options: MeasurementOptions = {
        given: givenSettings(values, settings),
        common: commonOf(values),
        resume: values.resume === undefined ? undefined : String(values.resume),
        json: values.json === true,
        argv: call.argv,
      };
      call.status =
        runOnCluster !== undefined && targetOf(values.target) === 'kubernetes'
          ? await runOnCluster(call.world, { ...options, flags: values })
          : await run(call.world, options);
    });
}

export function addMeasureCommands(capacity: Command, call: Call): void {
  for (const measurement of MEASUREMENTS) addMeasurement(capacity, call, measurement);
}
