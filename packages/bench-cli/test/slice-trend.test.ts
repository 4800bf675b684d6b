/** A server that is still warming up in a duet. */
import { describe, expect, it } from 'vitest';
import { findings } from '../src/report/findings.ts';
import type { OkTrial, RunRecord, Slice } from '../src/results/record.ts';
import { examineSliceTrends } from '../src/stats/slice-trend.ts';
import { makeRecord } from './fixtures/make-record.ts';
import { noise } from './support/simulate.ts';

function sliceOf(cpuSecondsPerQuery: number, position: number): Slice {
  return {
    position,
    atSeconds: position,
    durationSeconds: 0.5,
    qps: 1000,
    latencySeconds: 0.001,
    cpuSecondsPerQuery,
    lostRatio: 0,
    limitedBy: 'unknown',
    neighbours: null,
  };
}

/** Rounds of three slices with noise of 4 %; the first costs `factor` times as much. */
function recordOf(factor: number, rounds: number, seed = ''): RunRecord {
  const { normal } = noise(`slices ${factor} ${seed}`);
  const record = makeRecord({
    cases: [{ server: 'coredns', trials: Array.from({ length: rounds }, () => ({ qps: 1000 })) }],
  });
  const trials = record.trials.map((trial) => {
    if (trial.status !== 'ok') return trial;
    const slices = [factor, 1, 1].map((cost, index) =>
      sliceOf(cost * 1e-5 * Math.exp(0.04 * normal()), index),
    );
    return { ...trial, duet: { slices, idleCores: 0, sharedMemoryBytes: 0 } };
  });
  return { ...record, trials };
}

const okOf = ({ trials }: RunRecord) => trials.filter((trial): trial is OkTrial => trial.status === 'ok');

describe('a trend within the rounds of a duet', () => {
  it('is found, and reports say what to do', () => {
    const record = recordOf(1.15, 7);
    const [trend] = examineSliceTrends(okOf(record));
    expect(trend?.relativeChange).toBeGreaterThan(0.08);
    expect(trend?.relativeChange).toBeLessThan(0.22);
    expect(findings(record).join('\n')).toMatch(
      /^CoreDNS at tier 1 single needed 1\d\.\d % more CPU per query in the first slice of a round .*A longer --warmup/m,
    );
  });

  it('that falls is told without a second sign', () => {
    expect(findings(recordOf(0.85, 7)).join('\n')).toMatch(
      /needed 1\d\.?\d* % less CPU per query in the first slice of a round .*\(95 % interval [\d.]+ to [\d.]+ %\)/,
    );
  });

  it('is that of the time per query where slices have no CPU figures, as on a cluster', () => {
    const record = recordOf(1.15, 7);
    for (const { duet } of okOf(record)) {
      for (const slice of duet?.slices ?? []) {
        slice.qps = 1e-2 / (slice.cpuSecondsPerQuery ?? 1);
        slice.cpuSecondsPerQuery = null;
      }
    }
    expect(examineSliceTrends(okOf(record))).toMatchObject([{ figure: 'time' }]);
    expect(findings(record).join('\n')).toMatch(/needed 1\d\.\d % more time per query in the first slice/);
  });

  it('is not found where there is none, in at most one of twenty runs', () => {
    const told = Array.from({ length: 200 }, (_, run) => examineSliceTrends(okOf(recordOf(1, 7, `${run}`))));
    expect(told.filter(({ length }) => length > 0).length).toBeLessThanOrEqual(10);
    expect(examineSliceTrends(okOf(recordOf(1.15, 3)))).toEqual([]);
    expect(
      examineSliceTrends(okOf(makeRecord({ cases: [{ server: 'coredns', trials: [{ qps: 1 }] }] }))),
    ).toEqual([]);
  });
});
