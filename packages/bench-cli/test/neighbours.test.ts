/** How much of the scatter others explain. */
import { describe, expect, it } from 'vitest';
import { createNeighbourMeter, type NeighbourReading } from '../src/measure/neighbours.ts';
import { neighbourSeconds, usageOver, watched } from '../src/measure/watch-neighbours.ts';
import { createMachineMeter } from '../src/observe/neighbours.ts';
import { chartsOf } from '../src/report/compare/charts.ts';
import { neighbourNotes } from '../src/report/neighbours.ts';
import type { Observation } from '../src/results/record.ts';
import { summarizeRun } from '../src/stats/cases.ts';
import { explainedShare } from '../src/stats/neighbours.ts';
import type { Deployment } from '../src/targets/target.ts';
import { realWorld, type World } from '../src/world.ts';
import { makeRecord } from './fixtures/make-record.ts';
import { plotsOf, renderCsv } from './support/render.ts';
import { noise } from './support/simulate.ts';

describe('the share of the scatter that others explain', () => {
  const points = (slope: number, scatter: number) => {
    const { normal } = noise(`neighbours ${slope} ${scatter}`);
    return ['a', 'b'].flatMap((group, level) =>
      Array.from({ length: 500 }, () => {
        const taken = Math.abs(normal());
        return { group, amount: taken, log: 10 * level - slope * taken + scatter * normal() };
      }),
    );
  };

  it('is all of it where nothing else varies, and none where they do not matter', () => {
    expect(explainedShare(points(0.5, 0))).toBeCloseTo(1, 9);
    expect(explainedShare(points(0, 0.1))).toBeLessThan(0.02);
    expect(explainedShare([{ group: 'a', amount: 1, log: 2 }])).toBe(0);
  });

  it('does not count differences between servers as scatter', () => {
    // The variance of |normal| is 1 − 2 ÷ π.
    const variance = 0.25 * (1 - 2 / Math.PI);
    expect(explainedShare(points(0.5, 0.3))).toBeCloseTo(variance / (variance + 0.09), 1);
  });
});

