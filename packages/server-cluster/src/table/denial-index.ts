/**
 * The NSEC or NSEC3 records of each zone in order, to find the one that covers a nonexistent name. Loading zones ends with building
 * it, in slices that let queries through; later changes move single records. Look-ups allocate nothing.
 */
import { compareLabels, TYPE, u16 } from '@dinodns-bench/wire';
import { MAX_NSEC3_ITERATIONS } from '@dinodns-bench/zones/data';
import { NONE } from './arena.ts';
import { RECORD_HEAD, recordEnd, SET, SHAPE_FLAG } from './block-layout.ts';
import type { NameTree } from './name-tree.ts';
import type { ZoneData } from './zone-data.ts';

/** How the names of NSEC3 records are hashed (RFC 5155, section 3.2). */
interface Hashing {
  readonly salt: Uint8Array;
  readonly iterations: number;
}

/** The denial records of one zone. */
export interface Denials {
  /** The owners of the records, in canonical order (RFC 4034, section 6.1) or in hash order. */
  readonly nodes: Int32Array;
  /** Null for NSEC. */
  readonly hashing: Hashing | null;
}

/** Work between two pauses, each about a millisecond. */
const NAMES_PER_SLICE = 5000;
const COMPARED_PER_SLICE = 5000;

/** Each change copies a zone's order. After more of them without a look-up, the next one builds it anew. */
const MAX_CHANGES = 64;

export class DenialIndex {
  readonly #data: ZoneData;
  /** By apex; undefined until it is built. */
  #zones: Map<number, Denials> | undefined;
  #changes = 0;

  constructor(data: ZoneData) {
    this.#data = data;
  }

