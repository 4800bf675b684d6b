/**
 * Compares two runs, or two sets of cases. Trials of one run are paired by round, with allowance for what other programs took
 * meanwhile (`stats/allowance.ts`); trials of different runs are not paired, and are compared by the rank-sum test or Welch's t
 * (see `stats/sample-test.ts`).
 *
 * Runs differ by more than the scatter of trials: another day, another state of the machine. `normalize` removes what
 * affects all servers of a run alike, by comparing each case's ratio to a server that both runs have.
 */
import {
  bothOf,
  directionOf,
  type EstimandFacts,
  figuresOf,
  isBetter,
  pairsOf,
  resolutionOf,
  valuesOf,
} from '../report/estimand.ts';
import type { Delta, Difference } from '../results/record.ts';
import { testAllowed } from '../stats/allowance.ts';
import { decideFamily } from '../stats/comparisons.ts';
import { mayBeSaid } from '../stats/decisive.ts';
import { sizeOf } from '../stats/deltas.ts';
import { median } from '../stats/intervals.ts';
import {
  type DifferenceTest,
  type IntervalChoice,
  type SampleTest,
  type TestOptions,
  testDifferences,
  testPaired,
  testUnpaired,
  testUnpairedDifferences,
} from '../stats/sample-test.ts';
import {
  allowanceOfPairs,
  compareDifferences,
  comparePairs,
  compareSamples,
  differenceFrom,
  exposedPair,
  type Pair,
  pairTrials,
  type UndecidedDelta,
  type UndecidedDifference,
} from '../stats/summarize.ts';
import { capitalized, counted, listed } from '../text.ts';
import { placeKey } from './axes.ts';
import { type Difference as Differing, differencesOf, differentTrials } from './differences.ts';
import type { Entry, EntryCase } from './entry.ts';
import { type Matching, matchCases } from './match.ts';
import type { Selected } from './select.ts';

/** The figures of two cases by one estimand. */
export interface Samples {
  readonly reference: readonly number[];
  readonly candidate: readonly number[];
  /** The same, of the same rounds of one run; null for different runs. */
  readonly pairs: readonly Pair[] | null;
  /** As in `TestOptions`: how closely a ratio of two is known. Default: exactly. */
  readonly resolution?: number;
}

export interface ComparedFigure {
  /** Name of the estimand. */
  readonly metric: string;
  /** Medians, as figures are shown; with `normalize`, of the ratios. Null where a run has no such figure. */
  readonly reference: number | null;
  readonly candidate: number | null;
  /** Trials of either side. */
  readonly trials: readonly [number, number];
  /** The differences of two pairs; see `bothOf`. */
  readonly both: readonly number[] | null;
  /** Null where either side has no figure. */
  readonly delta: Delta | Difference | null;
  /** Whether something other than the subject kept the figure of either side from being better. */
  readonly isBound: readonly [boolean, boolean];
  /** Whether it is not the subject's own on either side: nothing is said of it. */
  readonly isForeign: boolean;
}

export interface ComparedCase {
  readonly label: string;
  readonly referenceKey: string;
  readonly candidateKey: string;
  readonly figures: readonly ComparedFigure[];
  /** Limitations of the figures, in sentences. */
  readonly notes: readonly string[];
}

export interface ComparedRuns {
  /** What is compared, as far as both have it. */
  readonly estimands: readonly EstimandFacts[];
  readonly reference: string;
  readonly candidate: string;
  /** Whether both are of the same run. */
  readonly paired: boolean;
  /** If a side is a pool of runs: what makes it doubtful, in sentences. Null if neither is. */
  readonly pooled: readonly string[] | null;
  readonly normalizedBy: string | null;
  /** How the sides made their trials, if one is a duet and the other is not: no verdict holds then. Else null. */
  readonly differentTrials: readonly [string, string] | null;
  readonly cases: readonly ComparedCase[];
  readonly onlyReference: readonly string[];
  readonly onlyCandidate: readonly string[];
  readonly differences: readonly Differing[];
  /** Of runs that did not end by themselves, in sentences. */
  readonly unfinished: readonly string[];
}

