/**
 * Instructions, cycles and cache misses of a server, from the counters of the CPUs. They hardly depend on other programs on the
 * machine, but most virtual machines have none. A process of its own counts (see `counters-program.mjs`), which sleeps meanwhile.
 */
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { readIfThere } from '../machine/proc-files.ts';
import { endProcess, heardWithin, parseLine } from '../process.ts';
import type { World } from '../world.ts';

const PROGRAM = fileURLToPath(new URL('./counters-program.mjs', import.meta.url));

/** Of a whole trial, in user space and in the kernel. */
export const HARDWARE_EVENTS = [
  'instructions:user',
  'instructions:kernel',
  'cycles:user',
  'cycles:kernel',
  'cache-misses:user',
  'cache-misses:kernel',
] as const;

/** How long the program may take to start, and to end. Far more than it needs: on a busy machine, a start takes several seconds. */
const LIMIT_SECONDS = 20;

const lineSchema = z.union([
  z.object({ ready: z.literal(true) }),
  z.object({ error: z.object({ event: z.string(), code: z.string() }) }),
  z.object({
    counts: z.record(
      z.string(),
      z.object({ value: z.number(), enabledSeconds: z.number(), runningSeconds: z.number() }),
    ),
  }),
]);
type Line = z.output<typeof lineSchema>;

/** The name of an error number, and the event that could not be counted. */
export class CounterError extends Error {
  readonly code: string;
  constructor(event: string, code: string) {
    super(`${event} cannot be counted (${code})`);
    this.code = code;
  }
}

export interface Counting {
  /** Events since it began, by name; scaled where the CPU counted them in turns. Null if that failed. */
  end(): Promise<Readonly<Record<string, number>> | null>;
}

/** The value that a counter would have had if it had counted all the time. */
function scaled({
  value,
  enabledSeconds,
  runningSeconds,
}: { [K in 'value' | 'enabledSeconds' | 'runningSeconds']: number }) {
  return runningSeconds > 0 ? (value * enabledSeconds) / runningSeconds : value;
}

/**
 * Begins to count in all threads of these processes.
 * @throws CounterError if the kernel or the machine does not count one of the events
 */
export async function countEvents(
  world: World,
  events: readonly string[],
  pids: readonly number[],
): Promise<Counting> {
  const lines: Line[] = [];
  const heard = Promise.withResolvers<void>();
  const running = await world.processes.start(
    [world.processes.nodePath, PROGRAM, JSON.stringify({ events, pids })],
    {
      onStdoutLine: (text) => {
        const line = parseLine(lineSchema, text);
        if (line !== null) lines.push(line);
        heard.resolve();
      },
    },
  );
  await heardWithin(world.clock, running, heard.promise, LIMIT_SECONDS);
  const [first] = lines;
  if (first === undefined || !('ready' in first)) {
    running.kill('SIGKILL');
    await running.exited;
    if (first !== undefined && 'error' in first) throw new CounterError(first.error.event, first.error.code);
    throw new CounterError(events.join(', '), running.lastLines.at(-1) ?? 'no answer');
  }
  return {
    end: async () => {
      await endProcess(world.clock, running, 'SIGTERM', LIMIT_SECONDS);
      const last = lines.at(-1);
      if (last === undefined || !('counts' in last)) return null;
      return Object.fromEntries(Object.entries(last.counts).map(([name, count]) => [name, scaled(count)]));
    },
  };
}

/** Why there are no counters, for a person. */
async function reasonOf(world: World, code: string): Promise<string> {
  if (code === 'ENOENT' || code === 'ENODEV' || code === 'EOPNOTSUPP')
    return 'this machine does not show the counters of its CPUs, as most virtual machines';
  if (code === 'EACCES' || code === 'EPERM') {
    const level = (await readIfThere(world, '/proc/sys/kernel/perf_event_paranoid'))?.trim() ?? 'unknown';
    return `not permitted: needs root, CAP_PERFMON, or kernel.perf_event_paranoid of 1 or less (it is ${level})`;
  }
  if (code === 'ENOSYS') return 'this system has no perf_event_open';
  return `they could not be read: ${code}`;
}

/** Why the counters of this machine cannot be used; null if they can. Tries it, which takes a tenth of a second. */
export async function obstacleToCounters(world: World): Promise<string | null> {
  try {
    const counting = await countEvents(world, HARDWARE_EVENTS, []);
    await counting.end();
    return null;
  } catch (error) {
    if (error instanceof CounterError) return reasonOf(world, error.code);
    throw error;
  }
}
