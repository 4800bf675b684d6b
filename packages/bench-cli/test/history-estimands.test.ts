/** The history of figures that share a name but not a unit, or that are compared by their difference. */
import { describe, expect, it } from 'vitest';
import { compareRuns } from '../src/history/compare.ts';
import { differencesOf } from '../src/history/differences.ts';
import { gateDocument } from '../src/history/documents/gate.ts';
import { trendDocument } from '../src/history/documents/trend.ts';
import { type Entry, environmentOf } from '../src/history/entry.ts';
import { gate } from '../src/history/gate.ts';
import { rowOf } from '../src/history/listing.ts';
import { poolSelected } from '../src/history/pool.ts';
import { figureRows, trendLines } from '../src/history/trend.ts';
import { documentText } from '../src/report/document/terminal.ts';
import type { EstimandFacts } from '../src/report/estimand.ts';
import { makeRecord } from './fixtures/make-record.ts';

const COUNT: EstimandFacts = {
  ...{ name: 'lost', title: 'lost', unit: 'count', better: 'less', compared: 'difference' },
};
const RATIO: EstimandFacts = { ...COUNT, unit: 'ratio', compared: 'no' };

function entryOf(id: string, lost: readonly number[], more: Partial<Entry> = {}): Entry {
  const trials = lost.map((value, round) => ({ round, figures: { lost: value } }));
  return {
    ...{
      id,
      kind: 'run',
      experiment: 'disrupt',
      status: 'complete',
      startedAt: `2026-11-0${id}T12:00:00.000Z`,
    },
    ...{ git: null, environment: {}, machine: 'example', isDuet: null, level: 0.05 },
    ...{ servers: ['coredns'], summary: null },
    estimands: [COUNT],
    cases: [
      {
        ...{ key: 'coredns', subject: 'coredns', point: {}, isBaseline: true, bounds: [], foreign: [] },
        ...{ contended: false, trials, failedTrials: 0 },
      },
    ],
    ...more,
  };
}

const linesOf = (...newestFirst: readonly Entry[]) =>
  trendLines(
    figureRows(
      newestFirst.map((entry) => rowOf(entry, entry.id)),
      'lost',
    ),
    'seed',
  );

describe('figures of the same name', () => {
  it('are written in the unit of their own run, and are lines of their own', () => {
    const runs = [
      entryOf('3', [0.01, 0.01], { estimands: [RATIO] }),
      entryOf('2', [0.02, 0.02], { experiment: 'capacity throughput', estimands: [RATIO] }),
      entryOf('1', [1200, 1200]),
    ];
    const lines = linesOf(...runs);
    expect(lines.map(({ experiment, estimand }) => [experiment, estimand.unit])).toEqual([
      ['disrupt', 'count'],
      ['capacity throughput', 'ratio'],
      ['disrupt', 'ratio'],
    ]);
    const text = documentText(trendDocument(lines, null), { delta: 'relative' });
    expect(text.match(/12:00 +(\S+( %)?)/g)?.map((row) => row.replace(/^12:00 +/, ''))).toEqual([
      '1,200',
      '2 %',
      '1 %',
    ]);
  });
});

describe('figures measured under different settings', () => {
  const run = (id: string, settings: Readonly<Record<string, string>>) =>
    entryOf(id, [5, 5], {
      environment: Object.fromEntries(
        Object.entries(settings).map(([name, value]) => [`setting ${name}`, value]),
      ),
    });

  it('are lines of their own, which say what differs, and what is not recorded', () => {
    const lines = linesOf(
      run('4', { delay: '1', rate: '500' }),
      run('3', { delay: '1' }),
      run('2', { delay: '1', rate: '2000' }),
      run('1', { rate: '500', delay: '1' }),
    );
    expect(lines.map(({ settings, points }) => [settings, points.map(({ runId }) => runId)])).toEqual([
      [{ rate: '500' }, ['1', '4']],
      [{ rate: '2000' }, ['2']],
      [{ rate: 'not recorded' }, ['3']],
    ]);
    const text = documentText(trendDocument(lines, null), { delta: 'relative' });
    expect(text).toContain('disrupt: coredns on example, rate 2000\n');
  });

  it('are told apart by what is no axis of their experiment', () => {
    const made = makeRecord({ cases: [] });
    const withPoint = (point: Readonly<Record<string, string>>, rate: number): Entry => {
      const entry = entryOf('1', [5, 5]);
      return {
        ...entry,
        environment: environmentOf(made, { rate, configurations: [rate], trials: rate }, []),
        cases: entry.cases.map((item) => ({ ...item, point })),
      };
    };
    const toldFor = (point: Readonly<Record<string, string>>) =>
      differencesOf(withPoint(point, 100), withPoint(point, 200)).map(({ name }) => name);
    expect(toldFor({ configuration: 'default' })).toEqual(['setting rate']);
    expect(toldFor({ rate: 'max' })).toEqual(['setting configurations']);
    expect(rowOf(withPoint({ rate: 'max' }, 100), '').settings).toEqual({ configurations: '[100]' });
  });
});

