/** Pulls an image on each node that runs DNS, and asks the program in it for its version: before anything is changed. */
import { BenchError } from '../../errors.ts';
import { inParallel } from '../../kubernetes-api/in-parallel.ts';
import type { ClusterRun } from '../../targets/kubernetes/cluster-run.ts';
import { runOnce } from '../../targets/kubernetes/run-job.ts';
import { type PrintedVersion, versionPrinted } from './builds.ts';

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
    fix: 'Give an image that the nodes can get (--to), and --pull-secrets if its registry requires a password. Nothing was changed.',
    cause: error,
  });
}

async function askOn(
  run: ClusterRun,
  image: string,
  node: string,
  signal: AbortSignal,
): Promise<{ id: string; printed: PrintedVersion }> {
  const lines: string[] = [];
  const { pod, exitCode } = await runOnce(run, {
    ...{ name: 'image', label: 'inspector', component: 'server', image, args: ['-version'], signal },
    what: `the check of ${image}`,
    needsBindService: true,
    // Whatever it repels: its DNS pod tolerates that.
    node,
    runSeconds: RUN_SECONDS,
    onLine: (line) => {
      lines.push(line);
    },
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

/**
 * Each image ID that nodes resolved it to, with what the program prints.
 * @throws BenchError `E_POD_IMAGE` if it cannot be pulled, is of another architecture, or does not start.
 */
export async function checkImage(
  run: ClusterRun,
  image: string,
  nodes: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, PrintedVersion>> {
  const all = await inParallel(nodes, NODES_AT_ONCE, (node) => askOn(run, image, node, signal));
  return new Map(all.map(({ id, printed }) => [id, printed]));
}
