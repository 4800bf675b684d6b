/** A worker's own view of a plan: which message comes next. Nothing here allocates per query. */
import { PodLookups } from './pod-lookups.ts';
import { createRandom, type Random } from './random.ts';
import { weightedDraw } from './weights.ts';
import type { Workload, WorkloadPlan } from './workload.ts';

/** One worker of several, and the seed that makes its random choices repeatable. */
export interface WorkloadShare {
  readonly worker: number;
  readonly workers: number;
  readonly seed: number;
}

/** 36 letters and digits; lower case, so that servers may change the case of names. */
const LABEL_CHARACTERS = Uint8Array.from(Buffer.from('abcdefghijklmnopqrstuvwxyz0123456789'));

/** Size of the header and the first label's length byte, before its characters. */
const FIRST_CHARACTER = 13;

/**
 * All of `count` over and over, from a place of the worker's own on. Every worker sends the mix of the workload, however much
 * faster one of them is: with every n-th instead, one of two would send all names that exist, and the other all that do not.
 */
function overAndOver(count: number, { worker, workers }: WorkloadShare): () => number {
  // Where the shares of `maxQueries` meet (`sharesOf` in `run.ts`): as many queries as names are each name once.
  let next = worker * Math.floor(count / workers) + Math.min(worker, count % workers);
  return () => {
    const index = next % count;
    next = index + 1;
    return index;
  };
}

/** Every n-th of `count`, starting at the worker's own number, for the requested passes. */
function inSequence(count: number, passes: number | null, { worker, workers }: WorkloadShare): () => number {
  const end = passes === null ? Number.POSITIVE_INFINITY : passes * count;
  let position = worker;
  return () => {
    if (position >= end) return -1;
    const index = position % count;
    position += workers;
    return index;
  };
}

/** `passes` × `count` draws, shared by the workers. */
function atRandom(plan: WorkloadPlan, count: number, share: WorkloadShare, random: Random): () => number {
  const draw =
    plan.cumulativeWeights === null
      ? () => Math.floor(random.fraction() * count)
      : weightedDraw(plan.cumulativeWeights, random);
  const turn = inSequence(count, plan.passes, share);
  return plan.passes === null ? draw : () => (turn() === -1 ? -1 : draw());
}

function randomLabels(length: number, random: Random): NonNullable<Workload['vary']> {
  const characters = LABEL_CHARACTERS.length;
  return (target, offset) => {
    const end = offset + FIRST_CHARACTER + length;
    for (let at = offset + FIRST_CHARACTER; at < end; ) {
      // Six base-36 digits from one random number: 36^6 is about half its range, so none is noticeably rarer.
      let bits = random.bits();
      for (let digit = 0; digit < 6 && at < end; digit += 1) {
        target[at++] = LABEL_CHARACTERS[bits % characters] ?? 0;
        bits = Math.floor(bits / characters);
      }
    }
  };
}

/**
 * Seconds at which message `index` is due. The second pass over a capture begins one mean gap after the end of
 * the first.
 */
function timedSequence(plan: WorkloadPlan, due: Float64Array, share: WorkloadShare) {
  const { count } = plan.arena;
  const last = due[count - 1] ?? 0;
  const period = last + (count > 1 ? last / (count - 1) : 1);
  const sequence = inSequence(count, plan.passes, share);
  let taken = -1;
  let dueNow = 0;
  return {
    next: () => {
      const index = sequence();
      taken += 1;
      const pass = Math.floor((share.worker + taken * share.workers) / count);
      dueNow = index === -1 ? Number.POSITIVE_INFINITY : pass * period + (due[index] ?? 0);
      return index;
    },
    dueSeconds: () => dueNow,
  };
}

/** Deterministic: the same plan, worker and seed give the same queries. */
export function startWorkload(plan: WorkloadPlan, share: WorkloadShare): Workload {
  const random = createRandom(share.seed, share.worker);
  const { arena, resolver } = plan;
  const vary = plan.randomLabelLength === null ? null : randomLabels(plan.randomLabelLength, random);
  const lookups = resolver === null ? null : new PodLookups(resolver);
  const count = resolver === null ? arena.count : resolver.candidateOffsets.length - 1;
  if (plan.order === 'timed' && plan.dueSeconds !== null) {
    return { arena, ...timedSequence(plan, plan.dueSeconds, share), vary, lookups };
  }
  const next =
    plan.order === 'random'
      ? atRandom(plan, count, share, random)
      : plan.passes === null
        ? overAndOver(count, share)
        : inSequence(count, plan.passes, share);
  return { arena, next, dueSeconds: null, vary, lookups };
}
