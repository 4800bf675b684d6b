/** `bench swap` without `--method`, or with `--method shadow`: from flags to a record with its reports. */
import { EXIT_STATUS } from '@dinodns-bench/program';
import { demandRights, describeRight } from '../../cluster-changes/rights.ts';
import type { OpenedCluster } from '../../targets/kubernetes/open-cluster.ts';
import { counted } from '../../text.ts';
import type { World } from '../../world.ts';
import { type CheckedImages, checkImages } from './check-images.ts';
import { inPlaceSettings } from './flags.ts';
import { ROLE_FILE } from './in-place/preflight.ts';
import { finishSwap, type RunFolder, startRecording } from './recorder.ts';
import { paragraphs, runSwap, type SwapCall, type Values, withFolder } from './run-swap.ts';
import { writeText } from './say.ts';
import { readRoleOf, shadowRights } from './shadow/rights.ts';
import {
  openShadow,
  planShadow,
  prepareShadow,
  runShadow,
  type ShadowPlan,
  type ShadowRequest,
} from './shadow/shadow.ts';

/** What would be found and created, what the copies lack, and the rights that it takes. */
function dryRunText({ copy, images }: ShadowPlan, role: string): string {
  const { workload, replicas, configMaps, notCarriedOver } = copy;
  return paragraphs(
    [
      'Found',
      [
        `${workload.title}, container ${workload.container}: ${images.A}`,
        `Service ${workload.namespace}/${workload.service.name}, ${workload.service.address}`,
      ],
    ],
    [
      'Would be created, in a namespace of the run, which is removed at the end',
      [
        ...[...configMaps.keys()].map((name) => `a copy of ConfigMap ${workload.namespace}/${name}`),
        `a Deployment of ${images.A} and one of ${images.B} in turns, ${counted(replicas, 'pod')} each`,
        `an account with the role ${role}, bound by a ClusterRoleBinding of the name of the namespace`,
      ],
    ],
    ['Not carried over to the copies', notCarriedOver],
    ['Would be changed', ['nothing']],
    [
      `Rights beyond those of k8s/rbac.yaml (${ROLE_FILE} grants them)`,
      shadowRights(workload, role).map(describeRight),
    ],
  );
}

function startOf(
  { runId: id, argv, settings }: SwapCall,
  { copy, images }: ShadowPlan,
  { cluster, warnings }: OpenedCluster,
  checked: CheckedImages,
) {
  const { workload, replicas: pods, notCarriedOver } = copy;
  const found = { workload, pods, images, checked, cluster };
  return {
    id,
    method: 'shadow' as const,
    argv,
    settings,
    ...found,
    notCarriedOver: [...notCarriedOver],
    warnings: [...warnings],
  };
}

async function carryOut(call: SwapCall, plan: ShadowPlan, role: string, folder: RunFolder): Promise<number> {
  const { world, settings, configuration, interruption, runId, say, values } = call;
  const { signal } = interruption;
  const { directory } = folder;
  const request: ShadowRequest = { ...settings, world, configuration, interruption, runId, directory, say };
  const opened = await openShadow(request, plan, role);
  try {
    const { workload } = plan.copy;
    const checked = await checkImages(opened.run, { workload, images: plan.images, say, signal });
    const prepared = await prepareShadow(request, opened.run, plan, checked);
    const recording = await startRecording(folder, startOf(call, plan, opened, checked));
    const failure = await runShadow(prepared, settings.sequence, recording.add).then(
      () => null,
      (error: unknown) => error,
    );
    const record = await recording.end(failure, null);
    await opened.close();
    const status = await finishSwap(folder, record, values.json === true);
    if (failure !== null) throw failure;
    return status;
  } finally {
    await opened.close();
  }
}

export async function shadowCommand(world: World, values: Values, argv: readonly string[]): Promise<number> {
  const settings = await inPlaceSettings(world, values);
  return runSwap({ world, values, argv, settings }, async (call) => {
    const { interruption, cluster } = call;
    const { signal } = interruption;
    const plan = await planShadow(cluster.client, settings, signal);
    const role = typeof values.readRole === 'string' ? values.readRole : readRoleOf(plan.copy.workload);
    if (values.dryRun === true) {
      writeText(world, dryRunText(plan, role));
      return EXIT_STATUS.success;
    }
    await demandRights(cluster.client, shadowRights(plan.copy.workload, role), ROLE_FILE, signal);
    return withFolder(call, (folder) => carryOut(call, plan, role, folder));
  });
}
