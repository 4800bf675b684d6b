/**
 * `local-both-quick` is the record whose post said "109 % of the time": at tier 0.5 on two CPUs, DinoDNS (stock) in
 * multi mode was throttled for 5.1 to 5.8 s of five, because the kernel adds up the CPUs.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { formats } from '../src/report/index.ts';
import { marksOfCase } from '../src/report/marks.ts';
import { okTrialsOf } from '../src/report/ok-trials.ts';
import { filesOf } from '../src/report/renderer.ts';
import { throttledShare, throttledShareOf } from '../src/report/throttling.ts';
import type { Observation, RunRecord } from '../src/results/record.ts';
import { parseRecord } from './support/parse-record.ts';
import { referenceText } from './support/reference.ts';
import { renderCsv } from './support/render.ts';

let record: RunRecord;
beforeAll(async () => {
  record = parseRecord(referenceText('local-both-quick'), 'local-both-quick');
});

/** The case of DinoDNS (stock) with two workers on half a CPU. */
function overcommitted() {
  const item = record.cases.find(
    ({ server, tier, mode }) => server === 'dinodns-stock' && tier === 0.5 && mode === 'multi',
  );
  if (item === undefined) throw new Error('the record has no such case');
  return { item, trials: okTrialsOf(record, item) };
}

describe('throttling', () => {
  it('is the share of periods, also where the throttled seconds exceed the time', () => {
    const { item, trials } = overcommitted();
    const overlong = trials.filter(
      ({ server }) => (server?.throttling?.throttledSeconds ?? 0) > (server?.durationSeconds ?? 0),
    );
    expect(overlong.length).toBeGreaterThan(3);
    expect(throttledShareOf(trials)).toBe(1);
    const mark = marksOfCase(record, item, trials).find(({ name }) => name === 'throttled');
    expect(mark?.explanation).toBe(
      'The CPU limit stopped it in 100 % of the scheduling periods (in the median trial).',
    );
  });

  it('never exceeds 100 % in any format', async () => {
    const texts = formats.filter(({ name }) => name !== 'json' && name !== 'png');
    for await (const { path: name, content } of filesOf(texts, record, { delta: 'relative' })) {
      if (typeof content !== 'string') continue;
      expect(content, name).not.toMatch(/% of the time/);
      for (const [, percent] of content.matchAll(/stopped it in (\d+) %/g))
        expect(Number(percent), name).toBeLessThanOrEqual(100);
    }
  });

  it('is a column of its own for spreadsheets, between 0 and 1', () => {
    const [head = '', ...rows] = renderCsv(record).trimEnd().split('\n');
    const column = head.split(',').indexOf('throttled_ratio');
    const values = rows.map((row) => Number(row.split(',')[column]));
    expect(values).toHaveLength(record.trials.length);
    for (const value of values) expect(value).toBeLessThanOrEqual(1);
    expect(Math.max(...values)).toBe(1);
  });

  it('is unknown without a quota, and before the first period', () => {
    const seen = (throttling: Observation['throttling']) => throttledShare({ throttling });
    expect(throttledShare(null)).toBeNull();
    expect(seen(null)).toBeNull();
    expect(seen({ periods: 0, throttledPeriods: 0, throttledSeconds: 0 })).toBeNull();
    expect(seen({ periods: 50, throttledPeriods: 20, throttledSeconds: 9 })).toBe(0.4);
    expect(seen({ periods: 50, throttledPeriods: 51, throttledSeconds: 6 })).toBe(1);
  });
});
