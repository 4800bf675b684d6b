/**
 * What comes before the data of a record: TTL and class, in either order and both optional, and the type. Keeps the TTL
 * for records that do not give one.
 */
import { nearest } from '@dinodns-bench/program';
import {
  CLASS,
  className,
  classNumber,
  DATA_TYPES,
  isMetaType,
  TYPE,
  typeName,
  typeNumber,
} from '@dinodns-bench/wire';
import { isWithin } from './names.ts';
import { TokenError } from './problem.ts';
import type { Tokens } from './rdata/field.ts';
import { MAX_TTL, secondsFromText } from './ttl.ts';

/** Words that are neither a class nor a TTL: nearly all of the words before the data. */
const USUAL_TYPES: ReadonlySet<string> = new Set(DATA_TYPES);
/** The fast path: nearly all types are in capitals. */
const TYPE_BY_NAME = new Map(DATA_TYPES.map((name) => [name, typeNumber(name) ?? 0]));

/** Obsolete types (RFC 1035, section 3.2.2) that other servers refuse. */
const OBSOLETE_TYPES: readonly number[] = [TYPE.MD, TYPE.MF];

export class RecordHeads {
  /** The last TTL given. */
  #ttl: number | undefined;
  /** From `$TTL` or the SOA record. */
  #defaultTtl: number | undefined;
  /** The owner of the last record, and the TTL of each of its RRsets; only while there is no `$TTL`. */
  #owner: Uint8Array | undefined;
  readonly #ttlOfSet = new Map<string, number>();

  /** Reads a head. `ttl` is undefined for an SOA record from whose data it is taken: see `ttlOfSoa`. */
  read(tokens: Tokens): { readonly type: number; readonly ttl: number | undefined } {
    const ttl = this.#readTtl(tokens);
    const type = readType(tokens);
    return { type, ttl: ttl ?? this.#inheritedTtl(tokens, type) };
  }

  /** Reads the argument of `$TTL`. */
  readDefaultTtl(tokens: Tokens): void {
    const text = tokens.next('a TTL');
    const seconds = secondsFromText(text);
    if (seconds === undefined) {
      throw new TokenError(`"${text}" is not a TTL`, 'write seconds, or a time such as 1h30m');
    }
    this.#defaultTtl = checkedTtl(tokens.at - 1, seconds, text);
  }

  /** The TTL if none is given up to the SOA record: its MINIMUM field, as before RFC 2308. */
  ttlOfSoa(data: Buffer): number {
    this.#defaultTtl = Math.min(data.readUInt32BE(data.length - 4), MAX_TTL);
    return this.#defaultTtl;
  }

  /**
   * To be called for each record read. As in BIND, a record whose TTL differs from that of its RRset passes on the TTL of
   * the RRset, not its own.
   */
  note(owner: Uint8Array, type: number, ttl: number, data: Uint8Array): void {
    if (this.#defaultTtl !== undefined) return;
    const before = this.#owner;
    if (before?.length !== owner.length || !isWithin(owner, before)) this.#ttlOfSet.clear();
    this.#owner = owner;
    const key = type === TYPE.RRSIG ? `${type} ${data[0]} ${data[1]}` : String(type);
    const first = this.#ttlOfSet.get(key);
    if (first === undefined) this.#ttlOfSet.set(key, ttl);
    else this.#ttl = first;
  }

  /** Reads TTL and class, in either order, and returns the TTL if there is one. */
  #readTtl(tokens: Tokens): number | undefined {
    let ttl: number | undefined;
    let hasClass = false;
    for (;;) {
      const word = tokens.peek();
      if (word === undefined || USUAL_TYPES.has(word)) return ttl;
      const classCode = hasClass ? undefined : classFromText(word);
      if (classCode !== undefined) {
        checkClass(classCode, tokens);
        hasClass = true;
        tokens.next('a class');
        continue;
      }
      const seconds = ttl === undefined ? secondsFromText(word) : undefined;
      if (seconds === undefined) return ttl;
      tokens.next('a TTL');
      ttl = checkedTtl(tokens.at - 1, seconds, word);
      this.#ttl = ttl;
    }
  }

  /** The TTL of a record that does not give one; undefined for an SOA record from whose data it is taken. */
  #inheritedTtl(tokens: Tokens, type: number): number | undefined {
    const ttl = this.#defaultTtl ?? this.#ttl;
    if (ttl !== undefined || type === TYPE.SOA) return ttl;
    const problem = 'the record has no TTL, and there is none before it';
    throw new TokenError(problem, 'begin the file with $TTL 3600', tokens.at - 1);
  }
}

/** As in BIND, a TTL of 32 bits is 0 (RFC 2181, section 8). */
function checkedTtl(token: number, seconds: number | 'range', text: string): number {
  if (seconds !== 'range') return seconds <= MAX_TTL ? seconds : 0;
  const fix = `write at most ${MAX_TTL} seconds (RFC 2181, section 8)`;
  throw new TokenError(`the TTL ${text} is too large`, fix, token);
}

function checkClass(classCode: number, tokens: Tokens): void {
  if (classCode === CLASS.IN) return;
  const problem = `the class is ${className(classCode)}, but that of the zone is IN`;
  throw new TokenError(problem, 'write IN, or omit the class', tokens.at);
}

/** The number of a class as a zone file writes it: `IN`, `CHAOS`, `CLASS1`; undefined for other text. */
function classFromText(text: string): number | undefined {
  return text.toUpperCase() === 'CHAOS' ? CLASS.CH : classNumber(text);
}

function readType(tokens: Tokens): number {
  const word = tokens.next('a record type');
  const type = TYPE_BY_NAME.get(word) ?? typeNumber(word);
  if (type === undefined) {
    const near = nearest(word, DATA_TYPES);
    const fix = `write a type such as ${near ?? 'A'}, or TYPE65280 (RFC 3597)`;
    throw new TokenError(`"${word}" is not a record type`, fix);
  }
  if (type === 0 || isMetaType(type)) {
    throw new TokenError(`${typeName(type)} is a type for queries, not for records`, 'remove the record');
  }
  if (OBSOLETE_TYPES.includes(type)) {
    const fix = 'write an MX record instead (RFC 1035, section 3.3.9)';
    throw new TokenError(`the type ${typeName(type)} is obsolete`, fix);
  }
  return type;
}
