/** Domain names in zone files (RFC 1035, section 5.1): from text, which may be relative, to wire format, and back. */
import { LOWER_CASE, MAX_LABEL_BYTES, MAX_NAME_BYTES } from '@dinodns-bench/wire';
import { TokenError } from './problem.ts';

const DOT = 0x2e;
const BACKSLASH = 0x5c;
const DIGIT_0 = 0x30;
const AT_SIGN = 0x40;

export const ROOT: Uint8Array = Uint8Array.of(0);

/** Characters with a special meaning in zone files; names have a backslash before them. */
const SPECIAL = new Set(Array.from('"$().;@\\', (character) => character.charCodeAt(0)));

/** How each byte of a label is written. */
const BYTE_TEXT = Array.from({ length: 256 }, (_, byte) => {
  if (SPECIAL.has(byte)) return `\\${String.fromCharCode(byte)}`;
  return byte > 0x20 && byte < 0x7f ? String.fromCharCode(byte) : escapedByte(byte);
});

export function escapedByte(byte: number): string {
  return `\\${String(byte).padStart(3, '0')}`;
}

const scratch = Buffer.alloc(MAX_NAME_BYTES + 1);

/**
 * A name in wire format. `origin` is appended if the text does not end in a dot; `@` is the origin itself.
 * Throws a `TokenError` for the current token.
 */
export function nameFromText(text: Uint8Array, origin: Uint8Array): Buffer {
  const end = text.length;
  if (end === 1 && text[0] === AT_SIGN) return Buffer.from(origin);
  if (end === 1 && text[0] === DOT) return Buffer.from(ROOT);
  if (end === 0) throw wrongName(text, 'is empty', 'write @ for the origin, or . for the root');
  let label = 0;
  let at = 1;
  for (let index = 0; index < end; index++) {
    let byte = text[index] ?? 0;
    if (byte === DOT) {
      label = endLabel(text, label, at);
      at++;
      continue;
    }
    if (byte === BACKSLASH) {
      byte = escapeAt(text, index + 1);
      index += isDigit(text[index + 1]) ? 3 : 1;
    }
    if (at >= MAX_NAME_BYTES) throw tooLong(text);
    scratch[at++] = byte;
  }
  // The label after a trailing dot is the root.
  if (at === label + 1) {
    scratch[label] = 0;
    return Buffer.from(scratch.subarray(0, label + 1));
  }
  endLabel(text, label, at);
  if (at + origin.length > MAX_NAME_BYTES) throw tooLong(text);
  const name = Buffer.allocUnsafe(at + origin.length);
  scratch.copy(name, 0, 0, at);
  name.set(origin, at);
  return name;
}

/** Writes the length of the label that ends at `at`, and returns where the next label begins. */
function endLabel(text: Uint8Array, label: number, at: number): number {
  const length = at - label - 1;
  if (length === 0) throw wrongName(text, 'has an empty label', 'write single dots between labels');
  if (length > MAX_LABEL_BYTES) {
    const fix = `shorten it to at most ${MAX_LABEL_BYTES} bytes`;
    throw wrongName(text, `has a label of ${length} bytes`, fix);
  }
  if (at >= MAX_NAME_BYTES) throw tooLong(text);
  scratch[label] = length;
  return at;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= DIGIT_0 && byte <= DIGIT_0 + 9;
}

/** The byte that an escape stands for; `at` is the offset after the backslash. */
export function escapeAt(text: Uint8Array, at: number): number {
  const byte = text[at];
  if (byte === undefined) throw new TokenError('it ends in a lone backslash', 'write \\\\ for a backslash');
  if (!isDigit(byte)) return byte;
  const value = [at, at + 1, at + 2].reduce(
    (sum, index) => (isDigit(text[index]) ? sum * 10 + (text[index] ?? 0) - DIGIT_0 : Number.NaN),
    0,
  );
  if (value <= 255) return value;
  const digits = Buffer.from(text.subarray(at, at + 3)).toString('latin1');
  throw new TokenError(`"\\${digits}" is not a byte`, 'write three digits, from \\000 to \\255');
}

function wrongName(text: Uint8Array, what: string, fix: string): TokenError {
  return new TokenError(`the name "${Buffer.from(text).toString('latin1')}" ${what}`, fix);
}

function tooLong(text: Uint8Array): TokenError {
  return wrongName(
    text,
    `has more than ${MAX_NAME_BYTES} bytes`,
    'shorten it, or end it with a dot if it is complete',
  );
}

/** The text of an uncompressed name as BIND writes it: with a trailing dot, and escapes only where they are needed. */
export function zoneFileName(name: Uint8Array): string {
  if (name[0] === 0) return '.';
  let text = '';
  for (let at = 0; (name[at] ?? 0) !== 0; ) {
    const end = at + (name[at] ?? 0);
    for (at++; at <= end; at++) text += BYTE_TEXT[name[at] ?? 0] ?? '';
    text += '.';
  }
  return text;
}

/** Whether `name` is `zone` or below it. */
export function isWithin(name: Uint8Array, zone: Uint8Array): boolean {
  const from = name.length - zone.length;
  let label = 0;
  while (label < from) label += (name[label] ?? 0) + 1;
  if (label !== from) return false;
  for (let index = 0; index < zone.length; index++) {
    if (LOWER_CASE[name[from + index] ?? 0] !== LOWER_CASE[zone[index] ?? 0]) return false;
  }
  return true;
}
