/** Limits on real processes. Most of it takes root, which may make control groups; all of it takes a quiet machine. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { needs } from '@dinodns-bench/test-support';
import { afterEach, describe, expect, test } from 'vitest';
import { hasEnded, ownedName, ownerOf, thisOwner } from '../src/machine/owner.ts';
import { readProcessStat } from '../src/machine/proc-files.ts';
import { observeGroups } from '../src/observe/observe.ts';
import type { RunningProcess } from '../src/process.ts';
import { quotaMicroseconds } from '../src/targets/local/cgroup-tree.ts';
import { openCgroupV1 } from '../src/targets/local/cgroup-v1.ts';
import { openCgroupV2 } from '../src/targets/local/cgroup-v2.ts';
import { createProcessGroup } from '../src/targets/local/process-group.ts';
import type { ResourceGroup, ResourceGroups } from '../src/targets/local/resource-group.ts';
import { createResourceGroups } from '../src/targets/local/resource-groups.ts';
import { realWorld, type World } from '../src/world.ts';
import { controlGroups, systemError, uniqueRunId, worldWithFs } from './local-fixtures.ts';

const world = realWorld();
const LOOP = 'while :; do :; done';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function groupsOf(request: 'quota' | 'pin', inWorld: World = world): Promise<ResourceGroups> {
  const groups = await createResourceGroups(inWorld, { runId: uniqueRunId(), request });
  closers.push(groups.close);
  return groups;
}

async function run(group: ResourceGroup, command: readonly string[]): Promise<RunningProcess> {
  const running = await world.processes.start(group.wrap(command));
  group.adopt(running.pid);
  closers.push(async () => {
    running.kill('SIGKILL');
    await running.exited;
  });
  return running;
}

async function observeFor(seconds: number, group: ResourceGroup) {
  const window = await observeGroups(world, [group]);
  await world.clock.sleep(seconds);
  return window.end();
}

/** Names of the control groups that some run of this process made and that are still there. */
async function groupsLeft(): Promise<string[]> {
  const own = `-${world.processes.ownPid}-`;
  return (await controlGroups()).filter((path) => path.includes('dinodns-bench-') && path.includes(own));
}

describe('a CPU quota', () => {
  // A tenth of a core is there also on a machine that is busy with other work.
  test(
    'of a tenth of a core holds a loop to a tenth of a core, throttles it, and is what was asked for',
    needs('root'),
    async () => {
      const groups = await groupsOf('quota');
      expect(groups.reason).toBeNull();
      expect(groups.method).toMatch(/^cgroup-v[12]-quota$/);
      const group = await groups.create({ name: 'tenth', cpuAllowance: 0.1, cpuSet: null });
      await run(group, ['/bin/sh', '-c', LOOP]);
      await world.clock.sleep(0.2);
      const seen = await observeFor(1.5, group);
      expect(seen.cpuCores).toBeGreaterThan(0.07);
      expect(seen.cpuCores).toBeLessThan(0.13);
      expect(seen.throttling?.throttledPeriods).toBeGreaterThan(5);
      expect(seen.throttling?.throttledSeconds).toBeGreaterThan(0.3);
      expect(seen.processes).toBe(1);
      expect(seen.memoryBytes?.source).toBe('pss');
      expect(seen.memoryBytes?.max).toBeGreaterThan(50_000);
    },
  );

  test('holds all processes of a group together, also children that have ended', needs('root'), async () => {
    const groups = await groupsOf('quota');
    const group = await groups.create({ name: 'family', cpuAllowance: 0.1, cpuSet: null });
    // Each child burns some CPU and ends; another one follows.
    await run(group, [
      '/bin/sh',
      '-c',
      `while :; do (i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done); done`,
    ]);
    const seen = await observeFor(1.5, group);
    expect(seen.cpuCores).toBeGreaterThan(0.07);
    expect(seen.cpuCores).toBeLessThan(0.13);
  });

  test('a group without an allowance only counts', async () => {
    const groups = await groupsOf('quota');
    const group = await groups.create({ name: 'free', cpuAllowance: null, cpuSet: null });
    await run(group, ['/bin/sh', '-c', LOOP]);
    const seen = await observeFor(1, group);
    expect(seen.cpuCores).toBeGreaterThan(0.15);
    expect(seen.throttling?.throttledPeriods ?? 0).toBe(0);
  });

  test('is written for a period of 100 ms, as Kubernetes does', () => {
    expect(quotaMicroseconds(0.5)).toBe(50_000);
    expect(quotaMicroseconds(2)).toBe(200_000);
    expect(quotaMicroseconds(0.001)).toBe(1000);
  });
});

