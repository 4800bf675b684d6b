/**
 * The highest rate a server sustains: the binary search of RFC 8219 §9.1, repeated, with its uncertainty. A rate is sustained
 * if an open loop at that rate stays within the limits for loss and latency; `searchMaxRate` leaves that to its caller.
 *
 * RFC 8219 requires no loss at all, attempts of at least 60 s and at least 20 repetitions; all three are options.
 */

import type { Problem } from '@dinodns-bench/program';
import { z } from 'zod';
import type { CannonInput } from './options.ts';
import { checked } from './options-check.ts';
import type { CannonResult } from './result/result.ts';
import { cannon, type RunControls } from './run.ts';

export interface FindMaxOptions extends RateSearchOptions {
  /** The run to make at each rate, for as long as a trial takes. */
  readonly base: Omit<CannonInput, 'load' | 'durationSeconds' | 'maxQueries' | 'passes'>;
  /** Length of one trial, seconds. Default 5. */
  readonly trialSeconds?: number;
  /** Share of queries that may be lost, 0 to 1. Default 0, as in RFC 8219. */
  readonly maxLostRatio?: number;
  /** Maximum 99th percentile of latency, seconds, more than 0; null (default): any below the timeout. */
  readonly maxP99Seconds?: number | null;
  /** Called after each trial. */
  readonly onTrial?: (trial: FindMaxTrial) => void;
}

/** One trial: a rate and its outcome. */
export interface FindMaxTrial extends RateAttempt {
  /** 0 for the search for bounds, then the number of the repetition. */
  readonly repetition: number;
  readonly result: CannonResult;
}

export interface FindMaxResult extends RateSearch {
  readonly trials: readonly FindMaxTrial[];
}

/** Rejects with a `LoadError` if an option is not valid or a run cannot begin, and with the signal's reason when it is aborted. */
export async function findMax(options: FindMaxOptions, controls: RunControls = {}): Promise<FindMaxResult> {
  const limits = checked(findMaxSchema, options, boundsProblems);
  const trials: FindMaxTrial[] = [];
  const found = await searchMaxRate(options, async (repetition, rate) => {
    const result = await runTrial(options, controls, rate);
    const trial = { repetition, rate, ...assessTrial(result, limits), result };
    trials.push(trial);
    options.onTrial?.(trial);
    return trial;
  });
  return { ...found, trials };
}

async function runTrial(
  { base, trialSeconds = 5 }: FindMaxOptions,
  controls: RunControls,
  rate: number,
): Promise<CannonResult> {
  const run = cannon({ ...base, load: { kind: 'constant', rate }, durationSeconds: trialSeconds }, controls);
  const result = await run.result;
  controls.signal?.throwIfAborted();
  return result;
}

/** Whether a trial was within the limits and, if not, whether the generator is to blame. Pure. */
export function assessTrial(
  { counts, lostRatio, latencySeconds, generator }: CannonResult,
  { maxLostRatio, maxP99Seconds }: Limits,
): Pick<RateAttempt, 'sustained' | 'generatorLimited'> {
  const isFast = maxP99Seconds === null || (latencySeconds !== null && latencySeconds.p99 <= maxP99Seconds);
  const serverHeld = counts.answered > 0 && lostRatio <= maxLostRatio && isFast;
  const sustained = serverHeld && counts.unsent === 0;
  // One query that never left fails a trial, and is far from what makes the generator the limit of a run.
  return { sustained, generatorLimited: !sustained && (serverHeld || generator.wasTheLimit) };
}

export interface RateSearchOptions {
  /** Number of searches; each gives one maximum. Default 5. */
  readonly repetitions?: number;
  /** The search ends when the bounds are this close, as a share of the rate, 0.0001 to 0.5. Default 0.02. */
  readonly precision?: number;
  /**
   * Bounds to search between, queries per second; without them, they are found first. No rate above `high`, which is more than 10, is
   * tried; below `low`, which is at least 10, only if that is not sustained.
   */
  readonly low?: number;
  readonly high?: number;
}

/** The outcome of one rate. */
export interface RateAttempt {
  readonly rate: number;
  readonly sustained: boolean;
  /** Whether it failed because the generator could not send as asked. */
  readonly generatorLimited: boolean;
}

export interface RateSearch {
  /** Median of the searches' maxima, queries per second; 0 if not even the lowest rate was sustained. */
  readonly rate: number;
  /** 1st and 99th percentile of the maxima, nearest rank (RFC 8219): with few searches, the minimum and maximum. */
  readonly low: number;
  readonly high: number;
  /** The maximum of each search. */
  readonly maxima: readonly number[];
  /** Whether the generator limited at least half of the searches: the server can do more. */
  readonly generatorLimited: boolean;
}

