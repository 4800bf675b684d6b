/**
 * Had a trial's throughput settled? The rates of its intervals are divided into levels (see `change-points.ts`). A trial
 * with one level is steady; one that changes its level only in its first half settled then; one that still changes
 * in its second half, or ends on a slope, never settled. Changes below `MIN_CHANGE` are ignored.
 *
 * The warm-up before each trial is not included; see E. Barrett et al.: Virtual machine warmup blows hot and cold.
 * Proceedings of the ACM on Programming Languages 1 (OOPSLA 2017), 52, for why a fixed warm-up has to be checked.
 */
import type { LoadResult, SteadyState } from '../results/record.ts';
import { type ChangePoint, changePoints, MIN_SEGMENT_LENGTH } from './change-points.ts';
import { median } from './intervals.ts';

/** Fewer intervals cannot have two levels. */
export const MIN_INTERVALS = 2 * MIN_SEGMENT_LENGTH;

/** The seconds of a trial differ by a few percent on any machine; a warm-up that matters changes more. */
export const MIN_CHANGE = 0.05;

function percent(change: number): string {
  return `${change < 0 ? 'fell' : 'rose'} by ${(Math.abs(change) * 100).toFixed(1)} %`;
}

/** Whole seconds but where intervals are shorter. */
function secondsText(seconds: number): string {
  return `${Number(seconds.toFixed(1))} s`;
}

function inWords(changes: readonly ChangePoint[], atSeconds: (position: number) => number): string {
  return changes
    .map(
      ({ position, relativeChange }) =>
        `${percent(relativeChange)} after ${secondsText(atSeconds(position))}`,
    )
    .join(', ');
}

type Intervals = LoadResult['intervals'];

function lengthsOf(intervals: Intervals): number[] {
  return intervals.map(({ atSeconds }, index) => atSeconds - (intervals[index - 1]?.atSeconds ?? 0));
}

/** Not the longest: a loader that was late once has an interval twice as long as all others. 0 for no intervals. */
export function usualLength(intervals: Intervals): number {
  return intervals.length === 0 ? 0 : median(lengthsOf(intervals));
}

/**
 * Those of at least half the usual length. A loader ends with a partial interval, often of milliseconds,
 * whose rate is noise or zero; that is not a change in throughput.
 */
export function wholeIntervals(intervals: Intervals): Intervals {
  const lengths = lengthsOf(intervals);
  const usual = usualLength(intervals);
  return intervals.filter((_, index) => (lengths[index] ?? 0) >= usual / 2);
}

/**
 * Examines the rates of one trial. Null where there are too few of them. `seed` makes the permutations repeatable:
 * the key of the trial.
 */
export function examineSteadyState(all: Intervals, seed: string): SteadyState | null {
  const intervals = wholeIntervals(all);
  const rates = intervals.map(({ qps }) => qps);
  if (rates.length < MIN_INTERVALS) return null;
  if (rates.some((rate) => rate <= 0)) {
    return {
      settled: false,
      settledAfterSeconds: null,
      reason: `no query was answered for ${secondsText(usualLength(intervals))} or more`,
    };
  }
  const changes = changePoints(rates, seed).filter(
    ({ relativeChange }) => Math.abs(relativeChange) >= MIN_CHANGE,
  );
  // A change is at the end of the interval before it.
  const atSeconds = (position: number) => intervals[position - 1]?.atSeconds ?? 0;
  const last = changes.at(-1);
  if (last === undefined) {
    return { settled: true, settledAfterSeconds: 0, reason: 'throughput stayed at one level throughout' };
  }
  const reason = `throughput ${inWords(changes, atSeconds)}`;
  return last.position <= rates.length / 2
    ? { settled: true, settledAfterSeconds: atSeconds(last.position), reason }
    : { settled: false, settledAfterSeconds: null, reason };
}
