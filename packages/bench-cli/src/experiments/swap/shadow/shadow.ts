/** `--method shadow`: both versions beside the cluster's DNS, which is not touched. */

import { openChangeable } from '../../../cluster-changes/connected-api.ts';
import { copyRights, readRoleOf } from '../../../cluster-changes/copy-rights.ts';
import { demandRights } from '../../../cluster-changes/rights.ts';
import type { PlannedTrial } from '../../../engine/experiment.ts';
import { parseQuantity } from '../../../quantity.ts';
import { copyObjects } from '../../../targets/kubernetes/dns-copy/objects.ts';
import type { CopyPlan } from '../../../targets/kubernetes/dns-copy/plan-copy.ts';
import { type CopyRequest, prepareCopies, withCopy } from '../../../targets/kubernetes/dns-copy/run-copy.ts';
import type { Side, SwapEvidence } from '../evidence.ts';
import { ROLE_FILE } from '../in-place/preflight.ts';
import { openPhases } from '../open-phases.ts';
import { openRun } from '../open-run.ts';
import type { OpenedSwap, PhasesRequest, SwapPlan, SwapRequest } from '../placed.ts';
import { measurePods, numberOf } from '../placements.ts';
import { demandRate } from '../rate-probe.ts';

interface Placing extends PhasesRequest {
  readonly plan: SwapPlan;
  readonly copy: CopyPlan;
  readonly signal: AbortSignal;
}

/** A copy of one version. */
function copyOf({ run, plan, copy, signal }: Placing, side: Side, unit: string): CopyRequest {
  const image = plan.images[side];
  const objects = copyObjects(run, copy, image, unit);
  return { run, copy, objects, what: `${side}, ${image}`, signal };
}

/** One placement: a fresh Deployment of one version, measured and removed. */
function place(placing: Placing, planned: PlannedTrial, side: Side): Promise<SwapEvidence> {
  const unit = `dns-${side.toLowerCase()}-${numberOf(planned)}`;
  return withCopy(copyOf(placing, side, unit), async ({ startSeconds, ...copy }) => {
    const { demandSamePods, ...measured } = await measurePods(placing, planned, copy, placing.signal);
    demandSamePods();
    const image = placing.plan.images[side];
    return { side, image, rolloutSeconds: startSeconds, rolloutCanary: null, canary: null, ...measured };
  });
}

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
  const placing: Placing = { ...phases, plan: decided, copy, signal };
  request.say('starting a copy to try the rate');
  // With the version that runs in the cluster.
  await withCopy(copyOf(placing, 'A', 'dns-probe'), (probed) => demandRate({ ...placing, ...probed }));
  made.move();
  return {
    ...{ programs: phases.programs, loader: phases.loader, opened },
    place: (planned, side) => place(placing, planned, side),
    close: opened.close,
  };
}
