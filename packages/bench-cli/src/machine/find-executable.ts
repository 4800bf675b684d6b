/** Finds programs in PATH, as a shell does. */
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path';
import type { World } from '../world.ts';

function directoriesOf({ env }: World): string[] {
  return (env.PATH ?? '').split(delimiter).filter(isAbsolute);
}

/** True if `path` is a file that this user may execute. */
export async function isExecutable(world: World, path: string): Promise<boolean> {
  try {
    await world.fs.access(path, world.fs.constants.X_OK);
    return (await world.fs.stat(path)).isFile();
  } catch {
    return false;
  }
}

async function findIn(world: World, name: string, directories: readonly string[]): Promise<string | null> {
  if (isAbsolute(name)) return (await isExecutable(world, name)) ? name : null;
  for (const directory of directories) {
    const path = join(directory, name);
    if (await isExecutable(world, path)) return path;
  }
  return null;
}

/** Absolute path of the first executable `name` in PATH; null if there is none. */
export function findExecutable(world: World, name: string): Promise<string | null> {
  return findIn(world, name, directoriesOf(world));
}

/**
 * The same for a daemon: also looks in the `sbin` beside each `bin` in PATH, which an ordinary user's PATH lacks, as
 * `/usr/sbin` beside `/usr/bin`.
 */
export function findDaemon(world: World, name: string): Promise<string | null> {
  const directories = directoriesOf(world);
  const beside = directories
    .filter((directory) => basename(directory) === 'bin')
    .map((directory) => join(dirname(directory), 'sbin'));
  return findIn(world, name, [...directories, ...beside]);
}
