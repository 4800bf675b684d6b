/** Finds programs in PATH, as a shell does. */
import { delimiter, isAbsolute, join } from 'node:path';
import type { World } from '../world.ts';

/** Where daemons are installed; an ordinary user's PATH often lacks them. */
export const DAEMON_DIRECTORIES = ['/usr/local/sbin', '/usr/sbin', '/sbin'] as const;

/** True if `path` is a file that this user may execute. */
export async function isExecutable(world: World, path: string): Promise<boolean> {
  try {
    await world.fs.access(path, world.fs.constants.X_OK);
    return (await world.fs.stat(path)).isFile();
  } catch {
    return false;
  }
}

/** Absolute path of the first executable `name` in PATH, then in `further`; null if there is none. */
export async function findExecutable(
  world: World,
  name: string,
  further: readonly string[] = [],
): Promise<string | null> {
  if (isAbsolute(name)) return (await isExecutable(world, name)) ? name : null;
  const directories = (world.env.PATH ?? '').split(delimiter).filter(isAbsolute);
  for (const directory of [...directories, ...further]) {
    const path = join(directory, name);
    if (await isExecutable(world, path)) return path;
  }
  return null;
}
