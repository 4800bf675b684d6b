/** The commands of the comparison: its runs, and what a run on a cluster would use. */
import { EXIT_STATUS } from '@dinodns-bench/program';
import type { Command } from 'commander';
import { SETTINGS } from '../../config/settings.ts';
import { addProcedure, addSettings, givenSettings } from '../../engine/flags.ts';
import type { Call } from '../../engine/registered.ts';
import { compareProcedure, SETTINGS_VIEW } from './index.ts';

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
  ...(['loaderTolerations', 'path', 'serviceAccount', 'cpuRequest', 'memoryLimit', 'loaderCpu'] as const),
  ...(['replicas', 'podLabels', 'runAsUser', 'workers'] as const),
] as const;

/** What a run would use and create in a cluster, without a run. */
function addClusterCommands(program: Command, call: Call): void {
  const { world } = call;
  const images = { ...SETTINGS_VIEW, shown: OF_IMAGES, base: ON_CLUSTER };
  addSettings(program.command('images'), SETTINGS, images, call)
    .option('--json', 'as JSON')
    .action(async (values: Record<string, unknown>) => {
      const { decideRun } = await import('./decide.ts');
      const { imagesCommand } = await import('./images.ts');
      const run = await decideRun(world, givenSettings(world, SETTINGS, values, images), 'images');
      call.status = imagesCommand(world, run, { json: values.json === true });
    });
  const manifests = { ...images, shown: OF_MANIFESTS };
  addSettings(program.command('manifests'), SETTINGS, manifests, call).action(
    async (values: Record<string, unknown>) => {
      const { decideRun } = await import('./decide.ts');
      const { manifestsOf, renderManifests } = await import('./manifests.ts');
      const { plan, ...run } = await decideRun(
        world,
        givenSettings(world, SETTINGS, values, images),
        'manifests',
      );
      world.stdout.write(renderManifests(manifestsOf({ ...run, cases: plan.cases, now: world.clock.now() })));
      call.status = EXIT_STATUS.success;
    },
  );
}

export async function addCompareCommands(program: Command, call: Call): Promise<void> {
  await addProcedure(program, call, compareProcedure, async () => (await import('./form.ts')).compareForm);
  addClusterCommands(program, call);
}
