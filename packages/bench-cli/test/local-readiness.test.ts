import { expect, test } from 'vitest';
import type { RunningProcess } from '../src/process.ts';
import { type ReadinessRequest, waitUntilReady } from '../src/targets/local/readiness.ts';
import { realWorld, type World } from '../src/world.ts';

const never = new Promise<never>(() => undefined);

/** The problem of a server that is never ready, on a clock on which every wait has just ended. */
async function problemOf({ zones, cpus }: Pick<ReadinessRequest, 'zones' | 'cpus'>): Promise<string> {
  const real = realWorld();
  const world: World = { ...real, clock: { ...real.clock, sleep: () => Promise.resolve() } };
  const outcome = await waitUntilReady(world, {
    readiness: { kind: 'line', text: 'loaded' },
    endpoint: { address: '127.0.0.1', port: 53 },
    transport: 'udp',
    zones,
    cpus,
    queries: [],
    process: { exited: never } as unknown as RunningProcess,
    readyLine: never,
    signal: new AbortController().signal,
  });
  return 'problem' in outcome ? outcome.problem : 'ready';
}

test.for([
  { zones: 100, cpus: 1, seconds: 31 },
  { zones: 1_000_000, cpus: 2, seconds: 1030 },
  { zones: 1_000_000, cpus: 1, seconds: 1030 },
  { zones: 1_000_000, cpus: 0.5, seconds: 2030 },
])('a server with $zones zones and $cpus CPUs has $seconds s to load them', async ({ seconds, ...given }) => {
  expect(await problemOf(given)).toBe(`it did not print a line with "loaded" within ${seconds} seconds`);
});
