/**
 * How often each query of a workload is sent. Queries are drawn beforehand into a sequence that every loader sends in
 * order: so that both loaders send the same, and the mix of response codes is known.
 */
import { createRandom, cumulate, weightedDraw, zipfWeights } from '@dinodns-bench/load/workload';
import type { Query } from '@dinodns-bench/zones';
import type { BenchWorkload } from './workload.ts';

export interface Popularity {
  /** In order, at random with equal chances, or at random by Zipf's law: the first names most often. */
  readonly order: 'sequence' | 'uniform' | 'zipf';
  /** The name of rank k is queried 1 ÷ k^exponent as often as the first. */
  readonly zipfExponent: number;
}

/**
 * Draws in a sequence: enough that a name of average popularity occurs several times, and a query file stays below
 * 20 MB.
 */
const DRAWS_PER_QUERY = 8;
const MIN_DRAWS = 100_000;
const MAX_DRAWS = 1_000_000;

/** Any fixed number: with the same settings, a run sends the same queries. */
const SEED = 20_261_122;

function* draws(queries: readonly Query[], popularity: Popularity, perRank: number): Generator<Query> {
  const ranks = Math.ceil(queries.length / perRank);
  const exponent = popularity.order === 'zipf' ? popularity.zipfExponent : 0;
  const random = createRandom(SEED);
  const drawRank = weightedDraw(cumulate(zipfWeights(ranks, exponent)), random);
  const count = Math.min(MAX_DRAWS, Math.max(MIN_DRAWS, DRAWS_PER_QUERY * queries.length));
  for (let drawn = 0; drawn < count; ) {
    const query = queries[drawRank() * perRank + Math.floor(random.fraction() * perRank)];
    // The last rank may have fewer queries than the others.
    if (query === undefined) continue;
    drawn += 1;
    yield query;
  }
}

function orderText({ order, zipfExponent }: Popularity): string {
  return order === 'zipf' ? `at random by Zipf's law with exponent ${zipfExponent}` : 'at random';
}

/** `workload` in the order of `popularity`; each `perRank` queries in a row are equally popular. */
export function drawn(workload: BenchWorkload, popularity: Popularity, perRank = 1): BenchWorkload {
  if (popularity.order === 'sequence') return workload;
  return {
    ...workload,
    description: `${workload.description.replace(/,? in order/, '')}, ${orderText(popularity)}`,
    sequence: () => draws([...workload.queries()], popularity, perRank),
  };
}
