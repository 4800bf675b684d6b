/**
 * Finds a name in the tree, its zone, and the delegation above it, if any. This takes one look-up per label from
 * the root down and ends at the first label that does not exist.
 */
import type { QueryReader } from '@dinodns-bench/wire';
import * as arena from './arena.ts';
import * as layout from './block-layout.ts';
import type { ZoneData } from './zone-data.ts';

// Copied: README.md, "Hot code".
const { NONE } = arena;
const { SHAPE_FLAG } = layout;

/** What begins or ends a zone, or redirects what is below. */
const NOTED = SHAPE_FLAG.soa | SHAPE_FLAG.ns | SHAPE_FLAG.dname;

/** A node of the tree that owns records of the answer, and where its name is in the message. */
export class Place {
  node = NONE;
  /** Labels of the queried name before it. */
  label = 0;
  /** How many labels the queried name has more than `node`; above 0 only for a wildcard. */
  surplus = 0;
}

/** A question, and what was found for it. One object serves all questions. */
export class Lookup {
  data: ZoneData;
  bytes: Uint8Array = new Uint8Array(0);
  /** Offset of the message in `bytes`. */
  start = 0;
  /** Offsets of the name's labels from `start`; `labelCount` of them come before the root's. */
  labels: Uint16Array = new Uint16Array(0);
  labelCount = 0;
  type = 0;
  /** The name, or its closest encloser (RFC 4592, section 3.3.1). */
  readonly name = new Place();
  /** The record types at `name`, as bits of `SHAPE_FLAG`. */
  flags = 0;
  /** Labels of the queried name before `name`; 0 if it exists. */
  unmatched = 0;
  /** The apex of the zone that contains `name`; NONE outside of zones. */
  readonly apex = new Place();
  /** The topmost name with NS records below the apex: the zone cut; NONE if there is none. */
  readonly cut = new Place();
  /** The topmost name with a DNAME record, above the queried name and in its zone. It redirects everything below it. */
  readonly redirection = new Place();

  constructor(data: ZoneData) {
    this.data = data;
  }

  /** Takes the question of the message at `start`. */
  begin(data: ZoneData, bytes: Uint8Array, start: number, query: QueryReader): void {
    this.data = data;
    this.bytes = bytes;
    this.start = start;
    this.labels = query.labels;
    this.labelCount = query.labelCount;
    this.type = query.type;
  }

  /** Goes from the root towards the name until `last` of its labels are left, or the next one does not exist. */
  find(last: number): void {
    const { data, bytes, start, labels } = this;
    const { names } = data;
    this.apex.node = NONE;
    this.cut.node = NONE;
    this.redirection.node = NONE;
    let node = names.root;
    let label = this.labelCount;
    for (;;) {
      this.#note(node, label);
      if (label <= last) break;
      const child = names.child(node, bytes, start + (labels[label - 1] ?? 0));
      if (child === NONE) break;
      node = child;
      label--;
    }
    // A name that exists only to hold NSEC3 records does not exist for other queries (RFC 5155, section 7.2.8), nor encloses other names. It is
    // below the apex.
    if ((this.flags & SHAPE_FLAG.nsec3) !== 0 && node !== this.apex.node && node !== names.root) {
      node = names.parentOf(node);
      label++;
    }
    this.name.node = node;
    this.name.surplus = 0;
    this.unmatched = label;
  }

  /**
   * If the name is an apex, and we serve a zone above it: goes to what that zone holds at the name, or above it. To
   * that zone, nothing is at the name if it was found only as the child's apex.
   */
  toParentSide(): void {
    const child = this.name.node;
    if (this.unmatched > 0 || this.apex.node !== child || this.labelCount === 0) return;
    const { flags } = this;
    this.find(1);
    if (this.apex.node === NONE) this.find(0);
    else if (this.cut.node === NONE && this.redirection.node === NONE) {
      this.unmatched = 0;
      const side = this.data.names.parentSideOf(child);
      this.name.node = side === NONE ? child : side;
      this.flags = flags;
      if (side !== NONE) this.#note(side, 0);
    }
  }

  /** Moves to the wildcard directly below the name found; false if there is none. */
  toWildcard(): boolean {
    const wildcard = this.data.names.wildcardBelow(this.name.node);
    if (wildcard === NONE) return false;
    this.name.node = wildcard;
    this.name.surplus = this.unmatched - 1;
    this.#note(wildcard, 0);
    if (this.cut.node === wildcard) this.cut.surplus = this.name.surplus;
    return true;
  }

  /** Whether the name is in no zone, and has no records of its own. */
  isOutside(): boolean {
    if (this.apex.node !== NONE) return false;
    return this.unmatched > 0 || this.data.names.shapeOf(this.name.node) === NONE;
  }

  /** The name's record set of the type asked for; NONE if it has none. */
  set(): number {
    return this.data.setAt(this.name.node, this.type);
  }

  /** Small, so that V8 compiles it into `find`: few names have something to note. */
  #note(node: number, label: number): void {
    const flags = this.data.flagsOf(node);
    this.flags = flags;
    if ((flags & NOTED) !== 0) this.#noteBoundary(node, label, flags);
  }

  #noteBoundary(node: number, label: number, flags: number): void {
    const { apex, cut, redirection } = this;
    if ((flags & SHAPE_FLAG.soa) !== 0) {
      apex.node = node;
      apex.label = label;
      cut.node = NONE;
      redirection.node = NONE;
      if ((flags & SHAPE_FLAG.dname) !== 0) this.#noteRedirection(node, label);
    } else if (apex.node !== NONE && cut.node === NONE && redirection.node === NONE) {
      // Beside NS records, a DNAME record belongs to the child zone (RFC 6672, section 2.3).
      if ((flags & SHAPE_FLAG.ns) === 0) this.#noteRedirection(node, label);
      else {
        cut.node = node;
        cut.label = label;
        cut.surplus = 0;
      }
    }
  }

  #noteRedirection(node: number, label: number): void {
    // A DNAME record does not redirect its owner (RFC 6672, section 2.3).
    if (label === 0) return;
    this.redirection.node = node;
    this.redirection.label = label;
  }
}
