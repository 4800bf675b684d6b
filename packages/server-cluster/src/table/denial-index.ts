/**
 * The NSEC or NSEC3 records of each zone in order, to find the one that covers a nonexistent name. Built on first
 * use after such records change; look-ups allocate nothing.
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

export class DenialIndex {
  #data: ZoneData | undefined;
  #changes = -1;
  readonly #zones = new Map<number, Denials>();

  /** The records of the zone with this apex; undefined if it is not signed. */
  of(data: ZoneData, apex: number): Denials | undefined {
    if (this.#data !== data || this.#changes !== data.denialChanges) this.#build(data);
    return this.#zones.get(apex);
  }

  #build(data: ZoneData): void {
    this.#data = data;
    this.#changes = data.denialChanges;
    this.#zones.clear();
    const plain = new Map<number, number[]>();
    const hashed = new Map<number, number[]>();
    for (const node of data.names.nodes()) {
      const flags = data.flagsOf(node);
      if ((flags & (SHAPE_FLAG.nsec | SHAPE_FLAG.nsec3)) === 0) continue;
      const groups = (flags & SHAPE_FLAG.nsec) === 0 ? hashed : plain;
      const apex = apexOf(data, node);
      const group = groups.get(apex);
      if (group === undefined) groups.set(apex, [node]);
      else group.push(node);
    }
    for (const [apex, nodes] of plain) {
      this.#zones.set(apex, { nodes: inOrder(nodes, (node) => canonicalKey(data, node)), hashing: null });
    }
    for (const [apex, nodes] of hashed) {
      const first = nodes[0] ?? NONE;
      const sorted = inOrder(nodes, (node) => labelText(data, node));
      const hashing = hashingOf(data, first);
      // Zone files with more are refused; of other zones, a denial must not cost more than answering a thousand queries.
      if (hashing.iterations > MAX_NSEC3_ITERATIONS) continue;
      if (!this.#zones.has(apex)) this.#zones.set(apex, { nodes: sorted, hashing });
    }
  }
}

function apexOf(data: ZoneData, node: number): number {
  let apex = node;
  while (apex !== data.names.root && (data.flagsOf(apex) & SHAPE_FLAG.soa) === 0)
    apex = data.names.parentOf(apex);
  return apex;
}

function inOrder(nodes: readonly number[], keyOf: (node: number) => string): Int32Array {
  const keyed = nodes.map((node) => ({ node, key: keyOf(node) }));
  keyed.sort((one, other) => (one.key < other.key ? -1 : 1));
  return Int32Array.from(keyed, ({ node }) => node);
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
