/**
 * The queries of a pod's resolver: the search list of `dnsPolicy: ClusterFirst` and `ndots`, as glibc applies them
 * (resolver(3), res_search): A and AAAA in parallel for one candidate name, then the next, until one has an answer.
 */
import { parseName } from '@dinodns-bench/wire';
import type { Kind } from './options.ts';
import type { ResolverPlan } from './workload.ts';

type SearchRules = Pick<Kind<'kubernetes'>, 'namespace' | 'clusterDomain' | 'search' | 'ndots'>;

/**
 * The names to query for `name`, in order. With a trailing dot: only itself. With at least `ndots` dots: itself
 * first, then with each domain of the search list; with fewer: itself last.
 */
export function candidateNames(
  name: string,
  { namespace, clusterDomain, search, ndots }: SearchRules,
): string[] {
  if (name.endsWith('.')) return [name];
  // The search list that the kubelet writes into a pod's resolv.conf.
  const list = [`${namespace}.svc.${clusterDomain}`, `svc.${clusterDomain}`, clusterDomain, ...search];
  // A name that is too long with its search domain is skipped.
  const valid = list
    .map((domain) => `${name}.${domain}`)
    .filter((candidate) => 'wire' in parseName(candidate));
  // Only dots that separate labels: an escaped one does not.
  const dots = name.replace(/\\\d{3}|\\./g, '_').match(/\./g) ?? [];
  return dots.length >= ndots ? [name, ...valid] : [...valid, name];
}

/** Maximum queries that one step of a lookup sends at once. */
export const MAX_PARALLEL = 8;

/** The lookup is over, with an answer. */
export const LOOKUP_FOUND = -1;
/** The lookup is over: no candidate has an answer, or queries were lost. */
export const LOOKUP_FAILED = -2;

/** Bits of a slot's state. */
const FOUND = 1;
const LOST = 2;

/**
 * The state machines of lookups in flight, each in a slot of its own, which is used again. A candidate is done when all its
 * queries are: an answer to any of them ends the lookup; NXDOMAIN, NODATA and errors lead to the next candidate; a lost query
 * without any answer ends the lookup, as a resolver gives up when its server is silent.
 */
export class PodLookups {
  readonly #plan: ResolverPlan;
  readonly #free: number[] = [];
  // By slot: when the lookup started, its number, its candidate, how many queries are awaited, and what those before brought.
  readonly #starts: number[] = [];
  readonly #lookup: number[] = [];
  readonly #candidate: number[] = [];
  readonly #waiting: number[] = [];
  readonly #seen: number[] = [];

  constructor(plan: ResolverPlan) {
    this.#plan = plan;
  }

  /** A free slot for a lookup that started at `startNs`. */
  take(startNs: number): number {
    const slot = this.#free.pop() ?? this.#starts.length;
    this.#starts[slot] = startNs;
    return slot;
  }

  startOf(slot: number): number {
    return this.#starts[slot] ?? 0;
  }

  /** The lookup in `slot` is over. */
  end(slot: number): void {
    this.#free.push(slot);
  }

  /** Begins lookup `index` in `slot`: writes the messages to send into `out` and returns how many (≥ 1). */
  begin(slot: number, index: number, out: Uint32Array): number {
    this.#lookup[slot] = index;
    this.#candidate[slot] = this.#plan.candidateOffsets[index] ?? 0;
    return this.#ask(slot, out);
  }

  /**
   * One of the queries of the lookup in `slot` has come to an end. `code` is the response code and `answers` the records in
   * the answer section (both 0 where it was lost). Returns how many messages in `out` are to be sent next; 0 while others are
   * awaited; `LOOKUP_FOUND` or `LOOKUP_FAILED` when the lookup is over.
   */
  step(slot: number, isLost: boolean, code: number, answers: number, out: Uint32Array): number {
    let state = this.#seen[slot] ?? 0;
    if (isLost) state |= LOST;
    else if (code === 0 && answers > 0) state |= FOUND;
    this.#seen[slot] = state;
    const left = (this.#waiting[slot] ?? 1) - 1;
    this.#waiting[slot] = left;
    if (left > 0) return 0;
    if ((state & FOUND) !== 0) return LOOKUP_FOUND;
    if ((state & LOST) !== 0) return LOOKUP_FAILED;
    const next = (this.#candidate[slot] ?? 0) + 1;
    if (next === this.#plan.candidateOffsets[(this.#lookup[slot] ?? 0) + 1]) return LOOKUP_FAILED;
    this.#candidate[slot] = next;
    return this.#ask(slot, out);
  }

  #ask(slot: number, out: Uint32Array): number {
    const { messagesPerCandidate } = this.#plan;
    const first = (this.#candidate[slot] ?? 0) * messagesPerCandidate;
    for (let i = 0; i < messagesPerCandidate; i += 1) out[i] = first + i;
    this.#waiting[slot] = messagesPerCandidate;
    this.#seen[slot] = 0;
    return messagesPerCandidate;
  }
}
