/** The search for the highest rate, against a server that has one. */
import { expect, it } from 'vitest';
import { findMax, searchMaxRate } from '../src/index.ts';
import { answerTo, startServer } from './support/misbehaving-server.ts';

it('finds the highest rate of a server that drops excess queries', async () => {
  const capacity = 2000;
  let [tokens, last] = [0, performance.now()];
  const { port } = await startServer((query, reply) => {
    const now = performance.now();
    // Up to 0.1 s of tokens may accumulate: queries delayed by a busy machine are sent in a burst.
    tokens = Math.min(capacity / 10, tokens + ((now - last) / 1000) * capacity);
    last = now;
    if (tokens < 1) return;
    tokens -= 1;
    reply(answerTo(query));
  });
  const rates: number[] = [];
  const found = await findMax({
    base: {
      server: `127.0.0.1:${port}`,
      workload: { kind: 'names', names: ['example.test', 'missing.example.test'] },
      timeoutSeconds: 0.2,
    },
    trialSeconds: 0.6,
    repetitions: 2,
    maxLostRatio: 0.01,
    // Half of what the bounds below leave around the truth.
    precision: 0.2,
    low: 500,
    high: 4000,
    onTrial: ({ rate }) => rates.push(rate),
  });
  expect(found.maxima.length).toBe(2);
  expect(found.low).toBeLessThanOrEqual(found.rate);
  expect(found.high).toBeGreaterThanOrEqual(found.rate);
  // In such a short trial the accumulated tokens allow a sixth more.
  expect(found.rate).toBeGreaterThan(0.6 * capacity);
  expect(found.rate).toBeLessThan(1.4 * capacity);
  expect(rates.length).toBe(found.trials.length);
}, 120_000);

it.each([
  { what: 'only the highest rate is given', options: { high: 10_000 }, from: 0 },
  { what: 'both bounds are given', options: { low: 9000, high: 10_000 }, from: 9000 },
])('tries no rate beyond the bounds if $what', async ({ options, from }) => {
  const rates: number[] = [];
  const found = await searchMaxRate(options, async (_repetition, rate) => {
    rates.push(rate);
    return { rate, sustained: true, generatorLimited: false };
  });
  expect(Math.max(...rates)).toBeLessThanOrEqual(10_000);
  expect(Math.min(...rates)).toBeGreaterThanOrEqual(from);
  expect(found.rate).toBeGreaterThan(9700);
});
