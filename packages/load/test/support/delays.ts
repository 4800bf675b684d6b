/** The delay server as a test uses it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { createInterface } from 'node:readline';
import { Histogram } from '../../src/histogram/histogram.ts';

/** A nice value that lets a process run before ordinary ones as soon as it wants to. */
const HIGH_PRIORITY = -15;

/**
 * Lets this process (`pid` 0) or another one, with the threads it starts from now on, run before ordinary ones:
 * timing then suffers less from what else the machine does. Only root may; without it nothing changes.
 */
export function preferProcess(pid = 0): void {
  try {
    setPriority(pid, HIGH_PRIORITY);
  } catch {
    // The comparisons hold without it; they only need more tries on a busy machine.
  }
}

export interface DelayServer {
  readonly port: number;
  /** Stops it; what every answer took, from the arrival of its query to its leaving. */
  stop(): Promise<Histogram>;
}

export async function startDelayServer(programme: 'constant' | 'bimodal' | 'stall'): Promise<DelayServer> {
  const file = new URL('./delay-server.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [file, programme], { stdio: ['ignore', 'pipe', 'inherit'] });
  if (child.pid !== undefined) preferProcess(child.pid);
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const { port } = JSON.parse((await lines.next()).value ?? '{}') as { port: number };
  return {
    port,
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      const { tookNs } = JSON.parse((await lines.next()).value ?? '{}') as { tookNs: number[] };
      await ended;
      const histogram = new Histogram();
      for (const nanoseconds of tookNs) histogram.record(nanoseconds);
      return histogram;
    },
  };
}
