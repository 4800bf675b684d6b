/** `bench swap`: both versions beside the cluster's DNS, which is not touched. */
import type { RunConfiguration } from '../../../config/configuration.ts';
import type { Interruption } from '../../../interruption.ts';
import type { KubeClient } from '../../../kubernetes-api/client.ts';
import { createBuiltinJob } from '../../../loaders/builtin/builtin-job.ts';
import { parseQuantity } from '../../../quantity.ts';
import type { ClusterRun } from '../../../targets/kubernetes/cluster-run.ts';
import type { OpenedCluster } from '../../../targets/kubernetes/open-cluster.ts';
import { BENCH_VERSION } from '../../../version.ts';
import type { World } from '../../../world.ts';
import type { CheckedImages } from '../check-images.ts';
import { findWorkload } from '../in-place/find-workload.ts';
import type { InPlaceSettings } from '../in-place/in-place.ts';
import { demandAnotherImage, targetImage } from '../in-place/target-image.ts';
import { openRun } from '../open-run.ts';
import { writeQueries } from '../query-files.ts';
import type { Side, SwapPlacement } from '../record.ts';
import { accountObject, bindingObject, configMapObjects } from './objects.ts';
import { probeShadow, type ShadowPlacementRequest, shadowPlacement } from './placement.ts';
import { type CopyPlan, planCopy } from './plan-copy.ts';

export type ShadowSettings = Omit<InPlaceSettings, 'leaseSeconds' | 'leaseNamespace'>;

export interface ShadowPlan {
  readonly copy: CopyPlan;
  readonly images: Readonly<Record<Side, string>>;
}

export interface ShadowRequest extends ShadowSettings {
  readonly world: World;
  readonly configuration: RunConfiguration;
  readonly interruption: Interruption;
  readonly runId: string;
  /** For query files and raw output. */
  readonly directory: string;
  readonly say: (text: string) => void;
}

/** Finds what is copied. Changes nothing. */
export async function planShadow(
  client: KubeClient,
  { to, choice }: ShadowSettings,
  signal: AbortSignal,
): Promise<ShadowPlan> {
  const workload = await findWorkload(client, choice, signal);
  const imageB = targetImage(to, workload.image);
  demandAnotherImage(workload, imageB, to);
  return { copy: await planCopy(client, workload, signal), images: { A: workload.image, B: imageB } };
}

/** The run's namespace, with the account and files of the copies. */
export async function openShadow(
  request: ShadowRequest,
  plan: ShadowPlan,
  role: string,
): Promise<OpenedCluster> {
  const { copy } = plan;
  const requests = parseQuantity(copy.container.resources?.requests?.cpu) ?? 0;
  const opened = await openRun(request, {
    loadSeconds: request.durationSeconds,
    serverCores: requests * copy.replicas,
  });
  try {
    const { run } = opened;
    const { client, namespace } = run;
    const { signal } = request.interruption;
    const found = await client.get('Namespace', namespace, undefined, signal);
    await client.create('ServiceAccount', accountObject(run), signal);
    await client.create('ClusterRoleBinding', bindingObject(run, role, found?.metadata?.uid ?? ''), signal);
    for (const object of configMapObjects(run, copy)) await client.create('ConfigMap', object, signal);
    return opened;
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** Writes what is asked, and tries the rate with a copy of the version that runs. @throws BenchError `E_NO_RATE`. */
export async function prepareShadow(
  request: ShadowRequest,
  run: ClusterRun,
  plan: ShadowPlan,
  checked: CheckedImages,
): Promise<ShadowPlacementRequest> {
  const { interruption, directory } = request;
  const { signal } = interruption;
  const prepared = {
    ...request,
    run,
    plan: plan.copy,
    loader: createBuiltinJob(run, BENCH_VERSION),
    images: plan.images,
    knownVersions: checked.byImageId,
    queryFiles: await writeQueries(request.world, run.client, directory, request.ownQueries, signal),
    rawDirectory: `${directory}/raw`,
    signal,
  };
  await probeShadow(prepared);
  return prepared;
}

/** Carries out the placements; each is given to `onPlacement` as soon as it has ended. */
export async function runShadow(
  prepared: ShadowPlacementRequest,
  sequence: readonly Side[],
  onPlacement: (placement: SwapPlacement) => Promise<void>,
): Promise<void> {
  for (const [index, side] of sequence.entries())
    await onPlacement(await shadowPlacement(prepared, index, side));
}
