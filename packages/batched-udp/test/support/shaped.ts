/** A server that answers with 500 bytes over a slow link, or a client that asks it 600 times and checks the answers. */
import { openUdpSocket } from '../../src/index.ts';
import { turn } from './sockets-core.ts';

const questions = 600;
const answerBytes = 500;

async function serve(): Promise<void> {
  const server = await openUdpSocket({
    address: '10.99.0.1',
    port: 5300,
    sendBufferBytes: 10_000,
    sendQueueLength: 16,
    batchSize: 16,
    receiveBufferBytes: 4 << 20,
    onBatch: (batch) => {
      for (let i = 0; i < batch.count; i++) batch.reply(i, answerBytes);
    },
  });
  process.stdin.once('data', async () => {
    await server.close();
    const { received, sent, sendCalls, sendErrors } = server.counters;
    console.log(JSON.stringify({ backend: server.backend, received, sent, sendErrors, calls: sendCalls }));
    process.exit(0);
  });
  console.log(JSON.stringify({ ready: true }));
}

async function ask(): Promise<void> {
  const order: number[] = [];
  const client = await openUdpSocket({
    connect: { address: '10.99.0.1', port: 5300 },
    receiveBufferBytes: 4 << 20,
    onBatch: (batch) => {
      for (let i = 0; i < batch.count; i++) {
        const view = new DataView(batch.bytes.buffer, batch.bytes.byteOffset + (batch.offsets[i] ?? 0), 4);
        order.push(batch.lengths[i] === answerBytes ? view.getUint32(0) : -1);
      }
    },
  });
  const question = new DataView(new ArrayBuffer(4));
  for (let i = 0; i < questions; i++) {
    question.setUint32(0, i);
    while (!client.queue(new Uint8Array(question.buffer))) await turn();
  }
  client.flush();
  const deadline = performance.now() + 20_000;
  while (order.length < questions && performance.now() < deadline) await turn();
  await client.close();
  console.log(JSON.stringify({ answers: order.length, inOrder: order.every((n, i) => n === i) }));
}

await (process.argv[2] === 'serve' ? serve() : ask());
