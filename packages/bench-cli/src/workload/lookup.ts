/** The `lookup` workload: names as programs in a pod ask for them, with the queries that their resolver makes of them. */
import { candidateNames, type WorkloadInput } from '@dinodns-bench/load/workload';
import type { Query } from '@dinodns-bench/zones';
import type { BenchWorkload } from './workload.ts';

export interface LookupOptions {
  /** Search domains after the cluster's three, as the node's own resolv.conf has them. */
  readonly search: readonly string[];
  readonly ndots: number;
  readonly types: readonly string[];
}

/** The namespace of the pod that asks; a name of a service in it costs one query. */
const NAMESPACE = 'default';
const CLUSTER_DOMAIN = 'cluster.local';

type AddressType = 'A' | 'AAAA';

const isAddressType = (type: string): type is AddressType => type === 'A' || type === 'AAAA';

/** The types of a lookup: a resolver asks for addresses only. */
function addressTypes(types: readonly string[]): AddressType[] {
  const found = types.filter(isAddressType);
  return found.length === 0 ? ['A'] : found;
}

/** Lookups of `names` (with a trailing dot: no search list). `what` says in words what they are. */
export function lookupWorkload(
  name: string,
  names: readonly string[],
  what: string,
  { search, ndots, types }: LookupOptions,
  namespace = NAMESPACE,
): BenchWorkload {
  const asked = addressTypes(types);
  const rules = { namespace, clusterDomain: CLUSTER_DOMAIN, search, ndots };
  const candidates = new Set(names.flatMap((text) => candidateNames(text, rules)));
  const queries = function* (): Generator<Query> {
    for (const candidate of candidates)
      for (const type of asked) yield { name: candidate.replace(/(?<=.)\.$/, ''), type };
  };
  const source: WorkloadInput = { kind: 'kubernetes', names, ...rules, types: asked };
  return {
    name,
    description: `lookups of ${what} by a pod's resolver, ${asked.join(' and ')}, ndots:${ndots}`,
    size: candidates.size * asked.length,
    queries,
    builtin: { source, isTimed: false },
    // A resolver stops at the first candidate that has an answer.
    codes: 'possible',
  };
}
