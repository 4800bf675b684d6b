/** A thread that echoes, or that asks an echo server and checks what comes back. */
import { parentPort, workerData } from 'node:worker_threads';
import { type Backend, openUdpSocket } from '../../src/index.ts';
import { echo, turn } from './sockets-core.ts';

const { role, backend, port, seed, count } = workerData as {
  role: 'echo' | 'ask';
  backend: Backend;
  port: number;
  seed: number;
  count: number;
};

async function serve(): Promise<void> {
  const socket = await openUdpSocket({ backend, address: '127.0.0.1', port, reusePort: true, onBatch: echo });
  parentPort?.on('message', () => process.exit(0));
  parentPort?.postMessage({ port: socket.local.port });
}

/** Asks `count` questions, each again until it is answered: a full buffer may lose one. */
async function ask(): Promise<void> {
  const answered = new Set<number>();
  let wrong = 0;
  const socket = await openUdpSocket({
    backend,
    connect: { address: '127.0.0.1', port },
    onBatch: (batch) => {
      for (let i = 0; i < batch.count; i++) {
        const view = new DataView(batch.bytes.buffer, batch.bytes.byteOffset + (batch.offsets[i] ?? 0));
        const n = view.getUint32(4);
        if (batch.lengths[i] !== 8 || view.getUint32(0) !== seed || n >= count) wrong++;
        else answered.add(n);
      }
    },
  });
  const question = new DataView(new ArrayBuffer(8));
  question.setUint32(0, seed);
  while (answered.size < count) {
    let asked = 0;
    for (let n = 0; n < count && asked < 32; n++) {
      if (answered.has(n)) continue;
      question.setUint32(4, n);
      if (socket.queue(new Uint8Array(question.buffer))) asked++;
    }
    socket.flush();
    const goal = Math.min(count, answered.size + asked);
    const deadline = performance.now() + 100;
    while (answered.size < goal && performance.now() < deadline) await turn();
  }
  await socket.close();
  parentPort?.postMessage({ seed, answered: answered.size, wrong });
}

await (role === 'echo' ? serve() : ask());
