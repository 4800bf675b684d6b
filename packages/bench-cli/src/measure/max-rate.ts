/**
 * `--objective max-rate`: the highest rate at which a server stays within the limits of loss and latency. It is
 * found with open loops before the trial's measurement, which then runs at that rate.
 */
import { type RateAttempt, searchMaxRate } from '@dinodns-bench/load';
import { BenchError } from '../errors.ts';
import type { LoadOutcome } from '../loaders/loader.ts';
import { attemptSeconds, type PlannedTrial } from '../plan/plan.ts';
import type { LoadResult, MaxRate } from '../results/record.ts';
import { percentileIn } from '../stats/percentile.ts';
import type { Deployment } from '../targets/target.ts';
import { anyWasTheLimit } from './limiting-factor.ts';
import { runLoaders } from './load.ts';
import { mergeTogether } from './merge-loads.ts';
import { describeLoaders } from './several-loaders.ts';
import type { TrialContext, TrialProgress } from './trial-context.ts';

/** The share of queries that may remain unsent, at the end of the schedule, before the rate counts as not reached. */
const UNSENT_SHARE = 0.01;

/** Precision of the search: 2 % with attempts of five seconds. Shorter ones cannot tell such close rates apart. */
const PRECISION_SECONDS = 0.1;

/** The limits that an attempt must stay within. */
export type RateLimits = Pick<MaxRate, 'maxLostRatio' | 'maxP99Seconds'>;

/** The result of one rate, and why it was not sustained. Pure. */
export function assessAttempt(
  rate: number,
  seconds: number,
  load: LoadResult,
  wasTheLimit: boolean | null,
  limits: RateLimits,
): RateAttempt & MaxRate['attempts'][number] {
  const lostRatio = load.queriesSent === 0 ? 1 : load.queriesLost / load.queriesSent;
  const p99 = percentileIn(load.latencyPercentiles, 99);
  const wasSent = load.queriesSent >= rate * seconds * (1 - UNSENT_SHARE);
  const isFast = limits.maxP99Seconds === null || (p99 !== null && p99 <= limits.maxP99Seconds);
  const sustained = wasSent && lostRatio <= limits.maxLostRatio && isFast;
  return {
    rate,
    sustained,
    generatorLimited: !sustained && (wasTheLimit === true || !wasSent),
    lostRatio,
    p99Seconds: p99,
  };
}

/**
 * What several loaders sent together in an attempt.
 * @throws BenchError `E_LOADER_FAILED` if they sent together for too little of the time: the rate would never have existed.
 */
export function loadOfAttempt(
  outcomes: readonly LoadOutcome[],
  ratePerSecond: number | null,
  of: Parameters<typeof describeLoaders>[1],
): LoadResult {
  describeLoaders(outcomes, of);
  return mergeTogether(outcomes, ratePerSecond);
}

/**
 * Searches with all loaders of the trial together, which share the rate.
 * @throws BenchError `E_NO_RATE` if not even the lowest rate is sustained.
 */
export async function findMaxRate(
  context: TrialContext,
  planned: PlannedTrial,
  deployment: Deployment,
  progress: TrialProgress,
): Promise<MaxRate> {
  const { configuration } = context;
  const seconds = attemptSeconds(configuration.durationSeconds);
  const limits: RateLimits = {
    maxLostRatio: configuration.maxLostRatio,
    maxP99Seconds: configuration.maxP99Seconds,
  };
  const stage = { stage: 'search', durationSeconds: seconds, progress } as const;
  const run = (ratePerSecond: number | null): Promise<LoadOutcome[]> =>
    runLoaders(context, planned, deployment, { ...stage, ratePerSecond, openLoop: ratePerSecond !== null });
  const attempts: MaxRate['attempts'] = [];
  const { loaders } = configuration;
  const closed = loadOfAttempt(await run(null), null, { loaders, durationSeconds: seconds });
  const found = await searchMaxRate(
    // The rate of a closed loop is near the highest rate: half of it is a good start.
    { repetitions: 1, low: Math.max(10, closed.qps / 2), precision: PRECISION_SECONDS / seconds },
    async (_repetition, rate) => {
      const outcomes = await run(rate);
      const load = loadOfAttempt(outcomes, rate, { loaders, durationSeconds: seconds });
      const attempt = assessAttempt(rate, seconds, load, anyWasTheLimit(outcomes), limits);
      attempts.push(attempt);
      return attempt;
    },
  );
  if (found.rate === 0) {
    throw new BenchError('E_NO_RATE', `found no rate that ${planned.case.server} sustains`, {
      evidence: attempts.slice(-5).map(attemptText),
      fix: 'Allow more with --max-lost or --max-p99.',
    });
  }
  return { rate: found.rate, generatorLimited: found.generatorLimited, ...limits, attempts };
}

function attemptText({ rate, lostRatio, p99Seconds }: MaxRate['attempts'][number]): string {
  const p99 = p99Seconds === null ? 'unknown' : `${(p99Seconds * 1000).toPrecision(3)} ms`;
  return `${Math.round(rate)} queries per second: ${(lostRatio * 100).toPrecision(3)} % lost, p99 ${p99}`;
}
