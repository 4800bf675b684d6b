/** Finds a record set among those of a name. */
import * as wire from '@dinodns-bench/wire';
import * as arena from './arena.ts';
import * as layout from './block-layout.ts';
import type { ZoneData } from './zone-data.ts';

// Copies, because V8 compiles a module's own constants into the code and loads imported ones anew at each use.
const { TYPE } = wire;
const { NONE } = arena;
const { SHAPE_WORD } = layout;

/** The record set of that type, or the first one for ANY (RFC 8482, section 4.1); NONE if there is none. */
export function findSet(data: ZoneData, shape: number, type: number): number {
  if (shape === NONE) return NONE;
  const { words } = data.sets.arena;
  const first = shape + SHAPE_WORD.head;
  if (type === TYPE.ANY) return words[first + 1] ?? NONE;
  const end = first + 2 * (words[shape + SHAPE_WORD.sets] ?? 0);
  for (let at = first; at < end; at += 2) if (words[at] === type) return words[at + 1] ?? NONE;
  return NONE;
}
