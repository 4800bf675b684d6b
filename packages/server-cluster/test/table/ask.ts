/** Queries to a responder and their replies, in a slot with guard bytes around it. */
import { type Answer, decode, encode, type Packet } from 'dns-packet';
import { DROP, type Responder, TO_FRAMEWORK, type Transport } from '../../src/table/responder.ts';
import type { ModelRecord } from './model.ts';

/** Guard bytes on either side of the slot, which must not change. */
const GUARD = 64;
const GUARD_BYTE = 0xa5;
const SLOT = 65_535;

const arena = new Uint8Array(GUARD * 2 + SLOT);

/** The reply, or `DROP` or `TO_FRAMEWORK`. Throws if anything else than the slot was written to. */
export function answerTo(
  responder: Responder,
  message: Uint8Array,
  transport: Transport = 'udp',
  capacity = SLOT,
): Buffer | typeof DROP | typeof TO_FRAMEWORK {
  arena.fill(GUARD_BYTE);
  arena.set(message, GUARD);
  const length = responder.answer(arena, GUARD, message.length, capacity, transport);
  if (length > capacity) throw new Error(`a reply of ${length} bytes in a slot of ${capacity}`);
  const behind = GUARD + Math.max(message.length, length);
  for (let at = 0; at < GUARD; at++) {
    if (arena[at] !== GUARD_BYTE || arena[GUARD + capacity + at] !== GUARD_BYTE) {
      throw new Error(`written outside of the slot of ${capacity} bytes`);
    }
  }
  if (length === DROP || length === TO_FRAMEWORK) {
    const isUnchanged = Buffer.from(arena.subarray(GUARD, GUARD + message.length)).equals(message);
    if (!isUnchanged || arena[behind] !== GUARD_BYTE)
      throw new Error('a query without answer was written to');
    return length;
  }
  return Buffer.from(arena.subarray(GUARD, GUARD + length));
}

export function query(name: string, type: string, more: Packet = {}): Buffer {
  const question = { name, type: type as 'A' };
  return encode({ type: 'query', id: 4711, flags: 0x0100, questions: [question], ...more });
}

export interface Decoded {
  readonly rcode: number;
  readonly authoritative: boolean;
  readonly truncated: boolean;
  readonly question: string | undefined;
  readonly answers: readonly ModelRecord[];
  readonly authorities: readonly ModelRecord[];
  readonly additionals: readonly ModelRecord[];
  readonly opt: Answer | undefined;
}

/** What a reply says, read by `dns-packet`; names in lower case. */
export function decoded(reply: Buffer | number): Decoded {
  if (typeof reply === 'number') throw new Error(`no reply but ${reply}`);
  const packet = decode(reply);
  const flags = reply.readUInt16BE(2);
  const records = (section: Answer[] | undefined) =>
    (section ?? []).filter((record) => record.type !== 'OPT').map(normalized);
  return {
    rcode: flags & 0xf,
    authoritative: (flags & 0x0400) !== 0,
    truncated: (flags & 0x0200) !== 0,
    question: packet.questions?.[0]?.name,
    answers: records(packet.answers),
    authorities: records(packet.authorities),
    additionals: records(packet.additionals),
    opt: packet.additionals?.find((record) => record.type === 'OPT'),
  };
}

/** A record in comparable form: names in lower case, without the decoder's additions. */
export function normalized(record: Answer | ModelRecord): ModelRecord {
  const { name, type } = record;
  const ttl = 'ttl' in record ? (record.ttl ?? 0) : 0;
  const data: unknown = 'data' in record ? record.data : undefined;
  return { name: name.toLowerCase(), type, ttl, data: normalizedData(type, data) };
}

const NAME_KEYS = ['exchange', 'target', 'mname', 'rname'];

function normalizedData(type: string, data: unknown): unknown {
  if (typeof data === 'string') return data.toLowerCase();
  if (type === 'TXT' || typeof data !== 'object' || data === null) return data;
  const entries = Object.entries(data)
    .filter(([key]) => key !== 'issuerCritical')
    .map(([key, value]) => [key, NAME_KEYS.includes(key) ? String(value).toLowerCase() : value] as const);
  return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)));
}
