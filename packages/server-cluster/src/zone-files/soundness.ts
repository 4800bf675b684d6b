/** Finds names of loaded zones whose records are wrong together. `checkZone` then says what is wrong with them. */
import type { Slices } from '../store/slices.ts';
import { NONE } from '../table/arena.ts';
import { SHAPE_FLAG } from '../table/block-layout.ts';
import type { ZoneData } from '../table/zone-data.ts';

/** Names that are reported of a zone; as in a file with syntax errors, nobody reads more. */
export const MAX_WRONG_NAMES = 20;

/**
 * Names with an alias or a redirection beside what it excludes, with two records of a type of which there may be one, and below a
 * redirection: by the apex of their zone, some of each. So are those of the given zones (in lower case) without NS records at their apex.
 */
export async function wrongNames(
  data: ZoneData,
  zones: Iterable<Uint8Array>,
  slices: Slices,
): Promise<Map<number, Set<number>>> {
  const { names } = data;
  const wrong = new Map<number, Set<number>>();
  const add = (node: number) => {
    const apex = data.apexOf(node);
    const known = wrong.get(apex) ?? new Set();
    wrong.set(apex, known.add(node));
    if (known.size > 2 * MAX_WRONG_NAMES) wrong.set(apex, firstOf(known));
  };
  for (const zone of zones) {
    const apex = names.find(zone);
    if ((data.flagsOf(apex) & SHAPE_FLAG.ns) === 0) add(apex);
  }
  const redirections = new Set<number>();
  if ((data.flags & (SHAPE_FLAG.unsound | SHAPE_FLAG.dname)) === 0) return wrong;
  for (const node of names.nodes()) {
    const flags = data.flagsOf(node);
    if ((flags & SHAPE_FLAG.unsound) !== 0) add(node);
    // At a delegation, a DNAME record belongs to the child zone (RFC 6672, section 2.3).
    if ((flags & SHAPE_FLAG.dname) !== 0 && ((flags & SHAPE_FLAG.ns) === 0 || data.isApex(node)))
      redirections.add(node);
    if (slices.isOver) await slices.pause();
  }
  for (const node of redirections.size === 0 ? [] : names.nodes()) {
    const redirection = names.shapeOf(node) === NONE ? NONE : redirectionAbove(data, node, redirections);
    if (redirection !== NONE) {
      add(redirection);
      add(node);
    }
    if (slices.isOver) await slices.pause();
  }
  return new Map(Array.from(wrong, ([apex, nodes]) => [apex, firstOf(nodes)]));
}

/** Those that were added first, as far as their ids tell: the same ones each time, and with a name those above it. */
function firstOf(nodes: ReadonlySet<number>): Set<number> {
  return new Set([...nodes].sort((one, other) => one - other).slice(0, MAX_WRONG_NAMES));
}

/** The name of the same zone above a node that redirects it; NONE if there is none. */
function redirectionAbove(data: ZoneData, node: number, redirections: ReadonlySet<number>): number {
  for (let at = node; at !== data.names.root && !data.isApex(at); ) {
    at = data.names.parentOf(at);
    if (redirections.has(at)) return at;
  }
  return NONE;
}
