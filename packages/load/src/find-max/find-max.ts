/**
 * The highest rate a server sustains. A rate is sustained if an open loop at that rate stays within the limits for
 * loss and latency.
 */

import type { CannonInput } from '../options.ts';
import type { CannonResult } from '../result/result.ts';
import { cannon, type RunControls } from '../run.ts';
import { type RateAttempt, type RateSearch, type RateSearchOptions, searchMaxRate } from './search.ts';

export interface FindMaxOptions extends RateSearchOptions {
  /** The run to make at each rate, for as long as a trial takes. */
  readonly base: Omit<CannonInput, 'load' | 'durationSeconds' | 'maxQueries' | 'passes'>;
  /** Length of one trial, seconds. Default 5. */
  readonly trialSeconds?: number;
  /** Share of queries that may be lost, 0 to 1. Default 0, as in RFC 8219. */
  readonly maxLostRatio?: number;
  /** Maximum 99th percentile of latency, seconds; null (default): any below the timeout. */
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

/** Rejects with a `LoadError` if a run cannot begin, and with the signal's reason when it is aborted. */
export async function findMax(options: FindMaxOptions, controls: RunControls = {}): Promise<FindMaxResult> {
  const trials: FindMaxTrial[] = [];
  const found = await searchMaxRate(options, async (repetition, rate) => {
    const trial = await runTrial(options, controls, repetition, rate);
    trials.push(trial);
    options.onTrial?.(trial);
    return trial;
  });
  return { ...found, trials };
}

async function runTrial(
  { base, trialSeconds = 5, maxLostRatio = 0, maxP99Seconds = null }: FindMaxOptions,
  controls: RunControls,
  repetition: number,
  rate: number,
): Promise<FindMaxTrial> {
  const run = cannon({ ...base, load: { kind: 'constant', rate }, durationSeconds: trialSeconds }, controls);
  const result = await run.result;
  controls.signal?.throwIfAborted();
  const { counts, lostRatio, latencySeconds, generator } = result;
  // What was never sent was not answered either.
  const generatorLimited = generator.wasTheLimit;
  const fastEnough =
    maxP99Seconds === null || (latencySeconds !== null && latencySeconds.p99 <= maxP99Seconds);
  const sustained = counts.answered > 0 && lostRatio <= maxLostRatio && fastEnough && counts.unsent === 0;
  return { repetition, rate, sustained, generatorLimited: !sustained && generatorLimited, result };
}
