/** Reads, before and after a load, what counts the datagrams that are lost between a load generator and a server. */
import { openQueueReader, type QueueReader } from '../observe/device-queues.ts';
import {
  type NamespaceCounters,
  readNamespace,
  readSockets,
  readSoftnetDropped,
  type SocketCounters,
} from '../observe/network-counters.ts';
import type { World } from '../world.ts';

/** Where the two sides are. */
export interface LossPath {
  readonly endpoints: readonly { readonly address: string; readonly port: number }[];
  /** A process of the server, or null if it is not known: then it is looked for where bench runs. */
  readonly serverPid: number | null;
  /** A process of the load generator, if it is not where bench runs. */
  readonly loaderPid?: number;
}

/** All counters at one time; null for what cannot be read. */
export interface LossReading {
  readonly server: NamespaceCounters | null;
  /** Null where the load generator shares the namespace of the server. */
  readonly loader: NamespaceCounters | null;
  readonly isShared: boolean;
  readonly sockets: SocketCounters | null;
  readonly softnetDropped: number | null;
  readonly queueDropped: number | null;
}

export type LossMeter = () => Promise<LossReading>;

async function namespaceOf(world: World, proc: string): Promise<string | null> {
  return world.fs.readlink(`${proc}/ns/net`).then(String, () => null);
}

/** Of both namespaces: in the server's, whatever is there; in the load generator's, what leads to the server. */
async function openQueues(
  world: World,
  path: LossPath,
  serverProc: string,
  isShared: boolean,
): Promise<readonly QueueReader[]> {
  const entered = (proc: string) => ['nsenter', `--net=${proc}/ns/net`, '--'];
  const own = path.loaderPid === undefined ? [] : entered(`/proc/${path.loaderPid}`);
  const loader = await openQueueReader(world, own, path.endpoints[0]?.address);
  return isShared ? [loader] : [loader, await openQueueReader(world, entered(serverProc))];
}

/** Finds out once where the counters are. */
export async function openLossMeter(world: World, path: LossPath): Promise<LossMeter> {
  const loaderProc = `/proc/${path.loaderPid ?? 'self'}`;
  const serverProc = path.serverPid === null ? loaderProc : `/proc/${path.serverPid}`;
  const [ofLoader, ofServer] = await Promise.all([
    namespaceOf(world, loaderProc),
    namespaceOf(world, serverProc),
  ]);
  const isShared = ofServer === null || ofServer === ofLoader;
  const queues = await openQueues(world, path, serverProc, isShared);
  return async () => {
    const [server, loader, sockets, softnetDropped, ...dropped] = await Promise.all([
      readNamespace(world, isShared ? loaderProc : serverProc),
      isShared ? null : readNamespace(world, loaderProc),
      readSockets(world, isShared ? loaderProc : serverProc, path.endpoints),
      readSoftnetDropped(world),
      ...queues.map((queue) => queue()),
    ]);
    const known = dropped.filter((count) => count !== null);
    return {
      server,
      loader,
      isShared,
      sockets,
      softnetDropped,
      queueDropped: known.length < dropped.length ? null : known.reduce((sum, count) => sum + count, 0),
    };
  };
}
