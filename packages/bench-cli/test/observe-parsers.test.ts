import { describe, expect, test } from 'vitest';
import { bytesIn } from '../src/machine/proc-files.ts';
import { parseCpuList, parseProcessStat } from '../src/machine/proc-stat.ts';
import {
  parseCpuacctUsage,
  parseCpuStatV1,
  parseCpuStatV2,
  parseProcessIds,
} from '../src/observe/cgroup-files.ts';

// Captured on Linux 6.18 from a process that was started as `./a ) R (b`.
const STAT = `14059 (a ) R (b) S 14057 14058 11914 0 -1 4194304 104 0 0 0 12 34 56 78 20 0 1 0 127299 3133440 410 18446744073709551615 94655445889024 94655445908905 140736757429664 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 94655445924912 94655445926528 94655981219840 140736757434900 140736757434920 140736757434920 140736757436395 0
`;

describe('/proc/<pid>/stat', () => {
  test('is read even if the command has spaces and parentheses', () => {
    expect(parseProcessStat(STAT)).toEqual({
      pid: 14059,
      state: 'S',
      parentPid: 14057,
      session: 11914,
      userTicks: 12,
      systemTicks: 34,
      childUserTicks: 56,
      childSystemTicks: 78,
      startTicks: 127299,
    });
  });

  test('is null for anything else', () => {
    expect(parseProcessStat('')).toBeNull();
    expect(parseProcessStat('14059 (cat) R 1 2')).toBeNull();
  });
});

describe('memory', () => {
  test('is the Pss line of smaps_rollup and no other that begins alike', () => {
    const rollup = `5567bd83e000-7ffd11ba2000 ---p 00000000 00:00 0                          [rollup]
Rss:                1752 kB
Pss_Dirty:           112 kB
Pss:                 410 kB
Pss_Anon:            112 kB
SwapPss:               7 kB
`;
    expect(bytesIn(rollup, 'Pss')).toBe(410 * 1024);
    expect(bytesIn('', 'Pss')).toBeNull();
  });

  test('is VmRSS where only the status can be read', () => {
    const status = 'Name:\tcat\nVmHWM:\t    1900 kB\nVmRSS:\t    1752 kB\nRssAnon:\t     104 kB\n';
    expect(bytesIn(status, 'VmRSS')).toBe(1752 * 1024);
    expect(bytesIn('Name:\tkthreadd\nThreads:\t1\n', 'VmRSS')).toBeNull();
  });
});

describe('control group files', () => {
  test('cpu.stat of version 1 counts nanoseconds', () => {
    const text = 'nr_periods 26\nnr_throttled 25\nthrottled_time 2992870670\nnr_bursts 0\nburst_time 0\n';
    expect(parseCpuStatV1(text)).toEqual({ periods: 26, throttledPeriods: 25, throttledSeconds: 2.99287067 });
    expect(parseCpuStatV1('')).toBeNull();
  });

  test('cpu.stat of version 2 counts microseconds', () => {
    const text = `usage_usec 1003494
user_usec 1000000
system_usec 3494
nr_periods 20
nr_throttled 19
throttled_usec 996000
nr_bursts 0
burst_usec 0
`;
    expect(parseCpuStatV2(text)).toEqual({
      cpuSeconds: 1.003494,
      throttling: { periods: 20, throttledPeriods: 19, throttledSeconds: 0.996 },
    });
  });

  test('cpu.stat of version 2 without the cpu controller has usage, and no throttling', () => {
    expect(parseCpuStatV2('usage_usec 2500000\nuser_usec 2000000\nsystem_usec 500000\n')).toEqual({
      cpuSeconds: 2.5,
      throttling: null,
    });
    expect(parseCpuStatV2('nr_periods 0\n')).toBeNull();
  });

  test('cpuacct.usage counts nanoseconds', () => {
    expect(parseCpuacctUsage('1003494157\n')).toBe(1.003494157);
    expect(parseCpuacctUsage('')).toBeNull();
  });

  test('cgroup.procs has one id on each line', () => {
    expect(parseProcessIds('15202\n15203\n')).toEqual([15202, 15203]);
    expect(parseProcessIds('')).toEqual([]);
  });
});

test('CPU lists have ranges and single numbers', () => {
  expect(parseCpuList('0-3,8,10-11\n')).toEqual([0, 1, 2, 3, 8, 10, 11]);
  expect(parseCpuList('\n')).toEqual([]);
});
