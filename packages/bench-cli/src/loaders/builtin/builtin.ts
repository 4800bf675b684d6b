/** This project's load generator, in its own process; its CPU is counted like dnsperf's. */

import { fileURLToPath } from 'node:url';
import { cannonVersion, type DriverEvent } from '@dinodns-bench/load';
import { messageOf } from '@dinodns-bench/program';
import { BenchError } from '../../errors.ts';
import { observeGroups } from '../../observe/observe.ts';
import type { RunningProcess } from '../../process.ts';
import type { Observation } from '../../results/record.ts';
import type { ResourceGroup, ResourceGroups } from '../../targets/local/resource-group.ts';
import type { World } from '../../world.ts';
import { openLocalGate } from '../gate/local-gate.ts';
import type { DetailedInterval, Loader, LoadOutcome, LoadRequest } from '../loader.ts';
import { intervalOf, parseEvent } from './events.ts';
import { driverArguments, driverOptions, GENERATOR_NODE_FLAGS } from './options.ts';
import { askedIn, loaderCountsOf, loadResultOf } from './result.ts';

export interface BuiltinOptions {
  readonly world: World;
  readonly groups: ResourceGroups;
  /** CPUs for the generator under `--cpu pin`; null for no preference. */
  readonly cpuSet: readonly number[] | null;
}

/** It starts threads, and at the end waits for outstanding queries; longer than this is a hang. */
const GRACE_SECONDS = 10;

/** A loader that runs this project's load generator on this machine. */
export function createBuiltin(options: BuiltinOptions): Loader {
  let runs = 0;
  return {
    kind: 'builtin',
    version: cannonVersion(),
    openGate: ({ loaders }) => openLocalGate(options.world, loaders),
    async load(request) {
      runs += 1;
      const group = await options.groups.create({
        name: `loader-${runs}`,
        cpuAllowance: null,
        cpuSet: options.cpuSet,
      });
      try {
        return await runBuiltin(options, request, group);
      } finally {
        await group.remove();
      }
    },
  };
}

/** In the workspace the sources run; from npm, what was built from them. */
function driverScript(): string {
  return fileURLToPath(import.meta.resolve('@dinodns-bench/load/driver'));
}

/** Options that do not fit in an argument lie beside the raw output. */
async function passedOptions({ fs }: World, request: LoadRequest): Promise<string> {
  const { json, fits } = driverOptions(request);
  if (fits) return json;
  const path = `${request.outputFile}.options.json`;
  await fs.writeFile(path, json);
  return `@${path}`;
}

/** What its process has reported so far. */
interface Heard {
  readonly intervals: { atSeconds: number; qps: number }[];
  readonly timeline: DetailedInterval[];
  end: Extract<DriverEvent, { readonly event: 'result' | 'error' }> | null;
}

async function runBuiltin(
  { world }: BuiltinOptions,
  request: LoadRequest,
  group: ResourceGroup,
): Promise<LoadOutcome> {
  const program = [world.processes.nodePath, ...GENERATOR_NODE_FLAGS, driverScript()];
  const command = [...program, ...driverArguments(await passedOptions(world, request), request)];
  const heard: Heard = { intervals: [], timeline: [], end: null };
  const running = await world.processes
    .start(group.wrap(command), {
      onStdoutLine: (line) => hear(parseEvent(line), heard, request),
      stdoutFile: request.outputFile,
      stderrFile: request.outputFile,
    })
    .catch((error: unknown) => {
      throw new BenchError('E_LOADER_FAILED', `cannot start the built-in loader: ${messageOf(error)}`, {
        fix: 'Run `bench doctor`.',
        cause: error,
      });
    });
  group.adopt(running.pid);
  const window = await observeGroups(world, [group]);
  await endOrAbort(world, running, request);
  // Exact where the group has its own counters; the process is gone by now.
  const observation: Observation | null = await window.end().catch(() => null);
  const result = resultOf(heard, running, request);
  return {
    result: loadResultOf(result, heard.intervals),
    observation,
    command,
    wasTheLimit: result.generator.wasTheLimit,
    counts: loaderCountsOf(result),
    timeline: heard.timeline,
    ...askedIn(result),
  };
}

function hear(event: DriverEvent | null, heard: Heard, request: LoadRequest): void {
  switch (event?.event) {
    case 'started':
      request.onStarted();
      break;
    case 'interval':
      heard.intervals.push({ atSeconds: event.toSeconds, qps: event.qps });
      heard.timeline.push(intervalOf(event));
      request.onProgress(event.qps);
      break;
    case 'result':
    case 'error':
      heard.end = event;
  }
}

/** Waits for its end; stops it when the run is interrupted or when it does not end by itself. */
async function endOrAbort(world: World, running: RunningProcess, request: LoadRequest): Promise<void> {
  const limit =
    request.durationSeconds + (request.after?.seconds ?? 0) + request.timeoutSeconds + GRACE_SECONDS;
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
    throw new BenchError(
      'E_LOADER_FAILED',
      `the built-in loader did not end within ${limit} seconds and was killed`,
      {
        evidence: running.lastLines.slice(-10),
        fix: 'See its raw output in the run folder; repeat the trial with `bench run --resume`.',
      },
    );
  }
}

function resultOf({ end }: Heard, running: RunningProcess, request: LoadRequest) {
  if (end?.event === 'result') return end.result;
  const where = `against port ${request.endpoint.port}`;
  if (end?.event === 'error')
    throw new BenchError('E_LOADER_FAILED', `the built-in loader failed ${where}: ${end.message}`, {
      evidence: [end.code],
      fix: `${end.fix}.`,
    });
  const how = running.exit?.signal ?? `exit status ${running.exit?.code}`;
  throw new BenchError('E_LOADER_FAILED', `the built-in loader failed (${how}) ${where}`, {
    evidence: running.lastLines.slice(-10),
    fix: 'Its message is above; the whole output is in the run folder under raw/.',
  });
}
