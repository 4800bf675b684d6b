/** The path that can be lost. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { openPath } from '../src/index.ts';

async function open(port = 0) {
  const socket = createSocket('udp4');
  socket.bind(port, '127.0.0.1');
  await once(socket, 'listening');
  return socket;
}

it('brings queries and answers to the right client, and nothing while it is lost', async () => {
  const server = await open();
  const seen: number[] = [];
  server.on('message', (bytes, { address, port }) => {
    seen.push(port);
    server.send(`answer to ${bytes}`, port, address);
  });
  const [a, b] = [await open(), await open()];
  const path = await openPath({ address: '127.0.0.1', port: server.address().port });
  try {
    const ask = async (client: typeof a, text: string, milliseconds = 20_000) => {
      const answer = once(client, 'message', { signal: AbortSignal.timeout(milliseconds) });
      client.send(text, path.port, path.address);
      return answer.then(([bytes]) => String(bytes)).catch(() => null);
    };
    expect(await Promise.all([ask(a, 'a'), ask(b, 'b')])).toEqual(['answer to a', 'answer to b']);
    // Each client has a socket of its own behind the path, and keeps it.
    expect(new Set(seen).size).toBe(2);
    path.lose(true);
    expect(await ask(a, 'lost', 1000)).toBeNull();
    path.lose(false);
    expect(await ask(a, 'again')).toBe('answer to again');
    expect(seen).toHaveLength(3);
    expect(new Set(seen).size).toBe(2);
  } finally {
    await path[Symbol.asyncDispose]();
    for (const socket of [server, a, b]) socket.close();
  }
});
