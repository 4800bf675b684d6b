/** What is made of the counts. */
import { describe, expect, it } from 'vitest';
import { crossedThresholds, parseThreshold } from '../src/index.ts';
import { renderText } from '../src/report/text.ts';
import { resultOf } from './support/results.ts';

it.each([
  { load: { kind: 'ramp', from: 0, to: 1000 }, whole: 500, early: 125 },
  { load: { kind: 'ramp', from: 1000, to: 200 }, whole: 600, early: 900 },
  { load: { kind: 'steps', rates: [100, 1000] }, whole: 550, early: 100 },
  { load: { kind: 'steps', rates: [100, 400, 700, 1000, 1300, 1600, 1900, 2200] }, whole: 1150, early: 250 },
] as const)('the offered rate is the mean of what was due until the end: $load', ({ load, whole, early }) => {
  const offered = (seconds: number) => resultOf({ load, durationSeconds: 8 }, {}, seconds).rates.offered;
  expect(offered(8)).toBeCloseTo(whole, 6);
  expect(offered(2)).toBeCloseTo(early, 6);
});

describe('of a hundred lookups of ten queries each, five of which never began,', () => {
  const result = resultOf(
    { workload: { kind: 'kubernetes', names: ['infoblox.com'] }, load: { kind: 'constant', rate: 100 } },
    { sent: 950, answered: 950, lookups: 95, lookupsFound: 95, unsent: 5 },
  );

  it('the generator has left one in twenty, which makes it the limit', () => {
    expect(result.generator.wasTheLimit).toBe(true);
    expect(result.generator.reasons.join()).toContain('5.0 % of the due lookups never left');
  });

  it('thresholds see the same share', () => {
    const crossed = crossedThresholds(['unsent>4%', 'unsent>6%'].map(parseThreshold), result);
    expect(crossed).toEqual([{ text: 'unsent>4%', measured: 0.05 }]);
  });

  it('the report tells lookups from queries', () => {
    const text = renderText(result, { colours: false });
    for (const words of ['unsent lookups 5', 'offered 100 lookups/s', 'sent 950 queries/s'])
      expect(text).toContain(words);
    for (const line of text.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
  });
});
