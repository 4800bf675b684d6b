/** Counting events of processes, with the events that every machine has. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { countersOf } from '../src/measure/count-server.ts';
import { CounterError, countEvents, obstacleToCounters } from '../src/observe/hardware-counters.ts';
import { counterNotes } from '../src/report/counters.ts';
import { environmentFacts } from '../src/report/facts.ts';
import { realWorld } from '../src/world.ts';
import { makeRecord } from './fixtures/make-record.ts';

const world = realWorld();

/** CPU seconds of a process: all its threads, and those that have ended. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Works in a thread that it starts when it is told to, for a tenth of a second of CPU time. */
const WORKER = `
  const { Worker } = require('node:worker_threads');
  const work = 'const end = performance.now() + 1e5, from = process.threadCpuUsage().user; while (process.threadCpuUsage().user - from < 1e5 && performance.now() < end);';
  process.stdin.once('data', () => new Worker(work, { eval: true }).once('exit', () => console.log('done')));
  console.log('up');
`;

describe('counting the events of processes', () => {
  it('counts all threads, those that start later too, and agrees with /proc', async () => {
    const child = spawn(process.execPath, ['-e', WORKER], { stdio: ['pipe', 'pipe', 'inherit'] });
    try {
      await once(child.stdout, 'data');
      const pid = child.pid ?? 0;
      const counting = await countEvents(world, ['task-clock', 'context-switches'], [pid]);
      const before = cpuSeconds(pid);
      child.stdin.write('go\n');
      await once(child.stdout, 'data');
      const used = cpuSeconds(pid) - before;
      const counts = await counting.end();
      expect(used).toBeGreaterThan(0.09);
      // /proc counts in steps of 10 ms.
      expect((counts?.['task-clock'] ?? 0) / 1e9).toBeGreaterThan(used - 0.03);
      expect((counts?.['task-clock'] ?? 0) / 1e9).toBeLessThan(used + 0.03);
      expect(counts?.['context-switches']).toBeGreaterThan(0);
    } finally {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  });

  it('counts nothing for a process that has ended, and reports an event that the machine does not have', async () => {
    const child = spawn('true');
    await once(child, 'exit');
    const counting = await countEvents(world, ['task-clock'], [child.pid ?? 0]);
    expect(await counting.end()).toEqual({ 'task-clock': 0 });
    await expect(countEvents(world, ['no-such-event'], [])).rejects.toThrow(CounterError);
  });

  it('is possible, or says why not', async () => {
    const obstacle = await obstacleToCounters(world);
    const hasCounters = ['cpu', 'armv8_pmuv3_0', 'cpu_core'].some((name) =>
      existsSync(`/sys/bus/event_source/devices/${name}`),
    );
    if (hasCounters) expect(obstacle === null || obstacle.startsWith('not permitted')).toBe(true);
    else expect(obstacle).toMatch(/^(this machine does not show the counters of its CPUs|not permitted)/);
  });
});

describe('what was counted', () => {
  const counters = countersOf({
    'instructions:user': 2e9,
    'instructions:kernel': 6e9,
    'cycles:user': 1e9,
    'cycles:kernel': 3e9,
    'cache-misses:user': 1e6,
    'cache-misses:kernel': 0,
  });
  const record = makeRecord({ cases: [{ server: 'coredns', trials: [{ qps: 1000 }, { qps: 1000 }] }] });

  it('is told for each query, with its interval and the share of the kernel', () => {
    const counted = {
      ...record,
      trials: record.trials.map((trial) => (trial.status === 'ok' ? { ...trial, counters } : trial)),
    };
    // 600,000 queries in each trial.
    expect(counterNotes(counted)).toEqual([
      'The CPUs counted for each query of CoreDNS: 13,333 instructions (±0.0 %, 75 % in the kernel), 6,667 cycles (±0.0 %, 75 % in the kernel), 1.7 cache misses (±0.0 %, 0 % in the kernel).',
    ]);
  });

  it('is nothing where the machine has no counters, and the facts say why', () => {
    expect(counterNotes(record)).toEqual([]);
    const reason = 'this machine does not show the counters of its CPUs, as most virtual machines';
    const environment = { ...record.environment, hardwareCounters: { used: false, reason } };
    expect(environmentFacts({ ...record, environment })).toContainEqual([
      'Hardware counters',
      `none: ${reason}`,
    ]);
  });
});
