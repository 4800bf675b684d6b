/** Sends datagrams to a port of 127.0.0.1, as many as one core can, and reads the answers, until the parent is gone. */
import { setPriority } from 'node:os';
import { openUdpSocket } from '../../src/index.ts';
import { turn } from './sockets-core.ts';

const BURST = 64;
const BURSTS_PER_TURN = 16;

// A core's worth, but not the cores of those who measure what it does to others.
setPriority(10);

let isOver = false;
process.on('disconnect', () => {
  isOver = true;
});

const socket = await openUdpSocket({
  backend: 'native',
  connect: { address: '127.0.0.1', port: Number(process.argv[2]) },
  receiveBufferBytes: 1 << 20,
  onBatch: () => 'known',
});
const datagram = new Uint8Array(40);
process.send?.('flooding');
while (!isOver) {
  for (let burst = 0; burst < BURSTS_PER_TURN; burst++) {
    for (let i = 0; i < BURST && socket.queue(datagram); i++);
    socket.flush();
    socket.receive();
  }
  await turn();
}
await socket.close();
