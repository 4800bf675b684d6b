/** Answers of the upstream, as a recursive server gives them. */
import {
  addressBytes,
  canonicalKey,
  encodeData,
  encodeName,
  encodeOpt,
  encodeRecord,
  FLAG,
  GOOD,
  HEADER_BYTES,
  IGNORE,
  nameText,
  QueryReader,
  RCODE,
  TYPE,
} from '@dinodns-bench/wire';
import type { External } from '../names/external.ts';

/** The question's name, which every record's owner points to (RFC 1035, section 4.1.4). */
const POINTER_TO_QUESTION = 0xc00c;

/** The authority of all names that do not exist, so that the answer can be cached (RFC 2308). */
function soaRecord(ttl: number): Buffer {
  const times = { serial: 1, refresh: 1800, retry: 900, expire: 604_800, minimum: ttl };
  const data = encodeData('SOA', { mname: 'server.test', rname: '.', ...times });
  return encodeRecord(encodeName('.'), TYPE.SOA, ttl, data);
}

const questionOwner = Buffer.from([POINTER_TO_QUESTION >> 8, POINTER_TO_QUESTION & 0xff]);

/**
 * The IPv4 address that tells when an answer was made: 10, and 24 bits of the tenths of a second of Unix time, which repeat after 19
 * days. With it, a client knows how old an answer is, whatever a cache says of its TTL.
 */
export function stampOf(unixSeconds: number): string {
  const tenths = Math.floor(unixSeconds * 10);
  return [10, (tenths >>> 16) & 0xff, (tenths >>> 8) & 0xff, tenths & 0xff].join('.');
}

export class Answerer {
  readonly #external: External;
  readonly #ttl: number;
  readonly #soa: Buffer;
  readonly #opt = encodeOpt();
  readonly #reader = new QueryReader();

  /** `ttl` in seconds, of all records and of names that do not exist. */
  constructor(external: External, ttl: number) {
    this.#external = external;
    this.#ttl = ttl;
    this.#soa = soaRecord(ttl);
  }

  /**
   * The reply to the message at `start`, with the error `error` unless that is null, and the IPv4 address `stamp` unless that is null;
   * null for what must not be answered.
   */
  answer(
    bytes: Uint8Array,
    start: number,
    length: number,
    error: number | null,
    stamp: string | null = null,
  ): Buffer | null {
    const reader = this.#reader;
    const code = reader.read(bytes, start, length);
    if (code === IGNORE) return null;
    const question = Buffer.from(bytes.subarray(start + HEADER_BYTES, start + reader.questionEnd));
    if (code !== GOOD) return this.#reply(bytes, start, code % 16, question, [], []);
    if (error !== null) return this.#reply(bytes, start, error, question, [], []);
    const name = canonicalKey(nameText(question));
    // The root exists: CoreDNS asks for it to see whether its upstream is alive.
    const addresses = name === '' ? [] : this.#external.addressesOf(name);
    if (addresses === null) return this.#reply(bytes, start, RCODE.NXDOMAIN, question, [], [this.#soa]);
    const given = stamp === null || addresses.length === 0 ? addresses : [stamp];
    const records = given.flatMap((address) => this.#record(address, reader.type) ?? []);
    return this.#reply(
      bytes,
      start,
      RCODE.NOERROR,
      question,
      records,
      records.length === 0 ? [this.#soa] : [],
    );
  }

  #record(address: string, wanted: number): Buffer | null {
    const type = address.includes(':') ? TYPE.AAAA : TYPE.A;
    if (type !== wanted) return null;
    return encodeRecord(questionOwner, type, this.#ttl, addressBytes(address));
  }

  #reply(
    query: Uint8Array,
    start: number,
    rcode: number,
    question: Buffer,
    answers: readonly Buffer[],
    authority: readonly Buffer[],
  ): Buffer {
    const header = Buffer.alloc(HEADER_BYTES);
    header.set(query.subarray(start, start + 2));
    const asked = ((query[start + 2] ?? 0) << 8) & FLAG.recursionDesired;
    header.writeUInt16BE(FLAG.response | asked | FLAG.recursionAvailable | rcode, 2);
    const additional = this.#reader.hasEdns ? [this.#opt] : [];
    [question.length === 0 ? 0 : 1, answers.length, authority.length, additional.length].forEach(
      (count, at) => {
        header.writeUInt16BE(count, 4 + 2 * at);
      },
    );
    return Buffer.concat([header, question, ...answers, ...authority, ...additional]);
  }
}
