/** `bench swap`: both versions beside the cluster's DNS, which is not touched. */
import type { RunConfiguration } from '../../../config/configuration.ts';
import { BenchError } from '../../../errors.ts';
import type { Interruption } from '../../../interruption.ts';
import type { KubeClient } from '../../../kubernetes-api/client.ts';
import { createBuiltinJob } from '../../../loaders/builtin/builtin-job.ts';
import { parseQuantity } from '../../../quantity.ts';
import type { ClusterRun } from '../../../targets/kubernetes/cluster-run.ts';
import { imagesOf } from '../../../targets/kubernetes/images.ts';
import { type OpenedCluster, openCluster } from '../../../targets/kubernetes/open-cluster.ts';
import { BENCH_VERSION } from '../../../version.ts';
import type { World } from '../../../world.ts';
import { podsOf } from '../in-place/await-rollout.ts';
import { findWorkload } from '../in-place/find-workload.ts';
import { checkImage } from '../in-place/image-check.ts';
import type { InPlaceSettings } from '../in-place/in-place.ts';
import { targetImage } from '../in-place/target-image.ts';
import { writeQueries } from '../query-files.ts';
import type { Side, SwapPlacement } from '../record.ts';
import { accountObject, bindingObject, configMapObjects } from './objects.ts';
import { shadowPlacement } from './placement.ts';
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
  if (imageB === workload.image) {
    throw new BenchError('E_CONFIG', `--to ${to}: ${workload.title} runs ${workload.image} already`, {
      fix: 'Name another version or image.',
    });
  }
  return { copy: await planCopy(client, workload, signal), images: { A: workload.image, B: imageB } };
}

/** The run's namespace, with the account and files of the copies. */
export async function openShadow(
  request: ShadowRequest,
  plan: ShadowPlan,
  role: string,
): Promise<OpenedCluster> {
  const { world, runId, configuration, interruption } = request;
  const { kubernetes } = configuration;
  const { copy } = plan;
  const requests = parseQuantity(copy.container.resources?.requests?.cpu) ?? 0;
  const opened = await openCluster({
    world,
    runId,
    settings: kubernetes,
    images: imagesOf(kubernetes, 'builtin'),
    loadSeconds: request.durationSeconds,
    serverCores: requests * copy.replicas,
    loaders: 1,
    signal: interruption.signal,
    force: interruption.force,
  });
  try {
    const { run } = opened;
    const { client, namespace } = run;
    const { signal } = interruption;
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

export interface CheckedImages {
  /** By side. */
  readonly versions: Readonly<Record<Side, string>>;
  readonly byImageId: ReadonlyMap<string, string>;
}

/** Pulls both images on the nodes that run DNS, and asks them for their versions. */
export async function checkImages(
  run: ClusterRun,
  { copy, images }: ShadowPlan,
  { interruption, say }: Pick<ShadowRequest, 'interruption' | 'say'>,
): Promise<CheckedImages> {
  const { signal } = interruption;
  const pods = await podsOf(run.client, copy.workload, signal);
  const nodes = [...new Set(pods.flatMap(({ spec }) => spec?.nodeName ?? []))];
  say(`pulling ${images.A} and ${images.B} on ${nodes.join(', ')}`);
  const a = await checkImage(run, images.A, nodes, signal);
  const b = await checkImage(run, images.B, nodes, signal);
  const versionIn = (versions: ReadonlyMap<string, string>) => [...new Set(versions.values())].join(' and ');
  return {
    versions: { A: versionIn(a.versions), B: versionIn(b.versions) },
    byImageId: new Map([...a.versions, ...b.versions]),
  };
}

/** Carries out the placements; each is given to `onPlacement` as soon as it has ended. */
export async function measureShadow(
  request: ShadowRequest,
  run: ClusterRun,
  plan: ShadowPlan,
  checked: CheckedImages,
  onPlacement: (placement: SwapPlacement) => Promise<void>,
): Promise<void> {
  const { sequence, interruption, directory } = request;
  const queryFiles = await writeQueries(request.world, run.client, directory, interruption.signal);
  const common = {
    ...request,
    run,
    plan: plan.copy,
    loader: createBuiltinJob(run, BENCH_VERSION),
    images: plan.images,
    knownVersions: checked.byImageId,
    queryFiles,
    rawDirectory: `${directory}/raw`,
    signal: interruption.signal,
  };
  for (const [index, side] of sequence.entries())
    await onPlacement(await shadowPlacement(common, index, side));
}
