/** Clients that ask at a fixed rate, whatever comes back, and count what is lost and what is wrong. */
import { type Batch, openUdpSocket, type UdpSocket } from '@dinodns-bench/batched-udp';
import { encode } from 'dns-packet';

const CLIENTS = 20;
const TICK_MILLISECONDS = 5;
/** A reply that takes longer is lost. */
const PATIENCE_SECONDS = 2;
const IDS = 65_536;

export interface RateClientOptions {
  readonly port: number;
  /** The server has example1.com, example3.com, … so many. */
  readonly zones: number;
  /** Queries per second of all clients together. */
  readonly rate: number;
  /**
   * Whether zones of this generation, the last byte of an address, may have been served at any time since
   * `askedAt`, in milliseconds of `performance.now()`.
   */
  isRight(generation: number, askedAt: number): boolean;
}

export interface Counts {
  readonly asked: number;
  readonly answered: number;
  readonly lost: number;
  readonly wrong: number;
  /** What was wrong first. */
  readonly problem: string | null;
  readonly maxSeconds: number;
}

interface Client {
  readonly socket: UdpSocket;
  /** When each id was asked, in milliseconds; 0 while nobody waits for it. */
  readonly askedAt: Float64Array;
  /** Ids are given in order, so that the oldest one that may be waited for is known. */
  next: number;
  oldest: number;
}

export class RateClient {
  readonly #options: RateClientOptions;
  readonly #clients: Client[] = [];
  readonly #queries: readonly Buffer[];
  #timer: NodeJS.Timeout | undefined;
  #startedAt = 0;
  #asked = 0;
  #answered = 0;
  #lost = 0;
  #wrong = 0;
  #problem: string | null = null;
  #longest = 0;

  constructor(options: RateClientOptions) {
    this.#options = options;
    this.#queries = Array.from({ length: options.zones }, (_, index) =>
      encode({ type: 'query', questions: [{ name: `example${2 * index + 1}.com`, type: 'A' }] }),
    );
  }

  async start(): Promise<void> {
    const connect = { address: '127.0.0.1', port: this.#options.port };
    for (let index = 0; index < CLIENTS; index++) {
      const askedAt = new Float64Array(IDS);
      const onBatch = (batch: Batch) => this.#read(askedAt, batch);
      const socket = await openUdpSocket({ connect, onBatch, receiveBufferBytes: 1 << 20 });
      this.#clients.push({ socket, askedAt, next: 0, oldest: 0 });
    }
    this.#startedAt = performance.now();
    this.#timer = setInterval(() => this.#tick(), TICK_MILLISECONDS);
  }

  /** Waits for the last replies. */
  async stop(): Promise<Counts> {
    clearInterval(this.#timer);
    await new Promise((resolve) => setTimeout(resolve, PATIENCE_SECONDS * 1000));
    const now = performance.now();
    for (const client of this.#clients) {
      this.#giveUp(client, now);
      await client.socket.close();
    }
    const maxSeconds = this.#longest / 1000;
    return {
      asked: this.#asked,
      answered: this.#answered,
      lost: this.#lost,
      wrong: this.#wrong,
      problem: this.#problem,
      maxSeconds,
    };
  }

  #tick(): void {
    const now = performance.now();
    const due = Math.floor(((now - this.#startedAt) / 1000) * this.#options.rate);
    while (this.#asked < due) this.#ask(now);
    for (const client of this.#clients) {
      client.socket.flush();
      this.#giveUp(client, now);
    }
  }

  #ask(now: number): void {
    const client = this.#clients[this.#asked % CLIENTS];
    const query = this.#queries[this.#asked % this.#queries.length];
    if (client === undefined || query === undefined) throw new Error('not started');
    query.writeUInt16BE(client.next, 0);
    client.askedAt[client.next] = now;
    client.next = (client.next + 1) % IDS;
    client.socket.queue(query);
    this.#asked++;
  }

  /** Counts as lost what has been waited for too long. */
  #giveUp(client: Client, now: number): void {
    while (client.oldest !== client.next) {
      const askedAt = client.askedAt[client.oldest] ?? 0;
      if (askedAt > now - PATIENCE_SECONDS * 1000) return;
      if (askedAt > 0) this.#lost++;
      client.askedAt[client.oldest] = 0;
      client.oldest = (client.oldest + 1) % IDS;
    }
  }

  #read(askedAt: Float64Array, { count, bytes, offsets, lengths }: Batch): void {
    const now = performance.now();
    for (let index = 0; index < count; index++) {
      const offset = offsets[index] ?? 0;
      const length = lengths[index] ?? 0;
      const id = ((bytes[offset] ?? 0) << 8) | (bytes[offset + 1] ?? 0);
      const waited = askedAt[id] ?? 0;
      if (waited === 0) continue;
      askedAt[id] = 0;
      this.#answered++;
      this.#longest = Math.max(this.#longest, now - waited);
      this.#judge(bytes, offset, length, waited);
    }
  }

  /** The reply ends with the address, of which only the last byte may be another than the one asked for. */
  #judge(bytes: Uint8Array, offset: number, length: number, askedAt: number): void {
    const rcode = (bytes[offset + 3] ?? 0) & 0xf;
    const answers = bytes[offset + 7];
    const generation = bytes[offset + length - 1] ?? 0;
    const isAnswer = rcode === 0 && answers === 1 && bytes[offset + length - 4] === 192;
    if (isAnswer && this.#options.isRight(generation, askedAt)) return;
    this.#wrong++;
    this.#problem ??= `code ${rcode}, ${answers} answers, generation ${generation}`;
  }
}
