/**
 * Adds zones of the same layout at memory speed: the contents are compiled once, for a stand-in name. For each
 * further zone, only its names are added to the tree.
 */
import { encodeName, MAX_LABEL_BYTES, MAX_NAME_BYTES } from '@dinodns-bench/wire';
import { labelOffsets } from '../table/name-tree.ts';
import type { ZoneData } from '../table/zone-data.ts';
import { groupRecords, type ZoneInput } from './zone-input.ts';

/** What all zones of one layout hold. */
export interface CompiledZone {
  /**
   * Owner names: the labels from the zone down, each with its length byte, and the shape of what the name holds.
   */
  readonly owners: readonly { readonly labels: readonly Uint8Array[]; readonly shape: number }[];
  /** Bytes of the longest name before the zone's own name. */
  readonly longest: number;
}

/**
 * Compiles a zone whose name is a single label that occurs nowhere else. Keeps its shapes alive for as long as
 * `data` lives.
 */
export function compileZone(data: ZoneData, zone: ZoneInput): CompiledZone {
  const origin = encodeName(zone.name);
  let longest = 0;
  const owners = groupRecords(zone).map(({ owner, sets }) => {
    const shape = data.sets.shapeOf(sets, owner);
    data.sets.retain(shape);
    longest = Math.max(longest, owner.length - origin.length);
    const offsets = labelOffsets(owner).slice(0, -1);
    const labels = offsets.map((at) => owner.subarray(at, at + 1 + (owner[at] ?? 0))).reverse();
    return { labels, shape };
  });
  return { owners, longest };
}

/** Adds zones with ordinary names: lower-case letters, digits, hyphens and underscores. */
export class BulkLoader {
  readonly #data: ZoneData;
  readonly #name = new Uint8Array(MAX_NAME_BYTES + 1);
  readonly #labels = new Uint8Array(MAX_NAME_BYTES + 1);

  constructor(data: ZoneData) {
    this.#data = data;
  }

  /**
   * Adds a zone. False if something is already at or below its name; its records must then be merged one by one. Throws
   * a RangeError for a name that is too long.
   */
  addText(zone: CompiledZone, name: string): boolean {
    const bytes = this.#name;
    if (name.length > MAX_NAME_BYTES - 2) throw tooLong(name);
    for (let index = 0; index < name.length; index++) bytes[index] = name.charCodeAt(index);
    return this.addBytes(zone, bytes, 0, name.length);
  }

  /** The same, with the name as text in `bytes[start, end)`. */
  addBytes({ owners, longest }: CompiledZone, bytes: Uint8Array, start: number, end: number): boolean {
    // On the wire, the name also has a length byte at the start, and the root.
    if (end - start + 2 + longest > MAX_NAME_BYTES) throw tooLong(textOf(bytes, start, end));
    const { names } = this.#data;
    let node = names.root;
    for (let to = end; to > start; ) {
      let from = to;
      while (from > start && bytes[from - 1] !== 0x2e) from--;
      node = names.ensureChild(node, this.#label(bytes, from, to), 0);
      to = from - 1;
    }
    if (!names.isUnused(node)) return false;
    for (const { labels, shape } of owners) {
      let owner = node;
      for (const label of labels) owner = names.ensureChild(owner, label, 0);
      this.#data.fill(owner, shape);
    }
    return true;
  }

  /** The label with its length byte. */
  #label(bytes: Uint8Array, from: number, to: number): Uint8Array {
    const length = to - from;
    if (length < 1 || length > MAX_LABEL_BYTES) {
      throw new RangeError(`a label of the name has ${length} bytes; it must have 1 to 63`);
    }
    const label = this.#labels;
    label[0] = length;
    for (let index = 0; index < length; index++) label[index + 1] = bytes[from + index] ?? 0;
    return label;
  }
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.subarray(start, end)).toString('latin1');
}

function tooLong(name: string): RangeError {
  return new RangeError(`The name "${name}", or a name below it, has more than ${MAX_NAME_BYTES} bytes.`);
}
