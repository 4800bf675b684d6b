/**
 * A process, or a thread with an argument `thread`, that echoes datagrams and does everything else that an event loop
 * does: a timer every 10 ms, TCP, signals, messages. It tells its parent what happened.
 */
import { createServer } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { type Batch, openUdpSocket, type Waiting } from '../../src/index.ts';
import { echo } from './sockets-core.ts';

/** What the parent is told. */
export type FloodedReport =
  | { readonly kind: 'ready'; readonly udp: number; readonly tcp: number; readonly waitsIn: Waiting }
  | { readonly kind: 'answer' }
  | { readonly kind: 'signal' }
  | { readonly kind: 'gaps'; readonly gaps: readonly number[]; readonly received: number };

const PERIOD_MS = 10;

const tell = (report: FloodedReport) => {
  if (parentPort === null) process.send?.(report);
  else parentPort.postMessage(report);
};

const waitIn = (workerData?.waitIn ?? process.argv[2]) as Waiting;
const socket = await openUdpSocket({
  address: '127.0.0.1',
  backend: 'native',
  waitIn,
  onBatch: (batch: Batch) => {
    echo(batch);
    return 'nothing';
  },
});
const tcp = createServer((connection) => connection.setNoDelay().pipe(connection));
await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve));

const gaps: number[] = [];
let last = performance.now();
setInterval(() => {
  const now = performance.now();
  gaps.push(now - last);
  last = now;
}, PERIOD_MS);

(parentPort ?? process).on('message', (message: unknown) => {
  if (message === 'ask') tell({ kind: 'answer' });
  else if (message === 'gaps') {
    tell({ kind: 'gaps', gaps: gaps.splice(0), received: socket.counters.received });
  } else process.exit(0);
});
if (parentPort === null) process.on('SIGUSR2', () => tell({ kind: 'signal' }));

const address = tcp.address();
const port = typeof address === 'object' && address !== null ? address.port : 0;
tell({ kind: 'ready', udp: socket.local.port, tcp: port, waitsIn: socket.waitsIn });
