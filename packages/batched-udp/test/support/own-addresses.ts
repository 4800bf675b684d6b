/**
 * A server on all addresses and clients of each address in the command line, in one process: prints which of them got an answer,
 * in place or later.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { openUdpSocket, type Peer } from '../../src/index.ts';
import { echo } from './sockets-core.ts';

const answered: string[] = [];
const peers: Peer[] = [];
const server = await openUdpSocket({
  backend: 'native',
  address: '::',
  onBatch: (batch) => {
    echo(batch);
    for (let i = 0; i < batch.count; i++) peers.push(batch.peer(i));
  },
});
const clients = await Promise.all(
  process.argv.slice(2).map(async (address) => {
    const client = await openUdpSocket({
      backend: 'native',
      connect: { address, port: server.local.port },
      onBatch: ({ count }) => {
        for (let i = 0; i < count; i++) answered.push(address);
      },
    });
    client.queue(Buffer.from('question'));
    return client;
  }),
);
/** Or until it is clear that there will be fewer: a busy machine takes its time. */
async function untilAnswered(count: number): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (answered.length < count && performance.now() < deadline) await delay(10);
}
await untilAnswered(clients.length);
for (const peer of peers) server.queue(Buffer.from('later'), peer);
await untilAnswered(2 * clients.length);
await Promise.all([server, ...clients].map((socket) => socket.close()));
console.log(JSON.stringify({ answered: answered.toSorted(), sendErrors: server.counters.sendErrors }));
