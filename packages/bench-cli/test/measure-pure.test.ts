import { encodeHistogram, Histogram } from '@dinodns-bench/load';
import { describe, expect, it } from 'vitest';
import { configure } from '../src/config/configuration.ts';
import { DEFAULTS } from '../src/config/settings.ts';
import { BenchError, type ErrorCode } from '../src/errors.ts';
import type { LoadOutcome } from '../src/loaders/loader.ts';
import { enforcedAllowance, limitingFactor, loaderAllowance } from '../src/measure/limiting-factor.ts';
import { limitOfLoad, metricsOf, type Subject } from '../src/measure/measured.ts';
import { mergeLoads, mergeTogether, recordedLoads } from '../src/measure/merge-loads.ts';
import { addObservations } from '../src/measure/merge-observations.ts';
import { responseCodeProblem } from '../src/measure/response-codes.ts';
import { withServer } from '../src/measure/trial.ts';
import type { TrialContext } from '../src/measure/trial-context.ts';
import { clusterNameWarnings, runWarnings } from '../src/measure/warnings.ts';
import { type PlannedTrial, planRun } from '../src/plan/plan.ts';
import type {
  CpuLimitMethod,
  Environment,
  LoadResult,
  LookupResult,
  Observation,
} from '../src/results/record.ts';
import { withClusterNames } from '../src/servers/cluster-names.ts';
import { findServer } from '../src/servers/registry.ts';
import type { Server } from '../src/servers/server.ts';

const load = (changes: Partial<LoadResult> = {}): LoadResult => ({
  queriesSent: 1000,
  queriesCompleted: 1000,
  queriesLost: 0,
  queriesInterrupted: 0,
  responseCodes: { NOERROR: 500, NXDOMAIN: 500 },
  averageRequestBytes: 30,
  averageResponseBytes: 44,
  runTimeSeconds: 1,
  qps: 1000,
  latencySeconds: { mean: 0.002, min: 0.001, max: 0.004, standardDeviation: 0.001 },
  connections: null,
  intervals: [{ atSeconds: 1, qps: 1000 }],
  latencyPercentiles: null,
  latencyHistogram: null,
  hdrHistogram: null,
  lookups: null,
  ...changes,
});

describe('limitingFactor', () => {
  const evidence = {
    serverCores: 0.5,
    serverAllowance: 1,
    loaderCores: 0.5,
    loaderAllowance: 1,
    loaderWasTheLimit: null,
    qps: 20_000,
    ratePerSecond: null,
  };
  it.each([
    ['server', { serverCores: 0.99 }],
    ['loader', { loaderCores: 0.99 }],
    ['unknown', {}],
    ['unknown', { serverCores: null, loaderCores: null }],
    ['server', { serverCores: 0.98, loaderCores: 0.95 }],
    ['loader', { serverCores: 0.93, loaderCores: 0.99 }],
    ['server', { serverCores: 0.49, serverAllowance: 0.5 }],
    ['loader', { loaderCores: 1.9, loaderAllowance: 2, serverCores: 1.5, serverAllowance: 2 }],
    ['rate', { ratePerSecond: 20_100, serverCores: 0.99 }],
    ['server', { ratePerSecond: 30_000, serverCores: 0.99 }],
    ['unknown', { ratePerSecond: 30_000 }],
    // An open loop holds its rate however late it is.
    ['loader', { ratePerSecond: 20_100, loaderWasTheLimit: true }],
    ['loader', { ratePerSecond: 20_100, loaderWasTheLimit: true, serverCores: 0.99 }],
    ['rate', { ratePerSecond: 20_100, loaderWasTheLimit: false }],
    // A loader that polls uses all of its CPU, limit or not.
    ['unknown', { loaderCores: 1, loaderWasTheLimit: false }],
    ['server', { loaderCores: 1, loaderWasTheLimit: false, serverCores: 0.95 }],
    ['loader', { loaderCores: 0.2, loaderWasTheLimit: true }],
    ['server', { loaderCores: 0.2, loaderWasTheLimit: true, serverCores: 0.95 }],
  ] as const)('is %s for %j', (expected, changes) => {
    expect(limitingFactor({ ...evidence, ...changes })).toBe(expected);
  });
});

