/** The processes of a server on this machine: their memory, and how one of them is killed. */
import { internalError } from '../errors.ts';
import { readMemory } from '../machine/proc-files.ts';
import type { Deployment } from '../targets/target.ts';
import type { World } from '../world.ts';
import type { TrialContext } from './trial-context.ts';

/** Resident memory of the processes of a server together: now, and the sum of their peaks since each started. */
export async function memoryOf(world: World, deployment: Deployment) {
  const { pids = [] } = (await deployment.usage?.()) ?? {};
  const all = await Promise.all(pids.map((pid) => readMemory(world, pid)));
  const found = all.filter((memory) => memory !== null);
  if (found.length === 0) return null;
  return {
    bytes: found.reduce((sum, { bytes }) => sum + bytes, 0),
    peakBytes: found.reduce((sum, { peakBytes }) => sum + peakBytes, 0),
  };
}

/** How often it is looked whether another worker is there. */
const LOOK_SECONDS = 0.05;

/** SIGKILL for a worker of cluster mode. Resolves when another one was started, or when `isOver`. */
export async function killWorker(
  { world, signal }: Pick<TrialContext, 'world' | 'signal'>,
  deployment: Deployment,
  isOver: () => boolean,
): Promise<void> {
  const pidsNow = async () => (await deployment.usage?.())?.pids ?? [];
  const before = await pidsNow();
  const worker = before.find((pid) => pid !== deployment.instances[0]?.pid);
  if (worker === undefined) throw internalError('there is no worker process');
  world.processes.signal(worker, 'SIGKILL');
  while (!isOver() && (await pidsNow()).every((pid) => before.includes(pid)))
    await world.clock.sleep(LOOK_SECONDS, signal);
}
