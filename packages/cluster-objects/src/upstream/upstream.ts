/**
 * An upstream server with a programmed delay, for the names outside the cluster: over UDP and TCP on the same port. The
 * delay counts from the moment that the kernel got the query.
 */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { type Batch, openUdpSocket, type Peer, type UdpSocket } from '@dinodns-bench/batched-udp';
import { messageOf } from '@dinodns-bench/program';
import { createFrameReader, frameOf, MAX_MESSAGE_BYTES, RCODE } from '@dinodns-bench/wire';
import { ClusterError } from '../errors.ts';
import type { External } from '../names/external.ts';
import { Answerer, stampOf } from './answer.ts';
import { DelayQueue, MAX_DELAY_SECONDS } from './delay-queue.ts';

export interface UpstreamOptions {
  readonly external: External;
  /** From the query to the answer, 0 (default) to 10. */
  readonly delaySeconds?: number;
  /** Of all records and of names that do not exist; seconds, default 30. */
  readonly ttl?: number;
  /** Default 127.0.0.1. */
  readonly address?: string;
  /** 0, the default, lets the system choose. */
  readonly port?: number;
}

/** How it answers from now on: as it should after a delay, not at all, or every query with an error. */
export type Behaviour =
  | {
      readonly kind: 'answer';
      readonly delaySeconds: number;
      /** Addresses are `stampOf` the time of the answer, in place of the names' own. Default: false. */
      readonly isStamped?: boolean;
    }
  | { readonly kind: 'silent' }
  | { readonly kind: 'error'; readonly code: 'SERVFAIL' | 'REFUSED' };

export interface Upstream {
  readonly address: string;
  readonly port: number;
  /** `native` or `dgram`: how its UDP socket works. */
  readonly backend: string;
  /** Queries that were answered so far. */
  readonly answered: { readonly udp: number; readonly tcp: number };
  /**
   * Changes what happens to queries that arrive from now on; those that are delayed are still answered.
   * @throws ClusterError `E_USAGE` for a delay out of range
   */
  behave(behaviour: Behaviour): void;
  /** Frees the port; answers that are still delayed are dropped. Safe to call twice. */
  close(): Promise<void>;
}

/** Large for a burst after a pause of CoreDNS; the kernel may give less. */
const RECEIVE_BUFFER_BYTES = 4 * 2 ** 20;

class Serving {
  readonly answered = { udp: 0, tcp: 0 };
  readonly #answerer: Answerer;
  #behaviour: Behaviour;
  /** What sends replies later: one queue for each delay, since it is in order of time. */
  readonly #queues = new Map<number, DelayQueue<() => void>>();
  udp: UdpSocket | undefined;

  constructor({ external, delaySeconds = 0, ttl = 30 }: UpstreamOptions) {
    this.#answerer = new Answerer(external, ttl);
    this.#behaviour = { kind: 'answer', delaySeconds };
  }

  behave(behaviour: Behaviour): void {
    if (behaviour.kind === 'answer') demandDelay(behaviour.delaySeconds);
    this.#behaviour = behaviour;
  }

  close(): void {
    for (const queue of this.#queues.values()) queue.close();
  }

  #queueFor(delaySeconds: number): DelayQueue<() => void> {
    const known = this.#queues.get(delaySeconds);
    if (known !== undefined) return known;
    const queue = new DelayQueue<() => void>((replies) => {
      for (const send of replies) send();
      this.udp?.flush();
    });
    this.#queues.set(delaySeconds, queue);
    return queue;
  }

