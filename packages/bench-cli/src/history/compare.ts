/**
 * Compares two runs, or two sets of cases. Trials of one run are paired by round; trials of different runs are not
 * paired, and are compared by the rank-sum test or Welch's t (see `stats/sample-test.ts`).
 *
 * Runs differ by more than the scatter of trials: another day, another state of the machine. `normalize` removes what
 * affects all servers of a run alike, by comparing each case's ratio to a server that both runs have.
 */
import { directionOf, type EstimandFacts } from '../report/estimand.ts';
import type { Delta } from '../results/record.ts';
import { mayBeSaid } from '../stats/decisive.ts';
import { holmAdjusted } from '../stats/holm.ts';
import { median } from '../stats/intervals.ts';
import {
  type IntervalChoice,
  type SampleTest,
  type TestOptions,
  testPaired,
  testUnpaired,
} from '../stats/sample-test.ts';
import { decide, deltaFrom, type UndecidedDelta } from '../stats/summarize.ts';
import { placeKey } from './axes.ts';
import { type Difference, differencesOf, differentTrials } from './differences.ts';
import { type Entry, type EntryCase, valuesOf } from './entry.ts';
import { type Matching, matchCases } from './match.ts';
import type { Selected } from './select.ts';

/** The figures of two cases by one estimand. */
export interface Samples {
  readonly reference: readonly number[];
  readonly candidate: readonly number[];
  /** Candidate ÷ reference of the same round; null for different runs. */
  readonly ratios: readonly number[] | null;
}

export interface ComparedFigure {
  /** Name of the estimand. */
  readonly metric: string;
  /** Medians, as figures are shown; with `normalize`, of the ratios. Null where a run has no such figure. */
  readonly reference: number | null;
  readonly candidate: number | null;
  /** Trials of either side. */
  readonly trials: readonly [number, number];
  /** Null where either side has no figure. */
  readonly delta: Delta | null;
  /** Whether something other than the subject kept the figure of either side from being better. */
  readonly isBound: readonly [boolean, boolean];
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
  readonly paired: boolean;
  /** If a side is a pool of runs: what makes it doubtful, in sentences. Null if neither is. */
  readonly pooled: readonly string[] | null;
  readonly normalizedBy: string | null;
  /** How the sides made their trials, if one is a duet and the other is not: no verdict holds then. Else null. */
  readonly differentTrials: readonly [string, string] | null;
  readonly cases: readonly ComparedCase[];
  readonly onlyReference: readonly string[];
  readonly onlyCandidate: readonly string[];
  readonly differences: readonly Difference[];
}

export interface CompareOptions {
  readonly estimands: readonly EstimandFacts[];
  readonly interval: IntervalChoice;
  /** A server that both runs have; null for the figures as they are. */
  readonly normalize: string | null;
}

/** Values by round, where there are rounds. */
function byRound(item: EntryCase, name: string): Map<number, number> {
  return new Map(
    item.trials.flatMap(({ round, figures }) => {
      const value = figures[name] ?? null;
      return round === null || value === null ? [] : [[round, value] as const];
    }),
  );
}

/** The case of `subject` at the same point. */
function yardstickOf(entry: Entry, item: EntryCase, subject: string): EntryCase | undefined {
  return entry.cases.find((other) => placeKey(other) === placeKey({ ...item, subject }));
}

/** Each trial ÷ that of `subject` at the same point and in the same round. */
export function normalized(entry: Entry, item: EntryCase, name: string, subject: string): number[] {
  const yardstick = yardstickOf(entry, item, subject);
  if (yardstick === undefined) return [];
  const references = byRound(yardstick, name);
  return [...byRound(item, name)].flatMap(([round, value]) => {
    const reference = references.get(round);
    return reference === undefined || reference <= 0 ? [] : [value / reference];
  });
}

interface Side {
  readonly entry: Entry;
  readonly item: EntryCase;
}

/** The samples of an estimand, paired if both cases are of the same run. */
export function samplesOf(
  reference: Side,
  candidate: Side,
  metric: string,
  normalize: string | null,
): Samples {
  if (normalize !== null) {
    return {
      reference: normalized(reference.entry, reference.item, metric, normalize),
      candidate: normalized(candidate.entry, candidate.item, metric, normalize),
      ratios: null,
    };
  }
  if (reference.entry.id !== candidate.entry.id || reference.entry.kind === 'imported') {
    return {
      reference: valuesOf(reference.item, metric),
      candidate: valuesOf(candidate.item, metric),
      ratios: null,
    };
  }
  const [rounds, others] = [byRound(reference.item, metric), byRound(candidate.item, metric)];
  const common = [...others].flatMap(([round, value]) => {
    const baseline = rounds.get(round);
    return baseline === undefined || baseline <= 0 ? [] : [{ value, baseline }];
  });
  return {
    reference: common.map(({ baseline }) => baseline),
    candidate: common.map(({ value }) => value),
    ratios: common.map(({ value, baseline }) => value / baseline),
  };
}

