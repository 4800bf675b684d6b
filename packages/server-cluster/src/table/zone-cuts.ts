/**
 * Which zone a record belongs to where zones meet. Records that are added zone by zone stay apart at a zone cut: the
 * child's apex is what look-ups find, and the parent's side of the cut holds the delegation, its DS records, and
 * everything else that the parent has at or below the cut. Records that are added one by one belong to the nearest
 * zone above them.
 */
import { TYPE } from '@dinodns-bench/wire';
import { NONE } from './arena.ts';
import { labelOffsets } from './name-tree.ts';
import { withSet } from './stored-set.ts';
import type { ZoneData } from './zone-data.ts';

/**
 * The node at which a zone's records are to be added with `ensureIn`. What the zone above holds there, if anything,
 * becomes the parent's side of the cut.
 */
export function openZone(data: ZoneData, name: Uint8Array): number {
  const { names } = data;
  const node = names.ensure(name);
  if (names.isUnused(node) || data.isApex(node) || apexAbove(data, node) === NONE) return node;
  const apex = names.divide(node);
  if (data.longestZone > names.labelCount(node)) moveZones(data, node, apex);
  return apex;
}

/** The node of a name (lower case) that the zone at `apex` holds, created if it does not exist. */
export function ensureIn(data: ZoneData, apex: number, name: Uint8Array): number {
  const { names } = data;
  const offsets = labelOffsets(name);
  let node = apex;
  for (let index = offsets.length - names.labelCount(apex) - 1; index >= 0; index--) {
    node = names.ensureChild(node, name, offsets[index] ?? 0);
    if (data.isApex(node)) node = names.ensureParentSide(node);
  }
  return node;
}

/** The node that holds the records of a type at a name's node: DS records are the parent's. */
export function holderOf(data: ZoneData, node: number, type: number): number {
  if (type !== TYPE.DS || node === NONE || !data.isApex(node)) return node;
  const side = data.names.parentSideOf(node);
  return side === NONE ? node : side;
}

/**
 * To be called when records of a name were removed. If it was an apex, what the zone above holds at and below it becomes
 * visible again, beside what is left.
 */
export function closeZone(data: ZoneData, name: Uint8Array): void {
  const { names } = data;
  const node = names.find(name);
  if (node === NONE || data.isApex(node)) return;
  const side = names.parentSideOf(node);
  const above = side === NONE ? NONE : apexAbove(data, node);
  if (above === NONE) return;
  const hidden = [...names.nodes()].filter(
    (other) => names.shapeOf(other) !== NONE && isAtOrBelow(data, other, side),
  );
  for (const other of hidden) {
    const otherName = names.nameOf(other);
    const sets = data.readNode(other);
    data.writeNode(other, otherName, []);
    const target = ensureIn(data, above, otherName);
    data.writeNode(target, otherName, sets.reduce(withSet, data.readNode(target)));
  }
}

/** The apex of the zone that holds a name's parent; NONE outside of zones. */
function apexAbove(data: ZoneData, node: number): number {
  const { names } = data;
  for (let above = node; above !== names.root; ) {
    above = names.parentOf(above);
    if (data.isApex(above)) return above;
  }
  return NONE;
}

function isAtOrBelow({ names }: ZoneData, node: number, ancestor: number): boolean {
  let above = node;
  while (above !== ancestor && above !== names.root) above = names.parentOf(above);
  return above === ancestor;
}

/** Moves the zones below a name that is now the parent's side to the same names below the new apex. */
function moveZones(data: ZoneData, side: number, apex: number): void {
  const { names } = data;
  const zones = [...names.nodes()].filter(
    (node) => data.isApex(node) && isAtOrBelow(data, node, side) && !isInZoneBelow(data, node, side),
  );
  for (const zone of zones) names.move(zone, ensureIn(data, apex, names.nameOf(names.parentOf(zone))));
}

/** Whether another apex is between the node and its ancestor. */
function isInZoneBelow(data: ZoneData, node: number, ancestor: number): boolean {
  const { names } = data;
  for (let above = names.parentOf(node); above !== ancestor; above = names.parentOf(above)) {
    if (data.isApex(above)) return true;
  }
  return false;
}