describe('limitOfLoad', () => {
  const subject = {
    context: {
      configuration: { loaders: 1, threads: 1 },
      target: { kind: 'local', cpuLimits: { method: 'cgroup-v2-quota' } },
      world: { machine: { availableCpus: 2 } },
      workloads: new Map([['default', { workload: {} }]]),
    },
    planned: { case: { workload: 'default', ratePerSecond: null } },
    server: {},
    deployment: { instances: [{ cpuAllowance: 1 }] },
  } as unknown as Subject;
  const used = (durationSeconds: number, cpuSeconds: number) =>
    ({ durationSeconds, cpuSeconds, cpuCores: cpuSeconds / durationSeconds }) as Observation;

  it('does not count the time in which a loader waits for a lost answer', () => {
    // Both needed nearly all of their CPU for ten seconds; then dnsperf waited for one answer for five.
    const result = load({ runTimeSeconds: 10, queriesLost: 1 });
    const outcome = { result, observation: used(15, 9.9), wasTheLimit: null } as unknown as LoadOutcome;
    expect(limitOfLoad(subject, [outcome], result, used(10, 9.5))).toBe('loader');
  });

  it('takes the CPU of a server over all the time in which one of several loaders sent', () => {
    // 0.85 of a CPU for eleven seconds, since one began a second after the other.
    const outcomes = [0, 1].map((startSeconds) => ({
      ...{ result: load({ runTimeSeconds: 10 }), observation: used(10, 1), wasTheLimit: false },
      window: { startSeconds, endSeconds: startSeconds + 10 },
    })) as unknown as LoadOutcome[];
    const server = used(11, 0.85 * 11);
    for (const rate of [null, 1e6]) {
      const merged = mergeTogether(outcomes, rate);
      expect(limitOfLoad(subject, outcomes, merged, server)).toBe('unknown');
      expect(metricsOf(merged, server)).toMatchObject({
        cpuCores: expect.closeTo(0.85, 9),
        cpuSecondsPerQuery: (0.85 * 11) / 2000,
      });
    }
  });
});

describe('metricsOf', () => {
  it('has the CPUs that a server used under load, without the start of the load generator', () => {
    // The window holds half a second more than the load, as with the built-in loader, which compiles its code first.
    const server = { cpuSeconds: 0.98, cpuCores: 0.98 / 1.54, durationSeconds: 1.54 } as Observation;
    expect(metricsOf(load({ runTimeSeconds: 1 }), server).cpuCores).toBe(0.98);
    expect(metricsOf(load(), null).cpuCores).toBeNull();
  });
});

describe('loaderAllowance', () => {
  it('is a core for each thread, unless a CPU limit is less', () => {
    expect(loaderAllowance(2, null)).toBe(2);
    expect(loaderAllowance(2, 7)).toBe(2);
    expect(loaderAllowance(2, 0.5)).toBe(0.5);
  });
});

describe('enforcedAllowance', () => {
  it.each([
    ['cgroup-v1-quota', [0.75, 0.75], 1.5],
    ['affinity', [0.75, 0.75], 2],
    ['none', [0.5], 8],
  ] as const)('under %s %j is %d cores', (method, allowances, expected) => {
    expect(enforcedAllowance(method, allowances, 8)).toBe(expected);
  });
});

