/** The counters of the CPUs over the load of a trial. */
import { countEvents, HARDWARE_EVENTS } from '../observe/hardware-counters.ts';
import { once } from '../process.ts';
import type { Counters } from '../results/record.ts';
import type { Deployment } from '../targets/target.ts';
import type { TrialContext } from './trial-context.ts';

export interface ServerCounting {
  /** Undefined where nothing could be counted. Calling it again returns the same. */
  end(): Promise<Counters | undefined>;
}

/** Counts of `HARDWARE_EVENTS` by name. Pure. */
export function countersOf(counts: Readonly<Record<string, number>>): Counters {
  const of = (event: string) => ({
    user: counts[`${event}:user`] ?? 0,
    kernel: counts[`${event}:kernel`] ?? 0,
  });
  return { instructions: of('instructions'), cycles: of('cycles'), cacheMisses: of('cache-misses') };
}

/** Begins to count, where the machine can and the server's processes are known. */
export async function countServer(
  { world, countsEvents = false }: TrialContext,
  deployment: Deployment,
): Promise<ServerCounting> {
  const usage = countsEvents ? await deployment.usage?.() : undefined;
  if (usage === undefined) return { end: async () => undefined };
  const counting = await countEvents(world, HARDWARE_EVENTS, usage.pids);
  return {
    end: once(async () => {
      const counts = await counting.end();
      return counts === null ? undefined : countersOf(counts);
    }),
  };
}
