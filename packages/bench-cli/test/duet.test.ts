/** The parts of a duet that need no server. */
import { describe, expect, it } from 'vitest';
import { configure } from '../src/config/configuration.ts';
import { joinLoads, joinObservations, overSlices } from '../src/measure/merge-slices.ts';
import { neighboursBetween } from '../src/measure/neighbours.ts';
import { parseCpuLine } from '../src/observe/neighbours.ts';
import { grownWithout, parseFilePages, sharedBetween } from '../src/observe/shared-memory.ts';
import { usesDuet } from '../src/plan/duet.ts';
import { asDuet, balancedOrder, blocksOfTrials, planRun } from '../src/plan/plan.ts';
import type { LoadResult, Observation } from '../src/results/record.ts';

const configurationOf = (flags: Record<string, string>) => configure({ env: {}, flags });

describe('the order of the slices', () => {
  it('gives each server every place equally often, and every neighbour', () => {
    const turns = Array.from({ length: 6 }, (_, turn) => balancedOrder(['A', 'B', 'C'], turn));
    expect(turns.map((turn) => turn.join('')).join(' ')).toBe('ABC CBA BCA ACB CAB BAC');
  });

  it('keeps what is compared together, whichever way the round runs', () => {
    const plan = planRun(configurationOf({ servers: 'coredns,dinodns', tier: '0.5,1', trials: '2' }), 8);
    const blocks = blocksOfTrials(plan.trials).map((block) =>
      block.map(({ round, case: { server, tier } }) => `${round}:${server}@${tier}`).join(' '),
    );
    expect(blocks).toEqual([
      '0:coredns@0.5 0:dinodns@0.5',
      '0:coredns@1 0:dinodns@1',
      '1:dinodns@1 1:coredns@1',
      '1:dinodns@0.5 1:coredns@0.5',
    ]);
  });
});

describe('when a run is a duet', () => {
  const workload = { name: 'half', description: '', size: 200, queries: () => [] };
  const uses = (flags: Record<string, string>, size = 200) => {
    const configuration = configurationOf(flags);
    return usesDuet(configuration, planRun(configuration, 8), [{ ...workload, size }]);
  };

  it('is one on this machine, with something to compare, if left to decide', () => {
    expect(uses({ duet: 'auto' })).toBe(true);
    expect(uses({ duet: 'off' })).toBe(false);
    expect(uses({ duet: 'auto', servers: 'dinodns' })).toBe(false);
    expect(uses({ duet: 'auto', servers: 'dinodns', aa: 'true' })).toBe(true);
    expect(uses({ duet: 'auto', objective: 'max-rate' })).toBe(false);
    expect(uses({ duet: 'auto' }, 1_000_000)).toBe(false);
  });

  it('refuses what is not possible, with the reason', () => {
    expect(() => uses({ duet: 'on', objective: 'max-rate' })).toThrow('searches with one server at a time');
    expect(() => uses({ duet: 'on' }, 1_000_000)).toThrow(
      'has more than 10,000 queries, too many for a few seconds',
    );
  });

  it('is one on a cluster only if asked for, with one loader', () => {
    const cluster = { target: 'kubernetes' };
    expect(uses({ ...cluster, duet: 'on' })).toBe(true);
    expect(uses({ ...cluster, duet: 'auto' })).toBe(false);
    expect(uses({ ...cluster, duet: 'on', servers: 'dinodns' })).toBe(false);
    expect(() => uses({ ...cluster, duet: 'on', loaders: '2' })).toThrow(
      'one Job sends all slices, and --loaders asks for 2',
    );
  });

  it('divides the measured time into whole slices', () => {
    const configuration = configurationOf({ duration: '5', slice: '2' });
    expect(asDuet(planRun(configuration, 8), configuration).duet).toMatchObject({
      slices: 3,
      sliceSeconds: 5 / 3,
    });
  });
});

