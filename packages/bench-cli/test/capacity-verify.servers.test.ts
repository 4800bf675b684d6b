/** A memory limit on this machine is one: CoreDNS holds under it while the API server is away, and what needs more is killed. */
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineCluster } from '@dinodns-bench/cluster-objects';
import { fileNeeds, pathOf } from '@dinodns-bench/test-support';
import { afterEach, beforeEach, expect } from 'vitest';
import { PROGRAM_BYTES } from '../src/experiments/capacity/figures.ts';
import { startLocally } from '../src/experiments/capacity/verify/start-locally.ts';
import { judge } from '../src/experiments/capacity/verify/verification.ts';
import { openMemoryGroup } from '../src/targets/local/memory-group.ts';
import { realWorld } from '../src/world.ts';
import { controlGroups } from './local-fixtures.ts';

const { describe, it } = fileNeeds('coredns', 'root');

const SIZE = { services: 200, pods: 2000, endpoints: 2000 } as const;

let temporary: string;
let programs: string;
beforeEach(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'verify-'));
  programs = await mkdtemp(join(tmpdir(), 'verify-programs-'));
});
afterEach(async () => {
  for (const directory of [temporary, programs]) await rm(directory, { recursive: true, force: true });
});

/** One start of a program under a limit, judged; and nothing of it is left. */
async function verified(coredns: string, memoryLimitBytes: number, queriesPerSecond: number) {
  const real = realWorld();
  const start = await startLocally({
    world: { ...real, env: { ...real.env, TMPDIR: temporary } },
    coredns,
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
    const { held, because, phases, queries, peakBytes, marginRatio } = await verified(
      pathOf('coredns'),
      150e6,
      200,
    );
    expect(held, because).toBe(true);
    expect(phases.map(({ phase }) => phase)).toEqual(['cold-start', 'load', 'relist']);
    // Namespaces, Services and EndpointSlices, all after a restart of the API server.
    expect(phases.at(-1)?.lists).toBeGreaterThanOrEqual(3);
    expect(queries.sent).toBeGreaterThan(200);
    expect(queries.answered).toBe(queries.sent);
    expect(peakBytes).toBeGreaterThan(5e6);
    expect(marginRatio).toBeCloseTo(1 - ((peakBytes ?? 0) + PROGRAM_BYTES) / 150e6, 6);
  }, 90_000);

  it('fails under a limit that is too small: it is killed, and that is said', async () => {
    // For CoreDNS, the kernel may drop pages of its program for minutes before it kills. This one has no more of those than a page or two.
    const greedy = join(programs, 'coredns');
    await writeFile(greedy, '#!/bin/sh\nexec tail /dev/zero\n', { mode: 0o755 });
    const { held, because } = await verified(greedy, 32 * 2 ** 20, 0);
    expect(held).toBe(false);
    expect(because).toBe('under a limit of 32.0 MiB it ran out of memory and was killed by the kernel');
  }, 90_000);
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