describe('runWarnings', () => {
  const environment = {
    availableCpus: 2,
    loadAverage: 0,
    socketReceiveBufferBytes: { default: 212_992, max: 4_194_304 },
  } as Environment;
  const warningsOf = (
    flags: Record<string, string>,
    method: CpuLimitMethod,
    changes: Partial<Environment> = {},
  ) => {
    const configuration = configure({ env: {}, flags });
    const limits = { requested: 'quota', method, reason: method === 'affinity' ? 'no right' : null } as const;
    return runWarnings(configuration, planRun(configuration, 2), { ...environment, ...changes }, limits).join(
      '\n',
    );
  };
  it('are none for the defaults on a quiet machine', () => {
    expect(warningsOf({}, 'cgroup-v1-quota')).toBe('');
  });
  it('do not call the machine busy because of the minute before the run', () => {
    expect(warningsOf({}, 'cgroup-v1-quota', { loadAverage: 1.5 })).toBe('');
  });
  it.each<[string, Record<string, string>, CpuLimitMethod, Partial<Environment>, string]>([
    ['a fallback', {}, 'affinity', {}, 'not as asked: no right'],
    ['a fraction that affinity cannot hold', { tier: '0.5' }, 'affinity', {}, 'tier 0.5 was not enforced'],
    [
      'a machine that is too small',
      { tier: '2', mode: 'both' },
      'cgroup-v1-quota',
      {},
      '2 single, 2 multi need more',
    ],
    [
      'a window larger than the buffer',
      { outstanding: '1000' },
      'cgroup-v1-quota',
      {},
      'about 208 small datagrams',
    ],
  ])('tell of %s', (_what, flags, method, changes, expected) => {
    expect(warningsOf(flags, method, changes)).toContain(expected);
  });
});

describe('mergeLoads', () => {
  it('adds counts and rates and weighs latency by completed queries', () => {
    const merged = mergeLoads([
      load(),
      load({
        queriesSent: 3005,
        queriesCompleted: 3000,
        queriesLost: 5,
        qps: 3000,
        responseCodes: { NOERROR: 1500, REFUSED: 1500 },
        latencySeconds: { mean: 0.004, min: 0.0005, max: 0.003, standardDeviation: 0.002 },
      }),
    ]);
    expect(merged).toMatchObject({
      queriesSent: 4005,
      queriesCompleted: 4000,
      queriesLost: 5,
      qps: 4000,
      responseCodes: { NOERROR: 2000, NXDOMAIN: 500, REFUSED: 1500 },
      intervals: [{ atSeconds: 1, qps: 2000 }],
    });
    expect(merged.latencySeconds).toMatchObject({ mean: 0.0035, min: 0.0005, max: 0.004 });
  });

  it('merges standard deviations exactly, as if all samples had been one', () => {
    const a = [1, 2, 3, 4];
    const b = [10, 12];
    const statistics = (values: number[]) => {
      const mean = values.reduce((total, value) => total + value, 0) / values.length;
      const squares = values.reduce((total, value) => total + (value - mean) ** 2, 0);
      return {
        mean,
        min: Math.min(...values),
        max: Math.max(...values),
        standardDeviation: Math.sqrt(squares / (values.length - 1)),
      };
    };
    const merged = mergeLoads([
      load({ queriesCompleted: 4, latencySeconds: statistics(a) }),
      load({ queriesCompleted: 2, latencySeconds: statistics(b) }),
    ]);
    const whole = statistics([...a, ...b]);
    expect(merged.latencySeconds?.mean).toBeCloseTo(whole.mean, 12);
    expect(merged.latencySeconds?.standardDeviation).toBeCloseTo(whole.standardDeviation, 12);
  });

  it('weighs the time of a connection by their number', () => {
    const connections = (count: number, mean: number | null) => ({
      ...{ count, reconnections: 0 },
      latencySeconds: mean === null ? null : { mean, min: mean / 2, max: 2 * mean },
    });
    const merged = mergeLoads([
      load({ connections: connections(30, 0.001) }),
      load({ connections: connections(10, 0.005) }),
      load({ connections: connections(7, null) }),
    ]);
    expect(merged.connections).toEqual({
      ...{ count: 47, reconnections: 0 },
      latencySeconds: { mean: expect.closeTo(0.002, 12), min: 0.0005, max: 0.01 },
    });
  });

  it('weighs the time of lookups by those that have one', () => {
    const lookups = (milliseconds: number, timed: number, failed: number): LookupResult => {
      const histogram = new Histogram();
      for (let count = 0; count < timed; count += 1) histogram.record(milliseconds * 1e6);
      const seconds = milliseconds / 1000;
      return {
        ...{ count: timed + failed, found: timed, failed, perSecond: timed + failed },
        latencySeconds: { mean: seconds, min: seconds, max: seconds },
        latencyPercentiles: null,
        hdrHistogram: encodeHistogram(histogram),
      };
    };
    // Most lookups of the second ended with a lost query.
    const merged = mergeLoads([
      load({ lookups: lookups(1, 900, 0) }),
      load({ lookups: lookups(11, 100, 800) }),
    ]);
    expect(merged.lookups).toMatchObject({ count: 1800, found: 1000, failed: 800 });
    expect(merged.lookups?.latencySeconds?.mean).toBeCloseTo(0.002, 9);
  });

  it('adds the intervals that ended together, not the n-th of each', () => {
    const series = (...ends: number[]) => ends.map((atSeconds) => ({ atSeconds, qps: 1000 * atSeconds }));
    const intervalsOf = (...all: LoadResult['intervals'][]) =>
      mergeLoads(all.map((intervals) => load({ intervals }))).intervals.map(({ qps }) => qps);
    const whole = series(0.25, 0.5, 0.75, 1, 1.25, 1.5);
    // The first is unknown, and the third lasted for two.
    expect(intervalsOf(whole, series(0.5, 0.75, 1.25, 1.5))).toEqual([1000, 1500, 2500, 3000]);
    expect(intervalsOf(series(0.5, 0.75, 1.25, 1.5), whole)).toEqual([1000, 1500, 2500, 3000]);
    expect(intervalsOf(whole, [])).toEqual([]);
  });

  it('does not let a loader without answers spoil the latency of the other', () => {
    const merged = mergeLoads([
      load(),
      load({ queriesCompleted: 0, latencySeconds: null, averageResponseBytes: null }),
    ]);
    expect(merged.latencySeconds?.mean).toBe(0.002);
    expect(merged.averageResponseBytes).toBe(44);
  });
});

