/**
 * The queries of a pod's resolver: the search list of `dnsPolicy: ClusterFirst` and `ndots`, as glibc applies them
 * (resolver(3), res_search): A and AAAA in parallel for one candidate name, then the next, until one has an answer.
 */
import { parseName } from '@dinodns-bench/wire';
import type { Kind } from './options.ts';
import { LOOKUP_FAILED, LOOKUP_FOUND, type Lookups, OUTCOME, type ResolverPlan } from './workload.ts';

type SearchRules = Pick<Kind<'kubernetes'>, 'namespace' | 'clusterDomain' | 'search' | 'ndots'>;

/** The search list that the kubelet writes into a pod's resolv.conf. */
function searchList({ namespace, clusterDomain, search }: SearchRules): string[] {
  return [`${namespace}.svc.${clusterDomain}`, `svc.${clusterDomain}`, clusterDomain, ...search];
}

/** Counts the dots that separate labels, not escaped ones. */
function countDots(name: string): number {
  return (name.replace(/\\\d{3}|\\./g, '_').match(/\./g) ?? []).length;
}

/**
 * The names to query for `name`, in order. With a trailing dot: only itself. With at least `ndots` dots: itself
 * first, then with each domain of the search list; with fewer: itself last.
 */
export function candidateNames(name: string, rules: SearchRules): string[] {
  if (name.endsWith('.')) return [name];
  const searched = searchList(rules).map((domain) => `${name}.${domain}`);
  // A name that is too long with its search domain is skipped.
  const valid = searched.filter((candidate) => 'wire' in parseName(candidate));
  return countDots(name) >= rules.ndots ? [name, ...valid] : [...valid, name];
}

/** Bits of a slot's state. */
const FOUND = 1;
const LOST = 2;

/**
 * The state machines of lookups in flight. A candidate is done when all its queries are: an answer to any of them
 * ends the lookup; NXDOMAIN, NODATA and errors lead to the next candidate; a lost query without any answer ends the
 * lookup, as a resolver gives up when its server is silent.
 */
export function podLookups(plan: ResolverPlan): Lookups {
  const { candidateOffsets, messagesPerCandidate } = plan;
  let lookup = new Uint32Array(0);
  let candidate = new Uint32Array(0);
  let waiting = new Uint8Array(0);
  let seen = new Uint8Array(0);

  const ask = (slot: number, out: Uint32Array): number => {
    const first = (candidate[slot] ?? 0) * messagesPerCandidate;
    for (let i = 0; i < messagesPerCandidate; i += 1) out[i] = first + i;
    waiting[slot] = messagesPerCandidate;
    seen[slot] = 0;
    return messagesPerCandidate;
  };

  return {
    reserve(capacity) {
      if (capacity <= lookup.length) return;
      const longer = [lookup, candidate].map((old) => {
        const array = new Uint32Array(capacity);
        array.set(old);
        return array;
      });
      [lookup = lookup, candidate = candidate] = longer;
      const [moreWaiting, moreSeen] = [new Uint8Array(capacity), new Uint8Array(capacity)];
      moreWaiting.set(waiting);
      moreSeen.set(seen);
      waiting = moreWaiting;
      seen = moreSeen;
    },
    begin(slot, index, out) {
      lookup[slot] = index;
      candidate[slot] = candidateOffsets[index] ?? 0;
      return ask(slot, out);
    },
    step(slot, _message, outcome, code, answers, out) {
      let state = seen[slot] ?? 0;
      if (outcome === OUTCOME.lost) state |= LOST;
      else if (code === 0 && answers > 0) state |= FOUND;
      seen[slot] = state;
      const left = (waiting[slot] ?? 1) - 1;
      waiting[slot] = left;
      if (left > 0) return 0;
      if ((state & FOUND) !== 0) return LOOKUP_FOUND;
      if ((state & LOST) !== 0) return LOOKUP_FAILED;
      const next = (candidate[slot] ?? 0) + 1;
      if (next === candidateOffsets[(lookup[slot] ?? 0) + 1]) return LOOKUP_FAILED;
      candidate[slot] = next;
      return ask(slot, out);
    },
  };
}
