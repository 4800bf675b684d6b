/** dnsperf as a Job in the cluster: the same arguments and the same parser as on this machine. */
import { appendFile } from 'node:fs/promises';
import { BenchError } from '../../errors.ts';
import type { Observation } from '../../results/record.ts';
import type { ClusterRun } from '../../targets/kubernetes/cluster-run.ts';
import { configMapOf } from '../../targets/kubernetes/objects/config-map.ts';
import { jobOf } from '../../targets/kubernetes/objects/job.ts';
import { runLabels, unitLabels, unitSelector } from '../../targets/kubernetes/objects/labels.ts';
import type { ConfigMapMount } from '../../targets/kubernetes/objects/pods.ts';
import { runJob } from '../../targets/kubernetes/run-job.ts';
import type { Loader, LoadOutcome, LoadRequest } from '../loader.ts';
import { dnsperfArguments } from './command.ts';
import { isStartOfSending, parseDnsperf, parseInterval } from './parse.ts';

const QUERY_DIRECTORY = '/queries';
const QUERY_FILE = 'queries.txt';

/** dnsperf stops sending after `-l` and then waits for the outstanding queries; more than this is a hang. */
const GRACE_SECONDS = 30;

/**
 * The shell says after dnsperf's end how much CPU time it took: the exact figure that no observer outside gets,
 * because a container's counters are gone with it.
 */
export const SCRIPT = `dnsperf "$@"; status=$?; echo '[bench] times'; times; exit $status`;

/** `0m1.234s` → 1.234. */
function secondsOf(text: string): number {
  const [, minutes, seconds] = /^(\d+)m([\d.]+)s$/.exec(text) ?? [];
  return Number(minutes) * 60 + Number(seconds);
}

/** The children's user and system time out of what \`times\` printed; null if it is not there. */
export function parseTimes(lines: readonly string[]): number | null {
  const at = lines.indexOf('[bench] times');
  const [user, system] = (lines[at + 2] ?? '').trim().split(/\s+/);
  if (at < 0 || user === undefined || system === undefined) return null;
  const total = secondsOf(user) + secondsOf(system);
  return Number.isFinite(total) ? total : null;
}

function observationOf(lines: readonly string[], runTimeSeconds: number): Observation | null {
  const cpuSeconds = parseTimes(lines);
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

async function loadOnce(
  run: ClusterRun,
  request: LoadRequest,
  queries: ConfigMapMount,
): Promise<LoadOutcome> {
  const { client, namespace, runId, settings, images, pullSecrets } = run;
  run.jobs += 1;
  const unit = `load-${run.jobs}`;
  const labels = unitLabels(runId, 'loader', unit);
  const args = dnsperfArguments({ ...request, queryFile: `${QUERY_DIRECTORY}/${QUERY_FILE}` });
  const cpu = settings.loaderCpu;
  const lines: string[] = [];
  const runSeconds = request.durationSeconds + request.timeoutSeconds + GRACE_SECONDS;
  const { pod, exitCode } = await runJob({
    client,
    namespace,
    labels: unitSelector(runId, unit),
    what: 'the loader',
    signal: request.signal,
    job: jobOf({
      name: unit,
      namespace,
      labels,
      settings,
      component: 'loader',
      image: images.loader,
      command: ['/bin/sh', '-c', SCRIPT, 'dnsperf'],
      args,
      ...(cpu === undefined ? {} : { resources: { requests: { cpu }, limits: { cpu } } }),
      mounts: { [QUERY_DIRECTORY]: queries },
      pullSecrets,
      deadlineSeconds: settings.readyTime + runSeconds,
    }),
    scheduleSeconds: settings.scheduleTime,
    startSeconds: settings.readyTime,
    runSeconds,
    onLine: (line) => {
      lines.push(line);
      if (isStartOfSending(line)) request.onStarted();
      const interval = parseInterval(line);
      if (interval !== null) request.onProgress(interval.qps);
    },
  });
  if (pod.spec?.nodeName !== undefined) run.placement.loaders.add(pod.spec.nodeName);
  await appendFile(request.outputFile, lines.map((line) => `${line}\n`).join(''));
  const report = parseDnsperf(lines);
  if (report.result === null || exitCode !== 0) {
    throw new BenchError(
      'E_LOADER_FAILED',
      `dnsperf failed (exit status ${exitCode}) in pod ${pod.metadata?.name}`,
      {
        evidence: (report.complaints.length > 0 ? report.complaints : lines).slice(-10),
        fix: 'Its own words are above; the whole output is in the run folder under raw/.',
      },
    );
  }
  return {
    result: report.result,
    observation: observationOf(lines, report.result.runTimeSeconds),
    command: ['dnsperf', ...args],
    wasTheLimit: null,
  };
}

/** A loader that runs dnsperf in the cluster. The query file becomes a ConfigMap, once. */
export function createDnsperfJob(run: ClusterRun, version: string): Loader {
  let uploaded: Promise<ConfigMapMount> | undefined;
  const upload = async ({ queryFile, signal }: LoadRequest) => {
    const text = await run.world.fs.readFile(queryFile, 'utf8');
    const metadata = { name: 'queries', namespace: run.namespace, labels: runLabels(run.runId) };
    const { object, mount } = configMapOf(metadata, 'the query file', [{ path: QUERY_FILE, chunks: [text] }]);
    await run.client.create('ConfigMap', object, signal);
    return mount;
  };
  return {
    kind: 'dnsperf',
    version,
    async load(request) {
      uploaded ??= upload(request);
      return await loadOnce(run, request, await uploaded);
    },
  };
}
