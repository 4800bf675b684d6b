import { describe, expect, it } from 'vitest';
import { explainCaseMarks } from '../src/report/cases.ts';
import { runStatus } from '../src/report/status.ts';
import { verdictSentence } from '../src/report/verdict-sentence.ts';
import type { LimitedBy } from '../src/results/record.ts';
import { type CaseInput, makeRecord } from './fixtures/make-record.ts';
import { renderTerminal } from './support/render.ts';

interface Sides {
  baseline: readonly number[];
  values: readonly number[];
  limitedBy?: LimitedBy;
  contended?: boolean;
}

/** The sentence about DinoDNS against CoreDNS. */
function sentence({ baseline, values, limitedBy = 'server', contended = false }: Sides): string {
  const record = makeRecord({
    cases: [
      { server: 'coredns', trials: baseline.map((qps) => ({ qps })) },
      { server: 'dinodns', contended, trials: values.map((qps) => ({ qps, limitedBy })) },
    ],
  });
  const item = record.cases[1];
  if (item === undefined) throw new Error('no case');
  return verdictSentence(item, record);
}

describe('the sentence about a case', () => {
  it('gives a multiple with its interval for a large difference', () => {
    expect(sentence({ baseline: [100, 100, 100], values: [190, 192, 188] })).toBe(
      'DinoDNS answered 1.9 × as many queries per second as CoreDNS (95 % interval 1.8–2.0).',
    );
  });

  it('gives a percentage for a small difference, in both directions', () => {
    expect(sentence({ baseline: [1000, 1000, 1000], values: [1200, 1204, 1196] })).toBe(
      'DinoDNS answered 20.0 % more queries per second than CoreDNS (95 % interval 19.0–21.0 % more).',
    );
    expect(sentence({ baseline: [1000, 1000, 1000], values: [800, 804, 796] })).toBe(
      'DinoDNS answered 20.0 % fewer queries per second than CoreDNS (95 % interval 19.0–21.0 % fewer).',
    );
  });

  it('names no winner where the interval contains zero', () => {
    const text = sentence({ baseline: [100, 105, 95], values: [120, 100, 110] });
    expect(text).toMatch(
      /^No difference shown between DinoDNS and CoreDNS: the 95 % interval runs from \d+ % fewer to \d+ % more queries per second \(3 paired trials; a difference of less than about 36.3 % upwards or 26.6 % downwards would not have shown\)\.$/,
    );
    expect(text).not.toContain('answered');
  });

  it('says why not where equal figures keep the test from confirming the interval', () => {
    const values = [99, 101, 101, 102, 101, 101, 102, 100, 103, 101];
    expect(sentence({ baseline: values.map(() => 100), values })).toBe(
      'No difference shown between DinoDNS and CoreDNS: the 95 % interval runs from 0.4 % more to 2.0 % more queries per second ' +
        '(10 paired trials; the test does not confirm it, because of equal figures or zeros: p 0.067).',
    );
  });

  it('tells what could have been shown in both directions where they are far apart', () => {
    // Ratios of 0.5, 1 and 2: 1 ± 4.303 · ln 2 ÷ √3 on logarithms, which is a factor of 5.6.
    expect(sentence({ baseline: [100, 100, 100], values: [50, 100, 200] })).toContain(
      '; a difference of less than about 459.5 % upwards or 82.1 % downwards would not have shown).',
    );
  });

  it('claims no size that equal figures could have shown', () => {
    expect(sentence({ baseline: [100, 100, 100], values: [100, 100, 100] })).toMatch(
      /\(3 paired trials\)\.$/,
    );
  });

  it('shows nothing from one trial', () => {
    expect(sentence({ baseline: [100], values: [300] })).toBe(
      'DinoDNS answered 200.0 % more queries per second than CoreDNS in one trial of each: no interval, so nothing is shown yet.',
    );
  });

  it('rounds the interval outwards, and never so far that it loses its verdict', () => {
    const text = sentence({ baseline: [10_000, 10_000, 10_000], values: [10_010, 10_012, 10_008] });
    const [, low, high] = /95 % interval ([\d.]+)–([\d.]+) % more/.exec(text) ?? [];
    expect(Number(low)).toBeGreaterThan(0);
    // True ends: 0.1 % ± 4.303 · 0.02 % ÷ √3.
    expect(Number(low)).toBeLessThanOrEqual(0.0503);
    expect(Number(high)).toBeGreaterThanOrEqual(0.1496);
  });

  it('says so where a fixed rate was the limit of one of them', () => {
    expect(sentence({ baseline: [100, 100, 101], values: [200, 201, 202], limitedBy: 'rate' })).toContain(
      '; but DinoDNS ran at a fixed rate',
    );
  });

  it.each([
    ['loader', 'the load generator, not the server, limited DinoDNS'],
    ['unknown', 'what limited DinoDNS is unknown'],
  ] as const)('is about CPU per query where the limit was not the server but: %s', (limitedBy, words) => {
    expect(sentence({ baseline: [100, 100, 101], values: [200, 201, 202], limitedBy })).toBe(
      'DinoDNS used 50.2 % less CPU per query than CoreDNS (95 % interval 49.7–50.5 % less). ' +
        `DinoDNS answered at least 201 queries per second, CoreDNS 100: ${words}.`,
    );
  });

  it('compares nothing where no CPU was observed and the servers were not the limit', () => {
    const trials = (qps: number) =>
      [0, 1, 2].map((noise) => ({
        qps: qps + noise,
        cpuSecondsPerQuery: null,
        limitedBy: 'unknown' as const,
      }));
    const record = makeRecord({
      cases: [
        { server: 'coredns', trials: trials(100) },
        { server: 'dinodns', trials: trials(200) },
      ],
    });
    const [, item] = record.cases;
    if (item === undefined) throw new Error('no case');
    expect(verdictSentence(item, record)).toBe(
      'DinoDNS and CoreDNS are not compared, because their throughput was not limited by the servers. ' +
        'DinoDNS answered at least 201 queries per second, CoreDNS at least 101: what limited DinoDNS and CoreDNS is unknown.',
    );
  });

  it('counts the limits of trials that disagree, in the sentence, the marks and the tables', () => {
    const limits = ['loader', 'unknown', 'loader', 'unknown', 'loader', 'server'] as const;
    const record = makeRecord({
      cases: [
        { server: 'coredns', trials: limits.map((_, round) => ({ qps: 100 + round })) },
        { server: 'dinodns', trials: limits.map((limitedBy, round) => ({ qps: 200 + round, limitedBy })) },
      ],
    });
    const [, item] = record.cases;
    if (item === undefined) throw new Error('no case');
    const counted = '1 of 6 trials (load generator in 3, unknown in 2)';
    expect(item.limitedBy).toBe('unknown');
    expect(verdictSentence(item, record)).toContain(`: DinoDNS was the limit in ${counted}.`);
    expect(explainCaseMarks(record)).toEqual([
      `† DinoDNS, tier 1 single: Not limited by the server in every trial, so the server may be able to do more: the server was the limit in ${counted}.`,
    ]);
    const text = renderTerminal(record, { delta: 'relative' });
    expect(text).toMatch(/^1 × 1 vCPU.* mixed$/m);
    expect(text.replaceAll(/\n {2}/g, ' ')).toContain(`DinoDNS: the server was the limit in ${counted}`);
  });

  it('says so where the machine had too few cores', () => {
    expect(sentence({ baseline: [100, 100, 101], values: [200, 201, 202], contended: true })).toContain(
      '(contended)',
    );
  });

  it('describes the baseline, and a server that cannot be compared, without a comparison', () => {
    const record = makeRecord({
      cases: [
        { server: 'coredns', trials: [{ qps: 41_536 }, { failed: 'E_ALL_LOST' }] },
        { server: 'dinodns', trials: [{ failed: 'E_ALL_LOST' }, { qps: 50_000 }] },
        { server: 'knot', trials: [{ failed: 'E_ALL_LOST' }, { failed: 'E_ALL_LOST' }] },
        { server: 'nsd', plannedTrials: 2, trials: [] },
      ],
    });
    expect(record.cases.map((item) => verdictSentence(item, record))).toEqual([
      'CoreDNS, the baseline, answered 41,536 queries per second (one trial).',
      'DinoDNS answered 50,000 queries per second (one trial); it cannot be compared, because no round also has a successful trial of CoreDNS.',
      'Knot DNS has no result: none of its trials succeeded.',
      'nsd has no result yet.',
    ]);
  });
});

