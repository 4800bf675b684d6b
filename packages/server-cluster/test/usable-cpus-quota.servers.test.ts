/** Usable CPUs of a process under a real quota, which takes the permission to make control groups. */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileNeeds } from '@dinodns-bench/test-support';
import { afterEach, expect } from 'vitest';
import { usableInProcess } from './support/usable-in-process.ts';

const { describe, it } = fileNeeds('root');

describe('a real quota', () => {
  const base = realQuotaBase();
  const group = `${base.directory}/server-cluster-test-${process.pid}`;
  afterEach(() => {
    // The child processes have ended, so their groups are empty.
    for (const directory of [`${group}/below`, group]) if (existsSync(directory)) rmdirSync(directory);
  });

  it('of half a CPU on the group above makes one process, and says so', () => {
    mkdirSync(`${group}/below`, { recursive: true });
    base.limit(group, 0.5);
    const join = ['sh', '-c', `echo $$ > ${group}/below/cgroup.procs && exec "$@"`, 'sh'];
    expect(usableInProcess(join)).toMatchObject({ cpus: 1, limit: 0.5, source: 'quota' });
  });

  it('larger than the machine has no effect', () => {
    mkdirSync(group, { recursive: true });
    base.limit(group, cpus().length + 1);
    const join = ['sh', '-c', `echo $$ > ${group}/cgroup.procs && exec "$@"`, 'sh'];
    expect(usableInProcess(join).source).not.toBe('quota');
  });
});

/** The place where this machine lets us create a group with a quota: cgroup v1, or v2 with the cpu controller. */
function realQuotaBase(): { directory: string; limit: (group: string, cpuCount: number) => void } {
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  const v1 = mounts.find((line) => / - cgroup \S+ \S*\bcpu\b/.test(line))?.split(' ')[4];
  if (v1 !== undefined) {
    return {
      directory: v1,
      limit: (group, count) => {
        writeFileSync(`${group}/cpu.cfs_period_us`, '100000');
        writeFileSync(`${group}/cpu.cfs_quota_us`, String(Math.round(count * 100_000)));
      },
    };
  }
  return {
    directory: '/sys/fs/cgroup',
    limit: (group, count) => writeFileSync(`${group}/cpu.max`, `${Math.round(count * 100_000)} 100000`),
  };
}
