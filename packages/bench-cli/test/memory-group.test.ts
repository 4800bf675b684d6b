/** What a control group with a memory limit says of its limit, by files as each version of the kernel's interface has them. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openMemoryGroup } from '../src/targets/local/memory-group.ts';
import { realWorld, type World } from '../src/world.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'bench-groups-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const MEBIBYTE = 2 ** 20;

/** What the kernel puts into a new group, and where that group is once it has been made. */
async function groupOf(
  version: 1 | 2,
  files: Readonly<Record<string, string>>,
  swapBytes = 0,
): Promise<{ world: World; made: () => string }> {
  const real = realWorld();
  let made = '';
  const system: Readonly<Record<string, string>> = {
    '/proc/self/mountinfo': `31 23 0:28 / ${directory} rw - ${version === 2 ? 'cgroup2 cgroup2 rw' : 'cgroup cgroup rw,memory'}\n`,
    '/proc/self/cgroup': version === 2 ? '0::/\n' : '4:memory:/\n',
    '/proc/meminfo': `MemTotal: 8000000 kB\nSwapTotal:       ${swapBytes / 1024} kB\n`,
  };
  if (version === 2) await writeFile(join(directory, 'cgroup.subtree_control'), 'cpu memory\n');
  const fs = {
    ...real.fs,
    readFile: (path: string, ...rest: never[]) =>
      system[path] === undefined ? real.fs.readFile(path, ...rest) : Promise.resolve(system[path]),
    mkdir: async (path: string) => {
      made = path;
      await mkdir(path);
      for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text);
    },
    // A group goes with its files.
    rmdir: (path: string) => rm(path, { recursive: true }),
  };
  return { world: { ...real, fs: fs as unknown as World['fs'] }, made: () => made };
}

const EVENTS = { low: 0, high: 0, max: 0, oom: 0, oom_kill: 0, oom_group_kill: 0 };
const eventsText = (changes: object) =>
  Object.entries({ ...EVENTS, ...changes })
    .map(([name, count]) => `${name} ${count}\n`)
    .join('');

describe('version 2', () => {
  it('limits memory and swap, and counts a kill only where its own limit left no room', async () => {
    const { world, made } = await groupOf(2, { 'memory.swap.max': 'max', 'memory.events': eventsText({}) });
    const group = await openMemoryGroup(world, 'test', 40 * MEBIBYTE);
    expect(await readFile(join(made(), 'memory.max'), 'utf8')).toBe(String(40 * MEBIBYTE));
    expect(await readFile(join(made(), 'memory.swap.max'), 'utf8')).toBe('0');
    const killsWith = async (changes: object) => {
      await writeFile(join(made(), 'memory.events'), eventsText(changes));
      return group.kills();
    };
    expect(await killsWith({})).toBe(0);
    expect(await killsWith({ max: 40, oom: 2, oom_kill: 1 })).toBe(1);
    // The machine was full, or a group above; the limit was reached before, and something was dropped.
    expect(await killsWith({ max: 31, oom_kill: 1 })).toBe(0);
    expect(await group.rereads()).toBeNull();
    await writeFile(
      join(made(), 'memory.stat'),
      'file 1\nworkingset_refault_anon 7\nworkingset_refault_file 12\npgmajfault 3\n',
    );
    expect(await group.rereads()).toBe(12);
    await group.remove();
  });
});

describe('version 1', () => {
  const FILES = {
    'memory.memsw.limit_in_bytes': '0',
    'memory.oom_control': 'oom_kill_disable 0\nunder_oom 0\noom_kill 0\n',
  };

  it('counts kills, and pages that were read again, as an old kernel names them', async () => {
    const { world, made } = await groupOf(1, { ...FILES, 'memory.stat': 'cache 1\nworkingset_refault 5\n' });
    const group = await openMemoryGroup(world, 'test', 40 * MEBIBYTE);
    expect([await group.kills(), await group.rereads()]).toEqual([0, 5]);
    await writeFile(join(made(), 'memory.oom_control'), 'oom_kill_disable 0\nunder_oom 0\noom_kill 1\n');
    expect(await group.kills()).toBe(1);
    await group.remove();
  });

  it('is refused where the machine swaps and the kernel does not limit that', async () => {
    const { 'memory.memsw.limit_in_bytes': _, ...unlimited } = FILES;
    const swapping = await groupOf(1, unlimited, 4096 * MEBIBYTE);
    await expect(openMemoryGroup(swapping.world, 'test', 40 * MEBIBYTE)).rejects.toMatchObject({
      code: 'E_LIMITS_UNAVAILABLE',
      evidence: expect.arrayContaining([expect.stringContaining('this machine swaps')]),
    });
    for (const [files, swapBytes] of [
      [unlimited, 0],
      [FILES, 4096 * MEBIBYTE],
    ] as const) {
      const { world } = await groupOf(1, files, swapBytes);
      await (await openMemoryGroup(world, 'test', 40 * MEBIBYTE)).remove();
    }
  });
});
