/**
 * Do the intervals keep what they promise? Simulated trials of servers whose true figures are known: 2,000 runs
 * each, log-normal noise, with and without a drift of the machine that both servers of a round share.
 */
import { randomFractions } from '@dinodns-bench/test-support';
import { describe, expect, it } from 'vitest';
import { DIRECTIONS } from '../src/stats/metrics.ts';
import { type Pair, summarize } from '../src/stats/summarize.ts';
import { comparedAlone } from './support/compare-pairs.ts';

const RUNS = 2000;
/** Of one trial; about what trials of 10 s show on a shared machine. */
const NOISE = 0.05;
/** Three standard errors of a share of 5 % in 2,000 runs: 3 · √(0.05 · 0.95 ÷ 2000). */
const SIMULATION_ERROR = 0.0146;

/** Standard normal numbers, by Box and Muller. */
function normals(seed: number): () => number {
  const random = randomFractions(seed);
  return () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

function simulatePairs(normal: () => number, n: number, ratio: number, drift: number): Pair[] {
  return Array.from({ length: n }, () => {
    const shared = 20_000 * Math.exp(drift * normal());
    return {
      value: shared * ratio * Math.exp(NOISE * normal()),
      baseline: shared * Math.exp(NOISE * normal()),
    };
  });
}

/** Share of the runs in which `holds`. */
function shareOf(holds: () => boolean): number {
  let hits = 0;
  for (let run = 0; run < RUNS; run++) if (holds()) hits++;
  return hits / RUNS;
}

const covers = (low: number | null, high: number | null, truth: number) =>
  low !== null && high !== null && low <= truth && truth <= high;

describe.each([3, 5, 6, 10, 20])('with %i trials', (n) => {
  it('the interval of a median covers the truth in 93 to 97 % of the runs', () => {
    const normal = normals(n);
    const share = shareOf(() => {
      const values = Array.from({ length: n }, () => 20_000 * Math.exp(NOISE * normal()));
      const { low, high } = summarize(values);
      return covers(low, high, 20_000);
    });
    expect(share).toBeGreaterThanOrEqual(0.93);
    expect(share).toBeLessThanOrEqual(0.97);
  });

  it('the interval of a delta covers the truth in 93 to 97 % of the runs', () => {
    const normal = normals(100 + n);
    const share = shareOf(() => {
      const delta = comparedAlone(simulatePairs(normal, n, 1.2, 0), DIRECTIONS.qps);
      return delta !== null && covers(delta.low, delta.high, 0.2);
    });
    expect(share).toBeGreaterThanOrEqual(0.93);
    expect(share).toBeLessThanOrEqual(0.97);
  });

  it('the interval of a delta covers the truth on a machine that drifts by twice the noise', () => {
    const normal = normals(200 + n);
    const share = shareOf(() => {
      const delta = comparedAlone(simulatePairs(normal, n, 1.2, 2 * NOISE), DIRECTIONS.qps);
      return delta !== null && covers(delta.low, delta.high, 0.2);
    });
    expect(share).toBeGreaterThanOrEqual(0.93);
    // The interval is widened to hold the delta of the medians, which drift moves more than the paired ratios.
    expect(share).toBeLessThanOrEqual(0.99);
  });

  it.each([0, 2 * NOISE])(
    'equal servers get a verdict in at most 5 %% of the runs, with drift %d',
    (drift) => {
      const normal = normals(300 + n);
      const share = shareOf(() => {
        const delta = comparedAlone(simulatePairs(normal, n, 1, drift), DIRECTIONS.qps);
        return delta?.verdict !== 'no difference shown';
      });
      expect(share).toBeLessThanOrEqual(0.05 + SIMULATION_ERROR);
      // A test that never gives a verdict would pass the line above, and be useless.
      expect(share).toBeGreaterThan(drift === 0 ? 0.02 : 0.005);
    },
  );

  it('a server that is really 40 % faster is called faster in nearly every run, and never slower', () => {
    const normal = normals(400 + n);
    const verdicts = Array.from(
      { length: 500 },
      () => comparedAlone(simulatePairs(normal, n, 1.4, NOISE), DIRECTIONS.qps)?.verdict,
    );
    expect(verdicts).not.toContain('slower');
    const faster = verdicts.filter((verdict) => verdict === 'faster').length;
    expect(faster / verdicts.length).toBeGreaterThan(0.9);
  });
});

describe('with an outlier among ten trials', () => {
  it('the interval hardly widens, as with an undisturbed trial', () => {
    const normal = normals(1);
    const values = Array.from({ length: 10 }, () => 20_000 * Math.exp(0.01 * normal()));
    const disturbed = [...values.slice(0, 9), 8_000];
    const width = (list: readonly number[]) => {
      const { low, high } = summarize(list);
      return (high ?? Number.NaN) - (low ?? Number.NaN);
    };
    expect(width(disturbed)).toBeLessThan(2 * width(values));
  });
});
