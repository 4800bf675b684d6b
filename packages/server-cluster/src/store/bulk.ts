/**
 * Adds the zones of a template at memory speed: the contents are compiled once, for a stand-in name. For each zone, only
 * its names are added to the tree.
 */
import { encodeName, MAX_LABEL_BYTES, MAX_NAME_BYTES } from '@dinodns-bench/wire';
import type { ZoneTemplate } from '@dinodns-bench/zones/data';
import { NONE } from '../table/arena.ts';
import { labelOffsets } from '../table/name-tree.ts';
import type { ZoneData } from '../table/zone-data.ts';
import { ZoneStore } from './zone-store.ts';

/** Stands for a zone's name in a template; no generated name has this character. */
const STAND_IN = '~';

export class BulkLoader {
  readonly #data: ZoneData;
  /** Owner names: the labels from the zone down, each with its length byte, and the shape of what the name holds. */
  readonly #owners: readonly { readonly labels: readonly Uint8Array[]; readonly shape: number }[];
  /** Bytes of the longest name before the zone's own name. */
  readonly #longest: number;
  readonly #label = Buffer.alloc(MAX_LABEL_BYTES + 1);

  /** Keeps the shapes of the template's names alive for as long as `data` lives. */
  constructor(data: ZoneData, template: ZoneTemplate) {
    this.#data = data;
    const store = new ZoneStore();
    store.addZone(template.zone(STAND_IN));
    const { names } = store.data;
    const nodes = [...names.nodes()].filter((node) => names.shapeOf(node) !== NONE);
    const zone = encodeName(STAND_IN).length;
    this.#longest = Math.max(...nodes.map((node) => names.nameOf(node).length - zone));
    this.#owners = nodes.map((node) => {
      const owner = names.nameOf(node);
      const shape = data.sets.shapeOf(store.data.readNode(node), owner);
      data.sets.retain(shape);
      const offsets = labelOffsets(owner).slice(0, -1);
      const labels = offsets.map((at) => owner.subarray(at, at + 1 + (owner[at] ?? 0))).reverse();
      return { labels, shape };
    });
  }

  /** Makes room for so many zones. */
  reserve(zones: number, labelBytes: number): void {
    this.#data.names.reserve(zones * this.#owners.length, labelBytes);
  }

  /**
   * Adds the zone of this name, which is in lower case and has no escapes. False if something is already at or below it; its records
   * must then be merged one by one. Throws a RangeError for a name that is too long.
   */
  add(name: string): boolean {
    // On the wire, the name also has a length byte at the start, and the root.
    if (name.length + 2 + this.#longest > MAX_NAME_BYTES)
      throw new RangeError(`The name "${name}", or a name below it, has more than ${MAX_NAME_BYTES} bytes.`);
    const { names } = this.#data;
    let node = names.root;
    for (let to = name.length; to > 0; ) {
      const from = name.lastIndexOf('.', to - 1) + 1;
      this.#label[0] = to - from;
      this.#label.write(name.slice(from, to), 1, 'latin1');
      node = names.ensureChild(node, this.#label, 0);
      to = from - 1;
    }
    if (!names.isUnused(node)) return false;
    for (const { labels, shape } of this.#owners) {
      let owner = node;
      for (const label of labels) owner = names.ensureChild(owner, label, 0);
      this.#data.setShape(owner, shape);
    }
    return true;
  }
}
