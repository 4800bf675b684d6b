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

function* fewNames(): Generator<string> {
  for (let index = 0; index < FEW; index += 1) yield EXTERNAL.name(index);
}

function* fillNames(): Generator<string> {
  for (let index = 0; index < FILL; index += 1) {
    yield EXTERNAL.name(index);
    yield missing(index);
  }
}

/** Half of the names are the cluster's, where it has any; the rest was among the last that the cache got. */
function* loadQueries(spec: ClusterSpec): Generator<readonly [name: string, type: string]> {
  const own = spec.services === 0 ? [] : internalQuestions(defineCluster(spec), INTERNAL);
  for (const { name, type } of own) yield [name, type];
  for (let index = 0; index < INTERNAL; index += 1) yield [EXTERNAL.name(FILL - 1 - index), 'A'];
}

/** Writes them into `directory`, which exists. */
export async function writeQueryFiles(
  { fs }: Pick<World, 'fs'>,
  directory: string,
  spec: ClusterSpec,
): Promise<QueryFiles> {
  const files = { few: `${directory}/few.txt`, fill: `${directory}/fill.txt`, load: `${directory}/load.txt` };
  const lines = (names: Iterable<string>) => Array.from(names, (name) => `${name} A\n`).join('');
  await fs.writeFile(files.few, lines(fewNames()));
  await fs.writeFile(files.fill, lines(fillNames()));
  await fs.writeFile(
    files.load,
    Array.from(loadQueries(spec), ([name, type]) => `${name} ${type}\n`).join(''),
  );
  return files;
}
