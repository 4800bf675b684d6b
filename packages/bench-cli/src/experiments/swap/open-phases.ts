/** Both images, pulled and asked for their versions on every node that runs DNS: before anything is changed. */
import { createBuiltinJob } from '../../loaders/builtin/builtin-job.ts';
import { createDnsperfJob } from '../../loaders/dnsperf/dnsperf-job.ts';
import type { Loader } from '../../loaders/loader.ts';
import type { ServerRecord } from '../../results/record.ts';
import type { ClusterRun } from '../../targets/kubernetes/cluster-run.ts';
import { podsOf } from '../../targets/kubernetes/dns-copy/find-workload.ts';
import { inspectImages } from '../../targets/kubernetes/inspect-images.ts';
import { BENCH_VERSION } from '../../version.ts';
import { programOf } from './builds.ts';
import type { Side } from './evidence.ts';
import { checkImage } from './image-check.ts';
import type { SwapPlan, SwapRequest } from './placed.ts';
import type { PhasesRequest } from './placements.ts';
import { writeQueries } from './query-files.ts';

interface CheckedImages {
  /** A and B. */
  readonly programs: readonly ServerRecord[];
  /** Versions as the programs print them, by image ID. */
  readonly byImageId: ReadonlyMap<string, string>;
}

export interface CheckedRun extends PhasesRequest {
  /** A and B, as the programs say themselves. */
  readonly programs: readonly ServerRecord[];
}

/** What all placements share, in the namespace of the run. @throws as `checkImages` does */
export async function openPhases(
  { world, settings, decided, directory, say }: SwapRequest,
  run: ClusterRun,
  signal: AbortSignal,
): Promise<CheckedRun> {
  const { programs, byImageId } = await checkImages(run, decided, say, signal);
  return {
    ...{ run, settings, say, programs, knownVersions: byImageId },
    loader: await loaderOf(run, settings.loader, signal),
    queryFiles: await writeQueries(world, run.client, directory, decided.ownQueries, signal),
    rawDirectory: `${directory}/raw`,
  };
}

/** @throws BenchError `E_POD_IMAGE` if the image of dnsperf is missing on a node that may send */
async function loaderOf(run: ClusterRun, kind: Loader['kind'], signal: AbortSignal): Promise<Loader> {
  if (kind === 'builtin') return createBuiltinJob(run, BENCH_VERSION);
  const { loaderVersion } = await inspectImages(run, [], kind, signal);
  return createDnsperfJob(run, loaderVersion);
}

/** @throws BenchError `E_POD_IMAGE` for an image that cannot be pulled, is of another architecture, or does not start. */
async function checkImages(
  run: ClusterRun,
  { workload, images, names }: SwapPlan,
  say: (text: string) => void,
  signal: AbortSignal,
): Promise<CheckedImages> {
  const pods = await podsOf(run.client, workload, signal);
  const nodes = [...new Set(pods.flatMap(({ spec }) => spec?.nodeName ?? []))];
  say(`pulling ${images.B} on ${nodes.join(', ')}`);
  const ask = async (side: Side) => {
    const printed = await checkImage(run, images[side], nodes, signal);
    return { printed, program: programOf(names[side], images[side], [...printed.values()]) };
  };
  const [a, b] = await Promise.all([ask('A'), ask('B')]);
  return {
    programs: [a.program, b.program],
    byImageId: new Map([...a.printed, ...b.printed].map(([id, { version }]) => [id, version])),
  };
}
