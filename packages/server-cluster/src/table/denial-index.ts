/**
 * The NSEC or NSEC3 records of each zone in order, to find the one that covers a nonexistent name. Loading zones ends with building
 * it, in slices that let queries through; later changes move single records. Look-ups allocate nothing.
 */
import { LOWER_CASE, TYPE, u16 } from '@dinodns-bench/wire';
import { MAX_NSEC3_ITERATIONS } from '@dinodns-bench/zones';
import { NONE } from './arena.ts';
import { RECORD_HEAD, SHAPE_FLAG } from './block-layout.ts';
import { findSet } from './find-set.ts';
import type { ZoneData } from './zone-data.ts';

/** The denial records of one zone. */
export interface Denials {
  /** The owners of the records, in canonical order (RFC 4034, section 6.1) or in hash order. */
  readonly nodes: Int32Array;
  /** NSEC3 salt and iterations; null for NSEC. */
  readonly hashing: { readonly salt: Uint8Array; readonly iterations: number } | null;
}

/** Work between two pauses, each about two milliseconds. */
const NAMES_PER_SLICE = 5000;
const SORTED_PER_SLICE = 2000;
const MERGED_PER_SLICE = 10_000;

/** Each change copies a zone's order. After more of them without a look-up, the next one builds it anew. */
const MAX_CHANGES = 64;

interface Keyed {
  readonly node: number;
  readonly key: string;
}

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

  /** Builds the index. Names must not change meanwhile; `pause` is awaited about every two milliseconds. */
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
    const apex = apexOf(this.#data, node);
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
    else if (isHashed === (hashing !== null))
      this.#zones.set(apex, { nodes: this.#with(others, node, isHashed), hashing });
    else this.invalidate();
  }

  /** The nodes and one more, in its place. */
  #with(nodes: Int32Array, node: number, isHashed: boolean): Int32Array {
    const keyOf = isHashed ? labelText : canonicalKey;
    const key = keyOf(this.#data, node);
    let [low, high] = [0, nodes.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (keyOf(this.#data, nodes[middle] ?? NONE) < key) low = middle + 1;
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
    for (const node of data.names.nodes()) {
      if (++seen % NAMES_PER_SLICE === 0) yield;
      const flags = data.flagsOf(node);
      if ((flags & (SHAPE_FLAG.nsec | SHAPE_FLAG.nsec3)) === 0) continue;
      const groups = (flags & SHAPE_FLAG.nsec) === 0 ? hashed : plain;
      const apex = apexOf(data, node);
      const group = groups.get(apex);
      if (group === undefined) groups.set(apex, [node]);
      else group.push(node);
    }
    for (const [apex, nodes] of plain)
      zones.set(apex, { nodes: yield* inOrder(nodes, (node) => canonicalKey(data, node)), hashing: null });
    for (const [apex, nodes] of hashed) {
      if (zones.has(apex)) continue;
      const hashing = hashingOf(data, nodes[0] ?? NONE);
      // Zone files with more are refused; of other zones, a denial must not cost more than answering a thousand queries.
      if (hashing.iterations > MAX_NSEC3_ITERATIONS) continue;
      zones.set(apex, { nodes: yield* inOrder(nodes, (node) => labelText(data, node)), hashing });
    }
    this.#zones = zones;
  }
}

function apexOf(data: ZoneData, node: number): number {
  let apex = node;
  while (apex !== data.names.root && (data.flagsOf(apex) & SHAPE_FLAG.soa) === 0)
    apex = data.names.parentOf(apex);
  return apex;
}

/** Merge sort, since a single call of `sort` for a million names takes seconds. */
function* inOrder(
  nodes: readonly number[],
  keyOf: (node: number) => string,
): Generator<void, Int32Array, void> {
  let runs: Keyed[][] = [];
  for (let from = 0; from < nodes.length; from += SORTED_PER_SLICE) {
    const run = nodes.slice(from, from + SORTED_PER_SLICE).map((node) => ({ node, key: keyOf(node) }));
    runs.push(run.sort((one, other) => (one.key < other.key ? -1 : 1)));
    yield;
  }
  while (runs.length > 1) {
    const longer: Keyed[][] = [];
    for (let index = 0; index < runs.length; index += 2)
      longer.push(yield* merged(runs[index] ?? [], runs[index + 1] ?? []));
    runs = longer;
  }
  const sorted = new Int32Array(nodes.length);
  for (const [index, { node }] of (runs[0] ?? []).entries()) sorted[index] = node;
  return sorted;
}

function* merged(one: readonly Keyed[], other: readonly Keyed[]): Generator<void, Keyed[], void> {
  const all: Keyed[] = [];
  let [left, right] = [0, 0];
  for (;;) {
    const [first, second] = [one[left], other[right]];
    if (all.length % MERGED_PER_SLICE === MERGED_PER_SLICE - 1) yield;
    if (first !== undefined && (second === undefined || first.key < second.key)) {
      all.push(first);
      left++;
    } else if (second !== undefined) {
      all.push(second);
      right++;
    } else return all;
  }
}

/**
 * The labels from the root down, each byte incremented and each label followed by a zero: the keys sort in
 * canonical order.
 */
function canonicalKey({ names }: ZoneData, start: number): string {
  let key = '';
  for (let node = start; node !== names.root; node = names.parentOf(node)) {
    const at = names.labelAt(node);
    const length = names.arena.bytes[at] ?? 0;
    const label = Array.from(names.arena.bytes.subarray(at + 1, at + 1 + length), (byte) => byte + 1);
    key = `${String.fromCharCode(...label, 0)}${key}`;
  }
  return key;
}

function labelText({ names }: ZoneData, node: number): string {
  const at = names.labelAt(node);
  const length = names.arena.bytes[at] ?? 0;
  return Buffer.from(names.arena.bytes.subarray(at + 1, at + 1 + length)).toString('latin1');
}

/** Iterations and salt of an NSEC3 record (RFC 5155, section 3.2). */
function hashingOf(data: ZoneData, node: number): { salt: Uint8Array; iterations: number } {
  const set = findSet(data, data.names.shapeOf(node), TYPE.NSEC3);
  const { bytes } = data.sets.arena;
  const at = data.sets.bytesAt(set) + RECORD_HEAD;
  const length = bytes[at + 4] ?? 0;
  return { iterations: u16(bytes, at + 2), salt: bytes.slice(at + 5, at + 5 + length) };
}

/** Compares labels with their length bytes, byte by byte in lower case. */
export function compareLabels(one: Uint8Array, oneAt: number, other: Uint8Array, otherAt: number): number {
  const length = one[oneAt] ?? 0;
  const otherLength = other[otherAt] ?? 0;
  for (let index = 1; index <= length && index <= otherLength; index++) {
    const difference =
      (LOWER_CASE[one[oneAt + index] ?? 0] ?? 0) - (LOWER_CASE[other[otherAt + index] ?? 0] ?? 0);
    if (difference !== 0) return difference;
  }
  return length - otherLength;
}
