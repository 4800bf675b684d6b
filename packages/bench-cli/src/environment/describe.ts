/** Describes the machine for the record: everything a reader needs to judge the figures. */
import { readIfThere } from '../machine/proc-files.ts';
import { runToEnd } from '../process.ts';
import type { Environment } from '../results/record.ts';
import type { World } from '../world.ts';
import { describeCheckout } from './git.ts';
import { parseCount, parseCpuModel, parseLoadAverage, parseOsName } from './machine-files.ts';
import { detectVirtualization } from './virtualization.ts';

/** The frequency governor of the first CPU; null where the kernel does not scale frequencies (most VMs). */
export async function cpuGovernor(world: World): Promise<string | null> {
  const text = await readIfThere(world, '/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor');
  return text === null ? null : text.trim() || null;
}

/** What a UDP socket may buffer: the kernel's default and the maximum that a program may request. */
export async function socketReceiveBuffer(world: World): Promise<Environment['socketReceiveBufferBytes']> {
  const usual = parseCount(await readIfThere(world, '/proc/sys/net/core/rmem_default'));
  const max = parseCount(await readIfThere(world, '/proc/sys/net/core/rmem_max'));
  return usual === null || max === null ? null : { default: usual, max };
}

/** Reads everything again; what is unknown is null or a generic name, never an error. */
export async function describeEnvironment(world: World): Promise<Environment> {
  const { machine } = world;
  const [osRelease, cpuinfo, loadavg] = await Promise.all(
    ['/etc/os-release', '/proc/cpuinfo', '/proc/loadavg'].map((path) => readIfThere(world, path)),
  );
  const node = await runToEnd(world, [world.processes.nodePath, '--version']);
  return {
    hostname: machine.hostname,
    os: parseOsName(osRelease ?? '') ?? machine.platform,
    kernel: machine.kernelRelease,
    architecture: machine.architecture,
    cpuModel: machine.cpus[0]?.model || parseCpuModel(cpuinfo ?? '') || 'unknown',
    cpuCores: Math.max(1, machine.cpus.length),
    availableCpus: world.machine.availableCpus,
    cpuGovernor: await cpuGovernor(world),
    memoryBytes: machine.memoryBytes,
    virtualization: await detectVirtualization(world),
    loadAverage: parseLoadAverage(loadavg ?? '') ?? 0,
    socketReceiveBufferBytes: await socketReceiveBuffer(world),
    nodeVersion: node.stdout.trim().replace(/^v/, ''),
    git: await describeCheckout(world),
    cluster: null,
  };
}
