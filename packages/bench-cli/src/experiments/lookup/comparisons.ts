/** Every subject against the baseline: medians and 99th percentiles of trials of the same round, and duplicates. Pure. */
import { fisherTest } from '../../stats/binomial.ts';
import { holmAdjusted } from '../../stats/holm.ts';
import { median } from '../../stats/intervals.ts';
import { LEVEL, testDifferences } from '../../stats/sample-test.ts';
import { percentileOf } from './distribution.ts';
import type { LookupComparison, LookupResult, LookupTrial } from './record.ts';
import type { Phase } from './sampling/sample.ts';

const COMPARED: readonly { readonly phase: Phase; readonly percentile: number }[] = [
  { phase: 'lookup', percentile: 50 },
  { phase: 'lookup', percentile: 99 },
  { phase: 'connect', percentile: 50 },
  { phase: 'connect', percentile: 99 },
];

type Undecided = Omit<LookupComparison, 'adjustedPValue' | 'verdict'>;

/** A figure of a trial that is compared; null where the trial does not have it. */
interface Metric {
  readonly name: string;
  of(trial: LookupTrial): number | null;
}

const PERCENTILES: readonly Metric[] = COMPARED.map(({ phase, percentile }) => ({
  name: `${phase} p${percentile}`,
  of: ({ phases }) => (phases === null ? null : percentileOf(phases[phase], percentile)),
}));

/** Of trials whose pods had asked nothing before: their first samples, the median over the pods. */
const FIRST: readonly Metric[] = (['lookup', 'connect'] as const).map((phase) => ({
  name: `first ${phase}`,
  of: ({ samplers }) => {
    const times = samplers.flatMap(({ first }) => first?.[phase] ?? []);
    return times.length === 0 ? null : median(times);
  },
}));

/** The differences of each round that both have. */
function pairs(
  trials: readonly LookupTrial[],
  [subject, baseline]: readonly [string, string],
  metric: Metric,
): number[] {
  const valueIn = (key: string, round: number) => {
    const trial = trials.find(
      (each) => each.subject === key && each.round === round && each.failure === null,
    );
    return trial === undefined ? null : metric.of(trial);
  };
  const rounds = [...new Set(trials.map(({ round }) => round))];
  return rounds.flatMap((round) => {
    const [value, base] = [valueIn(subject, round), valueIn(baseline, round)];
    return value === null || base === null ? [] : [value - base];
  });
}

function timeComparisons(
  trials: readonly LookupTrial[],
  keys: readonly [string, string],
  metrics: readonly Metric[],
  comparisons: number,
): Undecided[] {
  return metrics.map((metric) => {
    const test = testDifferences(pairs(trials, keys, metric), { comparisons });
    return {
      subject: keys[0],
      baseline: keys[1],
      metric: metric.name,
      difference: test === null ? null : { estimate: test.estimate, low: test.low, high: test.high },
      pValue: test?.pValue ?? null,
      method: test?.method ?? null,
    };
  });
}

function duplicateComparison(result: LookupResult, baseline: LookupResult): Undecided {
  const [a, b] = [result.duplicates, baseline.duplicates];
  const isKnown = a?.share != null && b?.share != null;
  return {
    subject: result.subject,
    baseline: baseline.subject,
    metric: 'duplicates',
    difference: isKnown
      ? { estimate: (a.share?.value ?? 0) - (b.share?.value ?? 0), low: null, high: null }
      : null,
    pValue: isKnown
      ? fisherTest(
          { successes: a.connectionsRepeated, n: a.connections },
          { successes: b.connectionsRepeated, n: b.connections },
        )
      : null,
    method: isKnown ? 'fisher' : null,
  };
}

function verdictOf({ difference, metric }: Undecided, adjusted: number | null): LookupComparison['verdict'] {
  if (difference === null || adjusted === null) return 'not supported here';
  const { estimate, low, high } = difference;
  const excludesZero = low === null || high === null || low > 0 || high < 0;
  if (adjusted > LEVEL || !excludesZero || estimate === 0) return 'no difference shown';
  if (metric === 'duplicates') return estimate > 0 ? 'more' : 'fewer';
  return estimate > 0 ? 'longer' : 'shorter';
}

/** All comparisons with the baseline, corrected together. */
export function comparisonsOf(
  baseline: string,
  results: readonly LookupResult[],
  trials: readonly LookupTrial[],
): LookupComparison[] {
  const base = results.find(({ subject }) => subject === baseline);
  const others = results.filter(({ subject }) => subject !== baseline);
  if (base === undefined) return [];
  const metrics = base.first === null ? PERCENTILES : [...PERCENTILES, ...FIRST];
  const family = others.length * (metrics.length + 1);
  const undecided = others.flatMap((result) => [
    ...timeComparisons(trials, [result.subject, baseline], metrics, family),
    duplicateComparison(result, base),
  ]);
  const tested = undecided.flatMap(({ pValue }) => (pValue === null ? [] : [pValue]));
  const adjusted = holmAdjusted(tested);
  return undecided.map((comparison) => {
    const own = comparison.pValue === null ? null : (adjusted.shift() ?? null);
    return { ...comparison, adjustedPValue: own, verdict: verdictOf(comparison, own) };
  });
}
