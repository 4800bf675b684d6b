/** A batch of one datagram, as `node:dgram` delivers them. */
import type { RemoteInfo } from 'node:dgram';
import { type Address, parseAddress } from '../address.ts';
import type { Batch, Peer } from '../socket.ts';

export class DatagramBatch implements Batch {
  count = 0;
  readonly bytes: Uint8Array;
  readonly offsets = new Uint32Array(1);
  readonly lengths = new Uint32Array(1);
  readonly slotBytes: number;
  readonly truncated = new Uint8Array(1);
  readonly ports = new Uint16Array(1);
  readonly addresses = new Uint8Array(16);
  readonly ages = new Float64Array(1).fill(Number.NaN);
  readonly readAt = Number.NaN;
  #address = '';
  #parsed: Address | undefined;
  #reply = -1;

  constructor(slotBytes: number) {
    this.slotBytes = slotBytes;
    this.bytes = new Uint8Array(slotBytes);
  }

  load(datagram: Uint8Array, source: RemoteInfo): void {
    const length = Math.min(datagram.length, this.slotBytes);
    this.bytes.set(length < datagram.length ? datagram.subarray(0, length) : datagram);
    this.lengths[0] = length;
    this.truncated[0] = length < datagram.length ? 1 : 0;
    this.ports[0] = source.port;
    if (source.address !== this.#address || this.#parsed === undefined) {
      this.#address = source.address;
      this.#parsed = parseAddress(source.address);
      this.addresses.set(this.#parsed.bytes);
    }
    this.count = 1;
  }

  peer(i: number): Peer {
    this.#assertIndex(i);
    const { family, bytes } = this.#parsed ?? parseAddress(this.#address);
    return { address: this.#address, family, port: this.ports[0] ?? 0, sockaddr: bytes.slice() };
  }

  reply(i: number, length: number): void {
    this.#assertIndex(i);
    if (!(length >= 0 && length <= this.slotBytes) || !Number.isInteger(length)) {
      throw new RangeError(
        `reply of ${length} bytes: a reply in place has 0 to ${this.slotBytes} bytes, the size of a slot`,
      );
    }
    this.#reply = length;
  }

  /** A copy of the reply, or undefined. Ends the batch. */
  takeReply(): Uint8Array | undefined {
    const length = this.#reply;
    this.#reply = -1;
    this.count = 0;
    return length < 0 ? undefined : this.bytes.slice(0, length);
  }

  #assertIndex(i: number): void {
    if (i === 0 && this.count === 1) return;
    throw new RangeError(
      `datagram ${i} of a batch of ${this.count}: a batch is valid only until its handler returns`,
    );
  }
}
