/** `--method shadow`: both versions beside the cluster's DNS, which is not touched. */

import { openChangeable } from '../../../cluster-changes/changeable.ts';
import { demandRights } from '../../../cluster-changes/rights.ts';
import { parseQuantity } from '../../../quantity.ts';
import type { OpenedCluster } from '../../../targets/kubernetes/open-cluster.ts';
import { ROLE_FILE } from '../in-place/preflight.ts';
import { openPhases } from '../open-phases.ts';
import { openRun } from '../open-run.ts';
import type { OpenedSwap, SwapRequest } from '../placed.ts';
import { accountObject, bindingObject, configMapObjects } from './objects.ts';
import { probeShadow, type ShadowPlacementRequest, shadowPlacement } from './placement.ts';
import type { CopyPlan } from './plan-copy.ts';
import { readRoleOf, shadowRights } from './rights.ts';

/** The account and the files of the copies. */
async function prepareNamespace(
  { run }: OpenedCluster,
  copy: CopyPlan,
  role: string,
  signal: AbortSignal,
): Promise<void> {
  const { client, namespace } = run;
  const found = await client.get('Namespace', namespace, undefined, signal);
  await client.create('ServiceAccount', accountObject(run), signal);
  await client.create('ClusterRoleBinding', bindingObject(run, role, found?.metadata?.uid ?? ''), signal);
  for (const object of configMapObjects(run, copy)) await client.create('ConfigMap', object, signal);
}

/** The run's namespace, with a rate that the version that runs can hold. @throws BenchError `E_NO_RATE`. */
export async function openShadow(request: SwapRequest, copy: CopyPlan): Promise<OpenedSwap> {
  const { world, settings, decided, signal, force } = request;
  const { readRole: role = readRoleOf(copy.workload) } = settings;
  const { client } = await openChangeable(world, settings.context, force);
  await demandRights(client, shadowRights(copy.workload, role), ROLE_FILE, signal);
  const requests = parseQuantity(copy.container.resources?.requests?.cpu) ?? 0;
  const opened = await openRun(request, {
    loadSeconds: settings.duration,
    serverCores: requests * copy.replicas,
  });
  try {
    await prepareNamespace(opened, copy, role, signal);
    const phases = await openPhases(request, opened.run, signal);
    const placing: ShadowPlacementRequest = { ...phases, plan: decided, copy, signal };
    await probeShadow(placing);
    return {
      ...{ programs: phases.programs, opened },
      place: (planned, side) => shadowPlacement(placing, planned, side),
      close: () => opened.close(),
    };
  } catch (error) {
    await opened.close();
    throw error;
  }
}