describe('the seconds of a trial', () => {
  const observation = (cpuSeconds: number): Observation => ({
    cpuSource: 'cgroup-v2',
    durationSeconds: 2.05,
    cpuSeconds,
    cpuCores: cpuSeconds / 2.05,
    memoryBytes: null,
    throttling: null,
    processes: 1,
    sampleIntervalSeconds: 0.5,
    samples: [
      { atSeconds: 1, cpuCores: 0.5, memoryBytes: null },
      { atSeconds: 2, cpuCores: 1, memoryBytes: null },
    ],
  });
  const reading = (
    atSeconds: number,
    busySeconds: number,
    stealSeconds = 0,
    isTimely = true,
  ): NeighbourReading => ({
    machine: {
      ...{ atSeconds: 100 + atSeconds, isTimely, busySeconds, stealSeconds },
      ...{ thermalEvents: null, hertz: null },
    },
    waitSeconds: atSeconds / 4,
    benchSeconds: 0,
  });

  it('are what was busy without server, loader and bench, each second by itself', () => {
    expect(usageOver(observation(1.55))(1.5)).toBeCloseTo(1, 9);
    expect(usageOver(observation(1.55))(9)).toBe(1.55);
    const readings = [reading(0, 10), reading(1, 11.1), reading(2, 13.5, 0.3), reading(3, 20)];
    const seconds = neighbourSeconds(readings, 100, observation(1.55), [observation(1.55)]);
    // The reading after the load is not used.
    expect(seconds.map(({ atSeconds, durationSeconds }) => [atSeconds, durationSeconds])).toEqual([
      [1, 1],
      [2, 1],
    ]);
    expect(seconds[0]?.otherCores).toBeCloseTo(0.1, 9);
    expect(seconds[1]?.otherCores).toBeCloseTo(0.4, 9);
    expect(seconds[1]?.stealCores).toBeCloseTo(0.3, 9);
    expect(seconds[1]?.waitSeconds).toBeCloseTo(0.25, 9);
  });

  it('begin with the load, though observations begin with the start of the load generator', () => {
    // It compiled its code for half a second, with a whole CPU; the server had nothing to do.
    const loader = { ...observation(1.05), samples: [{ atSeconds: 0.5, cpuCores: 1, memoryBytes: null }] };
    const readings = [reading(0.5, 10), reading(1.5, 11)];
    const [second, ...others] = neighbourSeconds(readings, 100, { ...observation(0), samples: [] }, [loader]);
    expect(others).toEqual([]);
    expect(second).toMatchObject({ atSeconds: 1, durationSeconds: 1 });
    // Of the rest, 0.55 s of CPU in 1.55 s, the generator had 0.35 s in this second.
    expect(second?.otherCores).toBeCloseTo(1 - 0.55 / 1.55, 9);
  });

  it('leave out readings of which nobody knows when they were made', () => {
    // It came 0.9 s late: a window of a tenth of a second would have all that was busy in one.
    const readings = [reading(0, 10), reading(1.9, 11.1, 0, false), reading(2, 13.5)];
    const seconds = neighbourSeconds(readings, 100, observation(1.55), []);
    expect(seconds.map(({ durationSeconds }) => durationSeconds)).toEqual([2]);
    expect(seconds[0]?.otherCores).toBeCloseTo(1, 9);
  });

  it('leave out readings just after another', () => {
    // Two came late, one after the other; what was busy between them is known to a few hundredths of a second, as they are.
    const readings = [reading(0, 10), reading(1.9, 12), reading(1.91, 12.06), reading(2.9, 13)];
    const seconds = neighbourSeconds(readings, 100, { ...observation(0), durationSeconds: 3 }, []);
    expect(seconds.map(({ durationSeconds }) => Math.round(durationSeconds * 10))).toEqual([19, 10]);
  });

  it.each([
    [0.01, [true, true]],
    [0.2, [false, false]],
  ])('are read in %d s: timely is %j', async (delay, expected) => {
    const real = realWorld();
    let now = 0;
    const clock = { ...real.clock, monotonicSeconds: () => now };
    const readFile = new Proxy(real.fs.readFile, {
      apply(read, _, parameters) {
        if (parameters[0] === '/proc/stat') now += delay;
        return Reflect.apply(read, undefined, parameters);
      },
    });
    const world = { ...real, clock, fs: { ...real.fs, readFile } };
    const meter = await createMachineMeter(world);
    const found = [await meter(), await meter()];
    expect(found.map((counters) => counters?.isTimely)).toEqual(expected);
    const window = await (await createNeighbourMeter(world)).begin([]);
    expect((await window.end({ serverSeconds: 0, loaderSeconds: 0 })) !== null).toBe(expected[0]);
  });

  it.each([
    [1, 1],
    [2.5, 3],
    [60, 60],
  ])(
    'of a load of %d s are read %d times, the last time a tenth of a second before its end',
    async (seconds, times) => {
      const real = realWorld();
      const periods: number[] = [];
      const every: World['clock']['every'] = (period) => {
        periods.push(period);
        return () => undefined;
      };
      const world: World = { ...real, clock: { ...real.clock, every } };
      const deployment: Pick<Deployment, 'usage'> = {
        usage: async () => ({ cpuSeconds: 0, pids: [process.pid], beside: [] }),
      };
      await watched(world, deployment, seconds, async (onStarted) => {
        // Not while the load generator starts.
        expect(periods).toEqual([]);
        onStarted();
        return { observation: null, outcomes: [], instances: null, losses: null };
      });
      expect(periods.map((period) => period * times)).toEqual([expect.closeTo(seconds - 0.1, 9)]);
    },
  );

  it('are drawn against the figure that they slow down, with the line along which trials are brought to the calmest', async () => {
    const { normal } = noise('allowance chart');
    const takenOf = (index: number) => ((index * 5) % 16) / 20;
    const made = makeRecord({
      cases: ['coredns', 'dinodns'].map((server, level) => ({
        server,
        trials: Array.from({ length: 8 }, (_, round) => ({
          qps: 1000 * (1 + level) * Math.exp(0.01 * normal() - takenOf(2 * round + level)),
        })),
      })),
    });
    const rest = { stealCores: 0, waitSeconds: null, hertz: null, thermalEvents: null };
    const trials = made.trials.map((trial) => {
      if (trial.status !== 'ok') return trial;
      const otherCores = takenOf(2 * trial.round + Number(trial.caseKey.startsWith('dinodns')));
      return { ...trial, neighbours: [{ ...rest, atSeconds: 1, durationSeconds: 1, otherCores }] };
    });
    const planned = made.cases.map((item) => ({ ...item, plannedTrials: 8 }));
    const { cases } = summarizeRun(planned, trials, 'coredns', {});
    const { svg } = await plotsOf({ ...made, trials, cases });
    expect(svg('allowance')).toContain('DinoDNS, tier 1, single, trial 3:');
    // Twice as many as CoreDNS's 1,000 where nothing is taken.
    const chart = chartsOf({ ...made, trials, cases }, 'relative', 'qps').drawn.find(
      ({ name }) => name === 'allowance',
    );
    const lines = chart?.type === 'lines' ? (chart.panels[0]?.lines ?? []) : [];
    const [calmest] =
      lines.find(({ series, isMarked }) => series === 'dinodns' && isMarked === false)?.points ?? [];
    expect(calmest?.x).toBe(0);
    expect(calmest?.y).toBeGreaterThan(1950);
    expect(calmest?.y).toBeLessThan(2050);
    expect((await plotsOf(made)).drawn.map(({ name }) => name)).not.toContain('allowance');
  });

  it('are counted and drawn in the reports, with what they explain', async () => {
    const record = makeRecord({
      cases: [
        { server: 'coredns', trials: Array.from({ length: 12 }, (_, n) => ({ qps: n < 6 ? 1000 : 500 })) },
      ],
    });
    const trials = record.trials.map((trial, index) => {
      if (trial.status !== 'ok') return trial;
      const otherCores = index < 6 ? 0 : 0.9;
      const second = {
        durationSeconds: 1,
        stealCores: 0,
        otherCores,
        waitSeconds: 0.1 + index / 1e6,
        hertz: null,
        thermalEvents: null,
      };
      return { ...trial, neighbours: [1, 2].map((atSeconds) => ({ ...second, atSeconds })) };
    });
    // The machine has two CPUs, of which bench may use one.
    const environment = { ...record.environment, cpuCores: 2, availableCpus: 1 };
    const shared = { ...record, trials, environment };
    const [note] = neighbourNotes(shared);
    expect((await plotsOf(shared)).svg('others')).toContain(
      'trial 7: others had 0.90 CPUs on average, 0.00 of them taken by the hypervisor',
    );
    expect((await plotsOf(record)).drawn.map(({ name }) => name)).not.toContain('others');
    expect(note).toContain(
      'other programs used at least 10 % of the machine in 12 of 24 seconds (up to 0.9 of 2 CPUs)',
    );
    expect(note).toContain("This explains 100 % of the scatter of a server's throughput.");
    expect(note?.length).toBeLessThan(200);
    const lines = renderCsv({ ...record, trials })
      .trim()
      .split('\n');
    const [header, last] = [lines[0], lines.at(-1)];
    expect(header).toContain(',steal_cores,other_cores,run_queue_wait_seconds,');
    expect(last).toMatch(/,0,0\.9,0\.2000\d*,/);
    expect(neighbourNotes(record)).toEqual([]);
  });
});
