/** CoreDNS in the cache: `coredns/<version>/coredns`, and beside it where it came from. */
import { join } from 'node:path';
import { z } from 'zod';
import { isExecutable } from '../../machine/find-executable.ts';
import { readIfThere } from '../../machine/proc-files.ts';
import { cacheError, cacheRoot } from '../../provision/cache.ts';
import type { Attempt } from '../../provision/provision.ts';
import { askVersion, type VersionQuestion } from '../../provision/tool-version.ts';
import type { ProvisionedTool } from '../../results/record.ts';
import type { World } from '../../world.ts';

/** `CoreDNS-1.15.0` */
export const COREDNS_VERSION: VersionQuestion = { arguments: ['-version'], pattern: /^CoreDNS-(\S+)/m };

/** Beside the program: where it came from, for the records of later runs. */
const ORIGIN_FILE = 'origin.json';
const originSchema = z.object({ source: z.string(), origin: z.string() });

export function corednsDirectory(world: World, version: string): string {
  return join(cacheRoot(world), 'coredns', version);
}

/** CoreDNS of exactly this version from the cache. */
export async function corednsFromCache(world: World, version: string): Promise<Attempt> {
  const directory = corednsDirectory(world, version);
  const executable = join(directory, 'coredns');
  if (!(await isExecutable(world, executable))) return { problem: `${executable} does not exist` };
  const found = await askVersion(world, COREDNS_VERSION, executable);
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
      origin: text === null ? 'put into the cache manually' : originText(text),
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
    const found = await askVersion(world, COREDNS_VERSION, staged);
    if (found !== version)
      return { problem: `the program obtained is CoreDNS ${found ?? 'that does not run'}, not ${version}` };
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
