/**
 * The framework's `DefaultStore` as bytes: a copy of its records that follows every change and answers as its
 * handler does: exact types only, wildcards even beside existing names, TTL 0, AA clear. Unlike there, names
 * compare case-insensitively.
 */
import { CLASS, canonicalName, encodeName, type QueryReader, TYPE } from '@dinodns-bench/wire';
import type { DefaultStore } from 'dinodns/plugins/storage/index.js';
import type { SupportedAnswer } from 'dinodns/types/dns.js';
import { encodeData } from '../wire/rdata.ts';
import { typeNumber } from '../wire/types.ts';
import { NONE } from './arena.ts';
import { SET } from './block-layout.ts';
import { Lookup } from './find.ts';
import { KEEP_TTL, type ReplyWriter } from './reply-writer.ts';
import { FOUND, OUTSIDE, type Source, TO_FRAMEWORK } from './responder.ts';
import type { StoredSet } from './stored-set.ts';
import { ZoneData } from './zone-data.ts';

/** Added to a type whose records cannot be encoded: the store's handler fails, and the client gets SERVFAIL. */
const UNANSWERABLE = 0x1_0000;

export class DefaultStoreWriter implements Source {
  readonly #store: DefaultStore;
  readonly #reply: ReplyWriter;
  readonly #data = new ZoneData();
  readonly #lookup = new Lookup(this.#data);
  /** What was found. */
  #set = NONE;
  /** Store keys that are not in canonical form, by their canonical form. */
  readonly #spellings = new Map<string, Set<string>>();

  /**
   * Copies the store and wraps its `set`, `append` and `delete`, the only ways to change it; the store emits no
   * other notice. Changes made directly to its `data`, or to an array passed to it, go unnoticed.
   */
  constructor(store: DefaultStore, reply: ReplyWriter) {
    this.#store = store;
    this.#reply = reply;
    for (const key of store.data.keys()) this.#refresh(key);
    const { set, append, delete: remove } = store;
    store.set = (...args) => {
      set.apply(store, args);
      this.#refresh(args[0]);
    };
    store.append = (...args) => {
      append.apply(store, args);
      this.#refresh(args[0]);
    };
    store.delete = (...args) => {
      remove.apply(store, args);
      this.#refresh(args[0]);
    };
  }

  find(bytes: Uint8Array, start: number, query: QueryReader): number {
    // The handler ignores the class. A store with caches behind it tells them about every answer.
    if (query.class !== CLASS.IN || this.#store.shouldCache) return TO_FRAMEWORK;
    const data = this.#data;
    const lookup = this.#lookup;
    lookup.begin(data, bytes, start, query);
    lookup.find(0);
    this.#toRecords();
    if (lookup.name.node === NONE) return OUTSIDE;
    // An exact match even for ANY: no records have that type.
    this.#set = query.type === TYPE.ANY ? NONE : lookup.set();
    if (this.#set === NONE)
      return data.setAt(lookup.name.node, query.type | UNANSWERABLE) === NONE ? OUTSIDE : TO_FRAMEWORK;
    return data.sets.arena.words[this.#set + SET.records] === 0 ? OUTSIDE : FOUND;
  }

  write(): number {
    const lookup = this.#lookup;
    this.#reply.answers += this.#reply.writeSet(lookup, this.#set, lookup.name, KEEP_TTL);
    return 0;
  }

  /** Stays at the name if it has records, else moves to the nearest wildcard above it; NONE if there is none. */
  #toRecords(): void {
    const { names } = this.#data;
    const { name, unmatched } = this.#lookup;
    if (unmatched === 0 && names.shapeOf(name.node) !== NONE) return;
    let above = unmatched === 0 && name.node !== names.root ? names.parentOf(name.node) : name.node;
    let surplus = Math.max(unmatched - 1, 0);
    name.node = NONE;
    for (; above !== NONE; above = above === names.root ? NONE : names.parentOf(above), surplus++) {
      const wildcard = names.wildcardBelow(above);
      if (wildcard === NONE || names.shapeOf(wildcard) === NONE) continue;
      name.node = wildcard;
      name.surplus = surplus;
      return;
    }
  }

  /** Copies what the store has for a key and for other spellings of the same name. */
  #refresh(key: string): void {
    let name: string;
    try {
      name = canonicalName(key);
    } catch {
      // No query can contain such a name.
      return;
    }
    if (key !== name) this.#note(key, name);
    const spellings = [name, ...(this.#spellings.get(name) ?? [])];
    this.#data.write(
      encodeName(name),
      spellings.reduce<StoredSet[]>((sets, spelling) => this.#add(sets, spelling), []),
    );
  }

  #note(key: string, name: string): void {
    const spellings = this.#spellings.get(name) ?? new Set();
    if (this.#store.data.has(key)) spellings.add(key);
    else spellings.delete(key);
    if (spellings.size > 0) this.#spellings.set(name, spellings);
    else this.#spellings.delete(name);
  }

  /** The sets of one key, except for types that another key provides. */
  #add(sets: readonly StoredSet[], key: string): StoredSet[] {
    const own = Array.from(this.#store.data.get(key) ?? [], ([type, items]) => toSet(type, items));
    return [...sets, ...own.filter(({ type }) => !sets.some((set) => set.type === type))];
  }
}

function toSet(type: string, items: readonly unknown[]): StoredSet {
  let number = 0;
  try {
    number = typeNumber(type);
    const records = items.map((data) => ({
      ttl: 0,
      data: encodeData({ name: '.', type, data } as SupportedAnswer),
    }));
    return { type: number, records };
  } catch {
    return { type: number | UNANSWERABLE, records: [] };
  }
}
