/**
 * Where provisioned programs are kept: `${XDG_CACHE_HOME:-$HOME/.cache}/dinodns-bench/<tool>/<version>/`.
 * A program is prepared in a staging directory beside it and renamed into place, so that concurrent runs never see a
 * partial file: the last rename wins, and each is complete.
 */

import { isAbsolute, join } from 'node:path';
import { messageOf, systemErrorCode } from '@dinodns-bench/program';
import { BenchError } from '../errors.ts';
import { ownedName, thisOwner } from '../machine/owner.ts';
import { removeAbandonedDirectories } from '../machine/run-directory.ts';
import type { World } from '../world.ts';

/** The directory of everything that bench keeps between runs. */
export function cacheRoot(world: World): string {
  const { XDG_CACHE_HOME: cache, HOME: home } = world.env;
  // The XDG specification tells programs to ignore a relative path.
  const base =
    cache !== undefined && isAbsolute(cache) ? cache : join(home ?? world.machine.homeDirectory, '.cache');
  return join(base, 'dinodns-bench');
}

/** The error for a cache that cannot be written to. */
export function cacheError(path: string, cause: unknown): BenchError {
  const full = systemErrorCode(cause) === 'ENOSPC';
  return new BenchError(
    full ? 'E_DISK_FULL' : 'E_PROVISION_FAILED',
    `cannot write into the cache ${path}: ${messageOf(cause)}`,
    { fix: 'Set XDG_CACHE_HOME to a writable directory with 2 GB of free space.', cause },
  );
}

/** Makes an empty directory on the same file system as the cache, for the caller to delete. Leftovers of killed runs are deleted first. */
export async function makeStaging(world: World): Promise<string> {
  const parent = join(cacheRoot(world), 'staging');
  try {
    await world.fs.mkdir(parent, { recursive: true });
    await removeAbandonedDirectories(world, parent);
    return await world.fs.mkdtemp(join(parent, `${ownedName('coredns', await thisOwner(world))}-`));
  } catch (cause) {
    throw cacheError(parent, cause);
  }
}

/** Calls `make` with a staging directory, and deletes it afterwards, whatever happened. */
export async function withStaging<T>(world: World, make: (directory: string) => Promise<T>): Promise<T> {
  const directory = await makeStaging(world);
  try {
    return await make(directory);
  } finally {
    await world.fs.rm(directory, { recursive: true, force: true });
  }
}