export interface CompareOptions {
  readonly estimands: readonly EstimandFacts[];
  readonly interval: IntervalChoice;
  /** A server that both runs have; null for the figures as they are. */
  readonly normalize: string | null;
  /** What the sides are called in notes. Default: the first and the second. */
  readonly names?: readonly [string, string];
}

/** The case of `subject` at the same point. */
export function yardstickOf(entry: Entry, item: EntryCase, subject: string): EntryCase | undefined {
  return entry.cases.find((other) => placeKey(other) === placeKey({ ...item, subject }));
}

/** Each trial ÷ that of `subject` at the same point and in the same round. */
export function normalized(entry: Entry, item: EntryCase, name: string, subject: string): number[] {
  const yardstick = yardstickOf(entry, item, subject);
  if (yardstick === undefined) return [];
  const pairs = pairTrials(item.trials, yardstick.trials, ({ figures }) => ({ value: figures[name] }));
  return pairs.flatMap(({ value, baseline }) => (baseline <= 0 ? [] : [value / baseline]));
}

interface Side {
  readonly entry: Entry;
  readonly item: EntryCase;
}

/** The samples of an estimand, paired if both cases are of the same run. */
export function samplesOf(
  reference: Side,
  candidate: Side,
  estimand: EstimandFacts,
  normalize: string | null,
): Samples {
  const { name } = estimand;
  if (normalize !== null) {
    const sides = [reference, candidate];
    const [before = [], now = []] = sides.map(({ item, entry }) =>
      [item, yardstickOf(entry, item, normalize)].flatMap((each) =>
        each ? valuesOf(each.trials, name) : [],
      ),
    );
    return {
      reference: normalized(reference.entry, reference.item, name, normalize),
      candidate: normalized(candidate.entry, candidate.item, name, normalize),
      pairs: null,
      // A ratio of two ratios.
      resolution: (1 + resolutionOf(estimand, [...before, ...now])) ** 2 - 1,
    };
  }
  const isPaired = estimand.isPaired !== false && reference.entry.kind !== 'imported';
  if (reference.entry.id !== candidate.entry.id || !isPaired) {
    const [before, now] = [valuesOf(reference.item.trials, name), valuesOf(candidate.item.trials, name)];
    const resolution = resolutionOf(estimand, [...now, ...before]);
    return { reference: before, candidate: now, pairs: null, resolution };
  }
  const pairs = pairsOf(estimand, candidate.item.trials, reference.item.trials);
  return {
    reference: pairs.map(({ baseline }) => baseline),
    candidate: pairs.map(({ value }) => value),
    pairs,
    resolution: resolutionOf(estimand, figuresOf(pairs)),
  };
}

/** By differences, unless the figures are ratios to a yardstick. */
export function isByDifference({ compared }: EstimandFacts, normalize: string | null): boolean {
  return compared === 'difference' && normalize === null;
}

/** Of candidate ÷ reference ÷ the tolerated ratio. */
export function testRatios(samples: Samples, given: TestOptions, tolerated = 1): SampleTest | null {
  const { candidate, reference, resolution = 0 } = samples;
  const options = { ...given, resolution };
  if (samples.pairs === null)
    return testUnpaired(
      candidate.map((value) => value / tolerated),
      reference,
      options,
    );
  const pairs = samples.pairs.map((pair) => ({ ...pair, value: pair.value / tolerated }));
  const allowance = allowanceOfPairs(pairs);
  if (allowance !== null) return testAllowed(pairs.flatMap(exposedPair), allowance, options);
  return testPaired(
    pairs.map(({ value, baseline }) => value / baseline),
    options,
  );
}

