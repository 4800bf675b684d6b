/**
 * Is a run worse than tolerated? Fails only if the whole interval of the difference is worse than the tolerance, passes
 * only if the whole interval is better; else this number of trials cannot decide it, and the gate says so.
 */
import type { EstimandFacts } from '../report/estimand.ts';
import { sizeOf } from '../stats/deltas.ts';
import { holmByItem } from '../stats/holm.ts';
import { including } from '../stats/intervals.ts';
import { type IntervalChoice, LEVEL, type TestOptions } from '../stats/sample-test.ts';
import { levelOf, type UntilView } from '../stats/until.ts';
import {
  type ComparedFigure,
  type ComparedRuns,
  compareRuns,
  isByDifference,
  levelBetween,
  type Samples,
  samplesOf,
  testDifference,
  testRatios,
} from './compare.ts';
import type { Entry } from './entry.ts';
import { matchCases } from './match.ts';
import type { Selected } from './select.ts';

/** `cannot tell`: something other than the server limited it, so no number of trials would tell. */
export type GateOutcome = 'passed' | 'failed' | 'not enough trials' | 'cannot tell';

export interface GatedCase {
  /** Of the candidate's case. */
  readonly key: string;
  readonly label: string;
  /** Name of the estimand. */
  readonly metric: string;
  /** Tolerated regression, as a ratio. */
  readonly maxRegression: number;
  readonly outcome: GateOutcome;
  /**
   * How much worse, as a ratio: 0.05 for 5 % fewer queries or 5 % more latency; negative for better. Infinite of a reference of none,
   * which JSON has as null: `comparison` has the plain difference.
   */
  readonly regression: number | null;
  /** Its 95 % interval; null below two trials of either side. */
  readonly low: number | null;
  readonly high: number | null;
  /** Of the test that the regression is no worse than tolerated, after correction for all cases. */
  readonly adjustedPValue: number | null;
  readonly trials: readonly [number, number];
  /** About how many trials of each side would decide it; null if it is decided, or cannot be estimated. */
  readonly trialsNeeded: number | null;
  /** Why, where there is no interval. */
  readonly missing: string | null;
}

export interface Gate {
  readonly outcome: GateOutcome;
  readonly cases: readonly GatedCase[];
  readonly comparison: ComparedRuns;
}

export interface Limit {
  readonly estimand: EstimandFacts;
  /** Tolerated regression as a ratio: 0.03 for 3 %. */
  readonly maxRegression: number;
}

export interface GateOptions {
  readonly limits: readonly Limit[];
  readonly interval: IntervalChoice;
  readonly normalize: string | null;
}

/** A larger number is not useful advice. */
const MAX_ADVISED_TRIALS = 1000;

function missingBecause(figure: ComparedFigure | undefined): string {
  const [before, now] = figure?.trials ?? [0, 0];
  if (before === 0 || now === 0) {
    return `${before === 0 ? 'the reference' : 'the candidate'} has no such figure`;
  }
  if (figure?.delta === null) return 'the reference has none in some trial, and there is no ratio to that';
  return `${Math.min(before, now) === 1 ? 'one trial has' : 'these trials have'} no interval`;
}

/** How many trials would decide it: intervals shrink with the square root of the number of trials. */
function advise(regression: number, interval: { low: number; high: number }, limit: number, trials: number) {
  const distance = Math.abs(regression - limit);
  const half = (interval.high - interval.low) / 2;
  if (distance === 0) return null;
  const needed = Math.ceil(trials * (half / distance) ** 2 * 1.2);
  return needed > trials && needed <= MAX_ADVISED_TRIALS ? needed : null;
}

interface Tested {
  readonly key: string;
  readonly label: string;
  readonly limit: Limit;
  /** How much worse the candidate is, relative to the reference, with its interval; null where nothing tells. */
  readonly regression: {
    readonly size: number;
    readonly low: number;
    readonly high: number;
    readonly pValue: number;
  } | null;
  readonly figure: ComparedFigure | undefined;
  /** Failed trials of the candidate's case where none succeeded, but some of the reference did; else 0. */
  readonly lostTrials: number;
}

/** "How much worse" from how much more, and which end is which; without a negative zero. */
function asRegression({ better }: EstimandFacts, size: number, low: number, high: number) {
  return better === 'more' ? { size: -size + 0, low: -high, high: -low } : { size, low, high };
}

/** Of the test that the regression is the tolerated one. Differences are relative to the median of the reference. */
function testLimit(
  { estimand, maxRegression }: Limit,
  samples: Samples,
  figure: ComparedFigure | undefined,
  options: TestOptions,
  normalize: string | null,
): Tested['regression'] {
  const more = estimand.better === 'more' ? -maxRegression : maxRegression;
  const { delta = null, reference = null } = figure ?? {};
  if (delta === null || reference === null) return null;
  if (isByDifference(estimand, normalize) && 'difference' in delta) {
    const tolerated = more * reference;
    const test = testDifference(samples, options, tolerated);
    if (test === null || reference < 0) return null;
    // Of a reference of none, such as of lost queries, any more is worse than any share of it.
    const share = (value: number) => (value === 0 ? 0 : value / reference);
    const [low, high] = [test.low, test.high].map((end) => share(end + tolerated)) as [number, number];
    const ends = asRegression(estimand, share(delta.difference), low, high);
    return { ...ends, pValue: test.pValue };
  }
  const ratio = 1 + more;
  const test = testRatios(samples, options, ratio);
  if (test === null) return null;
  const ends = asRegression(estimand, sizeOf(delta), test.low * ratio - 1, test.high * ratio - 1);
  // As in every comparison, what is shown lies within its interval.
  return { ...ends, ...including(ends, ends.size), pValue: test.pValue };
}

