/**
 * Follows CNAME and DNAME records for one question, up to a limit, and stops at a loop. The answer is then what
 * has been written so far; the resolver finds out that it leads nowhere.
 */
import { TYPE } from '@dinodns-bench/wire';
import { RECORD_HEAD } from './block-layout.ts';
import { findSet } from './find-set.ts';
import type { Finder } from './finder.ts';
import { KEEP_TTL, type ReplyWriter } from './reply-writer.ts';
import type { SignedWriter } from './signed-writer.ts';
import type { ZoneData } from './zone-data.ts';

/** Names followed for one question; the same as in BIND (`max-query-restarts` was 16 until 9.20). */
const MAX_CHAIN = 16;

export class AliasChain {
  readonly #reply: ReplyWriter;
  readonly #signed: SignedWriter;
  /** Offsets in the message of the names followed so far. */
  readonly #names = new Uint16Array(MAX_CHAIN);
  /** The owners of the DNAME records applied, the offsets of the records, and the labels before each owner. */
  readonly #redirections = new Int32Array(MAX_CHAIN);
  readonly #records = new Uint16Array(MAX_CHAIN);
  readonly #prefixes = new Uint8Array(MAX_CHAIN);
  /** Offset in the message of the target of the CNAME record that `follow` or `redirect` wrote last. */
  target = 0;
  #length = 0;
  #redirected = 0;

  constructor(reply: ReplyWriter, signed: SignedWriter) {
    this.#reply = reply;
    this.#signed = signed;
  }

  /** Starts a new question. */
  begin(): void {
    this.#length = 0;
    this.#redirected = 0;
  }

  /** Whether the name at `labels[0]` was followed already, or the limit is reached. */
  isClosed(labels: Uint16Array): boolean {
    if (this.#length === MAX_CHAIN) return true;
    for (let index = 0; index < this.#length; index++) {
      if (this.#reply.isSameName(this.#names[index] ?? 0, labels[0] ?? 0)) return true;
    }
    return false;
  }

  /** Whether the DNAME record of this node is in the answer; a section has no record twice (RFC 2181, section 5). */
  hasApplied(node: number): boolean {
    return this.#indexOf(node) < this.#redirected;
  }

  /** Writes the CNAME record of the name found. False if it does not fit. */
  follow(data: ZoneData, { node, surplus }: Finder, labels: Uint16Array): boolean {
    const record = this.#writeOne(data, TYPE.CNAME, node, labels, 0, surplus);
    if (record === 0) return false;
    this.#advance(labels, record + RECORD_HEAD);
    return true;
  }

  /**
   * Whether the DNAME record above the queried name was applied before, to a name with no more labels. Then names
   * only grow: such a record usually lies above its own target and would apply for ever.
   */
  isGrowing({ redirection, redirectionLabel }: Finder): boolean {
    const index = this.#indexOf(redirection);
    return index < this.#redirected && redirectionLabel >= (this.#prefixes[index] ?? 0);
  }

  /**
   * Writes the DNAME record above the queried name, unless it is already there, and the CNAME record synthesized
   * from it. False if the target is too long or does not fit.
   */
  redirect(data: ZoneData, { redirection, redirectionLabel }: Finder, labels: Uint16Array): boolean {
    const reply = this.#reply;
    const index = this.#indexOf(redirection);
    if (index === this.#redirected) {
      const record = this.#writeOne(data, TYPE.DNAME, redirection, labels, redirectionLabel, 0);
      if (record === 0) return false;
      this.#redirections[index] = redirection;
      this.#records[index] = record;
      this.#redirected++;
    }
    const target = reply.writeSynthesized(this.#records[index] ?? 0, labels, redirectionLabel);
    if (target === 0) return false;
    reply.answers++;
    this.#prefixes[index] = redirectionLabel;
    this.#advance(labels, target);
    return true;
  }

  #advance(labels: Uint16Array, target: number): void {
    this.#names[this.#length++] = labels[0] ?? 0;
    this.target = target;
  }

  #indexOf(redirection: number): number {
    let index = 0;
    while (index < this.#redirected && this.#redirections[index] !== redirection) index++;
    return index;
  }

  /**
   * Writes one record, even if the store holds several, which a name must not have (RFC 2181, section 10.1; RFC
   * 6672, section 2.4). Returns its offset; 0 if it does not fit.
   */
  #writeOne(
    data: ZoneData,
    type: number,
    node: number,
    labels: Uint16Array,
    owner: number,
    surplus: number,
  ): number {
    const reply = this.#reply;
    const first = reply.at;
    const set = findSet(data, data.names.shapeOf(node), type);
    const written = reply.writeSet(data.sets, data.names, set, node, labels, owner, surplus, KEEP_TTL);
    if (written === 0) return 0;
    if (written > 1) reply.keepFirst(first);
    reply.answers++;
    reply.answers += this.#signed.writeSignatures(data, type, node, labels, owner, surplus, KEEP_TTL);
    return reply.isFull ? 0 : first;
  }
}
