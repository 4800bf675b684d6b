/** Stolen time as the kernel counts it. */
import { expect, test } from 'vitest';
import { parseSteal, startStealClock } from '../src/steal.ts';

test('steal is the eighth number of the line for all CPUs, in ticks', () => {
  const stat =
    'cpu  2255 34 2290 22625563 6290 127 456 1250 0 0\ncpu0 1132 34 1441 11311718 3675 127 438 7 0 0\nintr 1\n';
  expect(parseSteal(stat)).toBe(1250);
});

test('a kernel without it has none', () => {
  expect(parseSteal('cpu  2255 34 2290 22625563\n')).toBeNull();
  expect(parseSteal('')).toBeNull();
});

test('a lap is what was stolen since the one before, without rounding errors', () => {
  const ticks = [1250, 1256, 1257, 1257];
  const clock = startStealClock(() => `cpu  1 1 1 1 1 1 1 ${ticks.shift()} 0 0\n`);
  expect([clock.lap(), clock.lap(), clock.total()]).toEqual([0.06, 0.01, 0.07]);
});

test('a machine that does not tell has none', () => {
  const clock = startStealClock(() => '');
  expect([clock.lap(), clock.total()]).toEqual([null, null]);
});

test("this machine's clock starts at nothing and never runs backwards", () => {
  const clock = startStealClock();
  const first = clock.total();
  const second = clock.total();
  if (process.platform !== 'linux') expect([first, second]).toEqual([null, null]);
  else {
    expect(first).toBeGreaterThanOrEqual(0);
    expect(second).toBeGreaterThanOrEqual(first ?? Number.NaN);
  }
});