describe('removing a group', () => {
  test('kills every process in it, also those that left their session, and leaves no directory', async () => {
    const groups = await groupsOf('quota');
    const group = await groups.create({ name: 'gone', cpuAllowance: 1, cpuSet: null });
    const first = await run(group, ['/bin/sh', '-c', 'setsid sleep 100 & sleep 100 & wait']);
    await expect.poll(async () => (await group.pids()).length).toBe(3);
    const pids = await group.pids();
    await group.remove();
    await group.remove();
    expect((await first.exited).signal).toBe('SIGKILL');
    for (const pid of pids) {
      const stat = await readProcessStat(world, pid);
      expect(stat === null || stat.state === 'Z').toBe(true);
    }
    await groups.close();
    expect(await groupsLeft()).toEqual([]);
  });

  test('happens for all groups when they are closed', async () => {
    const groups = await groupsOf('quota');
    const group = await groups.create({ name: 'left', cpuAllowance: null, cpuSet: null });
    const running = await run(group, ['sleep', '100']);
    await expect.poll(() => group.pids()).toEqual([running.pid]);
    await groups.close();
    expect((await running.exited).signal).toBe('SIGKILL');
    expect(await groupsLeft()).toEqual([]);
  });
});

describe('--cpu pin', () => {
  test('pins to the CPUs, and counts with a control group where there is one', needs('root'), async () => {
    const groups = await groupsOf('pin');
    expect(groups.method).toBe('affinity');
    expect(groups.reason).toBeNull();
    const group = await groups.create({ name: 'pinned', cpuAllowance: 0.1, cpuSet: [0] });
    await run(group, ['/bin/sh', '-c', `${LOOP} & ${LOOP} & grep Cpus_allowed_list /proc/self/status; wait`]);
    const seen = await observeFor(1, group);
    expect(seen.cpuSource).toMatch(/^cgroup/);
    // Not held to its allowance of 0.1, and within one CPU, also on a machine that is busy elsewhere.
    expect(seen.cpuCores).toBeGreaterThan(0.2);
    expect(seen.cpuCores).toBeLessThan(1.1);
    expect(seen.throttling?.throttledPeriods ?? 0).toBe(0);
  });
});

describe('without the right to make control groups', () => {
  const readOnly = worldWithFs({
    mkdir: (() => Promise.reject(systemError('EROFS'))) as World['fs']['mkdir'],
  });

  test('a quota falls back to affinity, says why not each better one, and counts from /proc', async () => {
    const groups = await groupsOf('quota', readOnly);
    expect(groups.method).toBe('affinity');
    expect(groups.reason).toMatch(
      /no CPU quota can be set \(cgroup v2: .*; cgroup v1: .*read-only; systemd-run: .*\)/,
    );
    const group = await groups.create({ name: 'fallback', cpuAllowance: 1, cpuSet: [0] });
    await run(group, ['/bin/sh', '-c', `${LOOP} & ${LOOP} & wait`]);
    await expect.poll(async () => (await group.pids()).length).toBe(3);
    const seen = await observeFor(1, group);
    expect(seen.cpuSource).toBe('proc');
    expect(seen.cpuCores).toBeGreaterThan(0.2);
    expect(seen.cpuCores).toBeLessThan(1.1);
    expect(seen.processes).toBe(3);
    expect(seen.throttling).toBeNull();
  });

  test('servers run without a limit where taskset is missing as well, and the reason says so', async () => {
    const groups = await groupsOf('pin', { ...readOnly, env: { ...readOnly.env, PATH: '/nowhere' } });
    expect(groups.method).toBe('none');
    expect(groups.reason).toMatch(/taskset \(util-linux\) is not installed: servers run without a limit/);
  });
});

describe('a group counted from /proc', () => {
  test('counts children that have ended, and kills what is left', async () => {
    const group = await createProcessGroup(world);
    const running = await run(group, [
      '/bin/sh',
      '-c',
      `(i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done); setsid sleep 100 & wait`,
    ]);
    await expect
      .poll(async () => (await readProcessStat(world, running.pid))?.childUserTicks, { timeout: 10_000 })
      .toBeGreaterThan(5);
    const { cpuSeconds } = await group.counters();
    await expect.poll(async () => (await group.pids()).length).toBe(2);
    expect(cpuSeconds).toBeGreaterThan(0.05);
    await group.remove();
    await running.exited;
    expect(await group.pids()).toEqual([]);
    expect((await group.counters()).cpuSeconds).toBeGreaterThanOrEqual(cpuSeconds);
  });
});

