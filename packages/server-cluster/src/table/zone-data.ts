/**
 * The records of a store: its names, and what each holds. Every path answers from this single copy, which is
 * entirely in typed arrays.
 */
import * as wire from '@dinodns-bench/wire';
import * as arena from './arena.ts';
import * as layout from './block-layout.ts';
import { DenialIndex } from './denial-index.ts';
import { NameTree } from './name-tree.ts';
import { RecordSets } from './record-sets.ts';
import { joinSignatures, type StoredSet, splitSignatures } from './stored-set.ts';

// Copied: README.md, "Hot code".
const { TYPE } = wire;
const { NONE } = arena;
const { SHAPE_FLAG, SHAPE_WORD } = layout;

/** 8 MiB: less is copied in a millisecond. */
const WORTH_RESERVING = 2 ** 23;

const DENIALS = SHAPE_FLAG.nsec | SHAPE_FLAG.nsec3;

export class ZoneData {
  readonly names = new NameTree();
  readonly sets = new RecordSets();
  readonly denials = new DenialIndex(this);
  /** All flags that any name has had so far, as bits of `SHAPE_FLAG`. */
  flags = 0;
  /** Labels of the longest zone name so far: no zone is below a name with as many. */
  longestZone = 0;

  get byteLength(): number {
    return this.#stores.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  get isEmpty(): boolean {
    return this.names.size === 1 && this.names.shapeOf(this.names.root) === NONE;
  }

  /**
   * Makes room for records that take so many bytes in wire format: what is reserved and not used takes no memory, and what grows
   * later is copied, which holds up queries for a tenth of a second where there are a million names.
   */
  expect(bytes: number): void {
    if (bytes < WORTH_RESERVING) return;
    // Names take up to four fifths of that, and sets half.
    this.names.arena.reserve(Math.ceil(bytes / 4));
    this.sets.arena.reserve(Math.ceil(bytes / 4));
  }

  /** Everything, as `restore` takes it; valid until the next change. */
  parts(): Int32Array[] {
    return [...this.#stores.flatMap((store) => store.parts()), Int32Array.of(this.longestZone, this.flags)];
  }

  /** Takes over the parts of another one, instead of what was here. */
  restore(parts: readonly Int32Array<ArrayBuffer>[]): void {
    const none = new Int32Array();
    for (const [index, store] of this.#stores.entries())
      store.restore(parts[2 * index] ?? none, parts[2 * index + 1] ?? none);
    [this.longestZone = 0, this.flags = 0] = parts.at(-1) ?? none;
    this.denials.invalidate();
  }

  get #stores() {
    return [this.names.arena, this.names.index, ...this.sets.stores];
  }

  /** All record sets of a name, in the order in which they were added. */
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
    this.writeNode(existing === NONE ? this.names.ensure(name) : existing, name, sets);
  }

  /** The same for a node of that name, which no longer exists if nothing is left at or below it. */
  writeNode(node: number, name: Uint8Array, sets: readonly StoredSet[]): void {
    this.setShape(node, this.sets.shapeOf(splitSignatures(sets), wire.lowerCaseName(name)));
    this.names.prune(node);
  }

  /** Whether a zone starts at the name. */
  isApex(node: number): boolean {
    return (this.flagsOf(node) & SHAPE_FLAG.soa) !== 0;
  }

  /** The nearest apex at or above a name; the root if there is none. */
  apexOf(node: number): number {
    let apex = node;
    while (apex !== this.names.root && !this.isApex(apex)) apex = this.names.parentOf(apex);
    return apex;
  }

  /** The node's record set of that type, or the first one for ANY (RFC 8482, section 4.1); NONE if there is none. */
  setAt(node: number, type: number): number {
    const shape = this.names.shapeOf(node);
    if (shape === NONE) return NONE;
    const { words } = this.sets.arena;
    const first = shape + SHAPE_WORD.head;
    if (type === TYPE.ANY) return words[first + 1] ?? NONE;
    const end = first + 2 * (words[shape + SHAPE_WORD.sets] ?? 0);
    for (let at = first; at < end; at += 2) if (words[at] === type) return words[at + 1] ?? NONE;
    return NONE;
  }

  /** Which record types that matter to others the name holds, as bits of `SHAPE_FLAG`. */
  flagsOf(node: number): number {
    return this.#flagsOfShape(this.names.shapeOf(node));
  }

  #flagsOfShape(shape: number): number {
    return shape === NONE ? 0 : (this.sets.arena.words[shape + SHAPE_WORD.flags] ?? 0);
  }

  /** Replaces what a name holds by a shape of `sets`. The name is kept even if that is nothing. */
  setShape(node: number, shape: number): void {
    const before = this.names.shapeOf(node);
    const flags = this.#flagsOfShape(shape);
    const old = this.#flagsOfShape(before);
    if ((flags & SHAPE_FLAG.soa) !== 0)
      this.longestZone = Math.max(this.longestZone, this.names.labelCount(node));
    this.flags |= flags;
    const parameters = (flags & SHAPE_FLAG.soa) === 0 ? NONE : this.setAt(node, TYPE.NSEC3PARAM);
    this.sets.retain(shape);
    this.names.setShape(node, shape);
    this.sets.release(before);
    const hasOtherParameters =
      (flags & SHAPE_FLAG.soa) !== 0 && this.setAt(node, TYPE.NSEC3PARAM) !== parameters;
    if (((old ^ flags) & SHAPE_FLAG.soa) !== 0 || hasOtherParameters) this.denials.invalidate();
    else if (((old ^ flags) & DENIALS) !== 0) this.denials.change(node, (flags & DENIALS) !== 0);
  }
}
