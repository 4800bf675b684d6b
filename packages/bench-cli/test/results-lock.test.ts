import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BenchError } from '../src/errors.ts';
import { lockRun } from '../src/results/run-lock.ts';
import { realWorld, type World } from '../src/world.ts';

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'bench-lock-'));
});
afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

/** A world that believes it is the process with this id. */
function worldOf(pid: number, hostname = 'bench.example.org'): World {
  const world = realWorld();
  return {
    ...world,
    machine: { ...world.machine, hostname },
    processes: { ...world.processes, ownPid: pid },
  };
}

/** Runs `use` while a second process is alive. */
async function withOtherProcess<T>(use: (pid: number) => Promise<T>): Promise<T> {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  try {
    return await use(child.pid ?? Number.NaN);
  } finally {
    child.kill('SIGKILL');
    await exited;
  }
}

async function refusal(promise: Promise<unknown>): Promise<BenchError> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof BenchError)) throw new Error(`expected a BenchError, got ${String(error)}`);
  return error;
}

describe('the lock of a run', () => {
  it('keeps another process out until it is given back', async () => {
    await withOtherProcess(async (otherPid) => {
      const unlock = await lockRun(worldOf(process.pid), directory);
      const error = await refusal(lockRun(worldOf(otherPid), directory));
      expect(error.code).toBe('E_USAGE');
      expect(error.message).toContain(`process ${process.pid} on bench.example.org`);
      await unlock();
      await (await lockRun(worldOf(otherPid), directory))();
      expect(await readdir(directory)).toEqual([]);
    });
  });

  it('that cannot be removed does not hide what failed before', async () => {
    const stuck = worldOf(process.pid);
    const rm = async () =>
      Promise.reject(Object.assign(new Error('read-only file system'), { code: 'EROFS' }));
    const unlock = await lockRun({ ...stuck, fs: { ...stuck.fs, rm } }, directory);
    await expect(unlock()).resolves.toBeUndefined();
  });

  it('of a container is kept: its process IDs mean nothing here', async () => {
    const own = worldOf(2 ** 22 - 1);
    const contained = { ...own, fs: { ...own.fs, readlink: async () => 'pid:[7]' } } as unknown as World;
    const unlock = await lockRun(contained, directory);
    expect((await refusal(lockRun(worldOf(process.pid), directory))).code).toBe('E_USAGE');
    await unlock();
  });

  it('keeps out a second lock of the same process', async () => {
    const unlock = await lockRun(worldOf(process.pid), directory);
    expect((await refusal(lockRun(worldOf(process.pid), directory))).code).toBe('E_USAGE');
    await unlock();
  });

  it('of a dead process is taken over, with its half-written files', async () => {
    const deadPid = await withOtherProcess(async (pid) => {
      await lockRun(worldOf(pid), directory);
      return pid;
    });
    await writeFile(join(directory, `.run.json.${deadPid}.tmp`), '{"half": ');
    await writeFile(join(directory, 'run.json'), '{}');
    const unlock = await lockRun(worldOf(process.pid), directory);
    expect((await readdir(directory)).filter((name) => !name.startsWith('lock,'))).toEqual(['run.json']);
    await unlock();
    expect(await readdir(directory)).toEqual(['run.json']);
  });

  it('of a process whose id is in use again is taken over', async () => {
    await withOtherProcess(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
      const start = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
      await writeFile(join(directory, `lock,bench.example.org,${pid},${Number(start) - 1}`), '');
      await (await lockRun(worldOf(process.pid), directory))();
      await writeFile(join(directory, `lock,bench.example.org,${pid},${start}`), '');
      expect((await refusal(lockRun(worldOf(process.pid), directory))).code).toBe('E_USAGE');
    });
  });

  it('of a process that is dead but not yet reaped is taken over', async () => {
    // The shell becomes a sleep, which never reaps the child that the shell had started.
    const parent = spawn('sh', ['-c', 'sleep 0.2 & echo $!; exec sleep 60'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const exited = new Promise((resolve) => parent.once('exit', resolve));
    try {
      const [pid] = (await once(parent.stdout, 'data')).map((chunk) => Number(String(chunk)));
      const stat = await vi.waitFor(
        async () => {
          const text = await readFile(`/proc/${pid}/stat`, 'utf8');
          expect(text).toContain(') Z ');
          return text;
        },
        { timeout: 10_000 },
      );
      const start = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
      await writeFile(join(directory, `lock,bench.example.org,${pid},${start}`), '');
      await (await lockRun(worldOf(process.pid), directory))();
    } finally {
      parent.kill('SIGKILL');
      await exited;
    }
  });

  it('of a process on another host is respected, because nobody can see if it lives', async () => {
    await writeFile(join(directory, 'lock,elsewhere.example.net,1,5'), '');
    const error = await refusal(lockRun(worldOf(process.pid), directory));
    expect(error.message).toContain('elsewhere.example.net');
    expect(error.fix).toContain('lock,elsewhere.example.net,1,5');
    expect(await readdir(directory)).toEqual(['lock,elsewhere.example.net,1,5']);
  });

  it('is never held by two that ask at the same time', async () => {
    await withOtherProcess(async (otherPid) => {
      for (let round = 0; round < 50; round++) {
        const attempts = await Promise.allSettled([
          lockRun(worldOf(process.pid), directory),
          lockRun(worldOf(otherPid), directory),
        ]);
        const holders = attempts.filter(({ status }) => status === 'fulfilled');
        expect(holders.length).toBeLessThanOrEqual(1);
        for (const attempt of attempts) if (attempt.status === 'fulfilled') await attempt.value();
        expect(await readdir(directory)).toEqual([]);
      }
    });
  });

  it('says that it cannot write where that is so', async () => {
    await writeFile(join(directory, 'file'), '');
    expect((await refusal(lockRun(worldOf(process.pid), join(directory, 'file', 'run')))).code).toBe(
      'E_WRITE_FAILED',
    );
  });
});
