/** Record data while it is read or written: a buffer that grows up to what a record can hold, and a cursor. */
import { TokenError } from './problem.ts';

/** RDLENGTH has 16 bits (RFC 1035, section 4.1.3). */
export const MAX_DATA_OCTETS = 65_535;

/** Where the parts of record data are put together. */
export class DataWriter {
  #bytes = Buffer.allocUnsafe(1024);
  length = 0;

  clear(): void {
    this.length = 0;
  }

  u8(value: number): void {
    this.#reserve(1);
    this.#bytes[this.length++] = value;
  }

  u16(value: number): void {
    this.#reserve(2);
    this.length = this.#bytes.writeUInt16BE(value, this.length);
  }

  u32(value: number): void {
    this.#reserve(4);
    this.length = this.#bytes.writeUInt32BE(value, this.length);
  }

  bytes(octets: Uint8Array): void {
    this.#reserve(octets.length);
    this.#bytes.set(octets, this.length);
    this.length += octets.length;
  }

  /** Puts `value` where `u8` or `u16` has made room for it. */
  set(at: number, value: number): void {
    this.#bytes[at] = value;
  }

  at(index: number): number {
    return this.#bytes[index] ?? 0;
  }

  /** A copy of what has been written from `start` on. */
  copy(start = 0): Buffer {
    return Buffer.from(this.#bytes.subarray(start, this.length));
  }

  #reserve(octets: number): void {
    const needed = this.length + octets;
    if (needed <= this.#bytes.length) return;
    if (needed > MAX_DATA_OCTETS) {
      throw new TokenError(
        `the record's data has more than ${MAX_DATA_OCTETS} octets`,
        'shorten it, or spread it over several records',
      );
    }
    const larger = Buffer.allocUnsafe(Math.min(MAX_DATA_OCTETS, 2 * needed));
    this.#bytes.copy(larger, 0, 0, this.length);
    this.#bytes = larger;
  }
}

/** Record data that ends before its fields do, or goes on behind them. */
export class DataError extends Error {}

/** Data that is sound, but of a kind that has no text, such as a later version: it is written as `\# LENGTH HEX`. */
export class NoTextError extends Error {}

/** Reads record data from its beginning to its end. Throws a `DataError` where it ends too early. */
export class DataReader {
  readonly #bytes: Buffer;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get left(): number {
    return this.#bytes.length - this.at;
  }

  u8(): number {
    return this.bytes(1).readUInt8(0);
  }

  u16(): number {
    return this.bytes(2).readUInt16BE(0);
  }

  u32(): number {
    return this.bytes(4).readUInt32BE(0);
  }

  bytes(length: number): Buffer {
    if (length > this.left) throw new DataError('the data ends too early');
    this.at += length;
    return this.#bytes.subarray(this.at - length, this.at);
  }

  rest(): Buffer {
    return this.bytes(this.left);
  }

  /** An uncompressed name. */
  name(): Buffer {
    const start = this.at;
    for (;;) {
      const length = this.u8();
      if (length > 63 || this.at - start > 255) throw new DataError('there is no name');
      if (length === 0) return this.#bytes.subarray(start, this.at);
      this.bytes(length);
    }
  }
}
