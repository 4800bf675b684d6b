/** The names of a large zone that records of special types make invalid. Each takes about 50 bytes, however many records it has. */
import { MAX_LABELS, TYPE } from '@dinodns-bench/wire';
import { NONE } from '../table/arena.ts';
import { NameTree } from '../table/name-tree.ts';
import type { RecordPlace } from './records-file.ts';

/** Types that may be beside a CNAME record, as in `checkZone`. */
const BESIDE_CNAME: ReadonlySet<number> = new Set([
  ...[TYPE.CNAME, TYPE.RRSIG, TYPE.NSEC],
  ...[TYPE.SIG, TYPE.KEY, TYPE.NXT],
]);

/** What is known of a name, as bits of the word that the tree has for a name's contents. */
const KNOWN = {
  soa: 1,
  cname: 2,
  dname: 4,
  ns: 8,
  /** Something that must not be beside a CNAME record. */
  other: 16,
  /** Two different records of a special type, of which there may be only one. */
  two: 32,
  /** There are names below it. */
  above: 64,
  /** It has a record of a special type, or is the apex. */
  special: 128,
} as const;

/** The other bits are a hash of the first special record's data. */
const HASH_SHIFT = 8;
const HASH_MASK = 0x7f_ffff;

/** Types that can make other records at or below their owner invalid. */
const SPECIAL: ReadonlyMap<number, number> = new Map([
  [TYPE.SOA, KNOWN.soa],
  [TYPE.CNAME, KNOWN.cname],
  [TYPE.DNAME, KNOWN.dname],
]);
const SPECIAL_TYPES = KNOWN.soa | KNOWN.cname | KNOWN.dname;

const CONFLICT = KNOWN.cname | KNOWN.other;

/** First every record has to be noted, then every one found; after that, what is found can be judged. */
export class SpecialNames {
  readonly apex: number;
  /** Of the record that was found last: its owner; NONE if nothing is known of it. */
  node = NONE;
  /** The name above it whose DNAME record redirects it; NONE if there is none. */
  redirection = NONE;
  readonly #tree = new NameTree();
  readonly #redirections = new Set<number>();
  readonly #labels = new Int32Array(MAX_LABELS);

  constructor(zone: Uint8Array) {
    this.apex = this.#tree.ensure(zone);
    this.#tree.setShape(this.apex, KNOWN.special);
  }

  note(bytes: Buffer, place: RecordPlace): void {
    const type = SPECIAL.get(place.type);
    if (type === undefined) return;
    const node = this.#ensure(bytes, place);
    const known = this.#tree.shapeOf(node);
    const before = known & SPECIAL_TYPES;
    const hash = hashOf(bytes, place) << HASH_SHIFT;
    // Equal hashes stand for equal records, which count once: once in eight million cases wrongly.
    const two = before === type && (known ^ hash) >>> HASH_SHIFT !== 0 ? KNOWN.two : 0;
    this.#tree.setShape(node, known | KNOWN.special | type | two | (before === 0 ? hash : 0));
    if (type === KNOWN.dname) this.#redirections.add(node);
  }

  /** Sets `node` and `redirection`. */
  find(bytes: Buffer, place: RecordPlace): void {
    this.redirection = NONE;
    let node = this.#tree.root;
    for (let label = this.#locate(bytes, place) - 1; label >= 0 && node !== NONE; label--) {
      if (this.#redirections.has(node)) this.#passRedirection(node);
      node = this.#tree.child(node, bytes, this.#labels[label] ?? 0);
    }
    this.node = this.#tree.shapeOf(node) === NONE ? NONE : node;
    if (this.node === NONE) return;
    if (place.type === TYPE.NS) this.#add(node, KNOWN.ns);
    if (!BESIDE_CNAME.has(place.type)) this.#add(node, KNOWN.other);
  }

  /** Whether the record found is at a name, other than the apex, whose own records are wrong. */
  isWrong(): boolean {
    if (this.node === NONE || this.node === this.apex) return false;
    const known = this.#tree.shapeOf(this.node);
    return (known & (KNOWN.two | KNOWN.soa)) !== 0 || (known & CONFLICT) === CONFLICT;
  }

  /** The names, at most `max`, with a DNAME record that redirects names with records. */
  wrongRedirections(max: number): Set<number> {
    const wrong = new Set<number>();
    for (const node of this.#redirections) {
      const isAbove = (this.#tree.shapeOf(node) & KNOWN.above) !== 0;
      if (wrong.size < max && isAbove && this.#redirects(node)) wrong.add(node);
    }
    return wrong;
  }

  #passRedirection(node: number): void {
    this.#add(node, KNOWN.above);
    if (!this.#redirects(node)) this.redirection = NONE;
    else if (this.redirection === NONE) this.redirection = node;
  }

  /** At a delegation, a DNAME record belongs to the child zone (RFC 6672, section 2.3). */
  #redirects(node: number): boolean {
    return node === this.apex || (this.#tree.shapeOf(node) & KNOWN.ns) === 0;
  }

  #add(node: number, bit: number): void {
    this.#tree.setShape(node, this.#tree.shapeOf(node) | bit);
  }

  #ensure(bytes: Buffer, place: RecordPlace): number {
    let node = this.#tree.root;
    for (let label = this.#locate(bytes, place) - 1; label >= 0; label--) {
      node = this.#tree.ensureChild(node, bytes, this.#labels[label] ?? 0);
    }
    return node;
  }

  /** Stores where the owner's labels start; returns their number. */
  #locate(bytes: Buffer, { name }: RecordPlace): number {
    let count = 0;
    for (let at = name; (bytes[at] ?? 0) !== 0; at += (bytes[at] ?? 0) + 1) this.#labels[count++] = at;
    return count;
  }
}

function hashOf(bytes: Buffer, { from, to }: RecordPlace): number {
  let hash = 0;
  for (let at = from; at < to; at++) hash = (Math.imul(hash, 31) + (bytes[at] ?? 0)) | 0;
  return (hash ^ (hash >>> 16)) & HASH_MASK;
}
