/** What `bench doctor` says of the machine, as data. Leaves nothing changed. */
import { messageOf } from '@dinodns-bench/program';
import { cpuGovernor, socketReceiveBuffer } from '../environment/describe.ts';
import { parseLoadAverage } from '../environment/machine-files.ts';
import { findExecutable } from '../machine/find-executable.ts';
import { readIfThere } from '../machine/proc-files.ts';
import { runToEnd } from '../process.ts';
import { cacheRoot } from '../provision/cache.ts';
import { findPackageManager } from '../provision/package-manager.ts';
import { askVersion, GO_VERSION } from '../provision/tool-version.ts';
import { createResourceGroups } from '../targets/local/resource-groups.ts';
import type { World } from '../world.ts';

export type CheckState = 'ok' | 'notice' | 'problem';

export interface MachineCheck {
  /** Stable, for scripts: `cpu-limits`, `cores`, … */
  readonly name: string;
  readonly title: string;
  /** `notice`: figures may suffer; `problem`: a run will fail. */
  readonly state: CheckState;
  readonly found: string;
  /** How to improve it; null if it is good. */
  readonly advice: string | null;
}

/** A build of CoreDNS with its modules and Go's build cache takes about 1.5 GB. */
const BUILD_DISK_BYTES = 2e9;

/** The lowest version on which the sources run directly (type stripping without a flag). */
const MIN_NODE_VERSION = [22, 18] as const;

/** A load of half a core disturbs a one-vCPU trial on a small machine. */
const QUIET_LOAD_PER_CPU = 0.25;

function check(
  name: string,
  title: string,
  found: string,
  advice: string | null = null,
  state: CheckState = advice === null ? 'ok' : 'notice',
): MachineCheck {
  return { name, title, state, found, advice };
}

async function checkLimits(world: World): Promise<MachineCheck> {
  const groups = await createResourceGroups(world, { runId: 'doctor', request: 'quota' });
  await groups.close();
  return check('cpu-limits', 'CPU limits', groups.method, groups.reason);
}

function checkCores(world: World, neededCpus: number): MachineCheck {
  const usable = world.machine.availableCpus;
  const found = `${usable} of ${world.machine.cpus.length} CPUs may be used; server and loader need ${neededCpus}`;
  const advice = `trials that need more than ${usable} are marked as contended; a machine with ${neededCpus} CPUs is better`;
  return check('cores', 'Cores', found, usable < neededCpus ? advice : null);
}

async function checkLoad(world: World): Promise<MachineCheck> {
  const load = parseLoadAverage((await readIfThere(world, '/proc/loadavg')) ?? '') ?? 0;
  const busy = load > QUIET_LOAD_PER_CPU * world.machine.availableCpus;
  return check(
    'load',
    'Other load',
    `1-minute load average ${load}`,
    busy ? 'wait until the machine is quiet' : null,
  );
}

/** With a window of 100 queries in flight, the kernel's default of 212,992 bytes loses none. */
async function checkBuffers(world: World): Promise<MachineCheck> {
  const buffer = await socketReceiveBuffer(world);
  if (buffer === null) return check('socket-buffers', 'Socket buffers', 'unknown');
  const found = `${buffer.default} bytes by default, ${buffer.max} at most`;
  const small = buffer.default < 212_992;
  return check(
    'socket-buffers',
    'Socket buffers',
    found,
    small ? 'bursts may be lost: sysctl -w net.core.rmem_default=212992' : null,
  );
}

async function checkGovernor(world: World): Promise<MachineCheck> {
  const governor = await cpuGovernor(world);
  const advice = 'cpupower frequency-set -g performance makes trials more uniform';
  const scaled = governor !== null && governor !== 'performance';
  return check(
    'cpu-governor',
    'CPU governor',
    governor ?? 'none: the frequency cannot be controlled from here',
    scaled ? advice : null,
  );
}

/** The nearest directory above that exists. */
async function freeBytes(world: World, path: string): Promise<number> {
  for (let current = path; ; current = current.replace(/\/[^/]*$/, '') || '/') {
    try {
      const { bavail, bsize } = await world.fs.statfs(current);
      return bavail * bsize;
    } catch (error) {
      if (current === '/') throw error;
    }
  }
}

async function checkDisk(world: World): Promise<MachineCheck> {
  const path = cacheRoot(world);
  try {
    const free = await freeBytes(world, path);
    const advice = 'building CoreDNS takes up to 2 GB: free some space or set XDG_CACHE_HOME';
    const found = `${(free / 1e9).toFixed(1)} GB free for ${path}`;
    return check('disk', 'Disk', found, free < BUILD_DISK_BYTES ? advice : null);
  } catch (error) {
    return check('disk', 'Disk', messageOf(error), 'set XDG_CACHE_HOME to a directory that can be read');
  }
}

async function checkGo(world: World): Promise<MachineCheck> {
  const go = await findExecutable(world, 'go');
  const version = go === null ? null : await askVersion(world, GO_VERSION, go);
  const advice = 'needed only if the release archives of CoreDNS cannot be reached';
  return check(
    'go',
    'Go',
    version === null ? 'not installed' : `${version} (${go})`,
    version === null ? advice : null,
  );
}

async function checkPackages(world: World): Promise<MachineCheck> {
  const system = await findPackageManager(world);
  if ('problem' in system)
    return check('package-manager', 'Package manager', system.problem, 'install dnsperf manually');
  const how = system.manager.privilege.length === 0 ? 'as root' : 'with sudo, without a password';
  return check('package-manager', 'Package manager', `${system.manager.name} ${how}`);
}

async function checkNode(world: World): Promise<MachineCheck> {
  const { stdout } = await runToEnd(world, [world.processes.nodePath, '--version']);
  const version = stdout.trim().replace(/^v/, '');
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const old = major < MIN_NODE_VERSION[0] || (major === MIN_NODE_VERSION[0] && minor < MIN_NODE_VERSION[1]);
  const advice = `Node.js ${MIN_NODE_VERSION.join('.')} or later is needed: start bench with pnpm, which installs it`;
  return check('node', 'Node.js', version, old ? advice : null, old ? 'problem' : 'ok');
}

/** All checks. `neededCpus`: what the largest planned case needs for servers and loader together. */
export async function inspectMachine(
  world: World,
  { neededCpus }: { readonly neededCpus: number },
): Promise<readonly MachineCheck[]> {
  return [
    await checkNode(world),
    checkCores(world, neededCpus),
    await checkLimits(world),
    await checkLoad(world),
    await checkGovernor(world),
    await checkBuffers(world),
    await checkDisk(world),
    await checkPackages(world),
    await checkGo(world),
  ];
}
