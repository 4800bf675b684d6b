/**
 * Where provisioned programs are kept: `${XDG_CACHE_HOME:-$HOME/.cache}/dinodns-bench/<tool>/<version>/`.
 * A program is made ready in a staging directory beside it and renamed into place, so that several runs at
 * once never see half a file: the last rename wins, and all of them are whole.
 */

import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { messageOf, systemErrorCode } from '@dinodns-bench/program';
import { z } from 'zod';
import { BenchError } from '../errors.ts';
import { isExecutable } from '../machine/find-executable.ts';
import { ownedName, thisOwner } from '../machine/owner.ts';
import { readIfThere } from '../machine/proc-files.ts';
import { removeAbandonedDirectories } from '../machine/run-directory.ts';
import type { ProvisionedTool } from '../results/record.ts';
import type { World } from '../world.ts';
import type { Attempt } from './attempt.ts';
import { askToolVersion } from './tool-version.ts';

/** Beside the program: how it was got, for the records of later runs. */
const ORIGIN_FILE = 'origin.json';
const originSchema = z.object({ source: z.string(), origin: z.string() });

/** The directory of everything that bench keeps between runs. */
export function cacheRoot(world: World): string {
  const { XDG_CACHE_HOME: cache, HOME: home } = world.env;
  // The XDG specification tells programs to ignore a relative path.
  const base = cache !== undefined && isAbsolute(cache) ? cache : join(home ?? homedir(), '.cache');
  return join(base, 'dinodns-bench');
}

export function corednsDirectory(world: World, version: string): string {
  return join(cacheRoot(world), 'coredns', version);
}

/** CoreDNS of exactly this version from the cache. */
export async function corednsFromCache(world: World, version: string): Promise<Attempt> {
  const directory = corednsDirectory(world, version);
  const executable = join(directory, 'coredns');
  if (!(await isExecutable(world, executable))) return { problem: `${executable} is not there` };
  const found = await askToolVersion(world, 'coredns', executable);
  if (found !== version) {
    return { problem: found === null ? `${executable} does not run` : `${executable} is version ${found}` };
  }
  const text = await readIfThere(world, join(directory, ORIGIN_FILE));
  return {
    found: {
      tool: 'coredns',
      version,
      executable,
      source: 'cache',
      origin: text === null ? 'put into the cache by hand' : originText(text),
      sizeBytes: (await world.fs.stat(executable)).size,
    },
  };
}

function originText(text: string): string {
  try {
    return originSchema.parse(JSON.parse(text)).origin;
  } catch {
    return 'unknown';
  }
}

function cacheError(path: string, cause: unknown): BenchError {
  const full = systemErrorCode(cause) === 'ENOSPC';
  return new BenchError(
    full ? 'E_DISK_FULL' : 'E_PROVISION_FAILED',
    `cannot write into the cache ${path}: ${messageOf(cause)}`,
    { fix: 'Set XDG_CACHE_HOME to a directory with 2 GB of space that you may write to.', cause },
  );
}

/**
 * Calls `make` with an empty staging directory on the same file system as the cache, and deletes it
 * afterwards, whatever happened. What killed runs left there is deleted first.
 */
export async function withStaging<T>(world: World, make: (directory: string) => Promise<T>): Promise<T> {
  const parent = join(cacheRoot(world), 'staging');
  let directory: string;
  try {
    await world.fs.mkdir(parent, { recursive: true });
    await removeAbandonedDirectories(world, parent);
    directory = await world.fs.mkdtemp(join(parent, `${ownedName('coredns', await thisOwner(world))}-`));
  } catch (cause) {
    throw cacheError(parent, cause);
  }
  try {
    return await make(directory);
  } finally {
    await world.fs.rm(directory, { recursive: true, force: true });
  }
}

/** Moves a staged CoreDNS into the cache if it is the right version. */
export async function keepCoredns(
  world: World,
  staged: string,
  version: string,
  how: Pick<ProvisionedTool, 'source' | 'origin'>,
): Promise<Attempt> {
  const directory = corednsDirectory(world, version);
  const executable = join(directory, 'coredns');
  try {
    await world.fs.chmod(staged, 0o755);
    const found = await askToolVersion(world, 'coredns', staged);
    if (found !== version)
      return { problem: `what came is CoreDNS ${found ?? 'that does not run'}, not ${version}` };
    await world.fs.mkdir(directory, { recursive: true });
    const originStaged = `${staged}.origin.json`;
    await world.fs.writeFile(originStaged, `${JSON.stringify(how, null, 2)}\n`);
    await world.fs.rename(originStaged, join(directory, ORIGIN_FILE));
    await world.fs.rename(staged, executable);
    const { size } = await world.fs.stat(executable);
    return { found: { tool: 'coredns', version, executable, ...how, sizeBytes: size } };
  } catch (cause) {
    throw cacheError(directory, cause);
  }
}
