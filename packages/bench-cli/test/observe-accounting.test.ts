import { spawn } from 'node:child_process';
import { pid } from 'node:process';
import { describe, expect, test } from 'vitest';
import type { ProcessStat } from '../src/machine/proc-stat.ts';
import type { ObservedGroup } from '../src/observe/group.ts';
import { observeGroups } from '../src/observe/observe.ts';
import {
  EMPTY_ACCOUNT,
  membersOf,
  type ProcessAccount,
  totalTicks,
  updateAccount,
} from '../src/observe/process-accounting.ts';
import { realWorld } from '../src/world.ts';

function process(pid: number, parentPid: number, changes: Partial<ProcessStat> = {}): ProcessStat {
  return {
    pid,
    state: 'S',
    parentPid,
    session: pid,
    userTicks: 0,
    systemTicks: 0,
    childUserTicks: 0,
    childSystemTicks: 0,
    startTicks: pid * 10,
    ...changes,
  };
}

function looks(...moments: readonly (readonly ProcessStat[])[]): ProcessAccount {
  return moments.reduce(updateAccount, EMPTY_ACCOUNT);
}

describe('CPU time added up from /proc', () => {
  test('adds user and system time of all members', () => {
    const account = looks([
      process(10, 1, { userTicks: 5, systemTicks: 2 }),
      process(11, 10, { userTicks: 3, systemTicks: 1 }),
    ]);
    expect(totalTicks(account)).toBe(11);
  });

  test('counts a child that ended and was waited for once, by its parent', () => {
    const account = looks(
      [process(10, 1, { userTicks: 5 }), process(11, 10, { userTicks: 30 })],
      [process(10, 1, { userTicks: 6, childUserTicks: 33 })],
    );
    expect(totalTicks(account)).toBe(39);
  });

  test('keeps what was seen of a child that nobody waited for', () => {
    const account = looks(
      [process(10, 1, { userTicks: 5 }), process(11, 10, { userTicks: 30 })],
      [process(10, 1, { userTicks: 6 })],
    );
    expect(totalTicks(account)).toBe(36);
  });

  test('counts a child and its child that ended between two looks once', () => {
    const account = looks(
      [process(10, 1), process(11, 10, { userTicks: 30 }), process(12, 11, { userTicks: 7 })],
      [process(10, 1, { childUserTicks: 37 })],
    );
    expect(totalTicks(account)).toBe(37);
  });

  test('a zombie is counted as long as it is there, and not again by its parent afterwards', () => {
    const account = looks(
      [process(10, 1), process(11, 10, { userTicks: 30 })],
      [process(10, 1), process(11, 10, { userTicks: 31, state: 'Z' })],
      [process(10, 1, { childUserTicks: 31 })],
    );
    expect(totalTicks(account)).toBe(31);
  });

  test('keeps the time of a group that has ended altogether', () => {
    expect(totalTicks(looks([process(10, 1, { userTicks: 9 })], []))).toBe(9);
  });

  test('takes a later process with the same pid for another one', () => {
    const account = looks(
      [process(10, 1, { userTicks: 9, startTicks: 1 })],
      [process(10, 1, { userTicks: 2, startTicks: 2 })],
    );
    expect(totalTicks(account)).toBe(11);
  });
});

test('members are the first processes, their sessions and all descendants', () => {
  const all = [
    process(1, 0),
    process(10, 1),
    process(11, 10, { session: 11 }),
    process(12, 11, { session: 11 }),
    process(13, 1, { session: 10 }),
    process(20, 1),
  ];
  expect(
    membersOf(all, new Set([10]))
      .map(({ pid }) => pid)
      .sort(),
  ).toEqual([10, 11, 12, 13]);
});

test('memory is that under load, not that of a server which waits for the load generator to start', async () => {
  const small = spawn('sleep', ['30']);
  let pids = [small.pid ?? 0];
  const group: ObservedGroup = {
    counters: async () => ({ cpuSource: 'proc', cpuSeconds: 0, throttling: null }),
    pids: async () => pids,
  };
  const window = await observeGroups(realWorld(), [group]);
  pids = [pid];
  window.started?.();
  // Read once before the load and once under it.
  const { memoryBytes } = await window.end();
  small.kill();
  expect(memoryBytes?.mean).toBe(memoryBytes?.max);
  expect(memoryBytes?.mean).toBeGreaterThan(10e6);
});
