/** What is disrupted on a cluster: copies of its DNS, each as its trial has it, or the DNS itself. */
import type { ClusterApi } from '../../../cluster-changes/cluster-api.ts';
import type { GuardedCluster } from '../../../cluster-changes/guarded.ts';
import { isSettled, type PodFault, type Pods, rollingInPlace } from '../../../cluster-changes/pod-faults.ts';
import { waitUntil } from '../../../cluster-changes/wait-until.ts';
import type { OpenRequest, PlannedTrial } from '../../../engine/experiment.ts';
import { BenchError } from '../../../errors.ts';
import { createBuiltinJob } from '../../../loaders/builtin/builtin-job.ts';
import { loadServers } from '../../../servers/load.ts';
import { clusterWorkload } from '../../../targets/kubernetes/cluster-workloads.ts';
import { uploadBeside } from '../../../targets/kubernetes/dns-copy/beside.ts';
import { podsOf } from '../../../targets/kubernetes/dns-copy/find-workload.ts';
import { copyObjects } from '../../../targets/kubernetes/dns-copy/objects.ts';
import type { CopyPlan } from '../../../targets/kubernetes/dns-copy/plan-copy.ts';
import { prepareCopies, type RunningCopy, withCopy } from '../../../targets/kubernetes/dns-copy/run-copy.ts';
import { breakable, copyAt, graceSecondsOf } from '../../../targets/kubernetes/dns-copy/variants.ts';
import { BENCH_VERSION } from '../../../version.ts';
import { writeQueryFile } from '../../../workload/load-workload.ts';
import type { DisruptSettings } from '../settings.ts';

export interface DecidedCluster {
  readonly copy: CopyPlan;
  readonly faults: readonly PodFault[];
  /** Of the subjects' points. */
  readonly server: string;
  /** The ClusterRole that lets copies read the cluster. */
  readonly role: string;
  /** Of the objects outside the namespace of the run that faults change: nodes, or the DNS itself. */
  readonly changedPaths: readonly string[];
}

export type ClusterRequest = OpenRequest<DisruptSettings, DecidedCluster>;

/** What all trials of a run share. */
export async function placeIn(
  { world, settings, decided, directory }: ClusterRequest,
  { opened, guarded, signal }: Omit<GuardedCluster, 'made'>,
  api: ClusterApi,
) {
  const { run } = opened;
  const { copy, role, server: name, changedPaths: protectedPaths } = decided;
  const { inPlace, factors } = settings;
  const { lameduck = [undefined] } = factors;
  const copies = lameduck.map((seconds) =>
    copyAt(copy, seconds === undefined ? {} : { lameduck: Number(seconds) }),
  );
  if (!inPlace) await prepareCopies(run, role, copies, signal);
  const workload = await clusterWorkload(run.client, 'service', signal, ['default', copy.workload.namespace]);
  const queryFile = `${directory}/queries.txt`;
  await writeQueryFile(world, queryFile, workload);
  const [server] = await loadServers(world, ['coredns'], settings);
  if (server === undefined) throw new Error('no server');
  return {
    ...{ run, api, copy, settings, workload, queryFile, guarded, protectedPaths, signal },
    beside: await uploadBeside(run, signal),
    /** Rolls out the DNS itself, which is measured then; null for copies. */
    roll: inPlace && guarded !== null ? rollingInPlace(api, copy.workload, guarded) : null,
    loader: createBuiltinJob(run, BENCH_VERSION),
    server: { ...server, name },
    rawDirectory: `${directory}/raw`,
  };
}

/** How often it is looked whether a fault is over. */
export const LOOK_SECONDS = 0.25;

export type ClusterPlace = Awaited<ReturnType<typeof placeIn>>;

/** A copy as the point has it, as long as it is used. */
export function withCopyAt<T>(
  place: ClusterPlace,
  planned: PlannedTrial,
  use: (dns: RunningCopy) => Promise<T>,
): Promise<T> {
  const { run, beside, signal } = place;
  // The plan has no other values.
  const copy = copyAt(place.copy, planned.case.point as { lameduck?: number; replicas?: number });
  const objects = copyObjects(run, copy, copy.workload.image, `dns-${planned.order + 1}`);
  const deployment = breakable(objects, copy, { image: run.images.loader, mount: beside });
  const request = { run, copy, objects: { ...objects, deployment }, signal };
  return withCopy({ ...request, what: 'the copy of the DNS', graceSeconds: graceSecondsOf(copy) }, use);
}

export const podsOfFault = (
  place: ClusterPlace,
  { workload, pods: before }: RunningCopy,
  signal: AbortSignal,
): Pods => ({ ...place, client: place.run.client, workload, before, signal });

/**
 * The DNS of the cluster itself, once the rolling update before is over.
 * @throws BenchError `E_POD_TIMEOUT` if it is not in time
 */
export async function theDns(place: ClusterPlace): Promise<RunningCopy> {
  const { run, signal, settings } = place;
  const { workload } = place.copy;
  const { readyTime: seconds } = settings;
  const found = { workload, pods: [], startSeconds: 0 };
  const pods = podsOfFault(place, found, signal);
  await waitUntil({
    ...{ clock: run.client.clock, seconds, pollSeconds: LOOK_SECONDS, signal },
    problem: async () => ((await isSettled('rollout', pods)) ? null : 'it is not at rest'),
    late: () =>
      new BenchError('E_POD_TIMEOUT', `${workload.title} was not at rest within ${seconds} seconds`, {
        fix: 'See what its pods wait for with `kubectl rollout status`, or raise --ready-time.',
      }),
  });
  return { ...found, pods: await podsOf(run.client, workload, signal) };
}
