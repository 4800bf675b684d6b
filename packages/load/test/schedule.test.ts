import { expect, it } from 'vitest';
import { type Arrivals, countOf, scheduleOf } from '../src/schedule/schedule.ts';

function all(arrivals: Arrivals, durationSeconds: number, workers = 1, seed = 1): number[] {
  return Array.from({ length: workers }, (_, worker) => {
    const next = scheduleOf(arrivals, { worker, workers, seed, durationSeconds });
    const times: number[] = [];
    for (let due = next(); due !== Number.POSITIVE_INFINITY; due = next()) times.push(due);
    return times;
  })
    .flat()
    .sort((a, b) => a - b);
}

it('spaces a constant rate evenly, the same for any number of workers', () => {
  const one = all({ kind: 'constant', rate: 1000 }, 2);
  expect(one.length).toBe(2000);
  expect(one.slice(0, 3)).toEqual([0, 1e6, 2e6]);
  expect(all({ kind: 'constant', rate: 1000 }, 2, 3)).toEqual(one);
});

it('drifts by less than a nanosecond in an hour', () => {
  const next = scheduleOf(
    { kind: 'constant', rate: 3 },
    { worker: 0, workers: 1, seed: 1, durationSeconds: 3601 },
  );
  let due = 0;
  for (let i = 0; i <= 3 * 3600; i++) due = next();
  expect(due).toBe(3600e9);
});

it("has Poisson's gaps: mean and standard deviation are 1 / rate, and seeds repeat", () => {
  const times = all({ kind: 'poisson', rate: 10_000 }, 10, 2);
  const gaps = times.slice(1).map((time, i) => time - (times[i] ?? 0));
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
  const sd = Math.sqrt(gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / gaps.length);
  expect(times.length / 100_000).toBeCloseTo(1, 1);
  expect(mean / 100e3).toBeCloseTo(1, 1);
  expect(sd / 100e3).toBeCloseTo(1, 1);
  expect(all({ kind: 'poisson', rate: 1000 }, 1)).toEqual(all({ kind: 'poisson', rate: 1000 }, 1));
  expect(all({ kind: 'poisson', rate: 1000 }, 1, 1, 2)).not.toEqual(all({ kind: 'poisson', rate: 1000 }, 1));
});

it.each([
  { from: 0, to: 2000 },
  { from: 2000, to: 100 },
  { from: 500, to: 500 },
])('ramps linearly from $from to $to', ({ from, to }) => {
  const times = all({ kind: 'ramp', from, to }, 4, 2);
  expect(Math.abs(times.length - countOf({ kind: 'ramp', from, to }, 4))).toBeLessThanOrEqual(1);
  for (let second = 0; second < 4; second++) {
    const inSecond = times.filter((time) => time >= second * 1e9 && time < (second + 1) * 1e9).length;
    expect(Math.abs(inSecond - (from + ((to - from) * (second + 0.5)) / 4))).toBeLessThanOrEqual(1);
  }
});

it('gives each step an equal part', () => {
  const times = all({ kind: 'steps', rates: [100, 1000, 10] }, 3, 2);
  const per = [0, 1, 2].map((s) => times.filter((t) => t >= s * 1e9 && t < (s + 1) * 1e9).length);
  expect(per).toEqual([100, 1000, 10]);
});

it.each([
  { kind: 'constant', rate: 700 },
  { kind: 'ramp', from: 0, to: 2000 },
  { kind: 'ramp', from: 2000, to: 100 },
  { kind: 'steps', rates: [100, 1000, 10] },
] as const)('counts what is due by any time: %j', (arrivals) => {
  const times = all(arrivals, 3);
  for (const seconds of [0.1, 0.9, 1.5, 2.4, 3]) {
    const due = times.filter((time) => time < seconds * 1e9).length;
    expect(Math.abs(due - countOf(arrivals, 3, seconds))).toBeLessThanOrEqual(1.001);
  }
});
