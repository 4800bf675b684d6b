/**
 * Watches, from outside, the cluster that the published framework creates: its workers announce each socket to
 * Node's cluster module. The framework neither reports readiness nor stops its workers.
 */
import cluster, { type Worker } from 'node:cluster';
import { cpus } from 'node:os';
import { ServerError } from '../errors.ts';
import { never } from '../process/server.ts';
import { Member } from './member.ts';
import type { Primary } from './pool-primary.ts';

/** Workers that may end before all are ready. The framework would replace them for ever. */
const MAX_FAILED_STARTS = 5;

/** `start` is the framework's; `sockets` is the number of sockets that each worker binds. */
export function watchFramework(start: () => void, sockets: number): Primary {
  const size = cpus().length;
  return {
    failed: never(),
    start: () => allListening(start, size, sockets),
    stop: stopAll,
  };
}

function allListening(start: () => void, size: number, sockets: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const bound = new Map<number, number>();
    let ended = 0;
    const finish = (settle: () => void) => {
      cluster.off('listening', onListening);
      cluster.off('exit', onExit);
      settle();
    };
    const onListening = ({ id }: Worker) => {
      bound.set(id, (bound.get(id) ?? 0) + 1);
      const ready = [...bound.values()].filter((count) => count >= sockets);
      if (ready.length >= size) finish(resolve);
    };
    const onExit = ({ id }: Worker, code: number | null, signal: string | null) => {
      bound.delete(id);
      if (++ended < MAX_FAILED_STARTS) return;
      const reason = `The framework's workers end before they listen, the last with ${signal ?? `status ${code}`}.`;
      finish(() => reject(new ServerError('E_WORKER', reason, 'See their messages above.')));
    };
    cluster.on('listening', onListening);
    cluster.on('exit', onExit);
    start();
  });
}

async function stopAll(): Promise<void> {
  // Otherwise the framework would replace each worker that ends.
  cluster.removeAllListeners('exit');
  const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
  await Promise.all(workers.map((worker) => new Member(worker, null).stop(0)));
}