const BOUNDED = 'something other than the server limited it';

function decideCase(
  { key, label, limit, regression, figure, lostTrials }: Tested,
  adjusted: number | null,
): GatedCase {
  const { estimand, maxRegression } = limit;
  const trials = figure?.trials ?? ([0, 0] as const);
  const base = {
    ...{ key, label, maxRegression, trials },
    metric: estimand.name,
    regression: regression?.size ?? null,
    adjustedPValue: adjusted,
  };
  const without = (outcome: GateOutcome, missing: string) => ({
    ...{ ...base, outcome, missing },
    ...{ low: null, high: null, trialsNeeded: null },
  });
  // A server that fails all its trials is worse than any figure.
  if (lostTrials > 0) return without('failed', 'no trial of the candidate succeeded');
  if (regression === null) return without('not enough trials', missingBecause(figure));
  const { size, low, high } = regression;
  // A bounded reference could be better than it shows; a bounded candidate that passes would pass without its bound, too.
  const [isReferenceBound, isBound] = figure?.isBound ?? [false, false];
  if (figure?.isForeign === true || isReferenceBound || (isBound && high > maxRegression))
    return without('cannot tell', BOUNDED);
  const isWorse = low > maxRegression && (adjusted ?? 1) <= LEVEL;
  const outcome = isWorse ? 'failed' : high <= maxRegression ? 'passed' : 'not enough trials';
  const trialsNeeded =
    outcome === 'not enough trials' ? advise(size, { low, high }, maxRegression, Math.min(...trials)) : null;
  return { ...base, low, high, outcome, trialsNeeded, missing: null };
}

/** The first of them that any figure has is the outcome of the gate. */
const BY_WEIGHT = ['failed', 'not enough trials', 'cannot tell'] as const satisfies GateOutcome[];

/** Every case that both have, by every estimand with a limit. */
export function gate(reference: Selected, candidate: Selected, options: GateOptions): Gate {
  const { limits, interval, normalize } = options;
  const estimands = limits.map(({ estimand }) => estimand);
  const names = ['reference', 'candidate'] as const;
  const comparison = compareRuns(reference, candidate, { estimands, interval, normalize, names });
  const { matches } = matchCases(reference, candidate);
  const questions = matches.flatMap((match, index) =>
    limits.map((limit, at) => ({ match, limit, figure: comparison.cases[index]?.figures[at] })),
  );
  const level = levelBetween(reference, candidate);
  const tested = questions.map(({ match, limit, figure }): Tested => {
    const { estimand } = limit;
    const samples = samplesOf(
      { entry: reference.entry, item: match.reference },
      { entry: candidate.entry, item: match.candidate },
      estimand,
      normalize,
    );
    const seed = `${reference.entry.id}/${candidate.entry.id}/${match.label}/${estimand.name}`;
    const test = { comparisons: questions.length, interval, level, seed };
    const regression = testLimit(limit, samples, figure, test, normalize);
    const { key, trials, failedTrials } = match.candidate;
    const lostTrials = trials.length === 0 && match.reference.trials.length > 0 ? failedTrials : 0;
    return { key, label: match.label, limit, regression, figure, lostTrials };
  });
  const adjustedOf = holmByItem(tested, ({ regression }) => regression?.pValue ?? null, level);
  const cases = tested.map((item) => decideCase(item, adjustedOf.get(item) ?? null));
  const outcome = BY_WEIGHT.find((each) => cases.some((item) => item.outcome === each)) ?? 'passed';
  return {
    outcome,
    cases,
    comparison,
  };
}

/**
 * The comparisons of a run so far with its baseline, decided as `bench gate --base` with `--metric` for these figures will decide
 * them: those of one subject are one family. Of what no number of trials would tell, nothing is waited for.
 */
export function decidedByGate(
  view: UntilView,
  run: Entry,
  maxRegression: number,
  interval: IntervalChoice,
): UntilView {
  const entry = { ...run, level: levelOf('gate') };
  const limits = entry.estimands
    .filter(({ name }) => view.compared.some(({ estimand }) => estimand === name))
    .map((estimand) => ({ estimand, maxRegression }));
  const subjects = [...Map.groupBy(entry.cases, ({ isBaseline, subject }) => (isBaseline ? null : subject))];
  const sideOf = (cases: Entry['cases']): Selected => ({ entry, selector: { subject: '' }, cases });
  const reference = sideOf(entry.cases.filter(({ isBaseline }) => isBaseline));
  const decided = subjects
    .filter(([subject]) => subject !== null)
    .flatMap(([, cases]) => gate(reference, sideOf(cases), { limits, interval, normalize: null }).cases)
    .filter(({ outcome }) => outcome !== 'not enough trials');
  const isDecided = ({ caseKey, estimand }: UntilView['compared'][number]) =>
    decided.some(({ key, metric }) => key === caseKey && metric === estimand);
  return { ...view, compared: view.compared.map((item) => ({ ...item, isDecided: isDecided(item) })) };
}
