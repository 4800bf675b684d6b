/**
 * Text for each of a million zones at the speed of string concatenation: the text for one zone is rendered once,
 * with a stand-in name, and only the name is then filled in for every zone.
 */
import { encodeName } from '@dinodns-bench/wire';
import type { ZoneSet } from './zone-set.ts';

/** A zone's name, as passed to a renderer. */
export interface ZoneReference {
  /** Name without a trailing dot. */
  readonly name: string;
  /** The labels of the name in wire format, hexadecimal, without the root. */
  readonly hex: string;
}

// Control characters that JSON does not escape. Names, texts and paths never contain them.
export const NAME_MARK = '\u007f';
const HEX_MARK = '\u0080';

/** The labels of a name in hexadecimal digits, without the root, so that a zone's name can follow. */
export function labelsHex(name: string): string {
  return encodeName(name).toString('hex').slice(0, -2);
}

/** Length of a chunk in characters: long enough for efficient writes, short enough to stay in the CPU's cache. */
const CHUNK_CHARACTERS = 256 * 1024;

/** Renders once and returns a function that gives the text for any zone. */
export function compileZoneText(render: (zone: ZoneReference) => string): (name: string) => string {
  const pieces = render({ name: NAME_MARK, hex: HEX_MARK })
    .split(NAME_MARK)
    .map((piece) => piece.split(HEX_MARK));
  const [[first = ''] = [], ...rest] = pieces;
  if (pieces.every((piece) => piece.length === 1)) {
    const texts = rest.map(([text = '']) => text);
    return (name) => {
      let result = first;
      for (const text of texts) result += name + text;
      return result;
    };
  }
  return (name) => {
    const hex = labelsHex(name);
    return pieces.map((piece) => piece.join(hex)).join(name);
  };
}

export interface AroundZones {
  /** Text before the first and after the last zone. */
  readonly head?: string;
  readonly tail?: string;
  /** Text between two zones. */
  readonly separator?: string;
}

/** The text of all zones in chunks. Calls `onProgress` with the number of zones so far whenever a chunk is complete. */
export function* zoneChunks(
  zoneSet: ZoneSet,
  textOf: (name: string) => string,
  { head = '', tail = '', separator = '' }: AroundZones = {},
  onProgress?: (zones: number) => void,
): Generator<string, void, void> {
  let chunk = head;
  let zones = 0;
  for (const name of zoneSet.names()) {
    if (separator !== '' && zones > 0) chunk += separator;
    chunk += textOf(name);
    zones += 1;
    if (chunk.length >= CHUNK_CHARACTERS) {
      yield chunk;
      chunk = '';
      onProgress?.(zones);
    }
  }
  yield chunk + tail;
  onProgress?.(zones);
}

/** Joins lines into chunks. */
export function* lineChunks(lines: Iterable<string>): Generator<string, void, void> {
  let chunk = '';
  for (const line of lines) {
    chunk += `${line}\n`;
    if (chunk.length >= CHUNK_CHARACTERS) {
      yield chunk;
      chunk = '';
    }
  }
  if (chunk !== '') yield chunk;
}
