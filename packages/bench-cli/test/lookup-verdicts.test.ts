/** Verdicts of lookup runs: exact intervals and tests of shares, differences of rounds. */
import { describe, expect, it } from 'vitest';
import { comparisonsOf } from '../src/experiments/lookup/comparisons.ts';
import { type LookupTrial, lookupKind, type Subject } from '../src/experiments/lookup/record.ts';
import { resultsOf } from '../src/experiments/lookup/results.ts';
import { lookupDocument } from '../src/experiments/lookup/text/document.ts';
import { trialOf } from '../src/experiments/lookup/trial.ts';
import { parseRecordAs } from '../src/results/parse-record.ts';
import { binomialInterval, fisherTest } from '../src/stats/binomial.ts';
import { referenceText } from './support/reference.ts';

describe('the interval of Clopper and Pearson', () => {
  // Exact sums of rational numbers, solved by bisection.
  it.each([
    [0, 1000, 0, 0.003682083896865672],
    [5, 100, 0.01643187918205219, 0.11283491110546279],
    [10, 10, 0.691502892, 1],
  ])('of %i of %i', (successes, n, low, high) => {
    const interval = binomialInterval(successes, n);
    expect(interval.low).toBeCloseTo(low, 8);
    expect(interval.high).toBeCloseTo(high, 8);
  });

  it('covers the truth at least as often as it says, whatever the truth', () => {
    const n = 40;
    for (const truth of [0.003, 0.02, 0.1, 0.5]) {
      let [covered, probability] = [0, (1 - truth) ** n];
      for (let k = 0; k <= n; k += 1) {
        const { low, high } = binomialInterval(k, n);
        if (low <= truth && truth <= high) covered += probability;
        probability *= ((n - k) / (k + 1)) * (truth / (1 - truth));
      }
      expect(covered).toBeGreaterThanOrEqual(0.95);
    }
  });

  it('is refused for what is no share', () => {
    expect(() => binomialInterval(2, 1)).toThrow(RangeError);
    expect(() => binomialInterval(0, 0)).toThrow(RangeError);
  });
});

it("Fisher's exact test gives exact p values", () => {
  // The lady tasting tea; and exact sums of rational numbers.
  expect(fisherTest({ successes: 3, n: 4 }, { successes: 1, n: 4 })).toBeCloseTo(0.4857142857, 8);
  expect(fisherTest({ successes: 10, n: 100 }, { successes: 2, n: 100 })).toBeCloseTo(
    0.033040109324184976,
    10,
  );
  expect(fisherTest({ successes: 0, n: 50 }, { successes: 0, n: 60 })).toBe(1);
});

const subject = (key: string): Subject => ({
  key,
  resolver: key,
  client: 'curl',
  policy: null,
  conditions: {},
  prediction: null,
});

/** `firstConnect`: of its first sample, before which nothing was asked; null where something was. */
function trial(
  key: string,
  round: number,
  lookup: number,
  repeated: number | null,
  firstConnect: number | null = null,
): LookupTrial {
  const phases = { lookup, connect: 0.001, firstByte: 0.0001, total: lookup + 0.0011 };
  const sample = {
    outcome: 'ok',
    atSeconds: 0,
    phases,
    address: '192.0.2.1',
    localPort: 1,
    httpStatus: 200,
  } as const;
  const isCold = firstConnect !== null;
  const first = isCold ? { ...sample, phases: { ...phases, connect: firstConnect } } : sample;
  const samples = [first, ...Array.from({ length: 99 }, () => sample)];
  const counts = { ipv4: 100, ipv6: 0 };
  return trialOf({
    head: {
      key: `${key}#${round}`,
      subject: key,
      round,
      order: round,
      startedAt: '2026-11-22T09:00:00.000Z',
      seconds: 2,
    },
    samplers: [{ name: 'pod', node: null, isCold, samples, kernelRepeats: repeated, isComplete: true }],
    packets:
      repeated === null
        ? null
        : {
            handshakes: {
              connections: 100,
              connectionsRepeated: repeated,
              syn: { ...counts, ecn: 0 },
              synAck: counts,
              duplicateSyn: repeated,
              duplicateSynAck: 0,
              tigerRule: { duplicateSyn: repeated, duplicateSynAck: 0 },
            },
            searches: { queries: 200, repeated: 0, questions: [] },
            capture: { interfaces: ['pod0'], captured: 500, received: 500, dropped: 0 },
            isWhole: true,
          },
    kernel: { syn: repeated, synAck: 0, scope: 'namespace' },
  });
}

