/**
 * A whole zone as DNS messages (RFC 5936): the SOA record first and last, everything else in between in any order.
 * Messages are generated one at a time, so that the sender can wait.
 */
import { encodeRecord, FLAG, HEADER_BYTES, LOWER_CASE, RCODE, skipName, TYPE } from '@dinodns-bench/wire';
import { NONE } from '../table/arena.ts';
import { labelOffsets } from '../table/name-tree.ts';
import type { StoredSet } from '../table/stored-set.ts';
import type { ZoneData } from '../table/zone-data.ts';

/** Bytes at which a message is sent, far below the 64 KiB limit: about a millisecond's work. */
const MESSAGE_BYTES = 16 * 1024;
/** Maximum names examined per message, including those of other zones. */
const NAMES_PER_MESSAGE = 2000;
const RECORD_HEAD_BYTES = 10;
/** Serial, refresh, retry, expire and minimum. */
const SOA_NUMBERS_BYTES = 20;
/** A pointer to the question's name, which is the zone's. */
const ZONE_POINTER = 0xc000 | HEADER_BYTES;

/** The types that the parent holds at a zone cut. */
const AT_CUT: readonly number[] = [TYPE.NS, TYPE.DS];

/** The apex of the zone that the question, which ends at `questionEnd`, asks for; NONE if there is none. */
function zoneOf(data: ZoneData, query: Buffer, questionEnd: number): number {
  const node = data.names.find(query.subarray(HEADER_BYTES, questionEnd - 4));
  return node !== NONE && data.readNode(node).some(({ type }) => type === TYPE.SOA) ? node : NONE;
}

/**
 * Whether the client of an IXFR has the version of this SOA record, or a later one: the serial of the SOA record in its
 * query says which (RFC 1995, section 3). False without one.
 */
function hasCurrent(soa: readonly StoredSet[], query: Buffer, questionEnd: number): boolean {
  if (query.readUInt16BE(questionEnd - 4) !== TYPE.IXFR) return false;
  const theirs = serialAt(query, questionEnd);
  const ours = soa[0]?.records[0]?.data;
  if (theirs === undefined || ours === undefined) return false;
  // Serials are compared by their distance (RFC 1982, section 3.2).
  return ((theirs - ours.readUInt32BE(ours.length - SOA_NUMBERS_BYTES)) | 0) >= 0;
}

/** The serial of the SOA record that begins the authority section. */
function serialAt(query: Buffer, questionEnd: number): number | undefined {
  if (query.readUInt16BE(6) !== 0 || query.readUInt16BE(8) === 0) return undefined;
  const type = skipName(query, questionEnd);
  const isSoa =
    type !== -1 && type + RECORD_HEAD_BYTES <= query.length && query.readUInt16BE(type) === TYPE.SOA;
  if (!isSoa) return undefined;
  const end = type + RECORD_HEAD_BYTES + query.readUInt16BE(type + 8);
  const serial = end - SOA_NUMBERS_BYTES;
  if (end > query.length || serial < type + RECORD_HEAD_BYTES) return undefined;
  return query.readUInt32BE(serial);
}

/**
 * The messages that answer a query for a transfer, whose question ends at `questionEnd`, each with its length field and
 * this OPT record, which is empty if the query had none (RFC 5936, section 2.2.5). Empty buffers are pauses: many names
 * of other zones were skipped. An IXFR is answered like an AXFR, unless the client is up to date: it gets the SOA record
 * alone (RFC 1995, section 4). NOTAUTH without the zone.
 */
