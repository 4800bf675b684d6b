/**
 * Compares two runs, or two sets of cases. Trials of one run are paired by round; trials of different runs are not
 * paired, and are compared by the rank-sum test or Welch's t (see `stats/sample-test.ts`).
 *
 * Runs differ by more than the scatter of trials: another day, another state of the machine. `normalize` removes what
 * affects all servers of a run alike, by comparing each case's ratio to a server that both runs have.
 */
import type { Delta } from '../results/record.ts';
import { isServersOwn } from '../stats/decisive.ts';
import { holmAdjusted } from '../stats/holm.ts';
import { median } from '../stats/intervals.ts';
import { type ComparedMetric, DIRECTIONS } from '../stats/metrics.ts';
import {
  type IntervalChoice,
  type SampleTest,
  type TestOptions,
  testPaired,
  testUnpaired,
} from '../stats/sample-test.ts';
import { decide, deltaFrom, type UndecidedDelta } from '../stats/summarize.ts';
import { type Difference, differencesOf, differentTrials } from './differences.ts';
import type { Entry, EntryCase } from './entry.ts';
import { valuesOf } from './entry.ts';
import { type Matching, matchCases } from './match.ts';
import type { Selected } from './select.ts';

/** The figures of one metric of two cases. */
export interface Samples {
  readonly reference: readonly number[];
  readonly candidate: readonly number[];
  /** Candidate ÷ reference of the same round; null for different runs. */
  readonly ratios: readonly number[] | null;
}

export interface ComparedFigure {
  readonly metric: ComparedMetric;
  /** Medians, as figures are shown; with `normalize`, of the ratios. Null where a run has no such figure. */
  readonly reference: number | null;
  readonly candidate: number | null;
  /** Trials of either side. */
  readonly trials: readonly [number, number];
  /** Null where either side has no figure. */
  readonly delta: Delta | null;
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
  readonly metrics: readonly ComparedMetric[];
  readonly interval: IntervalChoice;
  /** A server that both runs have; null for the figures as they are. */
  readonly normalize: string | null;
}

/** Values by round, where there are rounds. */
function byRound(item: EntryCase, metric: ComparedMetric): Map<number, number> {
  return new Map(
    item.trials.flatMap(({ round, metrics }) => {
      const value = metrics[metric];
      return round === null || value === null ? [] : [[round, value] as const];
    }),
  );
}

/** Each trial ÷ that of `server` at the same point of the matrix and in the same round. */
export function normalized(entry: Entry, item: EntryCase, metric: ComparedMetric, server: string): number[] {
  const yardstick = entry.cases.find(
    (other) =>
      other.server === server &&
      other.tier === item.tier &&
      other.mode === item.mode &&
      other.workload === item.workload &&
      other.transport === item.transport &&
      other.ratePerSecond === item.ratePerSecond,
  );
  if (yardstick === undefined) return [];
  const references = byRound(yardstick, metric);
  return [...byRound(item, metric)].flatMap(([round, value]) => {
    const reference = references.get(round);
    return reference === undefined || reference <= 0 ? [] : [value / reference];
  });
}

/** The samples of a metric, paired if both cases are of the same run. */
export function samplesOf(
  reference: { readonly entry: Entry; readonly item: EntryCase },
  candidate: { readonly entry: Entry; readonly item: EntryCase },
  metric: ComparedMetric,
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

/** No server is called faster or slower where it was not the limit. */
function withoutForeignVerdict(delta: Delta, isOwn: boolean): Delta {
  return isOwn
    ? delta
    : { ...delta, verdict: 'no difference shown', undecided: 'not limited by the servers' };
}

function notesOf(label: string, reference: EntryCase, candidate: EntryCase): string[] {
  const limits = [reference, candidate].map(({ limitedBy }) => limitedBy ?? 'unknown');
  const notes: string[] = [];
  if (limits.some((limit) => limit !== 'server')) {
    const what = limits[0] === limits[1] ? limits[0] : limits.join(' and ');
    notes.push(
      `${label}: throughput was not limited by the server in every trial (${what}), so the server may be able to do more.`,
    );
  }
  if (reference.contended === true || candidate.contended === true) {
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

/** Matches two selections, with one family of comparisons per metric. */
export function compareRuns(reference: Selected, candidate: Selected, options: CompareOptions): ComparedRuns {
  const { matches, onlyReference, onlyCandidate }: Matching = matchCases(reference, candidate);
  const families = options.metrics.map((metric) => {
    const samples = matches.map((match) =>
      samplesOf(
        { entry: reference.entry, item: match.reference },
        { entry: candidate.entry, item: match.candidate },
        metric,
        options.normalize,
      ),
    );
    const comparisons = samples.filter(
      (list) => list.candidate.length > 1 && list.reference.length > 1,
    ).length;
    const deltas = samples.map((list, index) =>
      undecidedDelta(list, {
        comparisons,
        interval: options.interval,
        seed: `${reference.entry.id}/${candidate.entry.id}/${matches[index]?.label}/${metric}`,
      }),
    );
    const tested = deltas.flatMap((delta) => (delta?.pValue == null ? [] : [delta]));
    const adjusted = new Map(
      holmAdjusted(tested.map(({ pValue }) => pValue ?? 1)).map((pValue, index) => [tested[index], pValue]),
    );
    return { metric, samples, deltas, adjusted, comparisons };
  });
  const cases = matches.map(({ label, reference: item, candidate: other }, index): ComparedCase => {
    const figures = families.map(({ metric, samples, deltas, adjusted, comparisons }): ComparedFigure => {
      const delta = deltas[index] ?? null;
      const list = samples[index];
      const centre = (values: readonly number[] | undefined) =>
        values === undefined || values.length === 0 ? null : median(values);
      return {
        metric,
        reference: centre(list?.reference),
        candidate: centre(list?.candidate),
        trials: [list?.reference.length ?? 0, list?.candidate.length ?? 0],
        delta:
          delta === null
            ? null
            : withoutForeignVerdict(
                decide(delta, DIRECTIONS[metric], adjusted.get(delta) ?? null, comparisons),
                isServersOwn(metric, [item.limitedBy, other.limitedBy]),
              ),
      };
    });
    return {
      label,
      referenceKey: item.key,
      candidateKey: other.key,
      figures,
      notes: notesOf(label, item, other),
    };
  });
  return {
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
