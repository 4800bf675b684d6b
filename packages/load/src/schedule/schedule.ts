/** When the queries of an open loop are due. */

import type { LoadOptions } from '../options.ts';
import { createRandom, type Random } from '../workload/random.ts';
import type { WorkloadShare } from '../workload/start.ts';

/** Times in nanoseconds after the start, ascending; `Infinity` once the schedule is over. */
export type Schedule = () => number;

/** One worker's share of a schedule: worker `worker` of `workers`. */
export interface ScheduleShare extends WorkloadShare {
  readonly durationSeconds: number;
}

export type Arrivals = Exclude<LoadOptions, { readonly kind: 'closed' | 'timed' }>;

/** The arrival process of a load; null if it has none. */
export function arrivalsOf(load: LoadOptions): Arrivals | null {
  switch (load.kind) {
    case 'closed':
      return load.maxRate === null ? null : { kind: 'constant', rate: load.maxRate };
    case 'timed':
      return null;
    default:
      return load;
  }
}

/**
 * One worker's share. Shares of the constant, ramp and steps schedules interleave: all workers together send
 * exactly the schedule of one. Shares of Poisson's are independent Poisson processes, whose union is one.
 */
export function scheduleOf(arrivals: Arrivals, share: ScheduleShare): Schedule {
  if (arrivals.kind === 'poisson') return poisson(arrivals.rate, share);
  const dueAt = inverseCount(arrivals, share.durationSeconds);
  const endNs = share.durationSeconds * 1e9;
  // Query n over all workers is sent when n queries of the schedule have become due: the first at 0.
  let number = share.worker - share.workers;
  return () => {
    number += share.workers;
    const due = dueAt(number) * 1e9;
    return due < endNs ? due : Number.POSITIVE_INFINITY;
  };
}

/** Number of queries in a schedule over its duration, or in its first `seconds`; for Poisson, the expected number. */
export function countOf(arrivals: Arrivals, durationSeconds: number, seconds = durationSeconds): number {
  switch (arrivals.kind) {
    case 'constant':
    case 'poisson':
      return arrivals.rate * seconds;
    case 'ramp': {
      const { from, to } = arrivals;
      return (from + ((to - from) * seconds) / (2 * durationSeconds)) * seconds;
    }
    case 'steps': {
      const length = durationSeconds / arrivals.rates.length;
      const spentIn = (step: number) => Math.min(length, Math.max(0, seconds - step * length));
      return arrivals.rates.reduce((sum, rate, step) => sum + rate * spentIn(step), 0);
    }
  }
}

/** Seconds after which `n` queries have become due, for every n from 0. */
function inverseCount(arrivals: Arrivals, duration: number): (n: number) => number {
  switch (arrivals.kind) {
    case 'constant':
    case 'poisson':
      return (n) => n / arrivals.rate;
    case 'ramp': {
      // from·t + (to − from)·t² / 2T = n, solved without cancellation for small slopes.
      const { from } = arrivals;
      const slope = (arrivals.to - from) / duration;
      return (n) => {
        const root = from * from + 2 * slope * n;
        if (root < 0) return Number.POSITIVE_INFINITY;
        return n === 0 ? 0 : (2 * n) / (from + Math.sqrt(root));
      };
    }
    case 'steps':
      return steps(arrivals.rates, duration);
  }
}

function steps(rates: readonly number[], duration: number): (n: number) => number {
  const length = duration / rates.length;
  let [step, before] = [0, 0];
  return (n) => {
    let rate = rates[step] ?? 0;
    while (n >= before + rate * length - 1e-9) {
      before += rate * length;
      step += 1;
      if (step >= rates.length) return Number.POSITIVE_INFINITY;
      rate = rates[step] ?? 0;
    }
    return step * length + (n - before) / rate;
  };
}

/** Gaps use a different random sequence from names, which use the seed itself. */
function poisson(rate: number, { worker, workers, seed, durationSeconds }: ScheduleShare): Schedule {
  const random = uniform(createRandom(~seed, worker));
  const meanGapNs = (1e9 * workers) / rate;
  const endNs = durationSeconds * 1e9;
  let due = 0;
  return () => {
    due -= Math.log(1 - random()) * meanGapNs;
    return due < endNs ? due : Number.POSITIVE_INFINITY;
  };
}

/** Uniform numbers in [0, 1) of 53 bits, since gaps need more than 32. */
function uniform({ bits }: Random): () => number {
  return () => ((bits() >>> 5) * 67_108_864 + (bits() >>> 6)) / 9_007_199_254_740_992;
}
