/**
 * A DNS server with programmed delays, in its own process: it answers each query a known time after the kernel
 * received it, and records how long every answer actually took, from the kernel's receive timestamp to the system
 * call that sent it. The generator is judged by that record, not by the programme, so a busy machine affects both
 * sides of the comparison equally.
 *
 * Run as a program: `node delay-server.ts PROGRAMME`. Prints `{"port":…}`, and on SIGTERM the record. Ends when its
 * standard input does, that is, with the test that started it.
 */
import { openUdpSocket, type Peer } from '@dinodns-bench/batched-udp';

export const PROGRAMMES = ['constant', 'bimodal', 'stall'] as const;
export type Programme = (typeof PROGRAMMES)[number];

const MS = 1e6;
/** The query at which the stall begins, and its length. */
const STALL_AT = 4_000;
const STALL_NS = 200 * MS;

const now = () => performance.now() * 1e6;

function delayOf(programme: Programme, number: number): number {
  // Every tenth one is slow: the 90th percentile lies on the edge, all others well inside a mode.
  if (programme === 'bimodal') return number % 10 === 0 ? 5 * MS : 0.3 * MS;
  return programme === 'constant' ? 1 * MS : 0.2 * MS;
}

interface Pending {
  readonly receivedNs: number;
  readonly dueNs: number;
  readonly answer: Uint8Array;
  readonly peer: Peer;
}

/** One queue per delay: within it answers are sent in the order of their queries. */
const queues = new Map<number, Pending[]>();
const tookNs: number[] = [];
const programme = process.argv[2] as Programme;
let received = 0;
let stalledUntilNs = 0;
let stopping = false;

const socket = await openUdpSocket({
  backend: 'native',
  address: '127.0.0.1',
  timestamps: true,
  receiveBufferBytes: 4 << 20,
  onBatch: (batch) => {
    const at = batch.readAt * 1e6;
    for (let i = 0; i < batch.count; i++) {
      const offset = batch.offsets[i] ?? 0;
      const answer = batch.bytes.slice(offset, offset + (batch.lengths[i] ?? 0));
      answer[2] = (answer[2] ?? 0) | 0x80;
      const receivedNs = at - (batch.ages[i] ?? 0);
      const delay = delayOf(programme, received);
      const queue = queues.get(delay) ?? [];
      queues.set(delay, queue);
      queue.push({ receivedNs, dueNs: receivedNs + delay, answer, peer: batch.peer(i) });
      received += 1;
      if (programme === 'stall' && received === STALL_AT) stalledUntilNs = at + STALL_NS;
    }
  },
});

/** Sends what is due, one at a time, so that each send time is known. */
function sendDue(): void {
  for (const queue of queues.values()) {
    for (let first = queue[0]; first !== undefined && first.dueNs <= now(); first = queue[0]) {
      queue.shift();
      const before = now();
      socket.queue(first.answer, first.peer);
      socket.flush();
      tookNs.push((before + now()) / 2 - first.receivedNs);
    }
  }
}

function turn(): void {
  const until = now() + 1 * MS;
  do {
    if (now() >= stalledUntilNs) {
      socket.receive(1);
      sendDue();
    }
  } while (now() < until);
  if (stopping) finish();
  else setImmediate(turn);
}

function finish(): void {
  process.stdout.write(`${JSON.stringify({ tookNs })}\n`, () => process.exit(0));
}

process.stdin.resume().once('end', () => process.exit(1));
process.on('SIGTERM', () => {
  stopping = true;
});
process.stdout.write(`${JSON.stringify({ port: socket.local.port })}\n`);
turn();