function loadOf(qps: number, seconds: number, mean: number): LoadResult {
  const completed = qps * seconds;
  return {
    queriesSent: completed + 1,
    queriesCompleted: completed,
    queriesLost: 1,
    queriesInterrupted: 0,
    responseCodes: { NOERROR: completed },
    averageRequestBytes: 30,
    averageResponseBytes: 60,
    runTimeSeconds: seconds,
    qps,
    latencySeconds: { mean, min: mean / 2, max: mean * 2, standardDeviation: null },
    connections: null,
    intervals: [],
    latencyPercentiles: null,
    latencyHistogram: null,
    hdrHistogram: null,
    lookups: null,
  };
}

describe('slices joined', () => {
  it('are a load of the sum of their times', () => {
    const joined = joinLoads([loadOf(1000, 1, 0.001), loadOf(4000, 2, 0.002)]);
    expect(joined).toMatchObject({
      queriesCompleted: 9000,
      queriesLost: 2,
      runTimeSeconds: 3,
      qps: 3000,
      responseCodes: { NOERROR: 9000 },
      intervals: [
        { atSeconds: 1, qps: 1000 },
        { atSeconds: 3, qps: 4000 },
      ],
    });
    expect(joined.latencySeconds?.mean).toBeCloseTo((1000 * 0.001 + 8000 * 0.002) / 9000, 12);
  });

  it('are an observation of the sum of their windows, or of nothing if one is missing', () => {
    const part = (cpuSeconds: number, memory: number): Observation => ({
      cpuSource: 'cgroup-v2',
      durationSeconds: 2,
      cpuSeconds,
      cpuCores: cpuSeconds / 2,
      memoryBytes: { mean: memory, max: memory + 1, source: 'pss' },
      throttling: { periods: 20, throttledPeriods: 2, throttledSeconds: 0.1 },
      processes: 1,
      sampleIntervalSeconds: 0.5,
      samples: [{ atSeconds: 0.5, cpuCores: 1, memoryBytes: null }],
    });
    expect(joinObservations([part(1, 100), part(2, 200)])).toMatchObject({
      durationSeconds: 4,
      cpuSeconds: 3,
      cpuCores: 0.75,
      memoryBytes: { mean: 150, max: 201 },
      throttling: { periods: 40, throttledPeriods: 4 },
      samples: [{ atSeconds: 0.5 }, { atSeconds: 2.5 }],
    });
    expect(joinObservations([part(1, 100), null])).toBeNull();
  });
});

describe('what was observed over a whole round', () => {
  const outcome = {
    result: loadOf(1000, 4, 0.001),
    observation: null,
    command: ['dnsperf'],
    wasTheLimit: null,
  };
  const joined = { outcomes: [outcome], observation: null, instances: null, losses: null };
  const observation: Observation = {
    cpuSource: 'kubelet-summary',
    durationSeconds: 30,
    cpuSeconds: 2.5,
    cpuCores: 2.5 / 30,
    memoryBytes: { mean: 100, max: 120, source: 'working-set' },
    throttling: { periods: 50, throttledPeriods: 5, throttledSeconds: 0.3 },
    processes: 1,
    sampleIntervalSeconds: 10,
    samples: [{ atSeconds: 10, cpuCores: 0.1, memoryBytes: 100 }],
  };
  const pod = { name: 'p', node: 'n', queries: null, memoryBytes: 100, throttledSeconds: 0.3, sidecars: [] };

  it('is of all its queries, so that the slices have the share of theirs', () => {
    const instances = [{ ...pod, cpuSeconds: 2.5, cpuCores: 2.5 / 30 }];
    // A thousand queries more were answered while the slices settled.
    const spread = overSlices(joined, { observation, instances }, 5000);
    expect(spread.observation).toMatchObject({
      cpuSeconds: 2,
      cpuCores: 0.5,
      durationSeconds: 4,
      samples: [],
    });
    expect(spread.observation?.memoryBytes).toEqual(observation.memoryBytes);
    expect(spread.observation?.throttling).toEqual(observation.throttling);
    expect(spread.instances).toMatchObject([{ cpuSeconds: 2, cpuCores: 0.5, memoryBytes: 100 }]);
  });

  it('is nothing where nothing was observed, or not the CPU of an instance', () => {
    expect(overSlices(joined, { observation: null, instances: null }, 5000)).toEqual(joined);
    const instances = [{ ...pod, cpuSeconds: null, cpuCores: 0.1 }];
    expect(overSlices(joined, { observation, instances }, 5000).instances).toEqual(instances);
  });
});