  /** The records of the zone with this apex; undefined if it is not signed. */
  of(apex: number): Denials | undefined {
    this.#changes = 0;
    if (this.#zones === undefined) for (const _pause of this.#build());
    return this.#zones?.get(apex);
  }

  /** Builds the index. Names must not change meanwhile; `pause` is awaited about every millisecond. */
  async prepare(pause: () => Promise<unknown>): Promise<void> {
    if (this.#zones !== undefined) return;
    for (const _pause of this.#build()) await pause();
  }

  /** Zones begin or end elsewhere: everything may be in another zone. */
  invalidate(): void {
    this.#zones = undefined;
  }

  /** A name has such records now, or has none any more. Called while the name exists. */
  change(node: number, isOwner: boolean): void {
    if (this.#zones === undefined) return;
    this.#changes++;
    const apex = this.#data.apexOf(node);
    const denials = this.#zones.get(apex);
    // The first record of a zone decides how its names are compared.
    if (denials === undefined || this.#changes > MAX_CHANGES) {
      this.invalidate();
      return;
    }
    const { nodes, hashing } = denials;
    const others = nodes.filter((other) => other !== node);
    const isHashed = (this.#data.flagsOf(node) & SHAPE_FLAG.nsec) === 0;
    if (!isOwner) this.#zones.set(apex, { nodes: others, hashing });
    else if (hashing === null ? !isHashed : isHashed && isHashedBy(this.#data, node, hashing))
      this.#zones.set(apex, { nodes: this.#with(others, node, isHashed), hashing });
    else this.invalidate();
  }

  /** The nodes and one more, in its place. */
  #with(nodes: Int32Array, node: number, isHashed: boolean): Int32Array {
    const order = isHashed ? byLabel : canonically;
    let [low, high] = [0, nodes.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (order(this.#data.names, nodes[middle] ?? NONE, node) < 0) low = middle + 1;
      else high = middle;
    }
    const more = new Int32Array(nodes.length + 1);
    more.set(nodes.subarray(0, low));
    more[low] = node;
    more.set(nodes.subarray(low), low + 1);
    return more;
  }

  /** Yields where others may have a turn. */
  *#build(): Generator<void, void, void> {
    const data = this.#data;
    const zones = new Map<number, Denials>();
    const plain = new Map<number, number[]>();
    const hashed = new Map<number, number[]>();
    let seen = 0;
    const isSigned = (data.flags & (SHAPE_FLAG.nsec | SHAPE_FLAG.nsec3)) !== 0;
    for (const node of isSigned ? data.names.nodes() : []) {
      if (++seen % NAMES_PER_SLICE === 0) yield;
      const flags = data.flagsOf(node);
      if ((flags & (SHAPE_FLAG.nsec | SHAPE_FLAG.nsec3)) === 0) continue;
      const groups = (flags & SHAPE_FLAG.nsec) === 0 ? hashed : plain;
      const apex = data.apexOf(node);
      const group = groups.get(apex);
      if (group === undefined) groups.set(apex, [node]);
      else group.push(node);
    }
    for (const [apex, nodes] of plain)
      zones.set(apex, { nodes: yield* inOrder(data.names, nodes, canonically), hashing: null });
    for (const [apex, nodes] of hashed) {
      const hashing =
        (yield* declaredFor(data, apex, nodes)) ?? (zones.has(apex) ? undefined : hashingOf(data, nodes[0]));
      // Zone files with more are refused; of other zones, a denial must not cost more than answering a thousand queries.
      if (hashing === undefined || hashing.iterations > MAX_NSEC3_ITERATIONS) continue;
      const chain: number[] = [];
      for (const node of nodes) {
        if (++seen % NAMES_PER_SLICE === 0) yield;
        if (isHashedBy(data, node, hashing)) chain.push(node);
      }
      zones.set(apex, { nodes: yield* inOrder(data.names, chain, byLabel), hashing });
    }
    this.#zones = zones;
  }
}

type Order = (names: NameTree, one: number, other: number) => number;

/**
 * Merge sort in two arrays: a single call of `sort` for a million names takes seconds, and their keys as strings would take the
 * collector's time as well.
 */
function* inOrder(
  names: NameTree,
  nodes: readonly number[],
  order: Order,
): Generator<void, Int32Array, void> {
  let from = Int32Array.from(nodes);
  let to = new Int32Array(nodes.length);
  let compared = 0;
  for (let width = 1; width < nodes.length; width *= 2) {
    for (let start = 0; start < nodes.length; start += 2 * width) {
      const middle = Math.min(start + width, nodes.length);
      const end = Math.min(start + 2 * width, nodes.length);
      let [left, right] = [start, middle];
      for (let at = start; at < end; at++) {
        if (++compared % COMPARED_PER_SLICE === 0) yield;
        const [one = NONE, other = NONE] = [from[left], from[right]];
        const isLeft = right >= end || (left < middle && order(names, one, other) < 0);
        to[at] = isLeft ? one : other;
        if (isLeft) left++;
        else right++;
      }
    }
    [from, to] = [to, from];
  }
  return from;
}

/** Canonical order (RFC 4034, section 6.1): by the labels from the root down. Labels are in lower case here. */
function canonically(names: NameTree, one: number, other: number): number {
  let [left, right] = [one, other];
  const difference = names.labelCount(left) - names.labelCount(right);
  for (let depth = difference; depth > 0; depth--) left = names.parentOf(left);
  for (let depth = difference; depth < 0; depth++) right = names.parentOf(right);
  // One is the other, or below it.
  if (left === right) return difference;
  while (names.parentOf(left) !== names.parentOf(right)) {
    left = names.parentOf(left);
    right = names.parentOf(right);
  }
  return byLabel(names, left, right);
}

/** By the first label, as bytes: the order of hashes, too. */
function byLabel(names: NameTree, one: number, other: number): number {
  const { bytes } = names.arena;
  return compareLabels(bytes, names.labelAt(one), bytes, names.labelAt(other));
}

/**
 * The hashing that NSEC3PARAM names: while a zone changes its salt, or changes from or to NSEC, the other records are not complete (RFC
 * 5155, sections 4 and 10.4). Undefined without one, or without its records.
 */
function* declaredFor(
  data: ZoneData,
  apex: number,
  nodes: readonly number[],
): Generator<void, Hashing | undefined, void> {
  const set = data.setAt(apex, TYPE.NSEC3PARAM);
  if (set === NONE) return undefined;
  const { words, bytes } = data.sets.arena;
  let at = data.sets.bytesAt(set);
  for (const end = at + (words[set + SET.length] ?? 0); at < end; at = recordEnd(bytes, at)) {
    // With flags it is not in use yet (RFC 5155, section 4.1.2).
    if (bytes[at + RECORD_HEAD + 1] !== 0) continue;
    const hashing = hashingAt(bytes, at + RECORD_HEAD);
    for (const [index, node] of nodes.entries()) {
      if (index % NAMES_PER_SLICE === NAMES_PER_SLICE - 1) yield;
      if (isHashedBy(data, node, hashing)) return hashing;
    }
  }
  return undefined;
}

/** Iterations and salt are at the same place in the data of NSEC3 and NSEC3PARAM. */
function hashingAt(bytes: Uint8Array, at: number): Hashing {
  return { iterations: u16(bytes, at + 2), salt: bytes.slice(at + 5, at + 5 + (bytes[at + 4] ?? 0)) };
}

function hashingOf(data: ZoneData, node = NONE): Hashing {
  const at = data.sets.bytesAt(data.setAt(node, TYPE.NSEC3)) + RECORD_HEAD;
  return hashingAt(data.sets.arena.bytes, at);
}

/** Without allocating: a zone has as many of these records as names. */
function isHashedBy(data: ZoneData, node: number, { salt, iterations }: Hashing): boolean {
  const { bytes } = data.sets.arena;
  const at = data.sets.bytesAt(data.setAt(node, TYPE.NSEC3)) + RECORD_HEAD;
  if (u16(bytes, at + 2) !== iterations || bytes[at + 4] !== salt.length) return false;
  for (let index = 0; index < salt.length; index++) if (bytes[at + 5 + index] !== salt[index]) return false;
  return true;
}