/** Rates below this are not searched. */
const MIN_RATE = 10;
/** The first rate tried, from which it is doubled. */
const FIRST_RATE = 1000;

const searchSchema = z.object({
  repetitions: z.int().min(1).default(5),
  // No trial tells closer rates apart, and a search for equal ones would not end.
  precision: z.number().min(0.0001).max(0.5).default(0.02),
  low: z.number().min(MIN_RATE).optional(),
  high: z.number().gt(MIN_RATE).optional(),
});
const findMaxSchema = searchSchema.extend({
  maxLostRatio: z.number().min(0).max(1).default(0),
  maxP99Seconds: z.number().positive().nullable().default(null),
});

type Search = z.output<typeof searchSchema>;
type Limits = Pick<z.output<typeof findMaxSchema>, 'maxLostRatio' | 'maxP99Seconds'>;

function boundsProblems({ low, high }: Search): Problem[] {
  if (low === undefined || high === undefined || low < high) return [];
  return [{ problem: `low is ${low}, high ${high}`, fix: 'give a low bound that is below the high one' }];
}

/** Rejects with a `LoadError` if an option is not valid, and with `attempt`'s error, whose `repetition` is 0 in the search for bounds. */
export async function searchMaxRate(
  options: RateSearchOptions,
  attempt: (repetition: number, rate: number) => Promise<RateAttempt>,
): Promise<RateSearch> {
  const wanted = checked(searchSchema, options, boundsProblems);
  const { repetitions } = wanted;
  const bounds = await findBounds(wanted, (rate) => attempt(0, rate));
  const maxima: number[] = [];
  let ended = 0;
  for (let repetition = 1; repetition <= repetitions; repetition++) {
    const found = await search(bounds, wanted, (rate) => attempt(repetition, rate));
    maxima.push(found.rate);
    if (found.generatorLimited) ended += 1;
  }
  const sorted = maxima.toSorted((a, b) => a - b);
  const rank = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
  return {
    rate: medianOf(sorted),
    low: rank(0.01),
    high: rank(0.99),
    maxima,
    generatorLimited: ended * 2 >= repetitions,
  };
}

function medianOf(sorted: readonly number[]): number {
  const middle = sorted.length / 2;
  const [below, above] = [sorted[Math.ceil(middle) - 1] ?? 0, sorted[Math.floor(middle)] ?? 0];
  return (below + above) / 2;
}

type Bounds = Pick<RateSearch, 'low' | 'high'>;

/** Doubles, or halves, until one rate is sustained and the next is not. */
async function findBounds(
  { low, high }: Search,
  attempt: (rate: number) => Promise<RateAttempt>,
): Promise<Bounds> {
  if (low !== undefined && high !== undefined) return { low, high };
  if (high !== undefined) return { low: MIN_RATE, high };
  let rate = low ?? FIRST_RATE;
  if ((await attempt(rate)).sustained) {
    for (;;) {
      if (!(await attempt(2 * rate)).sustained) return { low: rate, high: 2 * rate };
      rate *= 2;
    }
  }
  while (rate > MIN_RATE) {
    if ((await attempt(rate / 2)).sustained) return { low: rate / 2, high: rate };
    rate /= 2;
  }
  return { low: 0, high: rate };
}

/**
 * One search. Each starts with the whole range and a little beyond bounds that were found, so that chance in the search for them
 * does not decide all of them.
 */
async function search(
  bounds: Bounds,
  wanted: Search,
  attempt: (rate: number) => Promise<RateAttempt>,
): Promise<{ rate: number; generatorLimited: boolean }> {
  const { precision } = wanted;
  let low = bounds.low === wanted.low ? bounds.low : bounds.low * 0.75;
  let high = Math.min(bounds.high * 1.25, wanted.high ?? Number.POSITIVE_INFINITY);
  let generatorLimited = false;
  let best = 0;
  while (high > MIN_RATE) {
    if (high - low <= precision * high) {
      if (best > 0 || low === 0) break;
      // Not even the lower bound is sustained this time: search below it.
      low = low < MIN_RATE ? 0 : low / 2;
    }
    const rate = (low + high) / 2;
    const trial = await attempt(rate);
    if (trial.sustained) {
      best = rate;
      low = rate;
    } else {
      generatorLimited = trial.generatorLimited;
      high = rate;
    }
  }
  return { rate: best, generatorLimited };
}