describe('a killed bench', () => {
  test(
    'leaves nothing running: its servers die with it, and the next run removes its groups',
    needs('root'),
    async () => {
      const script = `
      import { realWorld } from ${JSON.stringify(join(import.meta.dirname, '../src/world.ts'))};
      import { createResourceGroups } from ${JSON.stringify(join(import.meta.dirname, '../src/targets/local/resource-groups.ts'))};
      const world = realWorld();
      const groups = await createResourceGroups(world, { runId: 'victim', request: 'quota' });
      const group = await groups.create({ name: 'a', cpuAllowance: 1, cpuSet: null });
      const running = await world.processes.start(group.wrap(['/bin/sh', '-c', 'setsid sleep 101 & sleep 102']));
      while ((await group.pids()).length < 3) await world.clock.sleep(0.01);
      console.log(JSON.stringify({ root: running.pid, pids: await group.pids() }));
      await world.clock.sleep(60);
    `;
      const bench = spawn(process.execPath, ['--input-type=module', '-e', script], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const line = await new Promise<string>((resolve) =>
        bench.stdout.once('data', (data) => resolve(String(data))),
      );
      const { root, pids } = JSON.parse(line) as { root: number; pids: number[] };
      bench.kill('SIGKILL');
      await once(bench, 'exit');

      const runs = async (pid: number) => {
        const stat = await readProcessStat(world, pid);
        return stat !== null && stat.state !== 'Z' && stat.state !== 'X';
      };
      // The process that was started dies at once; its children are found by the next run.
      await expect.poll(() => runs(root)).toBe(false);
      await groupsOf('quota');
      for (const pid of pids) await expect.poll(() => runs(pid)).toBe(false);
      expect((await controlGroups()).filter((path) => path.includes(`-${bench.pid}-`))).toEqual([]);
    },
  );

  test('is told from a living one, and from one in another container', needs('root'), async () => {
    const owner = await thisOwner(world);
    const name = ownedName('2026/run 1', owner);
    expect(name).toMatch(/^dinodns-bench-2026-run-1@\d+-\d+-\d+$/);
    expect(ownerOf(name)).toEqual(owner);
    expect(ownerOf(`${name}-Ab12Cd`)).toEqual(owner);
    expect(ownerOf('dinodns-bench-something')).toBeNull();

    // `sleep` never reads the status of the child that it inherited from the shell, which would: a zombie has ended.
    const parent = spawn('/bin/sh', ['-c', 'sleep 0.3 & echo $!; exec sleep 30']);
    const zombie = Number(String((await once(parent.stdout, 'data'))[0]));
    await expect.poll(async () => (await readProcessStat(world, zombie))?.state).toBe('Z');
    const { startTicks } = (await readProcessStat(world, zombie)) ?? { startTicks: -1 };
    expect(await hasEnded(world, { ...owner, pid: zombie, startTicks })).toBe(true);
    expect(await hasEnded(world, owner)).toBe(false);
    parent.kill('SIGKILL');

    const alive = (await openCgroupV1(world, name, true)) as { ok: { close(): Promise<void> } };
    closers.push(alive.ok.close);
    await groupsOf('quota');
    const entries = await readdir('/sys/fs/cgroup/cpu').catch(() => []);
    expect(entries).toContain(name);
  });
});

describe('cgroup version 2', () => {
  /** A directory that behaves like a cgroup2 mount with the cpu controller, for a kernel that has it in version 1. */
  async function fakeUnified(passesOn: boolean) {
    const root = await world.fs.mkdtemp(join(tmpdir(), 'fake-cgroup2-'));
    closers.push(() => world.fs.rm(root, { recursive: true, force: true }));
    await writeFile(join(root, 'cgroup.controllers'), 'cpu memory pids\n');
    await writeFile(join(root, 'cgroup.subtree_control'), passesOn ? 'cpu memory\n' : 'memory\n');
    const texts: Record<string, string> = {
      '/proc/self/mountinfo': `41 31 0:38 / ${root} rw - cgroup2 cgroup2 rw\n`,
      '/proc/self/cgroup': '0::/\n',
    };
    const fake = worldWithFs({
      readFile: ((path: string, encoding: 'utf8') =>
        texts[path] === undefined
          ? world.fs.readFile(path, encoding)
          : Promise.resolve(texts[path])) as World['fs']['readFile'],
      mkdir: (async (path: string) => {
        await mkdir(path, { recursive: true });
        await writeFile(
          join(path, 'cpu.stat'),
          'usage_usec 7\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0\n',
        );
      }) as World['fs']['mkdir'],
      rmdir: (path) => world.fs.rm(path, { recursive: true }),
    });
    return { root, fake };
  }

  test('writes cpu.max for a fraction of a core', async () => {
    const { root, fake } = await fakeUnified(true);
    const attempt = await openCgroupV2(fake, 'run', true);
    if (!('ok' in attempt)) throw new Error(attempt.problem);
    await attempt.ok.create('server', 0.5);
    expect(await world.fs.readFile(join(root, 'run/server/cpu.max'), 'utf8')).toBe('50000 100000');
    expect(await world.fs.readFile(join(root, 'run/cgroup.subtree_control'), 'utf8')).toBe('+cpu');
  });

  test('is not used for limits where the cpu controller is not passed on, and nothing is changed', async () => {
    const { root, fake } = await fakeUnified(false);
    expect(await openCgroupV2(fake, 'run', true)).toEqual({
      problem: `${root} does not pass the cpu controller on`,
    });
    expect(await readdir(root)).toEqual(['cgroup.controllers', 'cgroup.subtree_control']);
  });

  test('counts real processes where it is mounted, even without the controller', needs('root'), async () => {
    const attempt = await openCgroupV2(world, ownedName(uniqueRunId(), await thisOwner(world)), false);
    if (!('ok' in attempt)) {
      // A machine with version 1 alone; the other tests cover it.
      expect(attempt.problem).toBe('it is not mounted');
      return;
    }
    closers.push(attempt.ok.close);
    const group = await attempt.ok.create('count', null);
    await run(group, ['/bin/sh', '-c', LOOP]);
    expect((await observeFor(1, group)).cpuCores).toBeGreaterThan(0.15);
  });
});