describe('pooled runs', () => {
  const notes = (...lists: readonly (readonly number[])[]) =>
    poolSelected(
      lists.map((values, index) => {
        const entry = entryOf(String(index + 1), values);
        return { entry, selector: {}, cases: entry.cases };
      }),
      [COUNT],
    ).notes ?? [];

  it('are tested by differences where figures are compared so, zeros and all', () => {
    expect(notes([0, 1, 0, 2, 1, 0], [40, 41, 42, 39, 40, 41])).toEqual([
      expect.stringContaining('lost of the pooled runs 1 and 2 differ (p '),
    ]);
    expect(notes([0, 1, 0, 2, 1, 0], [1, 0, 2, 0, 0, 1])).toEqual([]);
  });
});

describe('figures of a search', () => {
  const LIMIT: EstimandFacts = {
    ...{ ...COUNT, unit: 'bytes', compared: 'ratio', resolution: { share: 0.1, least: 0 } },
  };
  const sides = (before: readonly number[], now: readonly number[], ids: readonly [string, string]) =>
    [before, now].map((values, index) => {
      const entry = entryOf(ids[index] ?? '', values, { estimands: [LIMIT] });
      return { entry, selector: { subject: '' }, cases: entry.cases };
    });

  it.each([
    ['of different runs', ['1', '2']],
    ['of one run', ['1', '1']],
  ] as const)('differ by more than the step of the search, or not at all: %s', (_, ids) => {
    const said = (level: number) => {
      const [reference, candidate] = sides([40, 40, 40], [level, level, level], ids);
      if (reference === undefined || candidate === undefined) throw new Error('there are two');
      const options = { interval: 'auto', normalize: null } as const;
      const limits = [{ estimand: LIMIT, maxRegression: 0.03 }];
      const [compared] = compareRuns(reference, candidate, { ...options, estimands: [LIMIT] }).cases;
      return [
        compared?.figures[0]?.delta?.verdict,
        gate(reference, candidate, { ...options, limits }).outcome,
      ];
    };
    expect(said(43)).toEqual(['no difference shown', 'not enough trials']);
    expect(said(60)).toEqual(['more', 'failed']);
  });

  it.each([
    [true, 'student-t'],
    [false, 'welch-t'],
  ])('of one run are paired or not, as their estimand says: %s', (isPaired, method) => {
    const [reference, candidate] = sides([40, 41, 43], [60, 64, 61], ['1', '1']);
    if (reference === undefined || candidate === undefined) throw new Error('there are two');
    const estimands = [{ ...LIMIT, isPaired }];
    const [compared] = compareRuns(reference, candidate, {
      interval: 'auto',
      normalize: null,
      estimands,
    }).cases;
    expect(compared?.figures[0]?.delta).toMatchObject({ verdict: 'more', method });
  });

  it('are compared in all rounds of a run, or not: nothing has a ratio to zero', () => {
    const [reference, candidate] = sides([0, 0, 0, 11_670, 12_000], [5, 5, 5, 20_000, 21_000], ['1', '1']);
    if (reference === undefined || candidate === undefined) throw new Error('there are two');
    const options = { interval: 'auto', normalize: null } as const;
    const limits = [{ estimand: LIMIT, maxRegression: 0.03 }];
    const { comparison, cases } = gate(reference, candidate, { ...options, limits });
    expect(comparison.cases[0]?.figures[0]).toMatchObject({ delta: null, trials: [5, 5], reference: 0 });
    expect(cases[0]).toMatchObject({
      ...{ outcome: 'not enough trials', missing: expect.stringContaining('none in some trial') },
    });
  });
});

describe('a gate on what the reference has none of', () => {
  const gateOf = (before: readonly number[], now: readonly number[]) => {
    const [reference, candidate] = [entryOf('1', before), entryOf('2', now)].map((entry) => ({
      ...{ entry, selector: { subject: '' }, cases: entry.cases },
    }));
    if (reference === undefined || candidate === undefined) throw new Error('there are two');
    const limits = [{ estimand: COUNT, maxRegression: 0.03 }];
    return gate(reference, candidate, { limits, interval: 'auto', normalize: null });
  };

  it.each([
    ['passes where there is none again', [0, 0, 0, 0, 0, 0, 0, 0], 'passed', '0.0 % worse'],
    ['fails where there is some', [20, 22, 21, 25, 24, 23, 22, 21], 'failed', 'more than none'],
    ['cannot tell where there may be some', [0, 2, 3, 0, 1, 0, 4, 0], 'not enough trials', 'none'],
  ])('%s', (_, now, outcome, change) => {
    const found = gateOf([0, 0, 0, 0, 0, 0, 0, 0], now);
    expect(found.outcome).toBe(outcome);
    expect(documentText(gateDocument(found), { delta: 'relative' })).toContain(change);
  });
});
