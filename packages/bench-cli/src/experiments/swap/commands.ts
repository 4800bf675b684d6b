/** The commands of the swap experiment, with their flags. */
import type { Command } from 'commander';
import { KUBERNETES_DEFAULTS } from '../../config/kubernetes-settings.ts';
import { type Setting, shownValue } from '../../config/setting.ts';
import { SETTINGS, type SettingName } from '../../config/settings.ts';
import type { Call } from '../../engine/registered.ts';
import { BenchError } from '../../errors.ts';
import type { World } from '../../world.ts';
import { SHARED_SETTINGS, SWAP_DEFAULTS } from './flags.ts';

/** Where a flag means something else than with `bench run`. */
const OWN_DESCRIPTIONS: Readonly<Partial<Record<SettingName, string>>> = {
  loaderImage: 'of the load generator, the guard and the canary: built from k8s/images/load',
};

function addSharedSettings(command: Command): Command {
  for (const name of SHARED_SETTINGS) {
    const setting: Setting = SETTINGS[name];
    const value = setting.default;
    const hint = value === undefined ? '' : ` (default: ${shownValue(setting, value)})`;
    command.option(setting.flag, (OWN_DESCRIPTIONS[name] ?? setting.description) + hint);
  }
  return command;
}

const WORKLOAD = [
  '--workload <name>',
  'the workload that serves cluster DNS, NAMESPACE/KIND/NAME (default: that of the cluster)',
] as const;
const SERVICE = ['--service <name>', 'the Service in front of it (default: the one for its pods)'] as const;
const LEASE_NAMESPACE = [
  '--lease-namespace <name>',
  `namespace of the Lease and the journal (default: ${SWAP_DEFAULTS.leaseNamespace})`,
] as const;

const CONTEXT = ['--context <name>', 'context of the kubeconfig (default: its current one)'] as const;

function textOf(values: Record<string, unknown>, name: string): string | undefined {
  return values[name] === undefined ? undefined : String(values[name]);
}

/** `bench swap status` and `bench swap restore`. */
function addRescue(swap: Command, call: Call): void {
  const leaseNamespace = (values: Record<string, unknown>) =>
    textOf(values, 'leaseNamespace') ?? SWAP_DEFAULTS.leaseNamespace;
  const explained = async (promise: Promise<number>) => {
    try {
      call.status = await promise;
    } catch (error) {
      const { explainFailure } = await import('./explain.ts');
      throw explainFailure(error);
    }
  };
  swap
    .command('status')
    .description('what a swap has changed in this cluster, and what of it is put back')
    .option(...CONTEXT)
    .option(...LEASE_NAMESPACE)
    .option('--json', 'print it as JSON')
    .addHelpText('after', call.exitStatusHelp)
    .action(async (_flags: unknown, command: Command) => {
      const values = command.optsWithGlobals();
      const { statusCommand } = await import('./status.ts');
      return explained(
        statusCommand(call.world, {
          context: textOf(values, 'context'),
          leaseNamespace: leaseNamespace(values),
          json: values.json === true,
        }),
      );
    });
  swap
    .command('restore')
    .description('put back what a swap has changed, from any machine; a swap that still runs stops')
    .option('--run <id>', 'only if it is this run')
    .option(...CONTEXT)
    .option(...LEASE_NAMESPACE)
    .addHelpText('after', call.exitStatusHelp)
    .action(async (_flags: unknown, command: Command) => {
      const values = command.optsWithGlobals();
      const { restoreCommand } = await import('./restore.ts');
      return explained(
        restoreCommand(call.world, {
          context: textOf(values, 'context'),
          leaseNamespace: leaseNamespace(values),
          run: textOf(values, 'run'),
          settleSeconds: KUBERNETES_DEFAULTS.readyTime,
        }),
      );
    });
}

/** Looks at the DNS as a client does, and changes nothing. */
function addCanary(swap: Command, call: Call): void {
  const canary = swap
    .command('canary')
    .description(
      'ask the DNS of the cluster as a client does, for a while: `kubectl rollout restart` meanwhile shows what an ordinary rolling update loses',
    )
    .option('--duration <time>', `how long (default: ${SWAP_DEFAULTS.duration})`)
    .option(...WORKLOAD)
    .option(...SERVICE)
    .option('--json', 'print the counts as JSON');
  addSharedSettings(canary)
    .addHelpText('after', call.exitStatusHelp)
    .action(async (_flags: unknown, command: Command) => {
      const { canaryCommand } = await import('./canary-command.ts');
      call.status = await canaryCommand(call.world, command.optsWithGlobals(), call.argv);
    });
}

type Method = (world: World, values: Record<string, unknown>, argv: readonly string[]) => Promise<number>;

const METHODS: Readonly<Record<string, () => Promise<Method>>> = {
  shadow: async () => (await import('./shadow-command.ts')).shadowCommand,
  'in-place': async () => (await import('./in-place-command.ts')).inPlaceCommand,
};

function methodOf({ method }: Record<string, unknown>): Promise<Method> {
  const load = METHODS[String(method)];
  if (load !== undefined) return load();
  throw new BenchError('E_USAGE', `--method: "${String(method)}" must be shadow or in-place`, {
    fix: 'Omit it to measure beside the DNS of the cluster, which is not touched.',
  });
}

export function addSwapCommands(program: Command, call: Call): void {
  const swap = program
    .command('swap')
    .option('--to <version>', 'version or image to compare with the one that runs: 1.13.1')
    .option(
      '--method <name>',
      'shadow: beside the cluster’s DNS, which is not touched; in-place: change its image, and put it back',
      'shadow',
    )
    .option(
      '--placements <sequence>',
      `A: the version that runs, B: the other (default: ${SWAP_DEFAULTS.placements})`,
    )
    .option('--rate <n>', `queries per second (default: ${SWAP_DEFAULTS.rate})`)
    .option('--duration <time>', `of each load (default: ${SWAP_DEFAULTS.duration})`)
    .option('--idle <time>', `of each window without load (default: ${SWAP_DEFAULTS.idle})`)
    .option('--settle <time>', `after each rollout (default: ${SWAP_DEFAULTS.settle})`)
    .option(
      '--queries-internal <file>',
      'a name and a type on each line, instead of names of Services (default: those of the cluster)',
    )
    .option(
      '--queries-external <file>',
      'the same for names outside the cluster (default: six, which a cache soon answers)',
    )
    .option(...WORKLOAD)
    .option('--container <name>', 'its container (default: the one that serves DNS)')
    .option(...SERVICE)
    .option(
      '--lease <time>',
      `without a sign of life for so long, the guard puts everything back (default: ${SWAP_DEFAULTS.lease})`,
    )
    .option(...LEASE_NAMESPACE)
    .option('--yes-change-cluster-dns', 'agree that the DNS of the cluster is changed')
    .option('--dry-run', 'print the planned changes, the way back and the rights needed; change nothing')
    .option(
      '--read-role <name>',
      'ClusterRole with which CoreDNS reads the cluster (default: system:coredns)',
    )
    .option('--json', 'print the result as JSON');
  addSharedSettings(swap)
    .addHelpText('after', call.exitStatusHelp)
    .action(async (values: Record<string, unknown>) => {
      const run = await methodOf(values);
      call.status = await run(call.world, values, call.argv);
    });
  addRescue(swap, call);
  addCanary(swap, call);
}
