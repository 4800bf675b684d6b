/**
 * Follows CNAME and DNAME records for one question, up to a limit, and stops at a loop. The answer is then what
 * has been written so far; the resolver finds out that it leads nowhere.
 */
import { TYPE } from '@dinodns-bench/wire';
import { RECORD_HEAD } from './block-layout.ts';
import type { Lookup, Place } from './find.ts';
import { KEEP_TTL, type ReplyWriter } from './reply-writer.ts';
import type { SignedWriter } from './signed-writer.ts';

/** Names followed for one question; the same as in BIND (`max-query-restarts` was 16 until 9.20). */
const MAX_CHAIN = 16;

export class AliasChain {
  readonly #reply: ReplyWriter;
  readonly #signed: SignedWriter;
  readonly #lookup: Lookup;
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

  constructor(reply: ReplyWriter, signed: SignedWriter, lookup: Lookup) {
    this.#reply = reply;
    this.#signed = signed;
    this.#lookup = lookup;
  }

  /** Starts a new question. */
  begin(): void {
    this.#length = 0;
    this.#redirected = 0;
  }

  /** Whether the name at `labels[0]` was followed already, or the limit is reached. */
  isClosed(): boolean {
    const { labels } = this.#lookup;
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
  follow(): boolean {
    const record = this.#writeOne(TYPE.CNAME, this.#lookup.name);
    if (record === 0) return false;
    this.#advance(record + RECORD_HEAD);
    return true;
  }

  /**
   * Whether the DNAME record above the queried name was applied before, to a name with no more labels. Then names
   * only grow: such a record usually lies above its own target and would apply for ever.
   */
  isGrowing(): boolean {
    const { redirection } = this.#lookup;
    const index = this.#indexOf(redirection.node);
    return index < this.#redirected && redirection.label >= (this.#prefixes[index] ?? 0);
  }

  /**
   * Writes the DNAME record above the queried name, unless it is already there, and the CNAME record synthesized
   * from it. False if the target is too long or does not fit.
   */
  redirect(): boolean {
    const reply = this.#reply;
    const { redirection, labels } = this.#lookup;
    const { node, label } = redirection;
    const index = this.#indexOf(node);
    if (index === this.#redirected) {
      const record = this.#writeOne(TYPE.DNAME, redirection);
      if (record === 0) return false;
      this.#redirections[index] = node;
      this.#records[index] = record;
      this.#redirected++;
    }
    const target = reply.writeSynthesized(this.#records[index] ?? 0, labels, label);
    if (target === 0) return false;
    reply.answers++;
    this.#prefixes[index] = label;
    this.#advance(target);
    return true;
  }

  #advance(target: number): void {
    this.#names[this.#length++] = this.#lookup.labels[0] ?? 0;
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
  #writeOne(type: number, owner: Place): number {
    const reply = this.#reply;
    const lookup = this.#lookup;
    const first = reply.at;
    const written = reply.writeSet(lookup, lookup.data.setAt(owner.node, type), owner, KEEP_TTL);
    if (written === 0) return 0;
    if (written > 1) reply.keepFirst(first);
    reply.answers++;
    reply.answers += this.#signed.writeSignatures(lookup, type, owner, KEEP_TTL);
    return reply.isFull ? 0 : first;
  }
}
