/** The run's temporary directory, named so that a later run knows whether it was abandoned. */

import { join } from 'node:path';
import { messageOf, systemErrorCode } from '@dinodns-bench/program';
import { BenchError } from '../errors.ts';
import type { World } from '../world.ts';
import { hasEnded, OWNED_PREFIX, ownedName, ownerOf, thisOwner } from './owner.ts';

/** Removes directories that killed runs of this user left in `parent`. Never fails. */
export async function removeAbandonedDirectories(world: World, parent: string): Promise<void> {
  const names = await world.fs.readdir(parent).catch(() => []);
  for (const name of names) {
    const owner = name.startsWith(OWNED_PREFIX) ? ownerOf(name) : null;
    if (owner === null) continue;
    const path = join(parent, name);
    try {
      const { uid } = await world.fs.stat(path);
      if (uid !== world.machine.userId || !(await hasEnded(world, owner))) continue;
      await world.fs.rm(path, { recursive: true, force: true });
    } catch {
      // Gone in the meantime, or not ours to delete.
    }
  }
}

/** Makes it in TMPDIR, else in /tmp. Rejects with `E_DISK_FULL` or `E_WRITE_FAILED`. */
export async function createRunDirectory(world: World): Promise<string> {
  const parent = world.env.TMPDIR ?? '/tmp';
  await removeAbandonedDirectories(world, parent);
  try {
    // Without the run's ID: servers put Unix sockets below it, whose paths are limited to 107 octets (unix(7)).
    const directory = await world.fs.mkdtemp(join(parent, `${ownedName('', await thisOwner(world))}-`));
    // Servers that drop root (nsd) must still read their zones, which are not secret.
    await world.fs.chmod(directory, 0o755);
    return directory;
  } catch (cause) {
    const full = systemErrorCode(cause) === 'ENOSPC';
    throw new BenchError(
      full ? 'E_DISK_FULL' : 'E_WRITE_FAILED',
      `cannot create a temporary directory in ${parent}: ${messageOf(cause)}`,
      { fix: 'Set TMPDIR to a writable directory with free space.', cause },
    );
  }
}
