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

const FIRST_BYTES = 64 * 1024;
const FIRST_COUNT = 1024;
/** Offsets are 32 bits wide. */
const MAX_BYTES = 2 ** 32 - 1;

/** The longest message, in bytes. */
export function longestOf({ offsets, count }: QueryArena): number {
  let longest = 0;
  for (let index = 0; index < count; index++)
    longest = Math.max(longest, (offsets[index + 1] ?? 0) - (offsets[index] ?? 0));
  return longest;
}

/** The largest number of candidates of a lookup, which are asked one after the other; 1 if each message is an independent query. */
export function mostCandidatesOf({ resolver }: WorkloadPlan): number {
  const offsets = resolver?.candidateOffsets ?? [];
  let most = 1;
  for (let index = 1; index < offsets.length; index++)
    most = Math.max(most, (offsets[index] ?? 0) - (offsets[index - 1] ?? 0));
  return most;
}

function grown(array: Uint8Array, size: number): Uint8Array {
  const larger = new Uint8Array(new SharedArrayBuffer(size));
  larger.set(array);
  return larger;
}

/** Collects messages in one block of shared memory. */
export function arenaBuilder() {
  let bytes: Uint8Array = new Uint8Array(new SharedArrayBuffer(FIRST_BYTES));
  let offsets: Uint32Array = new Uint32Array(FIRST_COUNT);
  let used = 0;
  let count = 0;
  return {
    /** Appends a message. @throws RangeError beyond 4 GiB of messages. */
    add(message: Uint8Array): void {
      const end = used + message.length;
      if (end > MAX_BYTES) throw new RangeError('the queries need more than 4 GiB');
      if (end > bytes.length) bytes = grown(bytes, Math.min(MAX_BYTES, Math.max(end, bytes.length * 2)));
      if (count + 2 > offsets.length) {
        const longer = new Uint32Array(offsets.length * 2);
        longer.set(offsets);
        offsets = longer;
      }
      bytes.set(message, used);
      used = end;
      count += 1;
      offsets[count] = used;
    },
    /** Returns the arena; nothing may be added after this. */
    finish(): QueryArena {
      const shared = new Uint32Array(new SharedArrayBuffer((count + 1) * 4));
      shared.set(offsets.subarray(0, count + 1));
      return { bytes: grown(bytes.subarray(0, used), used), offsets: shared, count };
    },
  };
}
