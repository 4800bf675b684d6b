/** Programs that are used only where they are installed. */
import { findDaemon } from '../machine/find-executable.ts';
import type { World } from '../world.ts';
import { findPackageManager, type PackageManagerName } from './package-manager.ts';
import { type Attempt, firstThatWorks, inspectionOf, type Program, type Way } from './provision.ts';
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

/** The packages that a program needs, separated by spaces: in Debian, Fedora and Alpine alike, or in each of them. */
export type PackageNames = string | Readonly<Record<PackageManagerName, string>>;

/** The command that installs a program here, as an imperative sentence. */
export async function installHint(world: World, executable: string, packages: PackageNames): Promise<string> {
  const system = await findPackageManager(world);
  const { name, installCommand } = 'manager' in system ? system.manager : system;
  const wanted = typeof packages === 'string' ? packages : packages[name ?? 'apt-get'];
  return installCommand === null
    ? `Install ${wanted} so that ${executable} is in PATH.`
    : `Install it: ${installCommand(wanted)}`;
}

/** A server's program that is compared only where it is installed. */
export function installedProgram(installed: Installed, packages: PackageNames): Program {
  const { name } = installed;
  return {
    name,
    optional: true,
    async provide(world) {
      const way: Way = { name: 'PATH', attempt: () => toolFromPath(world, installed) };
      const hint = await installHint(world, name, packages);
      return firstThatWorks(name, [way], `${hint}, or omit this server from --servers.`);
    },
    async inspect(world) {
      const inspected = inspectionOf(await toolFromPath(world, installed));
      return inspected.found === null
        ? { ...inspected, fix: await installHint(world, name, packages) }
        : inspected;
    },
  };
}
