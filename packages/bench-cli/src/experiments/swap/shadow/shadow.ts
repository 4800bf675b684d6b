/** `--method shadow`: both versions beside the cluster's DNS, which is not touched. */

import { openChangeable } from '../../../cluster-changes/connected-api.ts';
import { copyRights, readRoleOf } from '../../../cluster-changes/copy-rights.ts';
import { demandRights } from '../../../cluster-changes/rights.ts';
import { parseQuantity } from '../../../quantity.ts';
import type { CopyPlan } from '../../../targets/kubernetes/dns-copy/plan-copy.ts';
import { prepareCopies } from '../../../targets/kubernetes/dns-copy/run-copy.ts';
import { ROLE_FILE } from '../in-place/preflight.ts';
import { openPhases } from '../open-phases.ts';
import { openRun } from '../open-run.ts';
import type { OpenedSwap, SwapRequest } from '../placed.ts';
import { probeShadow, type ShadowPlacementRequest, shadowPlacement } from './placement.ts';

/** The run's namespace, with a rate that the version that runs can hold. @throws BenchError `E_NO_RATE`. */
export async function openShadow(request: SwapRequest, copy: CopyPlan): Promise<OpenedSwap> {
  const { world, settings, decided, signal, force } = request;
  const { readRole: role = readRoleOf(copy.workload) } = settings;
  const { client } = await openChangeable(world, settings.context, force);
  await demandRights(client, copyRights(copy.workload, role), ROLE_FILE, signal);
  const requests = parseQuantity(copy.container.resources?.requests?.cpu) ?? 0;
  const opened = await openRun(request, {
    loadSeconds: settings.duration,
    sending: settings,
    serverCores: requests * copy.replicas,
  });
  await using made = new AsyncDisposableStack();
  made.defer(opened.close);
  await prepareCopies(opened.run, role, [copy], signal);
  const phases = await openPhases(request, opened.run, signal);
  const placing: ShadowPlacementRequest = { ...phases, plan: decided, copy, signal };
  await probeShadow(placing);
  made.move();
  return {
    ...{ programs: phases.programs, loader: phases.loader, opened },
    place: (planned, side) => shadowPlacement(placing, planned, side),
    close: opened.close,
  };
}
