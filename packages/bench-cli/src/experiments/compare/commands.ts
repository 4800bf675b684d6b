/** The commands of the comparison, with their flags. */
import { EXIT_STATUS, exitStatusHelp } from '@dinodns-bench/program';
import type { Command } from 'commander';
import type { Call } from '../../engine/registered.ts';
import type { GivenSettings } from '../../engine/settings.ts';
import { addRunSettings, type SettingsView, settingsFrom } from '../run-flags.ts';

/** Matrix of the published benchmark. */
const MATRIX = { tier: [1, 2, 4], mode: 'both' } as const;

/** A run ends with each of these; what is measured is never missed or undecided. */
const RUN_STATUSES = exitStatusHelp([
  ...(['success', 'internal', 'usage', 'environment', 'server', 'failedTrials', 'record', 'output'] as const),
  ...(['interrupted', 'terminated'] as const),
]);

const RUN_EXAMPLES = `
Examples:
  bench                                        CoreDNS, DinoDNS (stock), DinoDNS
  bench run --servers coredns@1.13.1,coredns   two versions of CoreDNS
  bench run --servers mine=mine.yaml,knot      your own server beside Knot DNS
  bench run --rate 20000 --until verdict       CPU at one rate, until it is sure
  bench run --target kubernetes --tier 0.5     on the cluster of the kubeconfig`;

const MATRIX_EXAMPLES = `
Examples:
  bench matrix --dry-run                       the plan, and how long it takes
  bench matrix --preset blog                   ten minutes a trial, as published
  bench matrix --servers coredns,knot          two other servers`;

function addSettings(command: Command, call: Call, view: SettingsView, examples: string): Command {
  return addRunSettings(command, call, view)
    .option('--resume <run>', 'continue an interrupted run: latest, or its id, tag, branch or commit')
    .option('--dry-run', 'print the plan and how long it will take, then exit')
    .option('--json', 'print the record instead of the table')
    .addHelpText('after', examples)
    .addHelpText('after', RUN_STATUSES);
}

function givenSettings(values: Record<string, unknown>, base?: object): GivenSettings {
  const text = (key: string) => (values[key] === undefined ? undefined : String(values[key]));
  return {
    flags: settingsFrom(values),
    ...(base === undefined ? {} : { base: { ...base } }),
    preset: text('preset'),
    file: text('config'),
  };
}

function runAction(call: Call, base?: typeof MATRIX) {
  return async (values: Record<string, unknown>) => {
    const [{ invokeExperiment }, { compareProcedure: procedure }, { compareForm: form }] = await Promise.all([
      import('../../engine/run.ts'),
      import('./index.ts'),
      import('./form.ts'),
    ]);
    call.status = await invokeExperiment(
      call.world,
      { procedure, form },
      {
        ...givenSettings(values, base),
        resume: values.resume === undefined ? undefined : String(values.resume),
        dryRun: values.dryRun === true,
        format: values.json === true ? 'json' : 'terminal',
        argv: call.argv,
      },
    );
  };
}

const ON_CLUSTER = { target: 'kubernetes' } as const;

/** The settings that decide which images there are. */
const OF_IMAGES = [
  ...(['servers', 'corednsVersion', 'loader', 'workload', 'transport'] as const),
  ...(['corednsImage', 'dinodnsImage', 'serverImages', 'loaderImage', 'pullPolicy'] as const),
] as const;

/** And those that decide what is in the objects. */
const OF_MANIFESTS = [
  ...OF_IMAGES,
  ...(['tier', 'mode', 'zones', 'types', 'rate', 'duration', 'clients', 'outstanding'] as const),
  ...(['namespacePrefix', 'pullSecrets', 'serverNode', 'loaderNode', 'serverTolerations'] as const),
  ...(['loaderTolerations', 'serviceAccount', 'cpuRequest', 'memoryLimit', 'loaderCpu'] as const),
  ...(['podLabels', 'runAsUser', 'workers'] as const),
] as const;

/** What a run would use and create in a cluster, without a run. */
function addClusterCommands(program: Command, call: Call): void {
  const { world } = call;
  addRunSettings(program.command('images'), call, { shown: OF_IMAGES, base: ON_CLUSTER })
    .option('--json', 'as JSON')
    .action(async (values: Record<string, unknown>) => {
      const { decideRun } = await import('./decide.ts');
      const { imagesCommand } = await import('./images.ts');
      const run = await decideRun(world, givenSettings(values, ON_CLUSTER));
      call.status = imagesCommand(world, run, { json: values.json === true });
    });
  addRunSettings(program.command('manifests'), call, { shown: OF_MANIFESTS, base: ON_CLUSTER }).action(
    async (values: Record<string, unknown>) => {
      const { decideRun } = await import('./decide.ts');
      const { manifestsOf, renderManifests } = await import('./manifests.ts');
      const { plan, ...run } = await decideRun(world, givenSettings(values, ON_CLUSTER));
      world.stdout.write(renderManifests(manifestsOf({ ...run, cases: plan.cases, now: world.clock.now() })));
      call.status = EXIT_STATUS.success;
    },
  );
}

export function addCompareCommands(program: Command, call: Call): void {
  addSettings(program.command('run', { isDefault: true }), call, {}, RUN_EXAMPLES).action(runAction(call));
  addSettings(program.command('matrix'), call, { base: MATRIX }, MATRIX_EXAMPLES).action(
    runAction(call, MATRIX),
  );
  addClusterCommands(program, call);
}
