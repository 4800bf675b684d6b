/** Verdicts of lookup runs: exact intervals and tests of shares, differences of rounds. */
import { describe, expect, it } from 'vitest';
import { documentOf } from '../src/engine/document.ts';
import { lookupDocument } from '../src/experiments/lookup/document.ts';
import { lookupEstimands } from '../src/experiments/lookup/estimands.ts';
import type { LookupEvidence, LookupRecord } from '../src/experiments/lookup/evidence.ts';
import { overallsOf } from '../src/experiments/lookup/overall.ts';
import { phasesTable } from '../src/experiments/lookup/tables.ts';
import { elementsOf } from '../src/experiments/lookup/tiger/elements.ts';
import { evidenceOf } from '../src/experiments/lookup/trial.ts';
import { binomialInterval } from '../src/stats/binomial.ts';
import { makeLookup } from './fixtures/make-lookup.ts';

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

/** `firstConnect`: of its first sample, before which nothing was asked; null where something was. */
function evidence(
  lookup: number,
  repeated: number | null,
  firstConnect: number | null = null,
  count = 100,
): LookupEvidence {
  const phases = { lookup, connect: 0.001, firstByte: 0.0001, total: lookup + 0.0011 };
  const sample = { outcome: 'ok', phases, address: '192.0.2.1' } as const;
  const isCold = firstConnect !== null;
  const first = isCold ? { ...sample, phases: { ...phases, connect: firstConnect } } : sample;
  const samples = [first, ...Array.from({ length: count - 1 }, () => sample)];
  const counts = { ipv4: 100, ipv6: 0 };
  return evidenceOf({
    seconds: 2,
    prediction: null,
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

/** Two numbers of Services on a cluster. */
function record(of: (noise: number) => readonly [LookupEvidence, LookupEvidence], flags = {}): LookupRecord {
  const trials = NOISE.flatMap((noise, round) =>
    of(noise).map((each, index) => ({
      subject: `${index} Service${index === 1 ? '' : 's'}`,
      round,
      evidence: each,
    })),
  );
  return makeLookup({ flags: { target: 'kubernetes', services: '0,1', ...flags }, trials });
}

const deltaOf = ({ cases }: LookupRecord, name: string) => cases[1]?.comparison?.deltas[name];

function compared(lookups: readonly [number, number], repeated: readonly [number | null, number | null]) {
  return record((noise) => [
    evidence(lookups[0] + noise, repeated[0]),
    evidence(lookups[1] - noise / 2, repeated[1]),
  ]);
}

describe('a comparison', () => {
  it('tells a longer lookup, its size in seconds, and that the connection is no different', () => {
    const found = compared([0.01, 0.03], [0, 0]);
    expect(deltaOf(found, 'lookupP50')).toMatchObject({
      verdict: 'slower',
      difference: expect.closeTo(0.02, 3),
    });
    expect(deltaOf(found, 'connectP50')).toMatchObject({ verdict: 'no difference shown' });
    expect(deltaOf(found, 'repeatedSyn')).toMatchObject({ verdict: 'no difference shown', difference: 0 });
    const { findings } = documentOf(found, lookupDocument(found));
    expect(findings.map(({ badge }) => badge.text)).toEqual([
      'median lookup 10.0 ms',
      'median lookup 30.0 ms',
    ]);
    expect(findings[1]?.sentence).toMatch(
      /Against 0 Services: lookup p50 \+20\.0\u00a0ms.*: higher; connect p50/,
    );
    expect(lookupDocument(found).post?.excerpt).toMatch(
      /^Looking up a name took 19\.\d ms to 20\.\d ms longer with 1 Service than with 0 Services \(95 % intervals\)\. No difference in connect times was shown between 0 and 1 Services\. Median lookup and connect times: 10\.0 ms and 1\.00 ms with 0 Services; 30\.0 ms and 1\.00 ms with 1 Service\.$/,
    );
    expect(lookupDocument(found).post?.title).toBe(
      'How long do lookups and connections take with 0 and 1 Services?',
    );
  });

  it('says once below its table, where several figures are no different, that no difference is shown', () => {
    const blocksOf = (found: LookupRecord) =>
      documentOf(found, lookupDocument(found)).sections.find(({ title }) => title.startsWith('Against'))
        ?.blocks ?? [];
    const said = (found: LookupRecord) =>
      JSON.stringify(blocksOf(found)).match(/[^".]*no difference[^".]*/gi);
    expect(said(compared([0.01, 0.01], [0, 0]))).toEqual(['No difference is shown in any of these figures']);
    const mixed = compared([0.01, 0.03], [0, 0]);
    expect(said(mixed)).toEqual(['Where no verdict is given, no difference is shown']);
    expect(JSON.stringify(blocksOf(mixed))).toMatch(/: higher"/);
  });

  it('of two rounds tells both differences, and no interval', () => {
    const trials = [0, 0.0000001].flatMap((noise, round) =>
      [0.01 + noise, 0.03 + noise].map((lookup, index) => ({
        ...{ subject: `${index} Service${index === 1 ? '' : 's'}`, round, evidence: evidence(lookup, 0) },
      })),
    );
    const found = makeLookup({ flags: { target: 'kubernetes', services: '0,1' }, trials });
    expect(lookupDocument(found).post?.excerpt).toMatch(
      /^Looking up a name took longer with 1 Service \(the two pairs: \+20\.0\u00a0ms\) than/,
    );
  });

  it('shows no difference that the noise can explain', () => {
    expect(deltaOf(compared([0.01, 0.01001], [0, 0]), 'lookupP50')).toMatchObject({
      verdict: 'no difference shown',
    });
  });

  it('tells a larger share of connections with a repeated SYN, with the exact interval of each side', () => {
    const found = compared([0.01, 0.01], [0, 10]);
    expect(lookupDocument(found).findings?.[1]?.sentence).toContain(
      'connections with a repeated SYN +10\u00a0points\u00a0[+10,\u00a0+10]: higher',
    );
    expect(deltaOf(found, 'repeatedSyn')).toMatchObject({ verdict: 'more', difference: 0.1 });
    const [, overall] = overallsOf(found);
    expect(overall?.repeated).toMatchObject({ duplicateSyn: 60, connections: 600, kernelAgrees: true });
    expect(overall?.repeated?.share).toMatchObject({ value: 0.1, ...binomialInterval(60, 600) });
    expect(overall?.queriesPerLookup).toBe(2);
  });

  it('has no percentiles of a handful of samples, nor a correction for them', () => {
    const found = record((noise) => [evidence(0.01, 0, null, 4), evidence(0.03 + noise, 0, null, 4)]);
    expect(found.cases[1]?.summary.lookupP99).toBeNull();
    expect(deltaOf(found, 'lookupP99')).toBeNull();
    expect(deltaOf(found, 'lookupP50')).toMatchObject({ comparisons: 2 });
    const shown = JSON.stringify(phasesTable(overallsOf(found)));
    expect(shown).toMatch(/"10\.0 ms","10\.0 ms","–","–","10\.0 ms"/);
  });

  it('of repeated SYNs needs a capture of both', () => {
    expect(deltaOf(compared([0.01, 0.01], [0, null]), 'repeatedSyn')).toBeNull();
  });

  it('has no share of repeated SYNs where the capture lost packets', () => {
    const whole = evidence(0.01, 10);
    if (whole.packets === null) throw new Error('no packets');
    const [share] = lookupEstimands(makeLookup({ trials: [] }).settings).filter(
      ({ name }) => name === 'repeatedSyn',
    );
    expect(share?.of(whole)).toBe(0.1);
    expect(share?.of({ ...whole, packets: { ...whole.packets, isWhole: false } })).toBeNull();
  });
});

describe('the first sample of each pod', () => {
  const made = (flags = {}) =>
    record((noise) => [evidence(0.01, 0, 0.001 + Math.abs(noise)), evidence(0.01, 0, 0.2 + noise)], {
      policy: 'calico',
      ...flags,
    });

  it('shows a delay that no percentile of all samples shows', () => {
    const found = made();
    expect(deltaOf(found, 'connectFirst')).toMatchObject({
      verdict: 'slower',
      difference: expect.closeTo(0.199, 3),
    });
    expect(deltaOf(found, 'lookupFirst')).toMatchObject({ verdict: 'no difference shown' });
    expect(deltaOf(found, 'connectP99')).toMatchObject({ verdict: 'no difference shown' });
    expect(overallsOf(found)[1]?.first?.connect).toMatchObject({ n: 6, max: 0.2001 });
  });

  it('has a table of its own, and a warning that the percentiles dilute it, unless each sample is a new name', () => {
    const found = made();
    const { warnings, sections } = documentOf(found, lookupDocument(found));
    expect(warnings.join(' ')).toContain('Only 6 of 600 samples of 0 Services are the first of their pod');
    expect(JSON.stringify(sections)).toContain('First sample of each pod');
    const wildcard = lookupDocument(made({ url: 'http://*.example.com/' }));
    expect(wildcard.warnings?.join(' ')).not.toContain('the first of their pod');
  });

  it('is every one with a pod for each sample: no warning of one that failed, nor a word of a policy without one', () => {
    const found = made({ policy: 'none', podPerSample: true });
    const { method = [], warnings = [] } = lookupDocument(found);
    expect(warnings.join(' ')).not.toContain('the first of their pod');
    expect(method.join(' ')).toContain('Before its first sample, a pod asks nothing. Its times');
    expect(lookupDocument(made()).method?.join(' ')).toContain(
      'the first sample is the first that a policy sees of it',
    );
  });

  it('is nothing where something was asked before', () => {
    const warm = compared([0.01, 0.01], [0, 0]);
    expect(overallsOf(warm)[0]?.first).toBeNull();
    expect(deltaOf(warm, 'connectFirst')).toBeUndefined();
  });
});

it('the time and the rounds that it tells are those that were measured, with --until as well', () => {
  const found = record((noise) => [evidence(0.01 + noise, 0), evidence(0.03, 0)], {
    trials: 3,
    duration: 30,
  });
  expect(lookupDocument(found).method?.join(' ')).toContain('1 min for each of the 2 compared, in 6 rounds;');
  expect(elementsOf(found)[0]?.config.Duration).toBe(60);
});

it('a trial that failed is a result beside the others, and a subject without any other is called failed', () => {
  const found = makeLookup({
    flags: { target: 'kubernetes', services: '0,1' },
    trials: [
      { subject: '0 Services', round: 0, evidence: evidence(0.01, 0) },
      { subject: '1 Service', round: 0, evidence: '9 of 9 samples failed' },
    ],
  });
  const { findings, warnings, state } = documentOf(found, lookupDocument(found));
  expect(state).toBe('failed-trials');
  expect(findings[1]).toMatchObject({ badge: { text: 'failed' }, sentence: 'No sample succeeded.' });
  expect(warnings.join()).toContain('1 Service, trial 1 failed: 9 of 9 samples failed');
});