export function* transferMessages(
  data: ZoneData,
  query: Buffer,
  questionEnd: number,
  opt: Buffer,
): Generator<Buffer, void, void> {
  const apex = zoneOf(data, query, questionEnd);
  const message = new Message(query, questionEnd, opt, apex === NONE ? RCODE.NOTAUTH : RCODE.NOERROR);
  if (apex !== NONE) {
    const sets = data.readNode(apex);
    const soa = sets.filter(({ type }) => type === TYPE.SOA);
    const others = sets.filter(({ type }) => type !== TYPE.SOA);
    const zone = data.names.nameOf(apex);
    yield* message.add(zone, zone, soa);
    if (!hasCurrent(soa, query, questionEnd)) {
      yield* message.add(zone, zone, others);
      yield* namesBelow(data, apex, zone, message);
      yield* message.add(zone, zone, soa);
    }
  }
  yield message.take();
}

function* namesBelow(
  data: ZoneData,
  apex: number,
  zone: Uint8Array,
  message: Message,
): Generator<Buffer, void, void> {
  let seen = 0;
  for (const node of data.names.nodes()) {
    const own = node === apex ? [] : setsIn(data, apex, node);
    if (own.length > 0) yield* message.add(data.names.nameOf(node), zone, own);
    if (++seen % NAMES_PER_MESSAGE === 0) yield NOTHING;
  }
}

const NOTHING = Buffer.alloc(0);

/**
 * What the zone at `apex` holds at a name: at the apex of a child zone only the parent's types, outside of the
 * zone nothing, else everything.
 */
function setsIn(data: ZoneData, apex: number, node: number): StoredSet[] {
  const { names } = data;
  if (names.shapeOf(node) === NONE) return [];
  let above = node;
  do {
    if (above === names.root) return [];
    above = names.parentOf(above);
  } while (above !== apex && !data.isApex(above));
  if (above !== apex) return [];
  if (!data.isApex(node)) return data.readNode(node);
  // The parent's side has its own node, if there is one.
  if (names.parentSideOf(node) !== NONE) return [];
  return data.readNode(node).filter(({ type }) => AT_CUT.includes(type));
}

class Message {
  readonly #query: Buffer;
  readonly #questionEnd: number;
  readonly #opt: Buffer;
  readonly #rcode: number;
  /** Its records. */
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(query: Buffer, questionEnd: number, opt: Buffer, rcode: number) {
    this.#query = query;
    this.#questionEnd = questionEnd;
    this.#opt = opt;
    this.#rcode = rcode;
  }

  /** Adds records; yields the message whenever it is long enough. */
  *add(owner: Uint8Array, zone: Uint8Array, sets: readonly StoredSet[]): Generator<Buffer, void, void> {
    const name = compressed(owner, zone);
    for (const { type, records } of sets) {
      for (const { ttl, data } of records) {
        const record = encodeRecord(name, type, ttl, data);
        if (this.#bytes > 0 && this.#bytes + record.length > MESSAGE_BYTES) yield this.take();
        this.#parts.push(record);
        this.#bytes += record.length;
      }
    }
  }

  /** Returns the message so far with its length field and starts the next one. */
  take(): Buffer {
    const start = Buffer.alloc(2 + this.#questionEnd);
    this.#query.copy(start, 2, 0, this.#questionEnd);
    start.writeUInt16BE(this.#questionEnd + this.#bytes + this.#opt.length, 0);
    start.writeUInt16BE(FLAG.response | FLAG.authoritative | this.#rcode, 4);
    start.writeUInt16BE(this.#parts.length, 8);
    start.writeUInt16BE(0, 10);
    start.writeUInt16BE(this.#opt.length === 0 ? 0 : 1, 12);
    const message = Buffer.concat([start, ...this.#parts, this.#opt]);
    this.#parts = [];
    this.#bytes = 0;
    return message;
  }
}

/** The owner, with a pointer in place of the zone's name. */
function compressed(owner: Uint8Array, zone: Uint8Array): Buffer {
  if (zone.length === 1) return Buffer.from(owner);
  const own = labelOffsets(owner).length === 0 ? 0 : owner.length - zone.length;
  const name = Buffer.alloc(own + 2);
  for (let at = 0; at < own; at++) name[at] = LOWER_CASE[owner[at] ?? 0] ?? 0;
  name.writeUInt16BE(ZONE_POINTER, own);
  return name;
}
