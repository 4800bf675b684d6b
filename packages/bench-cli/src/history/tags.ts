/**
 * Names for runs: `results/tags/<name>` contains the ID of a run, like git's refs. Separate small files, so that naming
 * is safe while other benches run, and the index can be rebuilt at any time.
 */
import { join } from 'node:path';
import { BenchError } from '../errors.ts';
import { writeWhole } from '../results/write-whole.ts';
import type { World } from '../world.ts';

type TagWorld = Pick<World, 'fs' | 'processes'>;

const DIRECTORY = 'tags';
const NAME = /^[A-Za-z0-9][\w.-]{0,99}$/;
/** Means the newest run wherever a run can be named. */
const RESERVED = new Set(['latest']);

export function checkTagName(name: string): void {
  if (NAME.test(name) && !RESERVED.has(name)) return;
  throw new BenchError('E_USAGE', `${JSON.stringify(name)} is not a valid name for a run`, {
    fix: 'Use letters, digits, dots, dashes and underscores, for example main or v1.2; `latest` is reserved.',
  });
}

/** Names the run; a name in use moves to this run. */
export async function writeTag(
  world: TagWorld,
  resultsDirectory: string,
  name: string,
  id: string,
): Promise<void> {
  checkTagName(name);
  await writeWhole(world.fs, world.processes.ownPid, join(resultsDirectory, DIRECTORY, name), `${id}\n`);
}

/** Removes the name. Rejects with `E_USAGE` if it does not exist. */
export async function removeTag(world: TagWorld, resultsDirectory: string, name: string): Promise<void> {
  checkTagName(name);
  if (!(await readTags(world, resultsDirectory)).has(name)) {
    throw new BenchError('E_USAGE', `no run is named ${JSON.stringify(name)}`, {
      fix: '`bench history` lists the names of runs.',
    });
  }
  await world.fs.rm(join(resultsDirectory, DIRECTORY, name));
}

/** The id of a run by its name. */
export async function readTags(
  { fs }: Pick<World, 'fs'>,
  resultsDirectory: string,
): Promise<Map<string, string>> {
  const directory = join(resultsDirectory, DIRECTORY);
  const names = (await fs.readdir(directory).catch((): string[] => [])).filter((name) => NAME.test(name));
  const tags = await Promise.all(
    names.map(async (name) => {
      // What is no file, such as a folder, names nothing.
      const text = await fs.readFile(join(directory, name), 'utf8').catch(() => null);
      return text === null ? [] : [[name, text.trim()] as const];
    }),
  );
  return new Map(tags.flat().toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
