/** Stolen time as the kernel counts it. */
import { expect, test } from 'vitest';
import { parseSteal, startStealClock } from '../src/steal.ts';

test('steal is the eighth number of the line for all CPUs, in hundredths of a second', () => {
  const stat =
    'cpu  2255 34 2290 22625563 6290 127 456 1250 0 0\ncpu0 1132 34 1441 11311718 3675 127 438 7 0 0\nintr 1\n';
  expect(parseSteal(stat)).toBe(12.5);
});

test('a kernel without it has none', () => {
  expect(parseSteal('cpu  2255 34 2290 22625563\n')).toBeNull();
  expect(parseSteal('')).toBeNull();
});

test('the clock starts at nothing and never runs backwards', () => {
  const clock = startStealClock();
  const first = clock();
  const second = clock();
  if (process.platform !== 'linux') expect([first, second]).toEqual([null, null]);
  else {
    expect(first).toBeGreaterThanOrEqual(0);
    expect(second).toBeGreaterThanOrEqual(first ?? Number.NaN);
  }
});
