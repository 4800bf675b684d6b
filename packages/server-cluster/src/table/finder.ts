/**
 * Finds a name in the tree, its zone, and the delegation above it, if any. This takes one look-up per label from
 * the root down and ends at the first label that does not exist.
 */
import * as arena from './arena.ts';
import * as layout from './block-layout.ts';
import type { ZoneData } from './zone-data.ts';

// Copies, because V8 compiles a module's own constants into the code and loads imported ones anew at each use.
const { NONE } = arena;
const { SHAPE_FLAG } = layout;

/** What begins or ends a zone, or redirects what is below. */
const NOTED = SHAPE_FLAG.soa | SHAPE_FLAG.ns | SHAPE_FLAG.dname;

export class Finder {
  /** The name, or its closest encloser (RFC 4592, section 3.3.1). */
  node = NONE;
  /** The record types at `node`, as bits of `SHAPE_FLAG`. */
  flags = 0;
  /** Labels of the name before `node`; 0 if the name exists. */
  unmatched = 0;
  /** How many labels the queried name has more than `node`; above 0 only for a wildcard. */
  surplus = 0;
  /** The apex of the zone that contains `node`, and the number of labels before it; NONE outside of zones. */
  apex = NONE;
  apexLabel = 0;
  /** The topmost name with NS records below the apex: the zone cut. */
  cut = NONE;
  cutLabel = 0;
  cutSurplus = 0;
  /**
   * The topmost name with a DNAME record, above the queried name and in its zone. It redirects everything below
   * it.
   */
  redirection = NONE;
  redirectionLabel = 0;

  /**
   * Goes from the root towards the name until `last` of its labels are left, or the next one does not exist. `labels` are
   * offsets from `start`; `count` of them come before the root.
   */
  find(
    data: ZoneData,
    bytes: Uint8Array,
    start: number,
    labels: Uint16Array,
    count: number,
    last: number,
  ): void {
    const { names } = data;
    this.apex = NONE;
    this.cut = NONE;
    this.redirection = NONE;
    let node = names.root;
    let label = count;
    for (;;) {
      this.#note(data, node, label);
      if (label <= last) break;
      const child = names.child(node, bytes, start + (labels[label - 1] ?? 0));
      if (child === NONE) break;
      node = child;
      label--;
    }
    // A name that exists only to hold NSEC3 records does not exist for other queries (RFC 5155, section 7.2.8).
    if (label === 0 && (this.flags & SHAPE_FLAG.nsec3) !== 0) {
      node = names.parentOf(node);
      label = 1;
    }
    this.node = node;
    this.unmatched = label;
    this.surplus = 0;
  }

  /**
   * If the name is an apex, and we serve a zone above it: goes to what that zone holds at the name, or above it. To
   * that zone, nothing is at the name if it was found only as the child's apex.
   */
  toParentSide(data: ZoneData, bytes: Uint8Array, start: number, labels: Uint16Array, count: number): void {
    if (this.unmatched > 0 || this.apex !== this.node || count === 0) return;
    const child = this.node;
    const { flags } = this;
    this.find(data, bytes, start, labels, count, 1);
    if (this.apex === NONE) this.find(data, bytes, start, labels, count, 0);
    else if (this.cut === NONE && this.redirection === NONE) {
      this.unmatched = 0;
      const side = data.names.parentSideOf(child);
      this.node = side === NONE ? child : side;
      this.flags = flags;
      if (side !== NONE) this.#note(data, side, 0);
    }
  }

  /** Moves to the wildcard directly below `node`; false if there is none. */
  toWildcard(data: ZoneData): boolean {
    const wildcard = data.names.wildcardBelow(this.node);
    if (wildcard === NONE) return false;
    this.node = wildcard;
    this.surplus = this.unmatched - 1;
    this.#note(data, wildcard, 0);
    if (this.cut === wildcard) this.cutSurplus = this.surplus;
    return true;
  }

  /** Small, so that V8 compiles it into `find`: few names have something to note. */
  #note(data: ZoneData, node: number, label: number): void {
    const flags = data.flagsOf(node);
    this.flags = flags;
    if ((flags & NOTED) !== 0) this.#noteBoundary(node, label, flags);
  }

  #noteBoundary(node: number, label: number, flags: number): void {
    if ((flags & SHAPE_FLAG.soa) !== 0) {
      this.apex = node;
      this.apexLabel = label;
      this.cut = NONE;
      this.redirection = NONE;
      if ((flags & SHAPE_FLAG.dname) !== 0) this.#noteRedirection(node, label);
    } else if (this.apex !== NONE && this.cut === NONE && this.redirection === NONE) {
      // Beside NS records, a DNAME record belongs to the child zone (RFC 6672, section 2.3).
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
