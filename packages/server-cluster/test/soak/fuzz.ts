/**
 * Random and mutated datagrams by the million against a running server, with good queries in between whose
 * answers are checked: nothing may crash, grow or be answered wrongly.
 *
 *     node packages/server-cluster/test/soak/fuzz.ts --count 10000000 [--seed 1] [-- flags of dinodns-server]
 *
 * Prints the result as JSON; exits with 1 if anything was wrong.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type Batch, openUdpSocket, type UdpSocket } from '@dinodns-bench/batched-udp';
import { randomFrom } from '@dinodns-bench/test-support';
import { killAll, type RunningServer, startServer } from '../support/server-process.ts';
import { MAX_MUTATED_BYTES, readCorpus, writeMutated } from './corpus.ts';
import { type GoodQuery, goodQueries } from './good-queries.ts';

/** Mutated datagrams between good queries, whose answers say that the server has come past them. */
const PER_ROUND = 128;
const GOOD_PER_ROUND = 4;
/** Rounds under way at once: fits the smallest receive buffer. */
const ROUNDS_AHEAD = 1;
const TIMEOUT_SECONDS = 2;
/** Largest growth between the first and the last fifth of the run that is no leak, in bytes. */
const MAX_GROWTH_BYTES = 24 * 1024 * 1024;
const SAMPLES = 200;

interface Result {
  mutated: number;
  seconds: number;
  replies: number;
  /** Replies to mutated datagrams that no server may send: no QR, less than a header, more than 1232 bytes. */
  badReplies: number;
  good: number;
  wrong: number;
  lost: number;
  firstProblems: string[];
  /** Means over the first fifth, behind the warm-up, and over the last. */
  residentBytes: { early: number; late: number };
  isAlive: boolean;
  stderr: string;
}

function residentBytes({ pid }: RunningServer): number {
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kibibytes) * 1024;
}

/** Asks good queries over a socket of its own, some at a time. */
class GoodClient {
  good = 0;
  wrong = 0;
  lost = 0;
  readonly problems: string[] = [];
  readonly #queries = goodQueries();
  readonly #pending = new Map<number, GoodQuery>();
  #next = 0;
  #id = 0;
  #done: () => void = () => undefined;
  #socket: UdpSocket | undefined;

  async open(port: number): Promise<void> {
    const connect = { address: '127.0.0.1', port };
    this.#socket = await openUdpSocket({ connect, onBatch: (batch) => this.#read(batch) });
  }

  /** Resolves once all of them are answered, or lost. */
  async ask(count: number): Promise<void> {
    const answered = new Promise<void>((resolve) => {
      this.#done = resolve;
    });
    for (let index = 0; index < count; index++) {
      const next = this.#queries[this.#next++ % this.#queries.length];
      if (next === undefined) throw new Error('no queries');
      this.#id = (this.#id + 1) & 0xffff;
      next.bytes.writeUInt16BE(this.#id, 0);
      this.#pending.set(this.#id, next);
      this.#socket?.queue(next.bytes);
    }
    this.#socket?.flush();
    const timer = setTimeout(() => {
      this.lost += this.#pending.size;
      this.#note(`${this.#pending.size} good queries lost`);
      this.#pending.clear();
      this.#done();
    }, TIMEOUT_SECONDS * 1000);
    await answered;
    clearTimeout(timer);
  }

  close(): Promise<void> | undefined {
    return this.#socket?.close();
  }

  #note(problem: string): void {
    if (this.problems.length < 10) this.problems.push(problem);
  }

  #read({ count, bytes, offsets, lengths }: Batch): void {
    for (let index = 0; index < count; index++) {
      const offset = offsets[index] ?? 0;
      const reply = Buffer.from(bytes.subarray(offset, offset + (lengths[index] ?? 0)));
      const id = reply.length < 2 ? -1 : reply.readUInt16BE(0);
      const asked = this.#pending.get(id);
      this.#pending.delete(id);
      const problem = asked === undefined ? 'an answer that nobody asked for' : asked.judge(reply);
      if (problem === null) this.good++;
      else {
        this.wrong++;
        this.#note(problem);
      }
    }
    if (this.#pending.size === 0) this.#done();
  }
}

async function run(server: RunningServer, count: number, seed: number): Promise<Result> {
  const random = randomFrom(seed);
  const corpus = readCorpus();
  const client = new GoodClient();
  await client.open(server.ready.port);
  let replies = 0;
  let badReplies = 0;
  const flood = await openUdpSocket({
    connect: { address: '127.0.0.1', port: server.ready.port },
    sendQueueLength: PER_ROUND * ROUNDS_AHEAD,
    slotBytes: Math.max(4096, MAX_MUTATED_BYTES),
    onBatch({ count: received, bytes, offsets, lengths }) {
      replies += received;
      for (let index = 0; index < received; index++) {
        const length = lengths[index] ?? 0;
        if (length < 12 || length > 1232 || ((bytes[(offsets[index] ?? 0) + 2] ?? 0) & 0x80) === 0)
          badReplies++;
      }
    },
  });
  const samples: number[] = [];
  const start = performance.now();
  let mutated = 0;
  while (mutated < count && server.child.exitCode === null && server.child.signalCode === null) {
    for (let index = 0; index < PER_ROUND && mutated < count; index++) {
      const offset = flood.reserve();
      if (offset === -1) break;
      flood.commit(writeMutated(random, corpus, flood.sendBytes, offset));
      mutated++;
    }
    flood.flush();
    await client.ask(GOOD_PER_ROUND);
    if (mutated / count > (samples.length + 1) / SAMPLES) samples.push(residentBytes(server));
  }
  const seconds = (performance.now() - start) / 1000;
  await Promise.all([flood.close(), client.close()]);
  const isAlive = server.child.exitCode === null && server.child.signalCode === null;
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const fifth = Math.ceil(samples.length / 5);
  return {
    mutated,
    seconds,
    replies,
    badReplies,
    good: client.good,
    wrong: client.wrong,
    lost: client.lost,
    firstProblems: client.problems,
    // In the first fifth code is still being compiled.
    residentBytes: { early: mean(samples.slice(fifth, 2 * fifth)), late: mean(samples.slice(-fifth)) },
    isAlive,
    stderr: server.stderr,
  };
}

function isSound({
  badReplies,
  wrong,
  lost,
  isAlive,
  stderr,
  residentBytes: { early, late },
}: Result): boolean {
  return badReplies + wrong + lost === 0 && isAlive && stderr === '' && late - early <= MAX_GROWTH_BYTES;
}

const { values, positionals } = parseArgs({
  options: { count: { type: 'string', default: '10000000' }, seed: { type: 'string', default: '1' } },
  allowPositionals: true,
});
const server = await startServer(['--zones', '100', ...positionals]);
try {
  const result = await run(server, Number(values.count), Number(values.seed));
  const backend = server.ready.udpBackend;
  console.log(
    JSON.stringify({ sound: isSound(result), seed: Number(values.seed), backend, ...result }, null, 2),
  );
  process.exitCode = isSound(result) ? 0 : 1;
} finally {
  await killAll();
}
