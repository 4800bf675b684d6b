/** The reference loader: dnsperf, run as it is, with its raw output kept and its CPU counted. */
import { messageOf } from '@dinodns-bench/program';
import { BenchError } from '../../errors.ts';
import { observeGroups } from '../../observe/observe.ts';
import type { RunningProcess } from '../../process.ts';
import type { Observation } from '../../results/record.ts';
import type { ResourceGroup, ResourceGroups } from '../../targets/local/resource-group.ts';
import type { World } from '../../world.ts';
import { behindGate } from '../gate/gate.ts';
import { openLocalGate } from '../gate/local-gate.ts';
import type { Loader, LoadOutcome, LoadRequest } from '../loader.ts';
import { dnsperfArguments } from './command.ts';
import { countsOf, isStartOfSending, parseDnsperf, parseInterval } from './parse.ts';

export interface DnsperfOptions {
  readonly world: World;
  /** Path of the dnsperf executable. */
  readonly executable: string;
  readonly version: string;
  readonly groups: ResourceGroups;
  /** CPUs for dnsperf under `--cpu pin`; null for no preference. */
  readonly cpuSet: readonly number[] | null;
}

/** dnsperf stops sending after `-l` and then waits for outstanding queries; longer than this is a hang. */
const GRACE_SECONDS = 10;

/** A loader that runs dnsperf on this machine. */
export function createDnsperf(options: DnsperfOptions): Loader {
  let runs = 0;
  return {
    kind: 'dnsperf',
    version: options.version,
    openGate: ({ loaders }) => openLocalGate(options.world, loaders),
    async load(request) {
      runs += 1;
      const group = await options.groups.create({
        name: `loader-${runs}`,
        cpuAllowance: null,
        cpuSet: options.cpuSet,
      });
      try {
        return await runDnsperf(options, request, group);
      } finally {
        await group.remove();
      }
    },
  };
}

async function runDnsperf(
  options: DnsperfOptions,
  request: LoadRequest,
  group: ResourceGroup,
): Promise<LoadOutcome> {
  const { world } = options;
  const command = behindGate(request.gate, [options.executable, ...dnsperfArguments(request)]);
  const lines: string[] = [];
  const onLine = (line: string) => {
    lines.push(line);
    if (isStartOfSending(line)) request.onStarted();
    const interval = parseInterval(line);
    if (interval !== null) request.onProgress(interval.qps);
  };
  const running = await world.processes
    .start(group.wrap(command), {
      onStdoutLine: onLine,
      onStderrLine: onLine,
      stdoutFile: request.outputFile,
      stderrFile: request.outputFile,
    })
    .catch((error: unknown) => {
      throw notStarted(options.executable, error);
    });
  group.adopt(running.pid);
  const window = await observeGroups(world, [group]);
  await endOrAbort(world, running, request);
  // Exact where the group has its own counters; the process is gone by now.
  const observation: Observation | null = await window.end().catch(() => null);
  return { ...resultOf(lines, running, request), observation, command, wasTheLimit: null };
}

/** Waits for the end of dnsperf; stops it when the run is interrupted or when it does not end by itself. */
async function endOrAbort(world: World, running: RunningProcess, request: LoadRequest): Promise<void> {
  const limit = request.durationSeconds + request.timeoutSeconds + GRACE_SECONDS;
  const timer = new AbortController();
  const expired = world.clock.sleep(limit, AbortSignal.any([timer.signal, request.signal])).then(
    () => 'expired' as const,
    () => 'stopped' as const,
  );
  const outcome = await Promise.race([running.exited.then(() => 'ended' as const), expired]);
  timer.abort();
  if (outcome !== 'ended') {
    running.kill('SIGKILL');
    await running.exited;
  }
  request.signal.throwIfAborted();
  if (outcome === 'expired') {
    throw new BenchError('E_LOADER_FAILED', `dnsperf did not end within ${limit} seconds and was killed`, {
      evidence: running.lastLines.slice(-10),
      fix: 'See its raw output in the run folder; repeat the trial with `bench run --resume`.',
    });
  }
}

function resultOf(
  lines: readonly string[],
  running: RunningProcess,
  request: LoadRequest,
): Pick<LoadOutcome, 'result' | 'counts'> {
  const report = parseDnsperf(lines);
  if (report.result === null || running.exit?.code !== 0) {
    const how = running.exit?.signal ?? `exit status ${running.exit?.code}`;
    throw new BenchError('E_LOADER_FAILED', `dnsperf failed (${how}) against port ${request.endpoint.port}`, {
      evidence: report.complaints.length > 0 ? report.complaints.slice(-10) : running.lastLines.slice(-10),
      fix: 'Its message is above; the whole output is in the run folder under raw/.',
    });
  }
  return { result: report.result, counts: countsOf(report) };
}

/** The error for a dnsperf that cannot be started at all. */
function notStarted(executable: string, cause: unknown): BenchError {
  return new BenchError('E_LOADER_FAILED', `cannot start ${executable}: ${messageOf(cause)}`, {
    fix: 'Run `bench doctor --fix`.',
    cause,
  });
}
