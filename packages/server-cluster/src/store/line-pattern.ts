/**
 * Recognises lines of a zones file that differ from a parsed line only in the zone's name, so that their records
 * are known without parsing.
 */
import { encodeName, MAX_LABEL_BYTES } from '@dinodns-bench/wire';
import type { ZoneData } from '../table/zone-data.ts';
import { type CompiledZone, compileZone } from './bulk.ts';
import { groupRecords, type OwnerSets, type ZoneInput } from './zone-input.ts';

const LINE_START = '{"name":"';
const QUOTE = 0x22;
const DOT = 0x2e;
const HYPHEN = 0x2d;

/** 1 for bytes of ordinary names: lower-case letters, digits, hyphen, underscore. */
const ORDINARY = Uint8Array.from({ length: 256 }, (_, byte) =>
  /[a-z0-9_-]/.test(String.fromCharCode(byte)) ? 1 : 0,
);

export class LinePattern {
  readonly zone: CompiledZone;
  /** The text between the occurrences of the name. */
  readonly #pieces: readonly Buffer[];

  constructor(zone: CompiledZone, pieces: readonly Buffer[]) {
    this.zone = zone;
    this.#pieces = pieces;
  }

  /** Where a line's zone name starts. */
  static readonly nameAt = LINE_START.length;

  /** Offset after the zone name of the line `bytes[start, end)` if the line matches; else -1. */
  match(bytes: Uint8Array, start: number, end: number): number {
    const from = start + LinePattern.nameAt;
    const to = ordinaryNameEnd(bytes, from, end);
    if (to === -1) return -1;
    let at = start;
    for (let index = 0; index < this.#pieces.length; index++) {
      if (index > 0) {
        if (!isSame(bytes, at, bytes, from, to - from)) return -1;
        at += to - from;
      }
      const piece = this.#pieces[index];
      if (piece === undefined || at + piece.length > end) return -1;
      if (!isSame(bytes, at, piece, 0, piece.length)) return -1;
      at += piece.length;
    }
    return at === end ? to : -1;
  }
}

function isSame(bytes: Uint8Array, at: number, other: Uint8Array, from: number, length: number): boolean {
  for (let index = 0; index < length; index++) if (bytes[at + index] !== other[from + index]) return false;
  return true;
}

/** Offset of the quote after a name of ordinary labels, which neither start nor end with a hyphen; else -1. */
function ordinaryNameEnd(bytes: Uint8Array, from: number, end: number): number {
  let label = from;
  for (let at = from; at < end; at++) {
    const byte = bytes[at] ?? 0;
    if (ORDINARY[byte] === 1) continue;
    if (byte !== DOT && byte !== QUOTE) return -1;
    if (at === label || at - label > MAX_LABEL_BYTES) return -1;
    if (bytes[label] === HYPHEN || bytes[at - 1] === HYPHEN) return -1;
    if (byte === QUOTE) return at;
    label = at + 1;
  }
  return -1;
}

/**
 * The pattern of a line that describes `zone`; undefined if another name in its place would change more than the
 * owner names. `read` parses a line.
 */
export function patternOf(
  data: ZoneData,
  line: string,
  zone: ZoneInput,
  read: (line: string) => ZoneInput,
): LinePattern | undefined {
  const pieces = line.split(zone.name);
  if (pieces[0] !== LINE_START) return undefined;
  // A label that does not occur in the line, so that every place where it ends up is known.
  let standIn = 'x';
  while (line.includes(standIn)) standIn += 'x';
  let other: ZoneInput;
  try {
    other = read(pieces.join(standIn));
  } catch {
    return undefined;
  }
  if (!isRenamed(data, groupRecords(zone), groupRecords(other), zone.name, standIn)) return undefined;
  return new LinePattern(
    compileZone(data, other),
    pieces.map((piece) => Buffer.from(piece)),
  );
}

/** Whether renaming the zone of `others` gives exactly `owners`. */
function isRenamed(
  data: ZoneData,
  owners: readonly OwnerSets[],
  others: readonly OwnerSets[],
  name: string,
  standIn: string,
): boolean {
  const origin = encodeName(name);
  const otherOrigin = encodeName(standIn);
  if (owners.length !== others.length) return false;
  return owners.every(({ owner, sets }, index) => {
    const other = others[index];
    if (other === undefined || other.sets.length !== sets.length) return false;
    const prefix = other.owner.subarray(0, other.owner.length - otherOrigin.length);
    if (!Buffer.concat([prefix, origin]).equals(owner)) return false;
    const shape = data.sets.shapeOf(other.sets, other.owner);
    data.sets.retain(shape);
    const renamed = data.sets.setsOf(shape).map((set) => data.sets.read(set, owner));
    data.sets.release(shape);
    return renamed.every(({ type, records }, at) => {
      const own = sets[at];
      return (
        own?.type === type &&
        own.records.length === records.length &&
        own.records.every(
          (record, item) =>
            record.ttl === records[item]?.ttl && record.data.equals(records[item]?.data ?? Buffer.alloc(0)),
        )
      );
    });
  });
}
