import { describe, expect, it } from 'vitest';
import { recordSchema } from '../src/results/record.ts';
import { caseKey, type Failed, type Measured, makeRecord } from './fixtures/make-record.ts';

const qps = (...values: number[]): Measured[] => values.map((value) => ({ qps: value }));
const failed: Failed = { failed: 'E_SERVER_DIED' };

/** The case of that server in the record. */
function caseOf(record: ReturnType<typeof makeRecord>, server: string) {
  const found = record.cases.find((item) => item.server === server);
  if (found === undefined) throw new Error(`no case of ${server}`);
  return found;
}

describe('the cases of a run', () => {
  it('makes cases that satisfy the schema of the record', () => {
    const record = makeRecord({
      cases: [
        { server: 'coredns', trials: qps(100, 101, 102) },
        {
          server: 'dinodns',
          trials: [failed, { qps: 200, latencySeconds: null, memoryBytes: null }, ...qps(203)],
        },
      ],
    });
    expect(recordSchema.safeParse(record).error?.issues).toBeUndefined();
  });

  it('counts only successful trials, and says how many failed', () => {
    const record = makeRecord({
      cases: [{ server: 'coredns', plannedTrials: 5, trials: [...qps(100), failed, ...qps(300)] }],
    });
    const item = caseOf(record, 'coredns');
    expect(item.trials).toEqual({ planned: 5, ok: 2, failed: 1 });
    expect(item.totals.queriesSent).toBe(100 * 600 + 300 * 600);
    expect(item.totals.responseCodes).toEqual({ NOERROR: 120_000, NXDOMAIN: 120_000 });
    expect(item.summary?.qps.median).toBe(200);
  });

  it('has neither summary nor comparison without a successful trial', () => {
    const record = makeRecord({
      cases: [
        { server: 'coredns', trials: qps(100, 100) },
        { server: 'dinodns', trials: [failed, failed] },
        { server: 'knot', plannedTrials: 2, trials: [] },
      ],
    });
    for (const server of ['dinodns', 'knot']) {
      expect(caseOf(record, server)).toMatchObject({ summary: null, comparison: null, limitedBy: 'unknown' });
    }
    expect(caseOf(record, 'knot').trials).toEqual({ planned: 2, ok: 0, failed: 0 });
  });

  it('compares with the baseline of the same tier and mode only', () => {
    const record = makeRecord({
      cases: [
        { server: 'coredns', tier: 1, trials: qps(100, 100, 101) },
        { server: 'dinodns', tier: 1, trials: qps(200, 201, 202) },
        { server: 'coredns', tier: 2, mode: 'multi', trials: qps(400, 401, 402) },
        { server: 'dinodns', tier: 2, mode: 'multi', trials: qps(200, 201, 202) },
        { server: 'dinodns', tier: 2, mode: 'single', trials: qps(200, 201, 202) },
      ],
    });
    const comparisons = record.cases.map(({ comparison }) => comparison?.baseline ?? null);
    const [first, second] = [caseKey('coredns', 1, 'single'), caseKey('coredns', 2, 'multi')];
    expect(comparisons).toEqual([null, first, null, second, null]);
    expect(record.cases.map(({ comparison }) => comparison?.qps.verdict)).toEqual([
      undefined,
      'faster',
      undefined,
      'slower',
      undefined,
    ]);
  });

  it('pairs trials of the same round, so that a missing one does not shift the others', () => {
    const record = makeRecord({
      cases: [
        { server: 'coredns', trials: qps(100, 200, 300) },
        { server: 'dinodns', trials: [failed, ...qps(220, 331)] },
      ],
    });
    const delta = caseOf(record, 'dinodns').comparison?.qps;
    expect(delta?.n).toBe(2);
    // Median of 220 and 331 against that of 200 and 300, not of 100, 200 and 300.
    expect(delta?.relative).toBeCloseTo(275.5 / 250 - 1, 12);
  });

  it('does not compare where no round has both', () => {
    const record = makeRecord({
      cases: [
        { server: 'coredns', trials: [...qps(100), failed] },
        { server: 'dinodns', trials: [failed, ...qps(200)] },
      ],
    });
    expect(caseOf(record, 'dinodns')).toMatchObject({ comparison: null, summary: { qps: { median: 200 } } });
  });

  it('compares what was observed and leaves out what was not', () => {
    const measured = (memoryBytes: number | null): Measured[] =>
      [1, 2, 3].map((round) => ({ qps: 100 + round, memoryBytes, cpuSecondsPerQuery: 0.00001 }));
    const record = makeRecord({
      cases: [
        { server: 'coredns', trials: measured(null) },
        { server: 'dinodns', trials: measured(5e7) },
      ],
    });
    const { comparison, summary } = caseOf(record, 'dinodns');
    expect(comparison?.memoryBytes).toBeNull();
    expect(comparison?.cpuSecondsPerQuery?.verdict).toBe('no difference shown');
    expect(summary?.memoryBytes?.median).toBe(5e7);
    expect(summary?.throttledSeconds).toBeNull();
  });

  it('says what limited a case only if its trials agree', () => {
    const limits = (...limitedBy: ('server' | 'loader' | 'rate')[]): Measured[] =>
      limitedBy.map((limit) => ({ qps: 100, limitedBy: limit }));
    const record = makeRecord({
      cases: [
        { server: 'coredns', trials: limits('server', 'server') },
        { server: 'dinodns', trials: limits('loader', 'server') },
        { server: 'knot', trials: limits('rate', 'rate') },
      ],
    });
    expect(record.cases.map(({ limitedBy }) => limitedBy)).toEqual(['server', 'unknown', 'rate']);
  });
});
