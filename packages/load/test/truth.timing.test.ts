/**
 * dnscannon's latency, compared with a server's own record of how long each answer took.
 *
 * The machine may be busy. A query that waits for a CPU waits longer, but on both sides of these comparisons, so that
 * the bounds need not know how busy it is.
 */
import { describe, expect, it } from 'vitest';
import { type CannonInput, cannon, decodeHistogram, Histogram } from '../src/index.ts';
import { startDelayServer } from './support/delays.ts';
import { measure, SECONDS } from './support/measure.ts';
import { answerTo, startServer } from './support/misbehaving-server.ts';

const RATE = 10_000;
const PERCENTILES = [1, 10, 25, 50, 75, 90, 95, 99, 99.5, 99.9];

/** Within 50 µs or 2 %. */
function closeTo(seen: number, truth: number): boolean {
  return Math.abs(seen - truth) <= Math.max(50e3, 0.02 * truth);
}

const histogramOf = (text: string | undefined) => Histogram.of(decodeHistogram(text ?? ''));

describe.each(['constant', 'bimodal', 'stall'] as const)('a server with delays: %s', (programme) => {
  it('is measured to within 50 µs or 2 % at every percentile, at 10,000 queries a second', async () => {
    const server = await startDelayServer(programme);
    // The window is large enough never to hold a query back, not even in a stall.
    const load = { kind: 'closed', outstanding: 20_000, maxRate: RATE } as const;
    const result = await measure(server.port, { load });
    const truth = await server.stop();
    expect(result.counts).toMatchObject({ sent: truth.total, answered: truth.total, lost: 0 });
    const seen = histogramOf(result.latencySeconds?.histogram);
    const wrong = PERCENTILES.filter((p) => !closeTo(seen.percentile(p), truth.percentile(p)));
    expect(wrong.map((p) => ({ p, seen: seen.percentile(p), truth: truth.percentile(p) }))).toEqual([]);
  });

  it('is measured from the time each query was due in an open loop', async () => {
    const server = await startDelayServer(programme);
    const result = await measure(server.port, { load: { kind: 'constant', rate: RATE } });
    const truth = await server.stop();
    const { latencySeconds: latency, latenessSeconds: lateness, counts } = result;
    expect(counts).toMatchObject({ answered: truth.total, lost: 0 });
    expect(counts.sent + counts.unsent).toBe(RATE * SECONDS);
    // Every query's latency is what the server took and how much later than due it left. Of means that is exact …
    const [seen, late] = [histogramOf(latency?.histogram), histogramOf(lateness?.histogram)];
    expect(late.total).toBe(counts.sent);
    const expected = truth.mean + late.mean;
    expect(closeTo((latency?.mean ?? 0) * 1e9, expected), `${latency?.mean} for ${expected}`).toBe(true);
    // … and of percentiles there are bounds: never below the server's, and of both parts at most both at once.
    const tolerance = (value: number) => Math.max(50e3, 0.02 * value);
    for (const p of PERCENTILES) {
      const [value, least] = [seen.percentile(p), truth.percentile(p)];
      const both = 100 - (100 - p) / 2;
      const most = truth.percentile(both) + late.percentile(both);
      expect(value, `p${p}`).toBeGreaterThanOrEqual(least - tolerance(least));
      expect(value, `p${p}`).toBeLessThanOrEqual(most + tolerance(most));
    }
  });
});

it('shows a stall in all queries due in it, where a closed loop shows it only in its window', async () => {
  const slow = async (load: CannonInput['load']) => {
    const server = await startDelayServer('stall');
    const result = await measure(server.port, { load });
    await server.stop();
    return histogramOf(result.latencySeconds?.histogram).countAbove(50e6);
  };
  // 200 ms at 10,000 a second: the queries of the first 150 ms wait for more than 50 ms.
  expect(await slow({ kind: 'constant', rate: RATE })).toBeGreaterThan(0.9 * 0.15 * RATE);
  expect(await slow({ kind: 'closed', outstanding: 10, maxRate: RATE })).toBeLessThan(0.05 * RATE * 0.15);
});

it('has started when the first query leaves, not before', async () => {
  const aheadMs: number[] = [];
  for (let run = 0; run < 3; run += 1) {
    let firstAt = 0;
    const server = await startServer((query, reply) => {
      firstAt = performance.now();
      reply(answerTo(query));
    });
    const { started, result } = cannon({
      server: `127.0.0.1:${server.port}`,
      workload: { kind: 'names', names: ['one.test'] },
      maxQueries: 1,
    });
    await started;
    const startedAt = performance.now();
    await result;
    aheadMs.push(firstAt - startedAt);
  }
  // The workers are told 20 ms before. A busy machine delays either, but hardly in each of three runs.
  expect(Math.min(...aheadMs)).toBeLessThan(10);
});

it("asks for a lookup's next name when the answer to the last one comes, not when the next lookup is due", async () => {
  const server = await startDelayServer('constant');
  // Five names, one after the other; the server has an address for none of them.
  const workload = { kind: 'kubernetes', names: ['infoblox.com'], types: ['A'] } as const;
  const load = { kind: 'closed', outstanding: 100, maxRate: 200 } as const;
  const { lookups, counts } = await measure(server.port, { workload, load });
  const truth = await server.stop();
  expect(counts).toMatchObject({ sent: truth.total, answered: truth.total });
  expect(lookups?.queriesPerLookup).toBe(5);
  // 1.01 times what the server took on a calm machine; 2.1 times when the next name waited for the next lookup.
  expect((lookups?.latencySeconds?.p50 ?? 0) * 1e9).toBeLessThan(1.5 * 5 * truth.percentile(50));
});
