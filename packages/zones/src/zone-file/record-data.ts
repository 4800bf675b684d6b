/** Writes and reads record data in wire format. */
import { TokenError } from './problem.ts';

/**
 * RDLENGTH has 16 bits (RFC 1035, section 4.1.3), but so has the length of the message that holds the record: a header (12 bytes),
 * a question with the longest name (259), the rest of the record (12), and an OPT record with a cookie (39). More could be read, and never served.
 */
export const MAX_DATA_BYTES = 65_535 - 12 - 259 - 12 - 39;

/** Builds record data field by field, up to the size that a record can have. */
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

  bytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  at(index: number): number {
    return this.#bytes[index] ?? 0;
  }

  /** A copy of what has been written. */
  copy(): Buffer {
    return Buffer.from(this.#bytes.subarray(0, this.length));
  }

  #reserve(bytes: number): void {
    const needed = this.length + bytes;
    if (needed <= this.#bytes.length) return;
    if (needed > MAX_DATA_BYTES) {
      throw new TokenError(
        `the record's data has more than ${MAX_DATA_BYTES} bytes, which fit into no DNS message`,
        'shorten it, or spread it over several records',
      );
    }
    const larger = Buffer.allocUnsafe(Math.min(MAX_DATA_BYTES, 2 * needed));
    this.#bytes.copy(larger, 0, 0, this.length);
    this.#bytes = larger;
  }
}

/** Thrown for record data that is too short or too long for its fields, or has an invalid value in one. */
export class DataError extends Error {}

/** Thrown for valid data without a text form, such as that of a later version: it is written as `\# LENGTH HEX`. */
export class NoTextError extends Error {}

/** Reads record data from start to end. Throws a `DataError` if it ends too early. */
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

  /** What `read` reads, once and again until the end of the data. */
  untilEnd<T>(read: () => T): T[] {
    const items = [read()];
    while (this.left > 0) items.push(read());
    return items;
  }

  /** An uncompressed name. */
  name(): Buffer {
    const start = this.at;
    for (;;) {
      const length = this.u8();
      if (length > 63 || this.at - start > 255) throw new DataError('a name in it is not valid');
      if (length === 0) return this.#bytes.subarray(start, this.at);
      this.bytes(length);
    }
  }
}
