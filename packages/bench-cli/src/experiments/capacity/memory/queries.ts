/** The query files of a measurement: few names, more than the cache holds, and what is asked under load. */
import { type ClusterSpec, defineCluster, internalQuestions } from '@dinodns-bench/cluster-objects';
import { EXTERNAL } from '../../../servers/coredns-cluster/cluster.ts';
import type { World } from '../../../world.ts';

/** Entries that the `cache` plugin has by default, of positive and of negative answers: 256 shards of 39. */
export const CACHE_ENTRIES = 9984;

/** So few that they do not count as a cache. */
const FEW = 100;

/** Names are spread over the shards by their hash: with three times as many as there is room for, each shard is full. */
const FILL = 3 * CACHE_ENTRIES;

/** The cluster's own names among those under load. */
const INTERNAL = 2000;

/** A name that the upstream does not know. */
const missing = (index: number) => `gone${index}.example.org`;

export interface QueryFiles {
  readonly few: string;
  readonly fill: string;
  readonly load: string;
}

const namesOf = (count: number) => Array.from({ length: count }, (_, index) => EXTERNAL.name(index));

/** Half of the names are the cluster's, where it has any; the rest was among the last that the cache got. */
function loadQueries(spec: ClusterSpec): readonly { readonly name: string; readonly type: string }[] {
  const own = spec.services === 0 ? [] : internalQuestions(defineCluster(spec), INTERNAL);
  const others = Array.from({ length: INTERNAL }, (_, index) => EXTERNAL.name(FILL - 1 - index));
  return [...own, ...others.map((name) => ({ name, type: 'A' }))];
}

/** Writes them into `directory`, which exists. */
export async function writeQueryFiles(
  { fs }: Pick<World, 'fs'>,
  directory: string,
  spec: ClusterSpec,
): Promise<QueryFiles> {
  const files = { few: `${directory}/few.txt`, fill: `${directory}/fill.txt`, load: `${directory}/load.txt` };
  const lines = (queries: readonly { readonly name: string; readonly type: string }[]) =>
    queries.map(({ name, type }) => `${name} ${type}\n`).join('');
  const asked = (names: readonly string[]) => lines(names.map((name) => ({ name, type: 'A' })));
  await fs.writeFile(files.few, asked(namesOf(FEW)));
  await fs.writeFile(files.fill, asked(namesOf(FILL).flatMap((name, index) => [name, missing(index)])));
  await fs.writeFile(files.load, lines(loadQueries(spec)));
  return files;
}
