/**
 * The names of a store: each knows its parent, so that a name above an existing one exists too (RFC 4592,
 * section 2.2.2: an empty non-terminal), and vanishes with the last name below it.
 */
import type { SupportedAnswer, SupportedRecordType } from 'dinodns/types/dns.js';
import { parentName } from '../wire/names.ts';
import type { StoredAnswer } from './answer.ts';

/** One name. Only `NameTree` creates and removes them. */
export class NameNode {
  readonly key: string;
  readonly parent: NameNode | undefined;
  /** Records by type; undefined for a name that exists only because of those below it. */
  records: Map<SupportedRecordType, SupportedAnswer[]> | undefined = undefined;
  children = 0;
  /** Answers compiled so far, valid for this generation of the store only. */
  generation = -1;
  answers: Map<string, StoredAnswer> | undefined = undefined;
  noData: StoredAnswer | null | undefined = undefined;
  nameError: StoredAnswer | undefined = undefined;

  constructor(key: string, parent: NameNode | undefined) {
    this.key = key;
    this.parent = parent;
  }

  has(type: SupportedRecordType): boolean {
    return this.records?.has(type) ?? false;
  }
}

export class NameTree {
  readonly #nodes = new Map<string, NameNode>();

  get(key: string): NameNode | undefined {
    return this.#nodes.get(key);
  }

  /** The node of this name, created with all those above it if it is new. */
  ensure(key: string): NameNode {
    const existing = this.#nodes.get(key);
    if (existing !== undefined) return existing;
    const above = parentName(key);
    const parent = above === undefined ? undefined : this.ensure(above);
    const node = new NameNode(key, parent);
    this.#nodes.set(key, node);
    if (parent !== undefined) parent.children++;
    return node;
  }

  /** Removes the node, and those above it, as far as nothing needs them. */
  prune(node: NameNode): void {
    let current: NameNode | undefined = node;
    while (current !== undefined && current.children === 0 && (current.records?.size ?? 0) === 0) {
      this.#nodes.delete(current.key);
      current = current.parent;
      if (current !== undefined) current.children--;
    }
  }

  /** The nearest existing name above one that does not exist (RFC 4592, section 3.3.1). */
  closestEncloser(key: string): NameNode | undefined {
    let name = parentName(key);
    while (name !== undefined) {
      const node = this.#nodes.get(name);
      if (node !== undefined) return node;
      name = parentName(name);
    }
    return undefined;
  }
}
