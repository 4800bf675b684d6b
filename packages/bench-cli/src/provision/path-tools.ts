/** Programs that are used only where they are installed. */
import { findDaemon } from '../machine/find-executable.ts';
import type { World } from '../world.ts';
import { type Attempt, firstThatWorks, type Way } from './attempt.ts';
import { findPackageManager } from './package-manager.ts';
import { inspectionOf, type Program } from './provision.ts';
import { askVersion, type VersionQuestion } from './tool-version.ts';

/** An executable and how to ask it for its version. */
export interface Installed {
  readonly name: string;
  readonly question: VersionQuestion;
}

/** Finds the program in PATH or where daemons are installed; of `version`, if one is given. */
export async function toolFromPath(
  world: World,
  { name, question }: Installed,
  version?: string,
): Promise<Attempt> {
  const executable = await findDaemon(world, name);
  if (executable === null) return { problem: 'it is not there' };
  const found = await askVersion(world, question, executable);
  if (found === null) return { problem: `${executable} does not run, or does not report its version` };
  if (version !== undefined && found !== version) {
    return { problem: `${executable} is version ${found}, not ${version}` };
  }
  const { size } = await world.fs.stat(executable);
  return {
    found: {
      tool: name,
      version: found,
      executable,
      source: 'path',
      origin: `installed as ${executable}`,
      sizeBytes: size,
    },
  };
}

/** The command that installs a package here, as an imperative sentence. */
export async function installHint(world: World, executable: string, packageName: string): Promise<string> {
  const system = await findPackageManager(world);
  const command = 'manager' in system ? system.manager.installCommand : system.installCommand;
  return command === null
    ? `Install ${packageName} so that ${executable} is in PATH.`
    : `Install it: ${command(packageName)}`;
}

/**
 * A server's program that is compared only where it is installed. `packageName` is the same in Debian, Fedora and
 * Alpine.
 */
export function installedProgram(installed: Installed, packageName: string): Program {
  const { name } = installed;
  return {
    name,
    optional: true,
    async provide(world) {
      const way: Way = { name: 'PATH', attempt: () => toolFromPath(world, installed) };
      const hint = await installHint(world, name, packageName);
      return firstThatWorks(name, [way], `${hint}, or omit this server from --servers.`);
    },
    async inspect(world) {
      const inspected = inspectionOf(await toolFromPath(world, installed));
      return inspected.found === null
        ? { ...inspected, fix: await installHint(world, name, packageName) }
        : inspected;
    },
  };
}
