/** After a run without a single answer: what an unconnected socket receives from the server. */
import { createSocket } from 'node:dgram';
import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerAddress } from './transport/transport.ts';
import type { WorkloadPlan } from './workload/workload.ts';

const WAIT_MS = 500;

/**
 * Repeats the workload's first query from an unconnected socket. The load's sockets are connected, so the kernel
 * discards responses from any other address; only this reveals them. Resolves to sentences.
 */
export async function diagnoseSilence(server: ServerAddress, { arena }: WorkloadPlan): Promise<string[]> {
  const socket = createSocket(isIP(server.address) === 6 ? 'udp6' : 'udp4');
  const query = Uint8Array.from(arena.bytes.subarray(arena.offsets[0] ?? 0, arena.offsets[1] ?? 0));
  const done = new AbortController();
  const found: string[] = [];
  socket.on('message', (message, { address, port }) => {
    if (message.length >= 12 && (address !== server.address || port !== server.port)) {
      found.push(
        `The server answers from another address: ${server.address} port ${server.port} was queried, ${address} port ${port} answered. Such answers are ignored.`,
      );
    }
    done.abort();
  });
  // If sending fails now it failed during the run too, which has counted it.
  socket.on('error', () => done.abort());
  socket.send(query, server.port, server.address, (error) => {
    if (error) done.abort();
  });
  await sleep(WAIT_MS, undefined, { signal: done.signal }).catch(() => undefined);
  socket.close();
  return found;
}
