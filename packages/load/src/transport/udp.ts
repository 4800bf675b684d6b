/** UDP: one connected socket per lane, with many datagrams per system call. */

import { type Batch, openUdpSocket, type UdpSocket, type UdpSocketOptions } from '@dinodns-bench/batched-udp';
import { systemErrorCode } from '@dinodns-bench/program';
import { nowNs } from '../clock.ts';
import { openError } from './failures.ts';
import type {
  LaneFailure,
  Transport,
  TransportFacts,
  TransportHandler,
  TransportLosses,
  TransportRequest,
} from './transport.ts';

/** Up to this many sockets are polled, those with queries outstanding; more wait in the event loop. */
const MAX_POLLED = 64;
/** Every so many polls look at all sockets, since answers may come that nothing waits for: duplicates, late ones. */
const POLLS_PER_SWEEP = 64;
/** Answers without EDNS have at most 512 bytes (RFC 1035); leaves room for a server that exceeds this. */
const MIN_SLOT_BYTES = 2048;
/** Maximum datagrams queued on one socket before `flush`. */
const SEND_QUEUE = 256;

export interface UdpRequest extends TransportRequest {
  /** Whether the kernel should timestamp each answer. */
  readonly timestamps: boolean;
  /** Whether queries of equal length may be sent as one message that the kernel splits (UDP_SEGMENT). */
  readonly segmentation: boolean;
  readonly receiveBufferBytes: number;
  /** The largest answer that the queries announce (EDNS), in bytes; 0 without. */
  readonly payloadBytes: number;
  /** The longest query, in bytes. */
  readonly queryBytes: number;
}

/** Datagrams per system call: with many sockets each has few datagrams, and an arena of this many slots. */
function batchSizeFor(lanes: number): number {
  return Math.max(4, Math.min(64, Math.floor(1024 / lanes)));
}

function failureOf(error: Error): LaneFailure {
  return systemErrorCode(error) === 'ECONNREFUSED' ? 'refused' : 'unreachable';
}

/** Opens all sockets. Rejects with a `LoadError` (`E_LIMIT`, `E_SOURCE`, `E_PERMISSION`, `E_UNREACHABLE`). */
export async function openUdp(request: UdpRequest): Promise<Transport> {
  const sockets: UdpSocket[] = [];
  const outstanding = new Int32Array(request.lanes);
  try {
    for (let lane = 0; lane < request.lanes; lane++) {
      sockets.push(await openUdpSocket(socketOptions(request, lane, outstanding)));
    }
  } catch (error) {
    await Promise.all(sockets.map((socket) => socket.close()));
    throw openError(error, request);
  }
  return new UdpLanes(sockets, outstanding, request);
}

function socketOptions(request: UdpRequest, lane: number, outstanding: Int32Array): UdpSocketOptions {
  const { server, sources, sourcePort, handler, lanes } = request;
  const source = sources[lane % Math.max(1, sources.length)];
  return {
    connect: { address: server.address, port: server.port },
    ...(source === undefined ? {} : { address: source }),
    ...(sourcePort === 0 ? {} : { port: sourcePort + lane }),
    receiveBufferBytes: request.receiveBufferBytes,
    batchSize: batchSizeFor(lanes),
    slotBytes: Math.max(MIN_SLOT_BYTES, request.payloadBytes, request.queryBytes),
    sendQueueLength: SEND_QUEUE,
    timestamps: request.timestamps,
    segmentation: request.segmentation,
    onBatch: (batch) => {
      outstanding[lane] = Math.max(0, (outstanding[lane] ?? 0) - batch.count);
      deliver(batch, lane, handler);
    },
    onError: (error) => handler.onLaneFailure(lane, failureOf(error), error),
    onDrain: () => handler.onReady(),
  };
}

function deliver(batch: Batch, lane: number, handler: TransportHandler): void {
  const { count, bytes, offsets, lengths, ages, readAt, truncated } = batch;
  const now = Number.isNaN(readAt) ? nowNs() : readAt * 1e6;
  for (let i = 0; i < count; i++) {
    const age = ages[i] ?? 0;
    handler.onMessage(
      lane,
      bytes,
      offsets[i] ?? 0,
      lengths[i] ?? 0,
      age > 0 ? now - age : now,
      truncated[i] === 1,
    );
  }
}

class UdpLanes implements Transport {
  readonly kind = 'udp';
  readonly lanes: number;
  readonly polled: boolean;
  readonly facts: TransportFacts;
  readonly #sockets: readonly UdpSocket[];
  /** Lanes with datagrams queued since the last flush. */
  readonly #touched: Uint8Array;
  /** Queries of each lane minus datagrams received: above 0 while an answer may come. */
  readonly #outstanding: Int32Array;
  #pollsToSweep = POLLS_PER_SWEEP;

  constructor(sockets: readonly UdpSocket[], outstanding: Int32Array, { timestamps }: UdpRequest) {
    this.#sockets = sockets;
    this.#outstanding = outstanding;
    this.lanes = sockets.length;
    this.#touched = new Uint8Array(sockets.length);
    const [first] = sockets;
    if (first === undefined) throw new Error('openUdp: at least one lane');
    const native = first.backend === 'native';
    this.polled = native && sockets.length <= MAX_POLLED;
    this.facts = {
      backend: first.backend,
      backendReason: first.reason,
      kernelTimestamps: native && timestamps,
      receiveBufferBytes: first.receiveBufferBytes,
    };
  }

  #socket(lane: number): UdpSocket {
    const socket = this.#sockets[lane];
    if (socket === undefined) throw new RangeError(`no lane ${lane}`);
    return socket;
  }

  ready(lane: number): boolean {
    return this.#socket(lane).pending < SEND_QUEUE;
  }

  reserve(lane: number): number {
    return this.#socket(lane).reserve();
  }

  sendBytes(lane: number): Uint8Array {
    return this.#socket(lane).sendBytes;
  }

  commit(lane: number, length: number): void {
    this.#socket(lane).commit(length);
    this.#touched[lane] = 1;
    this.#outstanding[lane] = (this.#outstanding[lane] ?? 0) + 1;
  }

  flush(): void {
    for (let lane = 0; lane < this.lanes; lane++) {
      if (this.#touched[lane] === 0) continue;
      this.#touched[lane] = 0;
      this.#socket(lane).flush();
    }
  }

  poll(): number {
    const isSweep = --this.#pollsToSweep === 0;
    if (isSweep) this.#pollsToSweep = POLLS_PER_SWEEP;
    let handled = 0;
    for (let lane = 0; lane < this.lanes; lane++) {
      if (isSweep || (this.#outstanding[lane] ?? 0) > 0) handled += this.#socket(lane).receive(1);
    }
    return handled;
  }

  get losses(): TransportLosses {
    let [sendErrors, kernelDrops] = [0, 0];
    for (const { counters } of this.#sockets) {
      sendErrors += counters.sendErrors;
      kernelDrops += counters.kernelDrops ?? 0;
    }
    return { sendErrors, kernelDrops };
  }

  async close(): Promise<void> {
    await Promise.all(this.#sockets.map((socket) => socket.close()));
  }
}