describe('the status of a run', () => {
  const statusOf = (cases: readonly CaseInput[], status: 'running' | 'interrupted' | 'complete') =>
    runStatus(makeRecord({ cases, record: { status } }));
  const ok = { server: 'coredns', trials: [{ qps: 1 }, { qps: 2 }] };
  const partly = { server: 'dinodns', trials: [{ qps: 1 }, { failed: 'E_SERVER_DIED' }] };
  const unfinished = { server: 'knot', plannedTrials: 3, trials: [{ qps: 1 }] };

  it('is success only if every planned trial was measured', () => {
    expect(statusOf([ok], 'complete')).toMatchObject({
      state: 'complete',
      exitStatus: 0,
      headline: 'Complete: 2 of 2 trials measured.',
      ok: 2,
      failures: [],
    });
  });

  it('has an exit status of its own for failed trials, and lists them', () => {
    const status = statusOf([ok, partly], 'complete');
    expect(status).toMatchObject({
      state: 'failed-trials',
      exitStatus: 5,
      ok: 3,
    });
    expect(status.headline).toBe('Finished, but 1 of 4 trials failed.');
    expect(status.failures.map(({ failure }) => failure.code)).toEqual(['E_SERVER_DIED']);
  });

  it('is interrupted whatever the record claims, as long as trials are missing', () => {
    for (const status of ['running', 'interrupted', 'complete'] as const) {
      expect(statusOf([ok, partly, unfinished], status)).toMatchObject({
        state: 'interrupted',
        exitStatus: 130,
      });
    }
    expect(statusOf([unfinished], 'interrupted').headline).toContain(
      'bench run --resume 20261121-015012-3f9a',
    );
    expect(statusOf([unfinished], 'running').headline).toMatch(/^Not finished: 1 of 3/);
    expect(statusOf([ok], 'interrupted').state).toBe('interrupted');
  });
});
