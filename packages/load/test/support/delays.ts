/** The delay server as a test uses it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Histogram } from '../../src/histogram/histogram.ts';

export interface DelayServer {
  readonly port: number;
  /** Stops it; returns how long every answer took, from the arrival of its query to its sending. */
  stop(): Promise<Histogram>;
}

export async function startDelayServer(programme: 'constant' | 'bimodal' | 'stall'): Promise<DelayServer> {
  const file = new URL('./delay-server.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [file, programme], { stdio: ['pipe', 'pipe', 'inherit'] });
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