describe('memory that servers share', () => {
  const smaps = (inode: number, rss: number, pss: number, own: number) =>
    [
      `55d0-55e0 r-xp 00000000 fe:00 ${inode} /usr/bin/node (deleted)`,
      `Rss:                ${rss} kB`,
      `Pss:                ${pss} kB`,
      'Shared_Clean:        0 kB',
      `Private_Clean:       ${own} kB`,
      'Private_Dirty:       0 kB',
      'VmFlags: rd ex mr',
      '7f00-7f10 rw-p 00000000 00:00 0 [heap]',
      'Rss:              5000 kB',
      'Pss:              5000 kB',
    ].join('\n');

  it('counts the pages of files, not those of the heap', () => {
    expect([...parseFilePages(smaps(7, 300, 100, 0))]).toEqual([
      ['fe:00:7', { resident: 300 * 1024, proportional: 100 * 1024, own: 0 }],
    ]);
  });

  it('adds what a server would have had without the others', () => {
    // Three processes share 300 kB: a third each. Without one of them, half each.
    expect(grownWithout({ resident: 300, proportional: 100, own: 0 }, 1)).toBe(50);
    // Alone, all of it; and never more.
    expect(grownWithout({ resident: 300, proportional: 100, own: 0 }, 2)).toBe(200);
    expect(grownWithout({ resident: 300, proportional: 100, own: 0 }, 9)).toBe(200);
    expect(grownWithout({ resident: 300, proportional: 300, own: 300 }, 1)).toBe(0);
  });

  it('is that of other servers, not of the workers of one', () => {
    const node = parseFilePages(smaps(7, 300, 75, 0));
    const other = parseFilePages(smaps(8, 300, 300, 300));
    // Two workers of one server and another server; a fourth process is not ours.
    const [workers, single, apart] = sharedBetween([[node, node], [node], [other]]);
    expect(workers).toBe(2 * (300 / 3 - 75) * 1024);
    expect(single).toBe((300 / 2 - 75) * 1024);
    expect(apart).toBe(0);
  });
});

describe('what the machine did beside', () => {
  it('is what is busy and not ours, and what was stolen', () => {
    expect(parseCpuLine('cpu  100 10 50 900 5 1 2 30 40 0\ncpu0 1 2 3')).toEqual({ busy: 163, steal: 30 });
    expect(parseCpuLine('intr 5')).toBeNull();
    const at = (atSeconds: number, busySeconds: number, stealSeconds: number, benchSeconds = 0) => ({
      machine: { atSeconds, isTimely: true, busySeconds, stealSeconds, thermalEvents: null, hertz: null },
      waitSeconds: atSeconds / 10,
      benchSeconds,
    });
    const own = { serverSeconds: 1, loaderSeconds: 0.5 };
    expect(neighboursBetween(at(10, 100, 5), at(12, 103, 6, 0.1), own)).toEqual({
      otherCores: expect.closeTo(0.7, 12),
      stealCores: 0.5,
      waitSeconds: expect.closeTo(0.2, 12),
      hertz: null,
      thermalEvents: null,
    });
    // Ticks of 10 ms round: never less than nothing.
    expect(neighboursBetween(at(10, 100, 5), at(11, 101.4, 5), own).otherCores).toBe(0);
  });
});
