/** At a rate that all servers hold, the verdict is about what they need for it. */
import { describe, expect, it } from 'vitest';
import { titleWithVersion } from '../src/report/cases.ts';
import { deltaEnds } from '../src/report/numbers.ts';
import { verdictSentence } from '../src/report/verdict-sentence.ts';
import type { CaseRecord, RunRecord } from '../src/results/record.ts';
import { decisiveOf } from '../src/stats/decisive.ts';
import { makeRecord } from './fixtures/make-record.ts';
import { plotsOf, renderTerminal } from './support/render.ts';

/** Eight rounds at the same throughput; the second server's CPU per query is `ratio` times the first's. */
function atRate(ratio: number, limitedBy: 'rate' | 'server' = 'rate'): RunRecord {
  const rounds = [1, 1.01, 0.99, 1.02, 0.98, 1, 1.01, 0.99];
  const trials = (factor: number) =>
    rounds.map((noise) => ({ qps: 2000, limitedBy, cpuSecondsPerQuery: 40e-6 * noise * factor }));
  return makeRecord({
    cases: [
      { server: 'coredns', trials: trials(1) },
      { server: 'dinodns', trials: trials(ratio) },
    ],
  });
}

function second({ cases }: RunRecord): CaseRecord {
  const [, item] = cases;
  if (item === undefined) throw new Error('one case only');
  return item;
}

describe('a comparison at a fixed rate', () => {
  it.each([
    [0.8, 'used 20.0 % less CPU per query than'],
    [1.3, 'used 30.0 % more CPU per query than'],
    [1, 'No difference in CPU per query shown between'],
  ])('with %f times the CPU: %s', (ratio, words) => {
    const record = atRate(ratio);
    expect(decisiveOf(second(record), record)?.metric).toBe('cpuSecondsPerQuery');
    const sentence = verdictSentence(second(record), record);
    expect(sentence).toContain(words);
    expect(sentence).not.toContain('maximum');
    expect(sentence).not.toContain('queries per second');
  });

  it('marks the difference as one of CPU in the terminal', () => {
    const record = atRate(0.8);
    expect(renderTerminal(record)).toMatch(/-20\.0 % CPU/);
  });

  it('is about throughput where a server was the limit', () => {
    const record = atRate(0.8, 'server');
    expect(decisiveOf(second(record), record)?.metric).toBe('qps');
    expect(verdictSentence(second(record), record)).toContain('queries per second');
  });
});

it('a title has its version once', () => {
  expect(titleWithVersion({ title: 'CoreDNS 1.13.1 (file)', version: '1.13.1' })).toBe(
    'CoreDNS 1.13.1 (file)',
  );
  expect(titleWithVersion({ title: 'CoreDNS', version: '1.13.1' })).toBe('CoreDNS 1.13.1');
});

it('a server that was not the limit at its smallest tier has no ideal', async () => {
  const record = makeRecord({
    cases: ['coredns', 'dinodns'].flatMap((server) =>
      [1, 2].map((tier) => {
        const limitedBy = server === 'dinodns' && tier === 1 ? ('loader' as const) : ('server' as const);
        return { server, tier, trials: [1000, 1010, 990].map((qps) => ({ qps: qps * tier, limitedBy })) };
      }),
    ),
  });
  const text = JSON.stringify((await plotsOf(record)).drawn.find(({ name }) => name === 'scaling'));
  expect(text).toMatch(/CoreDNS[^"]*: 2,000 queries\/s, 100 % of ideal/);
  expect(text).toMatch(/DinoDNS[^"]*: at least 1,000 queries\/s\\/);
  expect(text).not.toMatch(/DinoDNS[^"]*ideal/);
});

it('intervals are rounded outwards, so that they exclude zero where the figures do', () => {
  expect(deltaEnds(0.00001, 0.034)).toEqual(['+0.001%', '+3.400%']);
  expect(deltaEnds(-0.12344, 11.23451)).toEqual(['-12.35%', '+1123.46%']);
});

describe('the 99th percentile', () => {
  const PERCENTILES = [50, 99];
  /** Latencies whose means are alike, and whose p99 is `factor` times the other's. */
  const recordOf = (factor: number, limitedBy: 'server' | 'loader' = 'server') => {
    const rounds = [1, 1.02, 0.98, 1.01, 0.99, 1];
    const record = makeRecord({
      cases: ['coredns', 'dinodns'].map((server) => ({
        server,
        trials: rounds.map((noise) => ({ qps: 1000 * noise, latencySeconds: 0.001, limitedBy })),
      })),
    });
    const secondsOf = (key: string) => (percentile: number) =>
      percentile === 99 && key.startsWith('dinodns') ? 0.002 * factor : percentile === 99 ? 0.002 : 0.001;
    const trials = record.trials.map((trial) => {
      if (trial.status !== 'ok') return trial;
      const noise = rounds[trial.round] ?? 1;
      const latencyPercentiles = PERCENTILES.map((percentile) => ({
        percentile,
        seconds: secondsOf(trial.key)(percentile) * noise ** (trial.key.startsWith('dinodns') ? 2 : 1),
      }));
      return { ...trial, load: { ...trial.load, latencyPercentiles } };
    });
    const cases = record.cases.map((item) => ({
      ...item,
      summary: item.summary && {
        ...item.summary,
        latencyPercentiles: PERCENTILES.map((percentile) => {
          const median = secondsOf(item.key)(percentile);
          return {
            percentile,
            seconds: { median, low: median * 0.98, high: median * 1.02, n: rounds.length },
          };
        }),
      },
    }));
    return { ...record, trials, cases };
  };

  it('is told with the verdict, and drawn, where it is at least twice or half and the means do not show it', async () => {
    const twice = recordOf(2.5);
    expect(verdictSentence(second(twice), twice)).toMatch(
      /\. Its p99 latency was 2\.5 × as long \(95 % interval 2\.[34]–2\.6\): 5\.00 ms and 2\.00 ms\.$/,
    );
    expect((await plotsOf(twice)).drawn.map(({ name }) => name)).toContain('latency-p99');
    const less = recordOf(0.4);
    expect(verdictSentence(second(less), less)).toContain('Its p99 latency was 0.4');
  });

  it('is not where it is less, or where something other than the servers was the limit', async () => {
    const of = recordOf(2.5);
    const two = { ...of, trials: of.trials.filter(({ round }) => round < 2) };
    for (const record of [recordOf(1.5), recordOf(2.5, 'loader'), two]) {
      expect(verdictSentence(second(record), record)).not.toContain('p99');
      expect((await plotsOf(record)).drawn.map(({ name }) => name)).not.toContain('latency-p99');
    }
  });
});
