/** At a rate that all servers hold, the verdict is about what they need for it. */
import { describe, expect, it } from 'vitest';
import { titleWithVersion } from '../src/report/cases.ts';
import { decisiveDelta } from '../src/report/decisive.ts';
import { renderers } from '../src/report/index.ts';
import { findRenderer } from '../src/report/renderer.ts';
import { verdictSentence } from '../src/report/verdict-sentence.ts';
import type { CaseRecord, RunRecord } from '../src/results/record.ts';
import { makeRecord } from './fixtures/make-record.ts';

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
    expect(decisiveDelta(second(record), record)?.metric).toBe('cpuSecondsPerQuery');
    const sentence = verdictSentence(second(record), record);
    expect(sentence).toContain(words);
    expect(sentence).not.toContain('maximum');
    expect(sentence).not.toContain('queries per second');
  });

  it('marks the difference as one of CPU in the terminal', () => {
    const record = atRate(0.8);
    expect(findRenderer('terminal', renderers)?.render(record, { delta: 'relative' })).toMatch(
      /-20\.0 % CPU/,
    );
  });

  it('is about throughput where a server was the limit', () => {
    const record = atRate(0.8, 'server');
    expect(decisiveDelta(second(record), record)?.metric).toBe('qps');
    expect(verdictSentence(second(record), record)).toContain('queries per second');
  });
});

it('a title has its version once', () => {
  expect(titleWithVersion({ title: 'CoreDNS 1.13.1 (file)', version: '1.13.1' })).toBe(
    'CoreDNS 1.13.1 (file)',
  );
  expect(titleWithVersion({ title: 'CoreDNS', version: '1.13.1' })).toBe('CoreDNS 1.13.1');
});
