/** What the loaders have in common when they run as Jobs in a cluster. */
import type { V1ResourceRequirements } from '@kubernetes/client-node';
import { PUBLISHED_CPU } from '../config/kubernetes-settings.ts';
import { BenchError } from '../errors.ts';
import { cpuQuantity } from '../quantity.ts';
import type { Observation } from '../results/record.ts';
import type { ClusterRun } from '../targets/kubernetes/cluster-run.ts';
import { authorityFiles, QUERY_DIRECTORY } from '../targets/kubernetes/objects/encryption.ts';
import { runLabels } from '../targets/kubernetes/objects/labels.ts';
import type { ConfigMapMount } from '../targets/kubernetes/objects/pods.ts';
import { uploadFiles } from '../targets/kubernetes/programs.ts';
import { type JobOutcome, runOnce } from '../targets/kubernetes/run-job.ts';
import type { LoadOutcome, LoadRequest } from './loader.ts';

const QUERY_FILE = 'queries.txt';
/** Where every loader finds the queries. */
export const QUERY_PATH = `${QUERY_DIRECTORY}/${QUERY_FILE}`;

/** A loader stops sending on time and then waits for outstanding queries; longer than this is a hang. */
const GRACE_SECONDS = 30;

/**
 * The shell prints the loader's CPU time after it ends: the exact figure, which no outside observer gets, because
 * a container's counters disappear with it.
 */
const SCRIPT = `"$@"; status=$?; echo '[bench] times'; times; exit $status`;

/** The command of a loader's container. */
export function timedCommand(program: readonly string[]): { command: string[]; args: string[] } {
  return { command: ['/bin/sh', '-c', SCRIPT, 'sh'], args: [...program] };
}

/** `0m1.234s` → 1.234. */
function secondsOf(text: string): number {
  const [, minutes, seconds] = /^(\d+)m([\d.]+)s$/.exec(text) ?? [];
  return Number(minutes) * 60 + Number(seconds);
}

/** The children's user and system time from the output of `times`; null if it is missing. */
export function parseTimes(lines: readonly string[]): number | null {
  const at = lines.indexOf('[bench] times');
  const [user, system] = (lines[at + 2] ?? '').trim().split(/\s+/);
  if (at < 0 || user === undefined || system === undefined) return null;
  const total = secondsOf(user) + secondsOf(system);
  return Number.isFinite(total) ? total : null;
}

/** The loader's own CPU, over its run time. */
export function loaderObservation(cpuSeconds: number | null, runTimeSeconds: number): Observation | null {
  if (cpuSeconds === null) return null;
  return {
    cpuSource: 'proc',
    durationSeconds: runTimeSeconds,
    cpuSeconds,
    cpuCores: runTimeSeconds > 0 ? cpuSeconds / runTimeSeconds : 0,
    memoryBytes: null,
    throttling: null,
    processes: 1,
    sampleIntervalSeconds: runTimeSeconds,
    samples: [],
  };
}

/** Uploads the query files of a run, each once. */
export function createQueryUpload(run: ClusterRun): (request: LoadRequest) => Promise<ConfigMapMount> {
  const uploaded = new Map<string, Promise<ConfigMapMount>>();
  const upload = async ({ queryFile, signal, endpoint }: LoadRequest, name: string) => {
    const text = await run.world.fs.readFile(queryFile, 'utf8');
    const files = [{ path: QUERY_FILE, chunks: [text] }, ...authorityFiles(endpoint.trust)];
    return uploadFiles(run, { name, labels: runLabels(run.runId), what: 'the query file', files }, signal);
  };
  return (request) => {
    const key = `${request.endpoint.trust === undefined ? 'plain' : 'encrypted'} ${request.queryFile}`;
    const known = uploaded.get(key) ?? upload(request, `queries-${uploaded.size + 1}`);
    uploaded.set(key, known);
    return known;
  };
}

/** The node on which a loader ran, for its outcome. */
export function nodeOf({ pod }: JobOutcome): Pick<LoadOutcome, 'node'> {
  const node = pod.spec?.nodeName;
  return node === undefined ? {} : { node };
}

/** @throws BenchError `E_USAGE` for `--loader-cpu published` without a case, as in a swap */
export function loaderResources(
  { settings, loaderRequestCores }: Pick<ClusterRun, 'settings' | 'loaderRequestCores'>,
  cpu = settings.loaderCpu,
): V1ResourceRequirements {
  if (cpu === PUBLISHED_CPU) {
    throw new BenchError(
      'E_USAGE',
      '--loader-cpu: "published" depends on tier and mode, which only bench run has',
      {
        fix: 'Give a quantity, for example 2.',
      },
    );
  }
  if (cpu !== undefined) return { requests: { cpu }, limits: { cpu } };
  return loaderRequestCores > 0 ? { requests: { cpu: cpuQuantity(loaderRequestCores) } } : {};
}

/** What a loader's Job runs. */
export interface LoaderJob {
  readonly command: readonly string[];
  readonly args: readonly string[];
  readonly queries: ConfigMapMount;
  readonly cpu: LoadRequest['cpu'];
  readonly onNode?: LoadRequest['onNode'];
  /** How long it sends queries and waits for answers, in all. */
  readonly runSeconds: number;
  readonly onLine: (line: string) => void;
  readonly signal: AbortSignal;
}

/** How long one load takes. */
export function secondsOfLoad({ durationSeconds, timeoutSeconds }: LoadRequest): number {
  return durationSeconds + timeoutSeconds;
}

/** Runs a loader's Job, and resolves with its output. */
export async function runLoaderJob(run: ClusterRun, job: LoaderJob): Promise<JobOutcome> {
  const { command, args, onLine, signal, onNode } = job;
  const outcome = await runOnce(run, {
    ...{ name: 'load', label: 'loader', image: run.images.loader, what: 'the loader' },
    ...{ command, args, onLine, signal },
    resources: loaderResources(run, job.cpu),
    mounts: { [QUERY_DIRECTORY]: job.queries },
    ...(onNode === undefined ? {} : { node: onNode }),
    runSeconds: job.runSeconds + GRACE_SECONDS,
  });
  const { nodeName } = outcome.pod.spec ?? {};
  if (nodeName !== undefined) run.placement.loaders.add(nodeName);
  return outcome;
}

/** Keeps the raw output of a load. */
export function keepOutput(
  { world }: ClusterRun,
  { outputFile }: LoadRequest,
  lines: readonly string[],
): Promise<void> {
  return world.fs.appendFile(outputFile, lines.map((line) => `${line}\n`).join(''));
}
