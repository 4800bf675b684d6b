/** A capture by tcpdump: confirmed to be running, stopped when everything is in the file, its counters read. */
import { systemErrorCode } from '@dinodns-bench/program';
import { BenchError } from '../../../errors.ts';
import { endProcess, heardWithin, once, type RunningProcess } from '../../../process.ts';
import type { World } from '../../../world.ts';
import { type CaptureCounters, isListening, readCounters } from './counters.ts';
import { tcpdumpArguments } from './filter.ts';

export interface CaptureRequest {
  /** Path of tcpdump. */
  readonly executable: string;
  readonly interface: string;
  /** Port of the connections to be seen. */
  readonly port: number;
  /** Absolute path of the file that receives the capture. */
  readonly file: string;
  /** Puts a command where the packets are: into a network namespace. */
  readonly enter: (command: readonly string[]) => readonly string[];
}

export interface Capture {
  readonly file: string;
  /** Ends it. Null if tcpdump did not print its counters. */
  stop(): Promise<CaptureCounters | null>;
}

const START_SECONDS = 10;
const STOP_SECONDS = 5;
/** The file counts as whole when it has not grown for two of these; with `--immediate-mode` packets are written at once. */
const SETTLE_SECONDS = 0.05;
const MAX_SETTLE_SECONDS = 2;

/**
 * Redirected by a shell, so that the file is ours. Where tcpdump was built to give up root's rights, it keeps them: another user would
 * not end with bench.
 */
function shellCommand({ executable, interface: name, port, file }: CaptureRequest): readonly string[] {
  const arguments_ = [executable, '-Z', 'root', ...tcpdumpArguments(name, port)];
  return ['/bin/sh', '-c', 'file=$1; shift; exec "$@" > "$file"', 'capture', file, ...arguments_];
}

function notStarted({ interface: name }: CaptureRequest, process: RunningProcess): BenchError {
  return new BenchError('E_TOOL_MISSING', `tcpdump does not capture on ${name}`, {
    evidence: process.lastLines.filter((line) => line.trim() !== ''),
    fix: 'Its last lines are above. --no-capture measures without it.',
  });
}

async function sizeOf({ fs }: World, file: string): Promise<number> {
  try {
    return (await fs.stat(file)).size;
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return 0;
    throw error;
  }
}

async function untilSettled(world: World, file: string): Promise<void> {
  const deadline = world.clock.monotonicSeconds() + MAX_SETTLE_SECONDS;
  let sizes = [-2, -1];
  while (sizes.some((size) => size !== sizes[0]) && world.clock.monotonicSeconds() < deadline) {
    await world.clock.sleep(SETTLE_SECONDS);
    sizes = [sizes[1] ?? -1, await sizeOf(world, file)];
  }
}

/** Starts it and resolves once it sees packets. Rejects with `E_TOOL_MISSING` and what tcpdump said. */
export async function startCapture(
  world: World,
  request: CaptureRequest,
  signal: AbortSignal,
): Promise<Capture> {
  const listening = Promise.withResolvers<true>();
  const errors: string[] = [];
  const process = await world.processes.start(request.enter(shellCommand(request)), {
    onStderrLine: (line) => {
      errors.push(line);
      if (isListening(line)) listening.resolve(true);
    },
  });
  if ((await heardWithin(world.clock, process, listening.promise, START_SECONDS, signal)) === null) {
    process.kill('SIGKILL');
    await process.exited;
    signal.throwIfAborted();
    throw notStarted(request, process);
  }
  return {
    file: request.file,
    stop: once(async () => {
      await untilSettled(world, request.file);
      await endProcess(world.clock, process, 'SIGINT', STOP_SECONDS);
      return readCounters(errors);
    }),
  };
}
