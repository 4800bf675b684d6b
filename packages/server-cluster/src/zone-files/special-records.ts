/** Finds the few records of a large zone that can make it invalid, so that not all have to be in memory. */
import { TYPE } from '@dinodns-bench/wire';
import { NONE } from '../table/arena.ts';
import { labelOffsets, NameTree } from '../table/name-tree.ts';
import { type RecordPlace, readRecords, type WireRecord } from './records-file.ts';

/** Types that can make other records at or below their owner invalid. */
const SPECIAL: ReadonlySet<number> = new Set([TYPE.SOA, TYPE.CNAME, TYPE.DNAME]);

/**
 * The records of a zone's file that can cause an error: those at the apex, at names with an alias or a second SOA record
 * beside other data, and everything below DNAME records. After every `yieldEvery` records, awaits `pause`.
 */
export async function specialRecords(
  path: string,
  zone: Uint8Array,
  yieldEvery: number,
  pause: () => Promise<unknown>,
): Promise<WireRecord[]> {
  const names = new SpecialNames(zone);
  await readRecords(path, (bytes, place) => names.note(bytes, place), yieldEvery, pause);
  await readRecords(path, (bytes, place) => names.count(bytes, place), yieldEvery, pause);
  const found: WireRecord[] = [];
  const add = (bytes: Buffer, place: RecordPlace) => {
    if (names.isWanted(bytes, place)) found.push(copyOf(bytes, place));
    return true;
  };
  await readRecords(path, add, yieldEvery, pause);
  return found;
}

function copyOf(bytes: Buffer, { name, nameLength, type, ttl, from, to }: RecordPlace): WireRecord {
  return {
    name: Buffer.from(bytes.subarray(name, name + nameLength)),
    type,
    ttl,
    data: Buffer.from(bytes.subarray(from, to)),
  };
}

/** Added to the number of records of a name that has one of a special type. */
const MARK = 0x4000_0000;

/**
 * The names with a record of a special type. What the tree's word for a name's contents holds here is the number of its
 * records, and the mark.
 */
class SpecialNames {
  readonly #tree = new NameTree();
  readonly #apex: number;
  readonly #redirections = new Set<number>();

  constructor(zone: Uint8Array) {
    this.#apex = this.#tree.ensure(zone);
  }

  note(bytes: Buffer, { name, nameLength, type }: RecordPlace): true {
    if (!SPECIAL.has(type)) return true;
    const node = this.#tree.ensure(bytes.subarray(name, name + nameLength));
    this.#tree.setShape(node, MARK);
    if (type === TYPE.DNAME) this.#redirections.add(node);
    return true;
  }

  count(bytes: Buffer, { name, nameLength }: RecordPlace): true {
    const node = this.#tree.find(bytes.subarray(name, name + nameLength));
    if (node !== NONE) this.#tree.setShape(node, this.#tree.shapeOf(node) + 1);
    return true;
  }

  isWanted(bytes: Buffer, { name, nameLength }: RecordPlace): boolean {
    const tree = this.#tree;
    const owner = bytes.subarray(name, name + nameLength);
    let node = tree.root;
    for (const at of labelOffsets(owner).reverse()) {
      if (this.#redirections.has(node)) return true;
      node = tree.child(node, owner, at);
      if (node === NONE) return false;
    }
    return node === this.#apex || tree.shapeOf(node) > MARK + 1;
  }
}
