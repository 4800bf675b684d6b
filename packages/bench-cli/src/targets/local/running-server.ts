/** A server that was running before the run: reached, observed if a process or group is named, and left as it is. */
import { createDnsClient } from '../../dns/client.ts';
import { BenchError } from '../../errors.ts';
import { readProcessStat } from '../../machine/proc-files.ts';
import type { ObservedGroup } from '../../observe/group.ts';
import { observeGroups } from '../../observe/observe.ts';
import { isRunning } from '../../observe/process-accounting.ts';
import type { AddressServer } from '../../servers/server.ts';
import type { World } from '../../world.ts';
import type { Deployment, DeployRequest } from '../target.ts';
import { childGroups, processesIn, readCgroupCounters } from './cgroup-directory.ts';
import { createProcessGroup } from './process-group.ts';

async function allProcessesIn(world: World, directory: string): Promise<number[]> {
  const below = await Promise.all(
    (await childGroups(world, directory)).map((child) => allProcessesIn(world, child)),
  );
  return [...(await processesIn(world, directory)), ...below.flat()];
}

/**
 * A control group that somebody else made: its counters and its processes, read and never changed.
 * @throws BenchError `E_CONFIG` if `directory` is no control group that counts CPU time.
 */
async function openNamedCgroup(world: World, server: string, directory: string): Promise<ObservedGroup> {
  const counters = async () => {
    const read = await readCgroupCounters(world, directory);
    if (read !== null) return read;
    throw new BenchError('E_CONFIG', `${server}: ${directory} is not a control group that counts CPU time`, {
      evidence: [`neither ${directory}/cpuacct.usage nor a cpu.stat with usage_usec can be read`],
      fix: 'Give the directory of the group below /sys/fs/cgroup (version 1: in the cpuacct hierarchy), or name a process: /pid=1234.',
    });
  };
  await counters();
  return { counters, pids: () => allProcessesIn(world, directory) };
}

/** How often a named process is looked at; it ends the trial when it is gone. */
const LOOK_SECONDS = 0.5;

function noProcess(server: string, pid: number): BenchError {
  return new BenchError('E_CONFIG', `${server}: there is no process ${pid}`, {
    fix: `\`ss -lntup\` shows which process listens; name it with /pid=…, or omit it and measure without CPU and memory.`,
  });
}

/**
 * The processes whose CPU and memory count; null if none were named.
 * @throws BenchError `E_CONFIG` if they are not there.
 */
export async function observedGroup(
  world: World,
  server: string,
  { observed }: AddressServer,
): Promise<ObservedGroup | null> {
  if (observed === null) return null;
  if ('cgroup' in observed) return openNamedCgroup(world, server, observed.cgroup);
  const stat = await readProcessStat(world, observed.pid);
  if (stat === null || !isRunning(stat)) throw noProcess(server, observed.pid);
  const group = await createProcessGroup(world);
  group.adopt(observed.pid);
  // Not the group itself: its `remove` kills.
  return { counters: group.counters, pids: group.pids };
}

/** Rejects when the process ends, until `stop` is called. */
function watchProcess(world: World, server: string, pid: number): { died: Promise<never>; stop: () => void } {
  const { promise: died, reject } = Promise.withResolvers<never>();
  const before = readProcessStat(world, pid);
  const stop = world.clock.every(LOOK_SECONDS, () => {
    Promise.all([before, readProcessStat(world, pid)]).then(([first, now]) => {
      if (now !== null && isRunning(now) && now.startTicks === first?.startTicks) return;
      stop();
      reject(
        new BenchError('E_SERVER_DIED', `${server}: process ${pid} ended while it was being measured`, {
          fix: 'Its own log says why; bench did not start it and cannot see it.',
        }),
      );
    }, reject);
  });
  // It may reject when nobody waits for it, between two steps of a trial.
  died.catch(() => undefined);
  return { died, stop };
}

export async function adoptRunning(
  world: World,
  request: DeployRequest,
  place: AddressServer,
): Promise<Deployment> {
  const { server, transport } = request;
  const { host, port, observed } = place;
  const endpoint = { address: place.address ?? host, port };
  const group = await observedGroup(world, server.name, place);
  const pid = observed !== null && 'pid' in observed ? observed.pid : null;
  const watch = pid === null ? null : watchProcess(world, server.name, pid);
  return {
    instances: [
      {
        ...endpoint,
        pid,
        workers: null,
        command: [],
        // No limit is set: it may use what the machine has.
        cpuAllowance: world.machine.availableCpus,
      },
    ],
    endpoints: [endpoint],
    files: {},
    openClient: async () => createDnsClient(endpoint, transport, world.clock),
    observe: async () => (group === null ? { end: async () => null } : observeGroups(world, [group])),
    died: watch?.died ?? new Promise<never>(() => undefined),
    lastLogLines: async () => [],
    remove: async () => watch?.stop(),
  };
}
