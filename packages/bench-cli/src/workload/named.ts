/** The workloads over the zone set that have names. Pure. */
import {
  defineWorkload,
  type Query,
  type WorkloadInput,
  workloadFor,
  type ZoneSet,
} from '@dinodns-bench/zones';
import { drawn, type Popularity } from './popularity.ts';
import type { BenchWorkload } from './workload.ts';

export interface NamedOptions extends Popularity {
  /** Every name is queried for each of these. */
  readonly types: readonly string[];
}

interface Kind {
  readonly parity: NonNullable<WorkloadInput['parity']>;
  readonly description: string;
  /** Names that are equally popular: the one that exists and the one that does not. */
  readonly namesPerRank: number;
}

const KINDS: Readonly<Record<string, Kind>> = {
  half: {
    parity: 'all',
    description: 'every name once in order, half exist, half do not',
    namesPerRank: 2,
  },
  existing: { parity: 'odd', description: 'names that exist, in order', namesPerRank: 1 },
  missing: { parity: 'even', description: 'names that do not exist, in order', namesPerRank: 1 },
};

/** The names of these workloads; any other is that of a file or of a cluster. */
export const NAMED_WORKLOADS: readonly string[] = Object.keys(KINDS);

/** Null if there is no workload of this name. */
export function namedWorkload(name: string, zoneSet: ZoneSet, options: NamedOptions): BenchWorkload | null {
  const kind = Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
  if (kind === undefined) return null;
  const { types } = options;
  const { parity, description, namesPerRank } = kind;
  const workload = defineWorkload({ ...workloadFor(zoneSet), parity, types });
  const queries = (): Iterable<Query> => workload.queries();
  const typesText = types.length === 1 ? `type ${types[0]}` : `types ${types.join(' and ')}`;
  const inOrder = { name, description: `${description}, ${typesText}`, size: workload.size, queries };
  return drawn(inOrder, options, namesPerRank * types.length);
}
