/**
 * Finds a name in the tree and what surrounds it: the zone it is in, and the delegation, if any, behind
 * which it lies. One look-up for each label from the root on; below a name that does not exist it ends.
 */
import { NONE } from './arena.ts';
import { SHAPE_FLAG, SHAPE_WORD } from './record-sets.ts';
import type { ZoneData } from './zone-data.ts';

/** What ends a zone, or leads out of the tree, below its apex. */
const NOTED = SHAPE_FLAG.ns | SHAPE_FLAG.dname;

export class Finder {
  /** The name, or the nearest that exists above it (RFC 4592, section 3.3.1: the closest encloser). */
  node = NONE;
  /** What `node` has, as bits of `SHAPE_FLAG`. */
  flags = 0;
  /** Labels of the name in front of `node`; 0 if the name exists. */
  unmatched = 0;
  /** How many labels the name has more than `node`, for which it answers; only a wildcard answers for longer names. */
  surplus = 0;
  /** The name with the SOA record that governs `node`, and how many labels come before it; NONE outside of zones. */
  apex = NONE;
  apexLabel = 0;
  /** The topmost name with NS records below the apex. */
  cut = NONE;
  cutLabel = 0;
  cutSurplus = 0;
  /** The topmost name above the one that is looked for, but in its zone, with a DNAME record: whatever is below it is redirected. */
  redirection = NONE;
  redirectionLabel = 0;
  /** If `node` is an apex: that of the zone above it, unless a delegation lies between the two. */
  outerApex = NONE;
  outerApexLabel = 0;

  /** `labels` are offsets from `start`, `count` of them in front of the root. */
  find(data: ZoneData, bytes: Uint8Array, start: number, labels: Uint16Array, count: number): void {
    const { names } = data;
    this.apex = NONE;
    this.cut = NONE;
    this.redirection = NONE;
    this.outerApex = NONE;
    let node = names.root;
    let label = count;
    this.#note(data, node, label);
    while (label > 0) {
      const child = names.child(node, bytes, start + (labels[label - 1] ?? 0));
      if (child === NONE) break;
      node = child;
      label--;
      this.#note(data, node, label);
    }
    // Such a name exists only to hold the hash of another: to all others it does not (RFC 5155, section 7.2.8).
    if (label === 0 && (this.flags & SHAPE_FLAG.nsec3) !== 0) {
      node = names.parentOf(node);
      label = 1;
    }
    this.node = node;
    this.unmatched = label;
    this.surplus = 0;
  }

  /** Goes on to the wildcard right below `node`; false if there is none. */
  toWildcard(data: ZoneData): boolean {
    const wildcard = data.names.wildcardBelow(this.node);
    if (wildcard === NONE) return false;
    this.node = wildcard;
    this.surplus = this.unmatched - 1;
    this.#note(data, wildcard, 0);
    if (this.cut === wildcard) this.cutSurplus = this.surplus;
    return true;
  }

  #note(data: ZoneData, node: number, label: number): void {
    const shape = data.names.shapeOf(node);
    this.flags = 0;
    if (shape === NONE) return;
    const flags = data.sets.arena.words[shape + SHAPE_WORD.flags] ?? 0;
    this.flags = flags;
    if ((flags & SHAPE_FLAG.soa) !== 0) {
      this.outerApex = this.cut === NONE ? this.apex : NONE;
      this.outerApexLabel = this.apexLabel;
      this.apex = node;
      this.apexLabel = label;
      this.cut = NONE;
      this.redirection = NONE;
      if ((flags & SHAPE_FLAG.dname) !== 0) this.#noteRedirection(node, label);
    } else if (this.apex !== NONE && this.cut === NONE && this.redirection === NONE) {
      // Beside NS records a DNAME record belongs to the zone below (RFC 6672, section 2.3).
      if ((flags & NOTED) === 0) return;
      if ((flags & SHAPE_FLAG.ns) === 0) this.#noteRedirection(node, label);
      else {
        this.cut = node;
        this.cutLabel = label;
        this.cutSurplus = 0;
      }
    }
  }

  #noteRedirection(node: number, label: number): void {
    // A DNAME record does not redirect its owner (RFC 6672, section 2.3).
    if (label === 0) return;
    this.redirection = node;
    this.redirectionLabel = label;
  }
}
