/** Sends 2,000 and then 1,400 bytes to a socket of its own, with and without fragments. */
import { setTimeout as delay } from 'node:timers/promises';
import { openUdpSocket } from '../../src/index.ts';

const target = process.argv[2] ?? '127.0.0.1';
const isMapped = target.startsWith('::ffff:');

async function send(dontFragment: boolean) {
  const received: number[] = [];
  const receiver = await openUdpSocket({
    address: isMapped ? '127.0.0.1' : target,
    onBatch: (batch) => {
      for (let i = 0; i < batch.count; i++) received.push(batch.lengths[i] ?? 0);
    },
  });
  const sender = await openUdpSocket({
    backend: 'native',
    address: isMapped ? '::' : target,
    dontFragment,
    onBatch: () => undefined,
  });
  const peer = sender.peerOf(target, receiver.local.port);
  for (const length of [2000, 1400]) sender.queue(new Uint8Array(length), peer);
  sender.flush();
  const expected = dontFragment ? 1 : 2;
  const deadline = performance.now() + 10_000;
  while (received.length < expected && performance.now() < deadline) await delay(1);
  await Promise.all([sender.close(), receiver.close()]);
  return { received: received.sort((a, b) => a - b), sendErrors: sender.counters.sendErrors };
}

console.log(JSON.stringify({ fragmented: await send(false), whole: await send(true) }));
