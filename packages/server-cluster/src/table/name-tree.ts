/**
 * All names of a store as a tree of labels in an arena. Each node knows its parent, so an ancestor of an existing
 * name exists too (RFC 4592, section 2.2.2: an empty non-terminal) and goes away with the last name below it. A
 * name of 16 bytes takes about 45 bytes: each label is stored once, without its ancestors.
 *
 * A zone cut with both zones in the store has two nodes of the same name and parent: the child's apex, which look-ups
 * find, and the parent's side, below which are the names that the parent holds there, such as glue.
 */
import * as wire from '@dinodns-bench/wire';
import * as arena from './arena.ts';
import { Arena } from './arena.ts';
import { hashLabel } from './hash.ts';
import { HashIndex } from './hash-index.ts';

// Copied: README.md, "Hot code".
const { LOWER_CASE, MAX_LABELS } = wire;
const { NONE } = arena;

/** Words of a name's block. The label follows, in lower case with its length byte. */
export const PARENT = 0;
/** What the name holds: a shape of `RecordSets`, or NONE for an empty non-terminal. */
export const SHAPE = 1;
const CHILDREN = 2;
const LABEL = 3;

/** Mixed into the hash of a parent's side, so that it is never found as a child. */
const PARENT_SIDE = 0x5bd1_e995;

const WILDCARD_LABEL = Uint8Array.of(1, 0x2a);

function blockWords(labelBytes: number): number {
  return LABEL + ((labelBytes + 4) >> 2);
}

export class NameTree {
  readonly arena = new Arena();
  readonly index = new HashIndex();
  readonly root: number;
  readonly #labels = new Uint8Array(MAX_LABELS);

  constructor() {
    this.root = this.arena.allocate(blockWords(0));
    this.arena.words.fill(0, this.root, this.root + blockWords(0));
  }

  /** Number of names, including empty non-terminals and the root. */
  get size(): number {
    return this.index.size + 1;
  }

  /** Makes room for `names` more names, whose labels average `labelBytes` bytes. */
  reserve(names: number, labelBytes: number): void {
    this.arena.reserve(Math.ceil(names * (LABEL + (labelBytes + 4) / 4)));
    this.index.reserve(this.index.size + names);
  }

  /** The child of `parent` with the label at `at`, in any case; NONE if there is none. */
  child(parent: number, bytes: Uint8Array, at: number): number {
    return this.#find(hashLabel(parent, bytes, at), parent, bytes, at);
  }

  wildcardBelow(parent: number): number {
    return this.child(parent, WILDCARD_LABEL, 0);
  }

  /** Offset of the name's first label in the arena's bytes. */
  labelAt(node: number): number {
    return (node + LABEL) * 4;
  }

  parentOf(node: number): number {
    return this.arena.words[node + PARENT] ?? NONE;
  }

  /** Number of labels of the node's name. */
  labelCount(node: number): number {
    let count = 0;
    for (let above = node; above !== this.root; above = this.parentOf(above)) count++;
    return count;
  }

  shapeOf(node: number): number {
    return this.arena.words[node + SHAPE] ?? NONE;
  }

  setShape(node: number, shape: number): void {
    this.arena.words[node + SHAPE] = shape;
  }

  ensureChild(parent: number, bytes: Uint8Array, at: number): number {
    const hash = hashLabel(parent, bytes, at);
    const existing = this.#find(hash, parent, bytes, at);
    return existing === NONE ? this.#add(hash, parent, bytes, at) : existing;
  }

