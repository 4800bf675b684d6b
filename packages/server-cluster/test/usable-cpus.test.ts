/** Usable CPUs of a process: captured kernel files, and a real affinity mask. */
import { describe, expect, test } from 'vitest';
import { countCpuList, usableCpus } from '../src/cpus/usable-cpus.ts';
import { usableInProcess } from './support/usable-in-process.ts';

const EIGHT = { available: 8, installed: 8 };

function readFrom(files: Record<string, string>): (path: string) => string | undefined {
  return (path) => files[path];
}

const V2_MOUNT = '35 24 0:30 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate';
const V1_MOUNT = '33 32 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid - cgroup cgroup rw,cpu,cpuacct';

describe('cgroup v2', () => {
  const path = '/kubepods.slice/pod.slice/container';
  const files = {
    '/proc/self/cgroup': `0::${path}\n`,
    '/proc/self/mountinfo': `${V2_MOUNT}\n`,
    [`/sys/fs/cgroup${path}/cpu.max`]: '250000 100000\n',
  };

  test('a quota is rounded up to whole processes', () => {
    expect(usableCpus(readFrom(files), EIGHT)).toEqual({
      cpus: 3,
      limit: 2.5,
      source: 'quota',
      reason: `CFS quota of 2.5 CPUs (/sys/fs/cgroup${path}/cpu.max)`,
    });
  });

  test('the smallest quota on the path to the root counts', () => {
    const above = { ...files, '/sys/fs/cgroup/kubepods.slice/cpu.max': '50000 100000' };
    expect(usableCpus(readFrom(above), EIGHT)).toMatchObject({ cpus: 1, limit: 0.5 });
    const wider = { ...files, '/sys/fs/cgroup/kubepods.slice/cpu.max': '400000 100000' };
    expect(usableCpus(readFrom(wider), EIGHT)).toMatchObject({ limit: 2.5 });
  });

  test('"max" is no quota', () => {
    const unlimited = { ...files, [`/sys/fs/cgroup${path}/cpu.max`]: 'max 100000\n' };
    expect(usableCpus(readFrom(unlimited), EIGHT)).toMatchObject({ cpus: 8, source: 'machine' });
  });

  test('in a container with its own cgroup namespace, the mount is the group', () => {
    const container = {
      '/proc/self/cgroup': '0::/\n',
      '/proc/self/mountinfo': `${V2_MOUNT}\n`,
      '/sys/fs/cgroup/cpu.max': '150000 100000\n',
    };
    expect(usableCpus(readFrom(container), EIGHT)).toMatchObject({ cpus: 2, limit: 1.5 });
  });
});

describe('cgroup v1', () => {
  test('quota and period are in two files, below the controller it shares a mount with', () => {
    const files = {
      '/proc/self/cgroup': '5:cpu,cpuacct:/user.slice/app\n0::/init\n',
      '/proc/self/mountinfo': `${V1_MOUNT}\n`,
      '/sys/fs/cgroup/cpu,cpuacct/user.slice/app/cpu.cfs_quota_us': '-1\n',
      '/sys/fs/cgroup/cpu,cpuacct/user.slice/app/cpu.cfs_period_us': '100000\n',
      '/sys/fs/cgroup/cpu,cpuacct/user.slice/cpu.cfs_quota_us': '320000\n',
      '/sys/fs/cgroup/cpu,cpuacct/user.slice/cpu.cfs_period_us': '100000\n',
    };
    expect(usableCpus(readFrom(files), EIGHT)).toMatchObject({ cpus: 4, limit: 3.2, source: 'quota' });
  });

  test("a container that sees the host's path finds its group at the mount's root", () => {
    const files = {
      '/proc/self/cgroup': '5:cpu,cpuacct:/docker/0123abcd\n',
      '/proc/self/mountinfo': V1_MOUNT.replace('0:29 / ', '0:29 /docker/0123abcd '),
      '/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us': '200000\n',
      '/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us': '100000\n',
    };
    expect(usableCpus(readFrom(files), EIGHT)).toMatchObject({ cpus: 2, source: 'quota' });
  });
});

test('affinity counts if it is narrower than the quota', () => {
  const status = { '/proc/self/status': 'Name:\tnode\nCpus_allowed:\t0d\nCpus_allowed_list:\t0,2-3\n' };
  const machine = { available: 3, installed: 8 };
  expect(usableCpus(readFrom(status), machine)).toMatchObject({ cpus: 3, source: 'affinity' });
});

test('without any file, the machine counts', () => {
  expect(usableCpus(readFrom({}), EIGHT)).toMatchObject({ cpus: 8, source: 'machine' });
});

test.each([
  ['0', 1],
  ['0-3', 4],
  ['0-1,4,6-7', 5],
  ['', 0],
])('the CPU list "%s" has %i CPUs', (list, count) => {
  expect(countCpuList(list)).toBe(count);
});

test('a real affinity mask of one CPU makes one process', () => {
  const { cpus: usable } = usableInProcess(['taskset', '-c', '0']);
  expect(usable).toBe(1);
});