describe('mergeTogether', () => {
  // The server answers 1,000 a second: each loader gets them all in the second that it has alone, and else half.
  const outcome = (startSeconds: number, window = true) => ({
    result: load({ runTimeSeconds: 10, queriesCompleted: 1000 + 9 * 500, qps: 550 }),
    ...(window ? { window: { startSeconds, endSeconds: startSeconds + 10 } } : {}),
  });

  it('counts what a loader got while it was alone as that of the server, not of another one', () => {
    expect(mergeTogether([outcome(0), outcome(1)], null).qps).toBeCloseTo(1000, 9);
  });

  it('adds the rates where one was asked for, or where it is not known when they sent', () => {
    expect(mergeTogether([outcome(0), outcome(1)], 1100).qps).toBe(1100);
    expect(mergeTogether([outcome(0), outcome(1, false)], null).qps).toBe(1100);
    expect(mergeTogether([outcome(0)], null).qps).toBe(550);
  });
});

describe('recordedLoads', () => {
  const whole = load({
    latencyHistogram: [{ lowSeconds: 0.001, highSeconds: 0.002, count: 1000 }],
    hdrHistogram: 'HISTFAAA',
  });

  it('of a single loader has everything but the histograms, which the merged load has', () => {
    expect(recordedLoads([whole])).toEqual([load()]);
    expect(mergeLoads([whole])).toEqual(whole);
  });

  it('of several loaders has those of each', () => {
    expect(recordedLoads([whole, whole])).toEqual([whole, whole]);
  });
});

describe('responseCodeProblem', () => {
  const predicted = new Map([
    ['NOERROR', 100],
    ['NXDOMAIN', 100],
  ]);
  it('accepts a mix that is off by less than one pass, or by what was lost', () => {
    expect(
      responseCodeProblem(load({ responseCodes: { NOERROR: 550, NXDOMAIN: 450 } }), predicted, 1),
    ).toBeNull();
    const lossy = load({
      queriesSent: 2000,
      queriesLost: 1000,
      responseCodes: { NOERROR: 950, NXDOMAIN: 50 },
    });
    expect(responseCodeProblem(lossy, predicted, 1)).toBeNull();
  });
  it('refuses a code that the workload does not predict, even once', () => {
    const problem = responseCodeProblem(
      load({ responseCodes: { NOERROR: 500, NXDOMAIN: 499, SERVFAIL: 1 } }),
      predicted,
      1,
    );
    expect(problem).toContain('SERVFAIL 0.10 %');
  });
  it('refuses a mix that no window of the workload can bring', () => {
    expect(responseCodeProblem(load({ responseCodes: { NOERROR: 1000 } }), predicted, 1)).toContain(
      'NOERROR 100.00 %',
    );
  });
});

