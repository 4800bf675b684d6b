/** Sockets that a test opens and that are closed after it, and datagrams kept as copies. */
import { afterEach } from 'vitest';
import { type Batch, openUdpSocket, type UdpSocket, type UdpSocketOptions } from '../../src/index.ts';
import type { Libc } from '../../src/native/libc.ts';
import { NativeUdpSocket } from '../../src/native/socket.ts';
import { settle } from '../../src/options.ts';

export { echo, turn } from './sockets-core.ts';

const opened: UdpSocket[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((socket) => socket.close()));
});

export function keep<T extends UdpSocket>(socket: T): T {
  opened.push(socket);
  return socket;
}

export async function open(options: Partial<UdpSocketOptions>): Promise<UdpSocket> {
  return keep(await openUdpSocket({ onBatch: () => undefined, ...options }));
}

/** A native socket with these system calls; without an address, on 127.0.0.1. */
export function openWith(libc: Libc, options: Partial<UdpSocketOptions>): NativeUdpSocket {
  return keep(
    new NativeUdpSocket(libc, settle({ address: '127.0.0.1', onBatch: () => undefined, ...options })),
  );
}

export interface Received {
  readonly bytes: Uint8Array;
  readonly port: number;
  readonly address: Uint8Array;
  readonly truncated: boolean;
  readonly age: number;
}

/** Datagram `i` of a batch, copied. */
export function copyOf(batch: Batch, i: number): Received {
  const at = batch.offsets[i] ?? 0;
  return {
    bytes: batch.bytes.slice(at, at + (batch.lengths[i] ?? 0)),
    port: batch.ports[i] ?? 0,
    address: batch.addresses.slice(16 * i, 16 * i + 16),
    truncated: batch.truncated[i] === 1,
    age: batch.ages[i] ?? 0,
  };
}

/** A handler that keeps copies of all that comes. */
export function collector(): { received: Received[]; batches: number[]; onBatch: (batch: Batch) => void } {
  const received: Received[] = [];
  const batches: number[] = [];
  const onBatch = (batch: Batch) => {
    batches.push(batch.count);
    for (let i = 0; i < batch.count; i++) received.push(copyOf(batch, i));
  };
  return { received, batches, onBatch };
}

export const text = (received: readonly Received[]): string[] =>
  received.map(({ bytes }) => Buffer.from(bytes).toString('latin1'));
