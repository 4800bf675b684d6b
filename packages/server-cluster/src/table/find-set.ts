/** Finds a record set among those of a name. */
import { TYPE } from '@dinodns-bench/wire';
import { NONE } from './arena.ts';
import { SHAPE_WORD } from './block-layout.ts';
import type { ZoneData } from './zone-data.ts';

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
