/** A memory limit on this machine is one: CoreDNS holds under it while the API server is away, or is killed. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineCluster } from '@dinodns-bench/cluster-objects';
import { fileNeeds, pathOf } from '@dinodns-bench/test-support';
import { afterEach, beforeEach, expect } from 'vitest';
import { startLocally } from '../src/experiments/capacity/verify/start-locally.ts';
import { judge } from '../src/experiments/capacity/verify/verification.ts';
import { openMemoryGroup } from '../src/targets/local/memory-group.ts';
import { realWorld } from '../src/world.ts';
import { controlGroups } from './local-fixtures.ts';

const { describe, it } = fileNeeds('coredns', 'root');

const SIZE = { services: 200, pods: 2000, endpoints: 2000 } as const;

let temporary: string;
beforeEach(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'verify-'));
});
afterEach(() => rm(temporary, { recursive: true, force: true }));

/** One start under a limit, judged; and nothing of it is left. */
async function verified(memoryLimitBytes: number, queriesPerSecond: number) {
  const real = realWorld();
  const start = await startLocally({
    world: { ...real, env: { ...real.env, TMPDIR: temporary } },
    coredns: pathOf('coredns'),
    cluster: defineCluster(SIZE),
    corefile: {},
    phases: ['cold-start', 'load', 'relist'],
    seconds: 1,
    queriesPerSecond,
    memoryLimitBytes,
    signal: AbortSignal.timeout(150_000),
  });
  expect(await readdir(temporary)).toEqual([]);
  const groups = await controlGroups();
  expect(
    groups.filter((name) => name.includes(`capacity-verify@`) && name.includes(`-${process.pid}-`)),
  ).toEqual([]);
  const trial = { ...SIZE, target: 'local', coredns: 'CoreDNS', memoryLimitBytes, queriesPerSecond } as const;
  return judge(trial, start);
}

describe('a verification on this machine', () => {
  it('holds under a limit that is large enough: all objects are read again, and no query is lost', async () => {
    const { held, because, phases, queries, peakBytes, marginRatio } = await verified(150e6, 200);
    expect(held, because).toBe(true);
    expect(phases.map(({ phase }) => phase)).toEqual(['cold-start', 'load', 'relist']);
    // Namespaces, Services and EndpointSlices, all after a restart of the API server.
    expect(phases.at(-1)?.lists).toBeGreaterThanOrEqual(3);
    expect(queries.sent).toBeGreaterThan(200);
    expect(queries.answered).toBe(queries.sent);
    expect(peakBytes).toBeGreaterThan(5e6);
    expect(marginRatio).toBeCloseTo(1 - (peakBytes ?? 0) / 150e6, 6);
  }, 90_000);

  it('fails under a limit that is too small: it is killed, or gets nowhere without its program, and that is said', async () => {
    const { held, because } = await verified(8e6, 0);
    expect(held).toBe(false);
    expect(because).toMatch(
      /^under a limit of 7\.63 MiB it (ran out of memory and was killed by the kernel|lived, but the phase cold-start took more than 9\d s)$/,
    );
  }, 180_000);
});

it('a program is not copied to where its pages could not be dropped', async () => {
  const group = await openMemoryGroup(realWorld(), 'capacity-verify-copy', 64 * 2 ** 20);
  try {
    await expect(group.copyProgram(pathOf('coredns'), '/dev/shm')).rejects.toMatchObject({
      code: 'E_LIMITS_UNAVAILABLE',
      fix: expect.stringContaining('XDG_CACHE_HOME'),
    });
  } finally {
    await group.remove();
  }
});