/** The test of candidate ÷ reference ÷ `limit`: of no difference for 1, of a tolerance for another. */
export function testSamples(samples: Samples, options: TestOptions, limit = 1): SampleTest | null {
  return samples.ratios === null
    ? testUnpaired(
        samples.candidate.map((value) => value / limit),
        samples.reference,
        options,
      )
    : testPaired(
        samples.ratios.map((ratio) => ratio / limit),
        options,
      );
}

function undecidedDelta(samples: Samples, options: TestOptions): UndecidedDelta | null {
  const { reference, candidate, ratios } = samples;
  if (reference.length === 0 || candidate.length === 0) return null;
  const medians = { value: median(candidate), baseline: median(reference) };
  if (medians.baseline <= 0) return null;
  const n = Math.min(reference.length, candidate.length);
  const measure = ratios === null ? 'cliffs-delta' : 'rank-biserial';
  return deltaFrom(medians, n, testSamples(samples, options), measure);
}

/** Whether the figure of a side is bounded, and whether the one that it is divided by is. */
function boundsOf({ entry, item }: Side, name: string, normalize: string | null) {
  const yardstick = normalize === null ? undefined : yardstickOf(entry, item, normalize);
  return { own: item.bounds.includes(name), yardstick: yardstick?.bounds.includes(name) === true };
}

/** Without a verdict that something other than the subjects may have made: the rule of every output. */
function asItMayBeSaid(
  delta: Delta,
  estimand: EstimandFacts,
  [before, now]: readonly ReturnType<typeof boundsOf>[],
): Delta {
  const isBetter = estimand.better === 'more' ? delta.relative > 0 : delta.relative < 0;
  const baseline = before?.own === true || before?.yardstick === true || now?.yardstick === true;
  return mayBeSaid(isBetter, { own: now?.own === true, baseline })
    ? delta
    : { ...delta, verdict: 'no difference shown', undecided: 'not limited by the servers' };
}

function notesOf(
  label: string,
  [reference, candidate]: readonly [EntryCase, EntryCase],
  estimands: readonly EstimandFacts[],
): string[] {
  const bounded = estimands.filter(({ name }) =>
    [reference, candidate].some(({ bounds }) => bounds.includes(name)),
  );
  const notes: string[] = [];
  if (bounded.length > 0) {
    notes.push(
      `${label}: something other than the server limited ${bounded.map(({ title }) => title).join(' and ')} in some trial, so the server may be able to do better.`,
    );
  }
  if (reference.contended || candidate.contended) {
    notes.push(`${label}: servers and load generators had to share cores (contended).`);
  }
  for (const [item, which] of [
    [reference, 'reference'],
    [candidate, 'candidate'],
  ] as const) {
    if (item.trials.length === 0) notes.push(`${label}: no trial of the ${which} succeeded.`);
    else if (item.failedTrials > 0)
      notes.push(`${label}: ${item.failedTrials} trials of the ${which} failed.`);
  }
  return notes;
}

const centre = (values: readonly number[]) => (values.length === 0 ? null : median(values));

/** One family of comparisons: all cases by one estimand. */
function compareFamily(
  estimand: EstimandFacts,
  sides: readonly (readonly [Side, Side])[],
  { interval, normalize }: CompareOptions,
  seed: string,
): ComparedFigure[] {
  const { name } = estimand;
  const samples = sides.map(([reference, candidate]) => samplesOf(reference, candidate, name, normalize));
  const comparisons = samples.filter((list) => list.candidate.length > 1 && list.reference.length > 1).length;
  const deltas = samples.map((list, index) =>
    estimand.compared === 'no'
      ? null
      : undecidedDelta(list, { comparisons, interval, seed: `${seed}/${index}/${name}` }),
  );
  const tested = deltas.flatMap((delta) => (delta?.pValue == null ? [] : [delta]));
  const adjusted = holmAdjusted(tested.map(({ pValue }) => pValue ?? 1));
  const adjustedOf = new Map(tested.map((delta, index) => [delta, adjusted[index] ?? 1]));
  return samples.map(({ reference, candidate }, index): ComparedFigure => {
    const delta = deltas[index] ?? null;
    const bounds = (sides[index] ?? []).map((side) => boundsOf(side, name, normalize));
    const isBound = (at: 0 | 1) => bounds[at]?.own === true || bounds[at]?.yardstick === true;
    return {
      metric: name,
      reference: centre(reference),
      candidate: centre(candidate),
      trials: [reference.length, candidate.length],
      delta:
        delta === null
          ? null
          : asItMayBeSaid(
              decide(delta, directionOf(estimand), adjustedOf.get(delta) ?? null, comparisons),
              estimand,
              bounds,
            ),
      isBound: [isBound(0), isBound(1)],
    };
  });
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
  const seed = `${reference.entry.id}/${candidate.entry.id}`;
  const families = options.estimands.map((estimand) => compareFamily(estimand, sides, options, seed));
  const cases = matches.map(
    ({ label, reference: item, candidate: other }, index): ComparedCase => ({
      label,
      referenceKey: item.key,
      candidateKey: other.key,
      figures: families.flatMap((family) => family[index] ?? []),
      notes: notesOf(label, [item, other], options.estimands),
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
  };
}