describe('addObservations', () => {
  const observation: Observation = {
    cpuSource: 'cgroup-v1',
    durationSeconds: 10,
    cpuSeconds: 9,
    cpuCores: 0.9,
    memoryBytes: { mean: 100, max: 120, source: 'pss' },
    throttling: { periods: 100, throttledPeriods: 10, throttledSeconds: 0.5 },
    processes: 2,
    sampleIntervalSeconds: 0.5,
    samples: [{ atSeconds: 0.5, cpuCores: 0.9, memoryBytes: 100 }],
  };
  it('adds CPU, memory and throttling', () => {
    expect(addObservations([observation, observation])).toMatchObject({
      cpuSeconds: 18,
      cpuCores: 1.8,
      memoryBytes: { mean: 200, max: 240, source: 'pss' },
      throttling: { periods: 200, throttledPeriods: 20, throttledSeconds: 1 },
      processes: 4,
      samples: [{ atSeconds: 0.5, cpuCores: 1.8, memoryBytes: 200 }],
    });
  });
  it('is null when a part is missing, because half a sum is worse than none', () => {
    expect(addObservations([observation, null])).toBeNull();
    expect(addObservations([])).toBeNull();
  });
});

describe('the names of a generated cluster', () => {
  const named = (...names: string[]) => names.map((name) => withClusterNames(findServer(name, DEFAULTS)));

  it('are said to be fewer in zone files than in the cluster that CoreDNS reads', () => {
    expect(clusterNameWarnings(named('coredns', 'knot', 'nsd'))).toEqual([
      expect.stringMatching(/^knot and nsd: only the records .* compare rates and CPU, not memory$/),
    ]);
  });

  it('are the same where all servers have zone files, or none', () => {
    expect(clusterNameWarnings(named('knot', 'nsd'))).toEqual([]);
    expect(clusterNameWarnings(named('coredns', 'echo'))).toEqual([]);
  });
});

describe('withServer', () => {
  const failing = (code: ErrorCode, message: string) =>
    new BenchError(code, message, { fix: `Mend ${code}.` });

  /** A trial whose measurement and whose removal end so. */
  const trial = (measured: Promise<string>, removed: Promise<void>) => {
    const died = new Promise<never>(() => undefined);
    const context = {
      ...{ signal: new AbortController().signal, configuration: { kubernetes: {} } },
      ...{
        programOf: () => null,
        rawDirectory: '',
        target: { deploy: async () => ({ died, remove: () => removed }) },
      },
    } as unknown as TrialContext;
    const planned = {
      key: 'k',
      round: 0,
      order: 0,
      case: { server: 'a', tier: 1, mode: 'single' },
    } as unknown as PlannedTrial;
    return withServer(context, planned, {} as Server, { phase: () => undefined }, () => measured);
  };

  it('says first why a trial failed, where its server cannot be removed either', async () => {
    const silent = failing('E_NO_FIGURES', 'the kubelet of node-2 is silent');
    const left = failing('E_CLUSTER_LEFTOVERS', 'pods of coredns still exist');
    await expect(trial(Promise.reject(silent), Promise.resolve())).rejects.toBe(silent);
    await expect(trial(Promise.resolve('figures'), Promise.reject(left))).rejects.toBe(left);
    await expect(trial(Promise.reject(silent), Promise.reject(left))).rejects.toMatchObject({
      code: 'E_NO_FIGURES',
      message: 'the kubelet of node-2 is silent; pods of coredns still exist',
      fix: 'Mend E_NO_FIGURES. Mend E_CLUSTER_LEFTOVERS.',
    });
    expect(await trial(Promise.resolve('figures'), Promise.resolve())).toBe('figures');
  });
});
