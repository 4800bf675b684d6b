/**
 * Limits by a transient scope of the user's systemd (`systemd-run --user --scope`), which may set them
 * where the user may not. The command keeps its pid, and systemd deletes the scope when it is empty. What
 * it used is read from the scope's own control group; the last reading stands once that is gone.
 */
import { findExecutable } from '../../machine/find-executable.ts';
import type { GroupCounters } from '../../observe/group.ts';
import { runToEnd } from '../../process.ts';
import type { World } from '../../world.ts';
import { readCgroupCounters } from './cgroup-directory.ts';
import { cgroupOf } from './cgroup-mounts.ts';
import type { Attempt } from './cgroup-tree.ts';
import { createProcessGroup } from './process-group.ts';
import type { ResourceGroup } from './resource-group.ts';

/** The command that runs `command` in a scope; `cores` becomes a percentage of one CPU, as systemd counts. */
export function inScope(
  systemdRun: string,
  unit: string,
  cores: number | null,
  command: readonly string[],
): readonly string[] {
  // systemd takes tenths of a percent; its period is the kernel's default of 100 ms.
  const quota = cores === null ? [] : ['-p', `CPUQuota=${Math.max(0.1, Math.round(cores * 1000) / 10)}%`];
  const options = ['--user', '--scope', '--quiet', '--collect', `--unit=${unit}`, '-p', 'CPUAccounting=yes'];
  return [systemdRun, ...options, ...quota, '--', ...command];
}

/** systemd allows letters, digits and `:_.\-` in names of units. */
export function scopeName(runName: string, name: string): string {
  return `${runName}-${name}`.replaceAll(/[^\w:.-]/g, '_');
}

async function scopeDirectory(world: World, pid: number, unit: string): Promise<string | null> {
  const directory = (await cgroupOf(world, null, pid))?.directory ?? null;
  return directory?.endsWith(`/${unit}.scope`) ? directory : null;
}

async function createScope(
  world: World,
  systemdRun: string,
  unit: string,
  cores: number | null,
): Promise<ResourceGroup> {
  const processes = await createProcessGroup(world);
  let root: number | null = null;
  let directory: string | null = null;
  let last: GroupCounters | null = null;
  return {
    ...processes,
    wrap: (command) => inScope(systemdRun, unit, cores, command),
    adopt: (pid) => {
      root = pid;
      processes.adopt(pid);
    },
    counters: async () => {
      if (directory === null && root !== null) directory = await scopeDirectory(world, root, unit);
      last = (directory === null ? null : await readCgroupCounters(world, directory)) ?? last;
      return last ?? processes.counters();
    },
  };
}

/** Makes groups that are scopes named after `runName`; else why that cannot be. */
export async function openSystemdScopes(
  world: World,
  runName: string,
): Promise<Attempt<(name: string, cores: number | null) => Promise<ResourceGroup>>> {
  const systemdRun = await findExecutable(world, 'systemd-run');
  if (systemdRun === null) return { problem: 'it is not installed' };
  const probe = inScope(systemdRun, scopeName(runName, 'probe'), 1, [
    '/bin/sh',
    '-c',
    'cat /proc/self/cgroup',
  ]);
  const { code, stdout, stderr } = await runToEnd(world, probe, { timeoutSeconds: 5 });
  if (code !== 0) return { problem: stderr.trim().split('\n').at(-1) ?? `it ended with status ${code}` };
  if (!stdout.includes(`${scopeName(runName, 'probe')}.scope`)) {
    return { problem: 'the process was not placed in its scope' };
  }
  return { ok: (name, cores) => createScope(world, systemdRun, scopeName(runName, name), cores) };
}
