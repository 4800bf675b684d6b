/** Chooses, by trying, how CPU limits are set on this machine, and makes the groups of a run. */
import { findExecutable } from '../../machine/find-executable.ts';
import { ownedName, thisOwner } from '../../machine/owner.ts';
import { createProcessTable } from '../../observe/process-table.ts';
import type { World } from '../../world.ts';
import type { CgroupTree } from './cgroup-tree.ts';
import { openCgroupV1 } from './cgroup-v1.ts';
import { openCgroupV2 } from './cgroup-v2.ts';
import { createProcessGroup } from './process-group.ts';
import type { GroupRequest, ResourceGroup, ResourceGroups } from './resource-group.ts';
import { openSystemdScopes } from './systemd-scope.ts';
import { onCpus, withParentDeathSignal } from './wrapping.ts';

export interface ResourceGroupsOptions {
  readonly runId: string;
  readonly request: 'quota' | 'pin';
}

type Method = Pick<ResourceGroups, 'method' | 'reason'>;

const nothingToClose = () => Promise.resolve();

function cgroupBackend(tree: CgroupTree, method: Method): ResourceGroups {
  return {
    ...method,
    create: ({ name, cpuAllowance }) => tree.create(name, cpuAllowance),
    close: tree.close,
  };
}

/** Groups without limits; their counters are exact if a control group is available. */
async function countingBackend(world: World, runName: string, method: Method): Promise<ResourceGroups> {
  for (const open of [openCgroupV2, openCgroupV1]) {
    const attempt = await open(world, runName, false);
    if (!('ok' in attempt)) continue;
    const tree = attempt.ok;
    return { ...method, create: ({ name }) => tree.create(name, null), close: tree.close };
  }
  const table = createProcessTable(world);
  return { ...method, create: () => createProcessGroup(world, table), close: nothingToClose };
}

function pinning(counting: ResourceGroups, taskset: string): ResourceGroups {
  return {
    ...counting,
    create: async (request) => {
      const group = await counting.create(request);
      const { cpuSet } = request;
      if (cpuSet === null || cpuSet.length === 0) return group;
      return { ...group, wrap: (command) => group.wrap(onCpus(taskset, cpuSet, command)) };
    },
  };
}

/** Affinity, or nothing where even that cannot be set; `reason` says why it is not the requested quota. */
async function affinityBackend(
  world: World,
  runName: string,
  reason: string | null,
): Promise<ResourceGroups> {
  const taskset = await findExecutable(world, 'taskset');
  if (taskset !== null) {
    return pinning(await countingBackend(world, runName, { method: 'affinity', reason }), taskset);
  }
  const missing = 'CPU affinity cannot be set, because taskset (util-linux) is not installed';
  return countingBackend(world, runName, {
    method: 'none',
    reason: `${reason === null ? '' : `${reason}; `}${missing}: servers run without a limit`,
  });
}

async function quotaBackend(world: World, runName: string): Promise<ResourceGroups> {
  const problems: string[] = [];
  const v2 = await openCgroupV2(world, runName, true);
  if ('ok' in v2) return cgroupBackend(v2.ok, { method: 'cgroup-v2-quota', reason: null });
  problems.push(`cgroup v2: ${v2.problem}`);

  const v1 = await openCgroupV1(world, runName, true);
  if ('ok' in v1) return cgroupBackend(v1.ok, { method: 'cgroup-v1-quota', reason: null });
  problems.push(`cgroup v1: ${v1.problem}`);

  const scopes = await openSystemdScopes(world, runName);
  if ('ok' in scopes) {
    const create = ({ name, cpuAllowance }: GroupRequest) => scopes.ok(name, cpuAllowance);
    return { method: 'systemd-scope', reason: null, create, close: nothingToClose };
  }
  problems.push(`systemd-run: ${scopes.problem}`);

  const reason = `no CPU quota can be set (${problems.join('; ')}); whole CPUs are assigned instead`;
  return affinityBackend(world, runName, reason);
}

/**
 * The groups of a run. `quota` asks for a CFS quota: cgroup v2, then v1, then a systemd scope, then
 * affinity, then nothing; `pin` asks for affinity. The first that works is used for the whole run.
 * Leftovers of killed runs in the same place are removed first. Never rejects for lack of a permission: `reason`
 * says why the method is not the requested one.
 *
 * Method `affinity` has no fractions of a CPU, and a request needs a `cpuSet`.
 */
export async function createResourceGroups(
  world: World,
  { runId, request }: ResourceGroupsOptions,
): Promise<ResourceGroups> {
  const runName = ownedName(runId, await thisOwner(world));
  const setpriv = await findExecutable(world, 'setpriv');
  const backend =
    request === 'quota' ? await quotaBackend(world, runName) : await affinityBackend(world, runName, null);
  const open = new Set<ResourceGroup>();
  return {
    method: backend.method,
    reason: backend.reason,
    create: async (groupRequest) => {
      const group = await backend.create(groupRequest);
      const guarded: ResourceGroup = {
        ...group,
        wrap: (command) => withParentDeathSignal(setpriv, group.wrap(command)),
        remove: async () => {
          await group.remove();
          open.delete(guarded);
        },
      };
      open.add(guarded);
      return guarded;
    },
    close: async () => {
      for (const group of open) await group.remove();
      await backend.close();
    },
  };
}
