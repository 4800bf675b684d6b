/** The figures of a load of `bench capacity throughput` and `caching`, from what was counted. */
import { describe, expect, it } from 'vitest';
import type { PlannedTrial, TrialEvents } from '../src/engine/experiment.ts';
import { BenchError } from '../src/errors.ts';
import { ESTIMANDS } from '../src/experiments/capacity/cases/evidence.ts';
import { figuresOf, measureCase, type ServerCases } from '../src/experiments/capacity/cases/server-cases.ts';
import type { TrialContext } from '../src/measure/trial-context.ts';
import type { LoadResult } from '../src/results/record.ts';

/** Two seconds of 2,000 lookups of five queries. */
const load: LoadResult = {
  queriesSent: 10_000,
  queriesCompleted: 10_000,
  queriesLost: 0,
  queriesInterrupted: 0,
  responseCodes: { NOERROR: 2000, NXDOMAIN: 8000 },
  averageRequestBytes: 30,
  averageResponseBytes: 44,
  runTimeSeconds: 2,
  qps: 5000,
  latencySeconds: { mean: 0.002, min: 0.001, max: 0.004, standardDeviation: 0.001 },
  connections: null,
  intervals: [],
  latencyPercentiles: null,
  latencyHistogram: null,
  hdrHistogram: null,
  lookups: {
    count: 2000,
    found: 2000,
    failed: 0,
    perSecond: 1000,
    latencySeconds: { mean: 0.01, min: 0.005, max: 0.02 },
    latencyPercentiles: null,
    hdrHistogram: null,
  },
};

describe('CPU of a load', () => {
  const figure = (cpuSeconds: number | null, name: string) => {
    const used = cpuSeconds === null ? null : { cpuSeconds, memoryBytes: 50e6 };
    const evidence = {
      names: 100,
      saturation: figuresOf(load, used, 'server'),
      half: null,
      counters: {},
      checkedAnswers: 400,
    };
    return ESTIMANDS.find((estimand) => estimand.name === name)?.of(evidence);
  };

  it('is that of the load, however long the server was observed', () => {
    expect(figure(0.98, 'cpu')).toBeCloseTo(0.98 / 2000, 9);
    expect(figure(0.98, 'cores')).toBeCloseTo(0.49, 9);
  });

  it('has its memory with what that is', () => {
    const used = { cpuSeconds: 1, memoryBytes: 50e6 };
    const figures = figuresOf(load, { ...used, memorySource: 'working-set' }, 'server');
    expect(figures).toMatchObject({ memoryBytes: 50e6, memorySource: 'working-set' });
    expect(figuresOf(load, used, 'server')).not.toHaveProperty('memorySource');
  });

  it('is unknown where nothing was observed', () => {
    expect(figure(null, 'cpu')).toBeNull();
    expect(figure(null, 'memory')).toBeNull();
  });
});

it('chooses other ports of its own where one was taken meanwhile', async () => {
  const item = { key: 'a', subject: 'a', point: { tier: 0.5 }, expectedSeconds: 1 };
  const trial: PlannedTrial = { key: 'a#0', case: item, round: 0, order: 0 };
  const ports: (number | null)[] = [];
  const cases = {
    servers: { plan: { cases: [item.point] } },
    runnable: async () => {
      ports.push(9000 + ports.length);
      return { server: { name: 'a' }, workload: 'w', names: 1, metricsPort: ports.at(-1) };
    },
  } as unknown as ServerCases;
  const target = {
    deploy: async () => {
      const code = ports.length < 2 ? 'E_PORT_TAKEN' : 'E_SERVER_START';
      throw new BenchError(code, 'it did not start', { fix: 'See its log.' });
    },
  };
  const context = {
    ...{ target, programOf: () => [], rawDirectory: 'raw', signal: new AbortController().signal },
    configuration: { kubernetes: {} },
  } as unknown as TrialContext;
  const on = { phase: () => undefined } as unknown as TrialEvents;
  await expect(measureCase(context, cases, trial, on)).rejects.toMatchObject({ code: 'E_SERVER_START' });
  expect(ports).toEqual([9000, 9001]);
});
