/**
 * The records of a store: its names, and what each holds. Every path answers from this single copy, which is
 * entirely in typed arrays.
 */
import { LOWER_CASE } from '@dinodns-bench/wire';
import { NONE } from './arena.ts';
import { NameTree } from './name-tree.ts';
import { RecordSets, SHAPE_FLAG, SHAPE_WORD, type StoredSet } from './record-sets.ts';
import { joinSignatures, splitSignatures } from './signatures.ts';

function lowerCase(name: Uint8Array): Uint8Array {
  const lower = new Uint8Array(name.length);
  for (let at = 0; at < name.length; at++) lower[at] = LOWER_CASE[name[at] ?? 0] ?? 0;
  return lower;
}

export class ZoneData {
  readonly names = new NameTree();
  readonly sets = new RecordSets();
  /** Incremented whenever NSEC or NSEC3 records, or other records at their names, change. */
  denialChanges = 0;

  get byteLength(): number {
    return this.names.byteLength + this.sets.byteLength;
  }

  /** Makes room for `names` more names, whose labels average `labelBytes` bytes. */
  reserve(names: number, labelBytes: number): void {
    this.names.reserve(names, labelBytes);
  }

  /** All record sets of a name (uncompressed, any case), in the order in which they were added. */
  read(name: Uint8Array): StoredSet[] {
    const node = this.names.find(name);
    return node === NONE ? [] : this.readNode(node);
  }

  readNode(node: number): StoredSet[] {
    const owner = this.names.nameOf(node);
    return joinSignatures(
      this.sets.setsOf(this.names.shapeOf(node)).map((set) => this.sets.read(set, owner)),
    );
  }

  /** Replaces everything that a name holds. Without sets the name is removed, unless there are names below it. */
  write(name: Uint8Array, sets: readonly StoredSet[]): void {
    const existing = this.names.find(name);
    if (existing === NONE && sets.length === 0) return;
    const node = existing === NONE ? this.names.ensure(name) : existing;
    this.#setShape(node, this.sets.shapeOf(splitSignatures(sets), lowerCase(name)));
    this.names.prune(node);
  }

  /** Assigns a shape to a name that holds nothing yet. */
  fill(node: number, shape: number): void {
    this.#setShape(node, shape);
  }

  #denies(shape: number): boolean {
    const flags = shape === NONE ? 0 : (this.sets.arena.words[shape + SHAPE_WORD.flags] ?? 0);
    return (flags & (SHAPE_FLAG.nsec | SHAPE_FLAG.nsec3)) !== 0;
  }

  #setShape(node: number, shape: number): void {
    const before = this.names.shapeOf(node);
    if (this.#denies(before) || this.#denies(shape)) this.denialChanges++;
    this.sets.retain(shape);
    this.names.setShape(node, shape);
    this.sets.release(before);
  }
}
