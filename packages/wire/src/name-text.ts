/**
 * Domain names between text (RFC 1035 §5.1, RFC 4343 §2.1) and wire format. In text that this module writes, every
 * byte that is not a plain printable character is `\DDD`, a dot inside a label too, so that every `.` separates labels.
 */
import { MAX_LABEL_BYTES, MAX_NAME_BYTES } from './names.ts';

const DOT = 0x2e;
const BACKSLASH = 0x5c;

/** A name in wire format, or what is wrong with its text ("it has an empty label"). */
export type ParsedName = { readonly wire: Uint8Array } | { readonly problem: string };

function digitAt(text: Uint8Array, at: number): number {
  const digit = (text[at] ?? 0) - 0x30;
  return digit >= 0 && digit <= 9 ? digit : -1;
}

/** The byte that the escape at `at` (its backslash) represents and where it ends, or what is wrong with it. */
function readEscape(text: Uint8Array, at: number): { byte: number; end: number } | string {
  const next = text[at + 1];
  if (next === undefined) return 'it ends in a backslash';
  const first = digitAt(text, at + 1);
  if (first === -1) return { byte: next, end: at + 2 };
  const second = digitAt(text, at + 2);
  const third = digitAt(text, at + 3);
  if (second === -1 || third === -1) return 'a backslash and a digit must be followed by two more digits';
  const byte = first * 100 + second * 10 + third;
  return byte > 255 ? `\\${byte} is more than 255` : { byte, end: at + 4 };
}

/**
 * Reads a name with or without its trailing dot; `.` is the root. `\X` stands for the character X, `\DDD` for the byte
 * with that decimal number. Characters beyond ASCII become their UTF-8 bytes; letter case is kept.
 */
export function parseName(text: string): ParsedName {
  return parseNameBytes(Buffer.from(text));
}

/** As `parseName`, for text as bytes, such as a file in any encoding. */
export function parseNameBytes(text: Uint8Array): ParsedName {
  if (text.length === 0) return { problem: 'it is empty' };
  if (text.length === 1 && text[0] === DOT) return { wire: new Uint8Array(1) };
  const wire = new Uint8Array(text.length + 2);
  let label = 0;
  let to = 1;
  // Without a trailing dot the last label is still open at the end.
  for (let from = 0; from < text.length || to - label > 1; ) {
    const byte = text[from] ?? DOT;
    if (byte === DOT) {
      const problem = labelProblem(to - label - 1);
      if (problem !== undefined) return { problem };
      wire[label] = to - label - 1;
      label = to++;
      from++;
    } else if (byte === BACKSLASH) {
      const escaped = readEscape(text, from);
      if (typeof escaped === 'string') return { problem: escaped };
      wire[to++] = escaped.byte;
      from = escaped.end;
    } else {
      wire[to++] = byte;
      from++;
    }
  }
  if (to > MAX_NAME_BYTES)
    return { problem: `it takes ${to} bytes in a message, ${MAX_NAME_BYTES} are allowed` };
  return { wire: wire.slice(0, to) };
}

function labelProblem(length: number): string | undefined {
  if (length === 0) return 'it has an empty label';
  return length > MAX_LABEL_BYTES
    ? `it has a label of ${length} bytes, ${MAX_LABEL_BYTES} are allowed`
    : undefined;
}

/** Names that are already canonical, as nearly all in a large zone set are. */
const ORDINARY_NAME = /^(?:[a-z0-9*_-]{1,63}\.)*[a-z0-9*_-]{1,63}$/;

function isOrdinary(text: string): boolean {
  return text.length <= MAX_NAME_BYTES - 2 && ORDINARY_NAME.test(text);
}

function encodeOrdinary(text: string): Buffer {
  const wire = Buffer.allocUnsafe(text.length + 2);
  wire.write(text, 1, 'latin1');
  let label = 0;
  for (let at = 1; at <= text.length; at++) {
    if (wire[at] !== DOT) continue;
    wire[label] = at - label - 1;
    label = at;
  }
  wire[label] = text.length - label;
  wire[text.length + 1] = 0;
  return wire;
}

/** As `parseName`, but the empty text is also the root, and an invalid name throws a RangeError. */
export function encodeName(text: string): Buffer {
  if (isOrdinary(text)) return encodeOrdinary(text);
  const parsed = parseName(text === '' ? '.' : text);
  if ('problem' in parsed) throw new RangeError(`"${text}" is not a domain name: ${parsed.problem}`);
  return Buffer.from(parsed.wire.buffer);
}

function isPlain(byte: number): boolean {
  return byte > 0x20 && byte < 0x7f && byte !== DOT && byte !== BACKSLASH;
}

function escapeByte(byte: number): string {
  return isPlain(byte) ? String.fromCharCode(byte) : `\\${byte.toString().padStart(3, '0')}`;
}

function labelText(bytes: Buffer, start: number, end: number): string {
  for (let at = start; at < end; at++) {
    if (!isPlain(bytes[at] ?? 0)) return Array.from(bytes.subarray(start, end), escapeByte).join('');
  }
  return bytes.toString('latin1', start, end);
}

/**
 * The text of the uncompressed, well-formed name at `start`, which `parseName` reads back: letter case is kept, there
 * is no trailing dot, and the root is `.`.
 */
export function nameText(bytes: Uint8Array, start = 0): string {
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  let length = buffer[start] ?? 0;
  if (length === 0) return '.';
  let at = start + 1;
  let text = labelText(buffer, at, at + length);
  at += length;
  for (length = buffer[at] ?? 0; length !== 0; length = buffer[at] ?? 0) {
    text += `.${labelText(buffer, at + 1, at + 1 + length)}`;
    at += length + 1;
  }
  return text;
}

/**
 * The canonical text of a name, for comparison: lower case (ASCII only, RFC 4343), no trailing dot, `\DDD` for
 * special bytes, the empty string for the root. Throws a RangeError like `encodeName`.
 */
export function canonicalName(text: string): string {
  return isOrdinary(text) ? text : canonicalKey(nameText(encodeName(text)));
}

/** `canonicalName` of text that comes from `nameText`: nothing but the case can differ. */
export function canonicalKey(text: string): string {
  return text === '.' ? '' : text.toLowerCase();
}
