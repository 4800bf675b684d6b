/** A real UDP server that answers as told: correctly, late, twice, to another question, with garbage, or not at all. */
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';

export interface TestServer {
  readonly port: number;
  /** Queries that have arrived. */
  readonly queries: Buffer[];
}

export type Behaviour = (
  query: Buffer,
  reply: (message: Uint8Array, afterMs?: number) => void,
  number: number,
) => void;

/** The response to a query: its question, the given flags and code, no records. */
export function answerTo(query: Buffer, { code = 0, tc = false, qr = true } = {}): Buffer {
  let end = 12;
  while ((query[end] ?? 0) !== 0) end += 1 + (query[end] ?? 0);
  const answer = Buffer.from(query.subarray(0, end + 5));
  answer[2] = (qr ? 0x80 : 0) | (tc ? 0x02 : 0) | ((query[2] ?? 0) & 0x01);
  answer[3] = code;
  answer.fill(0, 6, 12);
  return answer;
}

export async function startServer(behaviour: Behaviour, address = '127.0.0.1'): Promise<TestServer> {
  // As much as is allowed: what arrives while a busy machine keeps this process waiting must not be lost.
  const socket: Socket = createSocket({
    type: address.includes(':') ? 'udp6' : 'udp4',
    recvBufferSize: 2 ** 20,
  });
  const queries: Buffer[] = [];
  socket.on('message', (query: Buffer, from: RemoteInfo) => {
    queries.push(query);
    const send = (message: Uint8Array) => {
      // The test may be over by the time a late answer is due.
      socket.send(message, from.port, from.address, () => undefined);
    };
    behaviour(
      query,
      (message, afterMs) => {
        if (afterMs === undefined) send(message);
        else setTimeout(() => open && send(message), afterMs);
      },
      queries.length - 1,
    );
  });
  let open = true;
  socket.bind(0, address);
  await once(socket, 'listening');
  onTestFinished(() => {
    open = false;
    socket.close();
  });
  return { port: socket.address().port, queries };
}