/** Of candidate − reference − the tolerated difference. */
export function testDifference(samples: Samples, options: TestOptions, tolerated = 0): DifferenceTest | null {
  return samples.pairs !== null
    ? testDifferences(
        samples.pairs.map(({ value, baseline }) => value - baseline - tolerated),
        options,
      )
    : testUnpairedDifferences(
        samples.candidate.map((value) => value - tolerated),
        samples.reference,
        options,
      );
}

/** The difference of two samples by their ratio, without a verdict yet; null where the baseline is zero. */
export function undecidedDelta(samples: Samples, options: TestOptions): UndecidedDelta | null {
  const { reference, candidate, pairs, resolution = 0 } = samples;
  return pairs === null
    ? compareSamples(candidate, reference, { ...options, resolution })
    : comparePairs(pairs, { ...options, resolution }, allowanceOfPairs(pairs));
}

function undecidedDifference(samples: Samples, options: TestOptions): UndecidedDifference | null {
  const { reference, candidate, pairs } = samples;
  if (pairs !== null) return compareDifferences(pairs, options);
  const n = Math.min(reference.length, candidate.length);
  return differenceFrom(median(candidate) - median(reference), n, testDifference(samples, options), null);
}

/** Whether the figure of a side is bounded, and whether it is its own at all: divided by a bounded one, it is not. */
function boundsOf({ entry, item }: Side, name: string, normalize: string | null) {
  const yardstick = normalize === null ? undefined : yardstickOf(entry, item, normalize);
  const isForeign = [item, yardstick].some((each) => each?.foreign.includes(name) === true);
  const isYardstickBound = yardstick?.bounds.includes(name) === true;
  return { own: item.bounds.includes(name), isForeign: isForeign || isYardstickBound };
}

/** Without a verdict that something other than the subjects may have made: the rule of every output. */
function asItMayBeSaid<D extends Delta | Difference>(
  delta: D,
  estimand: EstimandFacts,
  { isForeign, isBound: [baseline, own] }: Pick<ComparedFigure, 'isForeign' | 'isBound'>,
): D {
  return !isForeign && mayBeSaid(isBetter(estimand, sizeOf(delta)), { own, baseline })
    ? delta
    : { ...delta, verdict: 'no difference shown', undecided: 'not limited by the servers' };
}

function notesOf(
  [reference, candidate]: readonly [EntryCase, EntryCase],
  { estimands, names = ['first', 'second'] }: CompareOptions,
): string[] {
  const sides = [reference, candidate];
  const bounded = estimands.filter(({ name }) =>
    sides.some(({ bounds, foreign }) => bounds.length > 0 && [...bounds, ...foreign].includes(name)),
  );
  const coarse = estimands.filter(({ name }) =>
    sides.some(({ bounds, foreign }) => bounds.length === 0 && foreign.includes(name)),
  );
  const notes: string[] = [];
  if (bounded.length > 0) {
    notes.push(
      `Something other than the server limited ${listed(bounded.map(({ title }) => title))} in some trial: not the server's own.`,
    );
  }
  for (const { title } of coarse)
    notes.push(`${capitalized(title)} was recorded too coarsely to be compared.`);
  if (reference.contended || candidate.contended) {
    notes.push('Servers and load generators had to share cores (contended).');
  }
  for (const [item, which] of [
    [reference, names[0]],
    [candidate, names[1]],
  ] as const) {
    if (item.trials.length === 0) notes.push(`No trial of the ${which} succeeded.`);
    else if (item.failedTrials > 0)
      notes.push(`${counted(item.failedTrials, 'trial')} of the ${which} failed.`);
  }
  return notes;
}

/** A warning of a run that was interrupted, or is still under way, has been killed, or is a pool with one that was. */
export function unfinishedNote({ id, status }: Pick<Entry, 'id' | 'status'>): string[] {
  if (status.split(', ').every((each) => each === 'complete' || each === 'imported')) return [];
  const how = status === 'running' ? 'not finished' : status;
  return [`Run ${id} is ${how}: it has fewer trials than were planned.`];
}

const centre = (values: readonly number[]) => (values.length === 0 ? null : median(values));