  #add(hash: number, parent: number, bytes: Uint8Array, at: number): number {
    const labelBytes = bytes[at] ?? 0;
    const { arena } = this;
    const isOwn = bytes === arena.bytes;
    const node = arena.allocate(blockWords(labelBytes));
    const source = isOwn ? arena.bytes : bytes;
    arena.words[node + PARENT] = parent;
    arena.words[node + SHAPE] = NONE;
    arena.words[node + CHILDREN] = 0;
    const to = this.labelAt(node);
    for (let index = 0; index <= labelBytes; index++) {
      arena.bytes[to + index] = LOWER_CASE[source[at + index] ?? 0] ?? 0;
    }
    this.#changeChildren(parent, 1);
    this.index.add(hash, node);
    return node;
  }

  /** The node of an uncompressed name (with the root); NONE if it does not exist. */
  find(name: Uint8Array): number {
    let node = this.root;
    for (let label = this.#locate(name) - 1; label >= 0 && node !== NONE; label--) {
      node = this.child(node, name, this.#labels[label] ?? 0);
    }
    return node;
  }

  /** The same; creates the name and its ancestors if they do not exist. */
  ensure(name: Uint8Array): number {
    let node = this.root;
    for (let label = this.#locate(name) - 1; label >= 0; label--) {
      node = this.ensureChild(node, name, this.#labels[label] ?? 0);
    }
    return node;
  }

  /** Stores in `#labels` where the labels of a name start, without the root; returns their number. */
  #locate(name: Uint8Array): number {
    let count = 0;
    for (let at = 0; (name[at] ?? 0) !== 0; at += (name[at] ?? 0) + 1) this.#labels[count++] = at;
    return count;
  }

  /** All names except the root, in no particular order. */
  *nodes(): Generator<number, void, void> {
    const { slots } = this.index;
    for (let at = 1; at < slots.length; at += 2) {
      const node = slots[at] ?? NONE;
      if (node !== NONE) yield node;
    }
  }

  /** The parent's side of the zone cut at this apex; NONE if there is none. */
  parentSideOf(apex: number): number {
    if (apex === this.root) return NONE;
    const hash = this.#hashOf(apex) ^ PARENT_SIDE;
    return this.#find(hash, this.parentOf(apex), this.arena.bytes, this.labelAt(apex));
  }

  ensureParentSide(apex: number): number {
    const existing = this.parentSideOf(apex);
    if (existing !== NONE) return existing;
    const hash = this.#hashOf(apex) ^ PARENT_SIDE;
    return this.#add(hash, this.parentOf(apex), this.arena.bytes, this.labelAt(apex));
  }

  /** Makes the name, with all names below it, the parent's side. Returns the new apex in its place. */
  divide(node: number): number {
    const hash = this.#hashOf(node);
    this.index.remove(hash, node);
    this.index.add(hash ^ PARENT_SIDE, node);
    return this.#add(hash, this.parentOf(node), this.arena.bytes, this.labelAt(node));
  }

  /** Moves an apex, with all names below it, to another node of its parent's name. The parent's side stays. */
  move(apex: number, parent: number): void {
    const { words } = this.arena;
    const before = this.parentOf(apex);
    this.#unlink(apex);
    words[apex + PARENT] = parent;
    this.#changeChildren(parent, 1);
    this.index.add(this.#hashOf(apex), apex);
    this.prune(before);
  }

  /** Whether nothing is at the name, nor below it. */
  isUnused(node: number): boolean {
    return this.shapeOf(node) === NONE && this.arena.words[node + CHILDREN] === 0;
  }

  /** Removes the name and its ancestors, as far as nothing needs them. */
  prune(node: number): void {
    for (let current = node; current !== this.root && this.isUnused(current); ) {
      const parent = this.parentOf(current);
      this.#unlink(current);
      this.arena.release(current, blockWords(this.arena.bytes[this.labelAt(current)] ?? 0));
      current = parent;
    }
  }

  /** Removes a node from the index and from its parent. The parent's side of an apex takes its place. */
  #unlink(node: number): void {
    const hash = this.#hashOf(node);
    const parent = this.parentOf(node);
    const side = this.parentSideOf(node);
    this.index.remove(side === node ? hash ^ PARENT_SIDE : hash, node);
    if (side !== node && side !== NONE) {
      this.index.remove(hash ^ PARENT_SIDE, side);
      this.index.add(hash, side);
    }
    this.#changeChildren(parent, -1);
  }

  #hashOf(node: number): number {
    return hashLabel(this.parentOf(node), this.arena.bytes, this.labelAt(node));
  }

  #changeChildren(node: number, change: number): void {
    this.arena.words[node + CHILDREN] = (this.arena.words[node + CHILDREN] ?? 0) + change;
  }

  /** A node's name in lower case, uncompressed. */
  nameOf(node: number): Uint8Array {
    const name: number[] = [];
    for (let current = node; current !== this.root; current = this.parentOf(current)) {
      const at = this.labelAt(current);
      name.push(...this.arena.bytes.subarray(at, at + 1 + (this.arena.bytes[at] ?? 0)));
    }
    return Uint8Array.from([...name, 0]);
  }

  #find(hash: number, parent: number, bytes: Uint8Array, at: number): number {
    const { slots, mask } = this.index;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const id = slots[2 * slot + 1] ?? NONE;
      if (id === NONE) return NONE;
      if (slots[2 * slot] === hash && this.#isChild(id, parent, bytes, at)) return id;
    }
  }

  #isChild(node: number, parent: number, bytes: Uint8Array, at: number): boolean {
    const { words, bytes: own } = this.arena;
    if (words[node + PARENT] !== parent) return false;
    const label = (node + LABEL) * 4;
    const last = own[label] ?? 0;
    for (let index = 0; index <= last; index++) {
      if (own[label + index] !== LOWER_CASE[bytes[at + index] ?? 0]) return false;
    }
    return true;
  }
}

/** Where the labels of a name start, without the root. */
export function labelOffsets(name: Uint8Array): number[] {
  const offsets: number[] = [];
  for (let at = 0; (name[at] ?? 0) !== 0; at += (name[at] ?? 0) + 1) offsets.push(at);
  return offsets;
}
