/** Reads the records of messages that this program wrote itself. */
import { expandName, nameText } from '@dinodns-bench/wire';
import type { SupportedAnswer } from 'dinodns/types/dns.js';
import { decodeData, layoutOf } from './rdata.ts';
import { typeName } from './types.ts';

/** Reads `count` records from `start` on; returns them and the offset after them. */
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
    const record = { name: nameText(owner.name, 0), type: typeName(type), class: 'IN', ttl, data };
    records.push(record as SupportedAnswer);
  }
  return { records: Object.freeze(records), end: at };
}

/** Expands compressed data. */
function expandData(message: Buffer, type: number, from: number, to: number): Buffer {
  const { before, names } = layoutOf(type);
  if (names === 0) return Buffer.from(message.subarray(from, to));
  const parts = [message.subarray(from, from + before)];
  let at = from + before;
  for (let index = 0; index < names; index++) {
    const { name, end } = expandName(message, at);
    parts.push(name);
    at = end;
  }
  return Buffer.concat([...parts, message.subarray(at, to)]);
}
