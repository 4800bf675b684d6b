/** Reads the records of messages that this program has written itself. */
import type { SupportedAnswer } from 'dinodns/types/dns.js';
import { MAX_NAME_OCTETS, readName } from './names.ts';
import { decodeData, layoutOf } from './rdata.ts';
import { typeName } from './types.ts';

/** A name without compression, and the offset behind the place where it was. */
interface ReadName {
  readonly octets: Buffer;
  readonly end: number;
}

/** Follows compression pointers. Throws a RangeError if the name has more than 255 octets or runs out of the message. */
export function expandName(message: Buffer, start: number): ReadName {
  const labels: Buffer[] = [];
  let octets = 1;
  let end = -1;
  let at = start;
  for (;;) {
    const length = message.readUInt8(at);
    if (length >= 0xc0) {
      if (end === -1) end = at + 2;
      at = message.readUInt16BE(at) & 0x3fff;
      // Two octets for each pointer, so that a loop ends.
      octets += 2;
    } else {
      if (length === 0) break;
      labels.push(message.subarray(at, at + length + 1));
      octets += length + 1;
      at += length + 1;
    }
    if (octets > MAX_NAME_OCTETS + 2) throw new RangeError('A name has more than 255 octets.');
  }
  return { octets: Buffer.concat([...labels, Buffer.of(0)]), end: end === -1 ? at + 1 : end };
}

/** So many records from `start` on, and the offset behind them. */
export function readRecords(
  message: Buffer,
  start: number,
  count: number,
): { readonly records: readonly SupportedAnswer[]; readonly end: number } {
  const records: SupportedAnswer[] = [];
  let at = start;
  for (let index = 0; index < count; index++) {
    const owner = expandName(message, at);
    const type = message.readUInt16BE(owner.end);
    const ttl = message.readUInt32BE(owner.end + 4);
    const from = owner.end + 10;
    at = from + message.readUInt16BE(owner.end + 8);
    const data = decodeData(type, expandData(message, type, from, at));
    // The types of `dns-packet` are a union over all record types, which no decoder can tell apart.
    const record = { name: readName(owner.octets, 0), type: typeName(type), class: 'IN', ttl, data };
    records.push(record as SupportedAnswer);
  }
  return { records: Object.freeze(records), end: at };
}

/** Data without compression. */
function expandData(message: Buffer, type: number, from: number, to: number): Buffer {
  const { before, names } = layoutOf(type);
  if (names === 0) return Buffer.from(message.subarray(from, to));
  const parts = [message.subarray(from, from + before)];
  let at = from + before;
  for (let index = 0; index < names; index++) {
    const { octets, end } = expandName(message, at);
    parts.push(octets);
    at = end;
  }
  return Buffer.concat([...parts, message.subarray(at, to)]);
}