/** One family of comparisons: all cases by one estimand. */
function compareFamily(
  estimand: EstimandFacts,
  sides: readonly (readonly [Side, Side])[],
  { interval, normalize }: CompareOptions,
  { seed, level }: { readonly seed: string; readonly level: number },
): ComparedFigure[] {
  const { name } = estimand;
  const members = sides.map(([reference, candidate], index) => {
    const samples = samplesOf(reference, candidate, estimand, normalize);
    const trials = Math.min(samples.reference.length, samples.candidate.length);
    return { samples, trials, seed: `${seed}/${index}/${name}` };
  });
  const undecided = isByDifference(estimand, normalize) ? undecidedDifference : undecidedDelta;
  const deltas = decideFamily(
    members,
    directionOf(estimand),
    { interval, level },
    ({ samples, trials }, each) =>
      estimand.compared === 'no' || trials === 0 ? null : undecided(samples, each),
  );
  return members.map(({ samples: { reference, candidate, pairs } }, index): ComparedFigure => {
    const delta = deltas[index] ?? null;
    const [before, now] = (sides[index] ?? []).map((side) => boundsOf(side, name, normalize));
    const bounds = {
      isBound: [before?.own === true, now?.own === true] as const,
      isForeign: before?.isForeign === true || now?.isForeign === true,
    };
    return {
      metric: name,
      reference: centre(reference),
      candidate: centre(candidate),
      trials: [reference.length, candidate.length],
      both: pairs === null ? null : bothOf(estimand, pairs),
      delta: delta === null ? null : asItMayBeSaid(delta, estimand, bounds),
      ...bounds,
    };
  });
}

/** Whether some difference is that of the calmest trial; see `stats/allowance.ts`. */
export function allowsForOthers({ cases }: Pick<ComparedRuns, 'cases'>): boolean {
  return cases.some(({ figures }) =>
    figures.some(({ delta }) => delta !== null && 'allowance' in delta && delta.allowance !== null),
  );
}

/** The level of tests between them: what was stopped by a verdict of its own is as extreme as that verdict needed. */
export function levelBetween(reference: Pick<Selected, 'entry'>, candidate: Pick<Selected, 'entry'>): number {
  return Math.min(reference.entry.level, candidate.entry.level);
}

/** Matches two selections, with one family of comparisons per estimand. */
export function compareRuns(reference: Selected, candidate: Selected, options: CompareOptions): ComparedRuns {
  const { matches, onlyReference, onlyCandidate }: Matching = matchCases(reference, candidate);
  const sides = matches.map(
    (match) =>
      [
        { entry: reference.entry, item: match.reference },
        { entry: candidate.entry, item: match.candidate },
      ] as const,
  );
  const test = {
    seed: `${reference.entry.id}/${candidate.entry.id}`,
    level: levelBetween(reference, candidate),
  };
  const families = options.estimands.map((estimand) => compareFamily(estimand, sides, options, test));
  const cases = matches.map(
    ({ label, reference: item, candidate: other }, index): ComparedCase => ({
      label,
      referenceKey: item.key,
      candidateKey: other.key,
      figures: families.flatMap((family) => family[index] ?? []),
      notes: notesOf([item, other], options),
    }),
  );
  return {
    estimands: options.estimands,
    reference: reference.entry.id,
    candidate: candidate.entry.id,
    paired: reference.entry.id === candidate.entry.id && options.normalize === null,
    pooled:
      reference.runs === undefined && candidate.runs === undefined
        ? null
        : [...(reference.notes ?? []), ...(candidate.notes ?? [])],
    normalizedBy: options.normalize,
    differentTrials: differentTrials(reference.entry, candidate.entry),
    cases,
    onlyReference,
    onlyCandidate,
    differences: differencesOf(reference.entry, candidate.entry),
    unfinished: [...new Set([reference, candidate].flatMap(({ entry }) => unfinishedNote(entry)))],
  };
}
