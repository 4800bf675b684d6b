/** `bench manifests`: the objects of a run on stdout, for `kubectl apply -f`. */
import { manifestsOf, renderManifests } from '../experiments/compare/manifests.ts';
import type { World } from '../world.ts';
import type { DecidedRun } from './decide-run.ts';

export function manifestsCommand(world: World, run: DecidedRun): number {
  const { configuration, plan, servers, zoneSet, workload } = run;
  const manifests = manifestsOf({ configuration, cases: plan.cases, servers, zoneSet, workload });
  world.stdout.write(renderManifests(manifests));
  return 0;
}
