/**
 * The engine's interface to a workload: messages encoded before the run, their order, and, if one client lookup is
 * several queries (a pod's resolver), what follows an answer.
 *
 * A workload has two forms. The main thread makes a `WorkloadPlan` once, by reading files and encoding every
 * message; it is plain data over shared memory, so it reaches the workers without being copied. Each worker then
 * makes its own `Workload` from it. After that nothing allocates per query.
 */
import type { PodLookups } from './pod-lookups.ts';

/** Consecutive messages; message `i` is `bytes[offsets[i], offsets[i + 1])`, with id 0. */
export interface QueryArena {
  readonly bytes: Uint8Array;
  /** `count + 1` positions in `bytes`. */
  readonly offsets: Uint32Array;
  readonly count: number;
}

/**
 * The order of messages.
 * - `sequence`: one after the other, repeatedly (dnsperf's order). Several workers begin at different places; with `passes` each
 *   sends every n-th.
 * - `random`: each with the probability of its weight.
 * - `timed`: as `sequence`, at the times of `dueSeconds`.
 */
export type Order = 'sequence' | 'random' | 'timed';

/** A complete workload, structured-cloneable: typed arrays over SharedArrayBuffer and plain records. */
export interface WorkloadPlan {
  /** One line for reports, such as "200 names of queries.txt, in order". */
  readonly description: string;
  readonly arena: QueryArena;
  readonly order: Order;
  /** Cumulative weights of the messages, ascending to 1, for `random`; null for equal weights. */
  readonly cumulativeWeights: Float64Array | null;
  /** For `timed`: seconds after the start at which each message is due, ascending. */
  readonly dueSeconds: Float64Array | null;
  /** How many times all messages are sent; null: until the run ends. */
  readonly passes: number | null;
  /** Length of the first label, which is overwritten with random letters and digits (cache busting); else null. */
  readonly randomLabelLength: number | null;
  /** How a client's lookup becomes queries; null if each message is an independent query. */
  readonly resolver: ResolverPlan | null;
}

/** A pod's lookups as plain data. */
export interface ResolverPlan {
  /** Lookup `i` has the candidates `[candidateOffsets[i], candidateOffsets[i + 1])`. */
  readonly candidateOffsets: Uint32Array;
  /** Messages asked in parallel for one candidate name (1: A only; 2: A and AAAA). */
  readonly messagesPerCandidate: number;
}

/** A worker's own view of a plan. Deterministic: the same plan, worker and seed give the same queries. */
export interface Workload {
  readonly arena: QueryArena;
  /** The next message's index, or with `lookups` the next lookup's; -1 at the end. */
  next(): number;
  /**
   * When the message that `next` just returned is due, seconds after the start. Only for a `timed` workload, whose
   * timing replaces the schedule.
   */
  readonly dueSeconds: (() => number) | null;
  /**
   * Varies a message that was copied to `target[offset, offset + length)`: random labels, others each time. Must not
   * change its length or its first twelve bytes. Null if messages are sent unchanged.
   */
  readonly vary: ((target: Uint8Array, offset: number, length: number, index: number) => void) | null;
  /** Null if each message is an independent query. */
  readonly lookups: PodLookups | null;
}
