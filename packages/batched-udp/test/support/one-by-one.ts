/** A worker thread that sends datagrams of one byte to a port of this machine, about a millisecond apart. */
import { createSocket } from 'node:dgram';
import { setTimeout as sleep } from 'node:timers/promises';
import { workerData } from 'node:worker_threads';

const { port, datagrams } = workerData as { readonly port: number; readonly datagrams: number };
const socket = createSocket('udp4');
for (let sent = 0; sent < datagrams; sent++) {
  socket.send(Uint8Array.of(1), port, '127.0.0.1');
  await sleep(1);
}
socket.close();