  /** Null for what gets no answer. */
  #answer(bytes: Uint8Array, start: number, length: number): Buffer | null {
    const behaviour = this.#behaviour;
    if (behaviour.kind === 'silent') return null;
    return this.#answerer.answer(
      bytes,
      start,
      length,
      behaviour.kind === 'error' ? RCODE[behaviour.code] : null,
      behaviour.kind === 'answer' && behaviour.isStamped === true
        ? stampOf(Date.now() / 1000 + behaviour.delaySeconds)
        : null,
    );
  }

  onBatch(batch: Batch): void {
    for (let i = 0; i < batch.count; i++) {
      const bytes = this.#answer(batch.bytes, batch.offsets[i] ?? 0, batch.lengths[i] ?? 0);
      if (bytes === null) continue;
      this.answered.udp++;
      const age = batch.ages[i] ?? 0;
      const arrived = Number.isNaN(age) ? performance.now() : batch.readAt - age / 1e6;
      const peer = batch.peer(i);
      this.#reply(() => this.#send(bytes, peer), arrived);
    }
  }

  #send(bytes: Buffer, peer: Peer): void {
    const { udp } = this;
    if (udp === undefined || udp.queue(bytes, peer)) return;
    udp.flush();
    udp.queue(bytes, peer);
  }

  #reply(send: () => void, arrived: number): void {
    const delay = this.#behaviour.kind === 'answer' ? this.#behaviour.delaySeconds : 0;
    if (delay === 0) send();
    else this.#queueFor(delay).push(send, arrived + delay * 1000);
  }

  onConnection(socket: Socket): void {
    const reader = createFrameReader((query, offset, length) => {
      const bytes = this.#answer(query, offset, length);
      if (bytes === null || bytes.length > MAX_MESSAGE_BYTES) return;
      this.answered.tcp++;
      const framed = frameOf(bytes);
      const send = () => {
        if (socket.writable) socket.write(framed);
      };
      this.#reply(send, performance.now());
    });
    socket.setNoDelay(true);
    socket.on('error', () => socket.destroy());
    socket.on('data', (data) => reader.push(data, data.length));
  }
}

function cannotListen(address: string, port: number, cause: unknown): ClusterError {
  const problem = `the upstream cannot listen at ${address} port ${port}: ${messageOf(cause)}`;
  return new ClusterError('E_LISTEN', problem, 'choose another address or port', cause);
}

/** The same port for both protocols: the kernel's choice for UDP may be taken for TCP, so that another is tried. */
const PORT_ATTEMPTS = 10;

async function openBoth(serving: Serving, tcp: Server, address: string, port: number): Promise<UdpSocket> {
  for (let attempt = 1; ; attempt++) {
    const udp = await openUdpSocket({
      address,
      port,
      timestamps: true,
      receiveBufferBytes: RECEIVE_BUFFER_BYTES,
      onBatch: (batch) => serving.onBatch(batch),
    });
    try {
      tcp.listen(udp.local.port, address);
      await once(tcp, 'listening');
      return udp;
    } catch (cause) {
      await udp.close();
      if (port !== 0 || attempt === PORT_ATTEMPTS) throw cause;
    }
  }
}

function demandDelay(seconds: number): void {
  if (seconds >= 0 && seconds <= MAX_DELAY_SECONDS) return;
  const problem = `the delay cannot be ${seconds} s`;
  throw new ClusterError('E_USAGE', problem, `give 0 to ${MAX_DELAY_SECONDS} seconds`);
}

/** Starts one. @throws ClusterError `E_LISTEN`, or `E_USAGE` for a delay out of range */
export async function startUpstream(options: UpstreamOptions): Promise<Upstream> {
  const { address = '127.0.0.1', port = 0, delaySeconds = 0 } = options;
  demandDelay(delaySeconds);
  const serving = new Serving(options);
  const connections = new Set<Socket>();
  const tcp = createServer((socket) => {
    connections.add(socket);
    socket.on('close', () => connections.delete(socket));
    serving.onConnection(socket);
  });
  const udp = await openBoth(serving, tcp, address, port).catch((cause: unknown) => {
    throw cannotListen(address, port, cause);
  });
  serving.udp = udp;
  return {
    address,
    port: udp.local.port,
    backend: udp.backend,
    answered: serving.answered,
    behave: (behaviour) => serving.behave(behaviour),
    async close() {
      serving.close();
      await udp.close();
      if (!tcp.listening) return;
      const closed = once(tcp, 'close');
      tcp.close();
      for (const socket of connections) socket.destroy();
      await closed;
    },
  };
}
