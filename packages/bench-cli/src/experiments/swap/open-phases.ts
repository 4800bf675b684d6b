/** Both images, pulled and asked for their versions on every node that runs DNS: before anything is changed. */
import type { V1Pod } from '@kubernetes/client-node';
import { BenchError } from '../../errors.ts';
import { inParallel } from '../../kubernetes-api/in-parallel.ts';
import { createBuiltinJob } from '../../loaders/builtin/builtin-job.ts';
import { createDnsperfJob } from '../../loaders/dnsperf/dnsperf.ts';
import type { Loader } from '../../loaders/loader.ts';
import type { ServerRecord } from '../../results/record.ts';
import type { ClusterRun } from '../../targets/kubernetes/cluster-run.ts';
import { podsOf } from '../../targets/kubernetes/dns-copy/find-workload.ts';
import { inspectImages } from '../../targets/kubernetes/inspect-images.ts';
import { runOnce } from '../../targets/kubernetes/run-job.ts';
import { BENCH_VERSION } from '../../version.ts';
import { type PrintedVersion, programOf, versionPrinted } from './builds.ts';
import type { Side } from './evidence.ts';
import type { PhasesRequest, SwapPlan, SwapRequest } from './placed.ts';
import { writeQueries } from './query-files.ts';

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
  return {
    ...{ run, settings, say, ...(await checkImages(run, decided, say, signal)) },
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

/** Printing a version takes a moment. */
const RUN_SECONDS = 30;

function explain(image: string, node: string, lines: readonly string[], exitCode: number | null): BenchError {
  const isForeign = lines.some((line) => /exec format error/i.test(line));
  return isForeign
    ? new BenchError('E_POD_IMAGE', `${image} is built for another architecture than node ${node}`, {
        fix: 'Give an image for the architecture of the nodes, or a multi-architecture one. Nothing was changed.',
        evidence: lines.slice(-5),
      })
    : new BenchError(
        'E_POD_IMAGE',
        `${image} on node ${node}: \`coredns -version\` fails (exit status ${exitCode ?? 'unknown'})`,
        {
          fix: 'Give an image of CoreDNS that starts there. Nothing was changed.',
          evidence: lines.slice(-10),
        },
      );
}

/** The images of a swap are not those of other runs, and have no flags of their own. */
function explainPull(error: unknown): unknown {
  if (!(error instanceof BenchError) || error.code !== 'E_POD_IMAGE') return error;
  return new BenchError('E_POD_IMAGE', error.message, {
    evidence: error.evidence,
    fix: 'Give an image that the nodes can get (--to), and --pull-secrets if its registry requires a password; in place, only those that the DNS has itself are used. Nothing was changed.',
    cause: error,
  });
}

async function askOn(
  run: ClusterRun,
  image: string,
  node: string,
  signal: AbortSignal,
): Promise<{ id: string; printed: PrintedVersion }> {
  const { pod, exitCode, lines } = await runOnce(run, {
    ...{ name: 'image', label: 'inspector', component: 'server', image, args: ['-version'], signal },
    what: `the check of ${image}`,
    needsBindService: true,
    // Whatever it repels: its DNS pod tolerates that.
    node,
    runSeconds: RUN_SECONDS,
  }).catch((error: unknown) => {
    throw explainPull(error);
  });
  const [status] = pod.status?.containerStatuses ?? [];
  const printed = versionPrinted(lines.join('\n'));
  // What the container runtime says of a program that it cannot start.
  const said = status?.state?.terminated?.message ?? '';
  if (printed === null) throw explain(image, node, said === '' ? lines : [...lines, said], exitCode);
  return { id: status?.imageID ?? '', printed };
}

/** Pods at once: a DaemonSet may run on hundreds of nodes, and each of them pulls the image. */
const NODES_AT_ONCE = 10;

/** Without what the cluster's own DNS has not: with more, an image would be pulled for the check, and not for the DNS. */
export function sharedSecrets(
  { pullSecrets }: Pick<ClusterRun, 'pullSecrets'>,
  pods: readonly V1Pod[],
): string[] {
  const own = new Set(pods.flatMap(({ spec }) => spec?.imagePullSecrets ?? []).map(({ name }) => name));
  return pullSecrets.filter((name) => own.has(name));
}

/**
 * Programs as they say themselves, A and B, and their versions by image ID.
 * @throws BenchError `E_POD_IMAGE` for an image that cannot be pulled, is of another architecture, or does not start.
 */
async function checkImages(
  run: ClusterRun,
  { workload, images, names, method }: SwapPlan,
  say: (text: string) => void,
  signal: AbortSignal,
): Promise<Pick<CheckedRun, 'programs' | 'knownVersions'>> {
  const pods = await podsOf(run.client, workload, signal);
  const nodes = [...new Set(pods.flatMap(({ spec }) => spec?.nodeName ?? []))];
  const asking = 'edits' in method ? { ...run, pullSecrets: sharedSecrets(run, pods) } : run;
  say(`pulling ${images.B} on ${nodes.join(', ')}`);
  const ask = (side: Side) =>
    inParallel(nodes, NODES_AT_ONCE, (node) => askOn(asking, images[side], node, signal));
  const [a, b] = await Promise.all([ask('A'), ask('B')]);
  // Each image once, though many nodes have it.
  const printed = (all: typeof a) => [...new Map(all.map((each) => [each.id, each.printed])).values()];
  return {
    programs: [programOf(names.A, images.A, printed(a)), programOf(names.B, images.B, printed(b))],
    knownVersions: new Map([...a, ...b].map(({ id, printed: { version } }) => [id, version])),
  };
}
