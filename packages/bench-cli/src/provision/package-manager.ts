/** The system's package manager, where it needs no password: as root, or with a sudo that asks for none. */
import { findDaemon, findExecutable } from '../machine/find-executable.ts';
import { type Completed, runToEnd } from '../process.ts';
import type { World } from '../world.ts';
import type { ProvisionProgress } from './provision.ts';

const NAMES = ['apt-get', 'dnf', 'apk'] as const;
export type PackageManagerName = (typeof NAMES)[number];

type InstallCommand = (packageName: string) => string;

export interface PackageManager {
  readonly name: PackageManagerName;
  readonly executable: string;
  /** The command a user would type, without sudo. */
  readonly installCommand: InstallCommand;
  /** Prefix of every command: nothing, or `sudo -n`. */
  readonly privilege: readonly string[];
}

const INSTALL_COMMANDS = {
  'apt-get': (name: string) => `apt-get install ${name}`,
  dnf: (name: string) => `dnf install ${name}`,
  apk: (name: string) => `apk add ${name}`,
} as const;

/** Why bench cannot install packages here, and how the user can, if at all. */
interface NoPackageManager {
  readonly problem: string;
  readonly name: PackageManagerName | null;
  readonly installCommand: InstallCommand | null;
}

/** An index update and an install of a small package; slow mirrors included. */
const INSTALL_SECONDS = 600;

async function privilegeOf(world: World): Promise<readonly string[] | null> {
  if (world.machine.userId === 0) return [];
  const sudo = await findExecutable(world, 'sudo');
  if (sudo === null) return null;
  const { code } = await runToEnd(world, [sudo, '-n', 'true'], { timeoutSeconds: 5 });
  return code === 0 ? [sudo, '-n'] : null;
}

/** The package manager of this system; `problem` if there is none or it would ask for a password. */
export async function findPackageManager(
  world: World,
): Promise<{ manager: PackageManager } | NoPackageManager> {
  for (const name of NAMES) {
    const executable = await findDaemon(world, name);
    if (executable === null) continue;
    const privilege = await privilegeOf(world);
    const installCommand = INSTALL_COMMANDS[name];
    if (privilege !== null) return { manager: { name, executable, installCommand, privilege } };
    return {
      problem: `${name} needs root, and sudo would ask for a password`,
      name,
      installCommand: (packageName) => `sudo ${installCommand(packageName)}`,
    };
  }
  return { problem: 'apt-get, dnf and apk are missing', name: null, installCommand: null };
}

/** What `apt-get install --print-uris` says will be downloaded: `Need to get 79.8 kB of archives.` and the addresses. */
export function parseAptDownload(output: string): { size: string; hosts: readonly string[] } | null {
  const size = /^Need to get (.+?)(?:\/.+?)? of archives/m.exec(output)?.[1];
  if (size === undefined) return null;
  const hosts = [...output.matchAll(/^'\w+:\/\/([^/']+)\//gm)].flatMap(([, host]) =>
    host === undefined ? [] : [host],
  );
  return { size, hosts: [...new Set(hosts)] };
}

/** No questions, English messages, and no daemon that starts because its package is installed. */
const QUIET = ['DEBIAN_FRONTEND=noninteractive', 'LC_ALL=C', 'RUNLEVEL=1', 'SYSTEMD_OFFLINE=1'] as const;

async function run(
  world: World,
  { executable, privilege }: PackageManager,
  command: readonly string[],
  progress: ProvisionProgress,
  signal: AbortSignal,
): Promise<Completed> {
  signal.throwIfAborted();
  // sudo clears the environment, so it is set after it.
  const words = [...privilege, 'env', ...QUIET, executable, ...command];
  const completed = await runToEnd(world, words, {
    timeoutSeconds: INSTALL_SECONDS,
    onStdoutLine: (line) => progress.detail(line),
  });
  // A package manager is never killed halfway: an interrupted run waits for it, and then ends.
  signal.throwIfAborted();
  return completed;
}

const APT_INSTALL = ['install', '-y', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=60'] as const;

async function aptInstall(
  world: World,
  manager: PackageManager,
  packages: readonly string[],
  progress: ProvisionProgress,
  signal: AbortSignal,
): Promise<{ completed: Completed; from: string }> {
  const apt = (...command: readonly string[]) => run(world, manager, command, progress, signal);
  const plan = () => apt(...APT_INSTALL, '--print-uris', ...packages);
  let planned = await plan();
  let completed: Completed | null = null;
  for (const updated of [false, true]) {
    if (updated) {
      progress.step('Updating the package lists: apt-get update');
      await apt('update');
      planned = await plan();
    }
    if (planned.code !== 0) {
      completed = planned;
      continue;
    }
    const download = parseAptDownload(planned.stdout);
    if (download !== null) {
      progress.step(
        `Installing ${packages.join(' ')}: ${download.size} from ${download.hosts.join(', ') || 'the package cache'}`,
      );
    }
    completed = await apt(...APT_INSTALL, ...packages);
    // An outdated package list names files that are gone; try again after an update.
    if (completed.code === 0) break;
  }
  const hosts = parseAptDownload(planned.stdout)?.hosts ?? [];
  return { completed: completed ?? planned, from: hosts.length > 0 ? ` from ${hosts.join(', ')}` : '' };
}

/** Package managers lock their files, and not every command of them waits: one installation at a time. */
const underWay = new WeakMap<World, Promise<unknown>>();

/** Installs packages, all or none; resolves with their source, or with the problem. Rejects when aborted. */
export function installPackages(
  world: World,
  ...request: [PackageManager, readonly string[], ProvisionProgress, AbortSignal]
): Promise<{ origin: string } | { problem: string }> {
  const before = underWay.get(world) ?? Promise.resolve();
  const installed = before.catch(() => undefined).then(() => install(world, ...request));
  underWay.set(world, installed);
  return installed;
}

async function install(
  world: World,
  manager: PackageManager,
  packages: readonly string[],
  progress: ProvisionProgress,
  signal: AbortSignal,
): Promise<{ origin: string } | { problem: string }> {
  const names = packages.join(' ');
  progress.step(`Installing ${names} with ${manager.name}`);
  let completed: Completed;
  let from = '';
  if (manager.name === 'apt-get') {
    ({ completed, from } = await aptInstall(world, manager, packages, progress, signal));
  } else {
    const command = manager.name === 'dnf' ? ['install', '-y', ...packages] : ['add', ...packages];
    completed = await run(world, manager, command, progress, signal);
  }
  if (completed.code === 0) return { origin: `${manager.installCommand(names)}${from}` };
  return { problem: `${manager.installCommand(names)} failed: ${reasonOf(completed)}` };
}

/** What dpkg complains of, since apt then says only that dpkg failed; or the first error; or the last words. */
function reasonOf({ code, stderr, stdout }: Completed): string {
  const lines = `${stdout}\n${stderr}`.split('\n').flatMap((line) => line.trim() || []);
  const first = (pattern: RegExp) => lines.find((line) => pattern.test(line));
  return first(/^dpkg: error/) ?? first(/^(E|ERROR|Error)\b/) ?? lines.at(-1) ?? `exit status ${code}`;
}
