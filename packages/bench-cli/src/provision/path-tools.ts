/** Programs that are used where they are installed already. */
import { DAEMON_DIRECTORIES, findExecutable } from '../machine/find-executable.ts';
import type { World } from '../world.ts';
import type { Attempt } from './attempt.ts';
import { askToolVersion } from './tool-version.ts';

/** Finds the tool in PATH or where daemons are installed; of `version`, if one is given. */
export async function toolFromPath(
  world: World,
  tool: 'coredns' | 'dnsperf' | 'knotd' | 'nsd',
  version?: string,
): Promise<Attempt> {
  const executable = await findExecutable(world, tool, DAEMON_DIRECTORIES);
  if (executable === null) return { problem: 'there is none' };
  const found = await askToolVersion(world, tool, executable);
  if (found === null) return { problem: `${executable} does not run, or does not say its version` };
  if (version !== undefined && found !== version) {
    return { problem: `${executable} is version ${found}, not ${version}` };
  }
  const { size } = await world.fs.stat(executable);
  return {
    found: {
      tool,
      version: found,
      executable,
      source: 'path',
      origin: `installed as ${executable}`,
      sizeBytes: size,
    },
  };
}