/** Lookup times of six rounds, a tenth of a millisecond of noise. */
const NOISE = [0.0001, -0.0001, 0.00005, -0.00005, 0.00002, -0.00003];

function compared(lookups: readonly [number, number], repeated: readonly [number | null, number | null]) {
  const trials = NOISE.flatMap((noise, round) => [
    trial('a', round, lookups[0] + noise, repeated[0]),
    trial('b', round, lookups[1] - noise / 2, repeated[1]),
  ]);
  const results = resultsOf([subject('a'), subject('b')], trials, new Map());
  const comparisons = comparisonsOf('a', results, trials);
  return { results, verdict: (metric: string) => comparisons.find((each) => each.metric === metric) };
}

describe('a comparison', () => {
  it('tells a longer lookup, its size, and that the connection is no different', () => {
    const { verdict } = compared([0.01, 0.03], [0, 0]);
    expect(verdict('lookup p50')).toMatchObject({ verdict: 'longer' });
    expect(verdict('lookup p50')?.difference?.estimate).toBeCloseTo(0.02, 3);
    expect(verdict('connect p50')).toMatchObject({ verdict: 'no difference shown' });
    expect(verdict('duplicates')).toMatchObject({ verdict: 'no difference shown' });
  });

  it('shows no difference that the noise can explain', () => {
    expect(compared([0.01, 0.01001], [0, 0]).verdict('lookup p50')).toMatchObject({
      verdict: 'no difference shown',
    });
  });

  it('tells more duplicates with the exact interval of each side', () => {
    const { results, verdict } = compared([0.01, 0.01], [0, 10]);
    expect(verdict('duplicates')).toMatchObject({ verdict: 'more', method: 'fisher' });
    expect(results[1]?.duplicates).toMatchObject({ duplicateSyn: 60, connections: 600, kernelAgrees: true });
    expect(results[1]?.duplicates?.share).toMatchObject({ value: 0.1, ...binomialInterval(60, 600) });
    expect(results[1]?.queriesPerLookup).toBe(2);
  });

  it('of duplicates is not supported without a capture', () => {
    expect(compared([0.01, 0.01], [0, null]).verdict('duplicates')).toMatchObject({
      difference: null,
      verdict: 'not supported here',
    });
  });
});

describe('the first sample of each pod', () => {
  const trials = NOISE.flatMap((noise, round) => [
    trial('a', round, 0.01, 0, 0.001 + Math.abs(noise)),
    trial('b', round, 0.01, 0, 0.2 + noise),
  ]);
  const subjects = [subject('a'), subject('b')];
  const results = resultsOf(subjects, trials, new Map());

  it('shows a delay that no percentile of all samples shows', () => {
    const comparisons = comparisonsOf('a', results, trials);
    const verdict = (metric: string) => comparisons.find((each) => each.metric === metric);
    expect(verdict('first connect')).toMatchObject({ verdict: 'longer' });
    expect(verdict('first connect')?.difference?.estimate).toBeCloseTo(0.199, 3);
    expect(verdict('first lookup')).toMatchObject({ verdict: 'no difference shown' });
    expect(verdict('connect p99')).toMatchObject({ verdict: 'no difference shown' });
    expect(results[1]?.first?.connect).toMatchObject({ n: 6, max: 0.2001 });
  });

  it('has a table of its own, and a warning that the percentiles dilute it, unless each sample is a new name', () => {
    const kept = parseRecordAs(lookupKind, referenceText('kubernetes-lookup'), 'run.json');
    const record = { ...kept, subjects, trials, results, comparisons: [] };
    const { warnings, sections } = lookupDocument(record);
    expect(warnings.join(' ')).toContain('Only 6 of 600 samples of a are the first of their pod');
    expect(JSON.stringify(sections)).toContain('First sample of each pod');
    const wildcard = lookupDocument({ ...record, url: 'http://*.example.com/' });
    expect(wildcard.warnings.join(' ')).not.toContain('the first of their pod');
  });

  it('is nothing where something was asked before', () => {
    const { results: warm, verdict } = compared([0.01, 0.01], [0, 0]);
    expect(warm[0]?.first).toBeNull();
    expect(verdict('first connect')).toBeUndefined();
  });
});
