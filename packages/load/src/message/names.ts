/**
 * Domain names between presentation format (RFC 1035 §5.1, RFC 4343 §2.1) and wire format, without
 * compression. Any octet can be written: a load generator must be able to ask for what should not be asked.
 */

/** RFC 1035 §2.3.4. */
export const MAX_LABEL_OCTETS = 63;
/** RFC 1035 §2.3.4, with the length octets and the root's. */
export const MAX_NAME_OCTETS = 255;

export type ParsedName = { readonly wire: Uint8Array } | { readonly problem: string };

const BACKSLASH = 0x5c;
const DOT = 0x2e;

function isDigit(octet: number | undefined): octet is number {
  return octet !== undefined && octet >= 0x30 && octet <= 0x39;
}

/** The escape at `at` (its backslash): the octet it stands for and where it ends; a text if it is none. */
function readEscape(text: Uint8Array, at: number): { octet: number; end: number } | string {
  const next = text[at + 1];
  if (next === undefined) return 'it ends in a backslash';
  if (!isDigit(next)) return { octet: next, end: at + 2 };
  const second = text[at + 2];
  const third = text[at + 3];
  if (!isDigit(second) || !isDigit(third))
    return 'a backslash and a digit must be followed by two more digits';
  const octet = (next - 0x30) * 100 + (second - 0x30) * 10 + (third - 0x30);
  if (octet > 255) return `\\${octet} is more than 255`;
  return { octet, end: at + 4 };
}

/**
 * Reads a name with or without its trailing dot; `.` is the root. `\X` stands for the character X, `\DDD` for
 * the octet with that decimal number. Characters beyond ASCII are taken as their UTF-8 octets; letter case is
 * kept.
 */
export function parseName(text: string): ParsedName {
  return parseNameOctets(new TextEncoder().encode(text));
}

/** As `parseName`, of the octets of a file, whatever its encoding. */
export function parseNameOctets(source: Uint8Array): ParsedName {
  if (source.length === 1 && source[0] === DOT) return { wire: new Uint8Array(1) };
  const wire = new Uint8Array(source.length + 2);
  let lengthAt = 0;
  let to = 1;
  const endLabel = (): string | null => {
    const length = to - lengthAt - 1;
    if (length === 0) return 'it has an empty label';
    if (length > MAX_LABEL_OCTETS)
      return `it has a label of ${length} octets, ${MAX_LABEL_OCTETS} are allowed`;
    wire[lengthAt] = length;
    lengthAt = to;
    to += 1;
    return null;
  };
  if (source.length === 0) return { problem: 'it is empty' };
  for (let from = 0; from < source.length; ) {
    const octet = source[from] ?? 0;
    if (octet === DOT) {
      const problem = endLabel();
      if (problem !== null) return { problem };
      from += 1;
    } else if (octet === BACKSLASH) {
      const escaped = readEscape(source, from);
      if (typeof escaped === 'string') return { problem: escaped };
      wire[to++] = escaped.octet;
      from = escaped.end;
    } else {
      wire[to++] = octet;
      from += 1;
    }
  }
  // Without a trailing dot the last label is still open.
  if (to - lengthAt > 1) {
    const problem = endLabel();
    if (problem !== null) return { problem };
  }
  if (to > MAX_NAME_OCTETS)
    return { problem: `it takes ${to} octets in a message, ${MAX_NAME_OCTETS} are allowed` };
  return { wire: wire.slice(0, to) };
}

function octetText(octet: number): string {
  if (octet === DOT || octet === BACKSLASH) return `\\${String.fromCharCode(octet)}`;
  if (octet > 0x20 && octet < 0x7f) return String.fromCharCode(octet);
  return `\\${String(octet).padStart(3, '0')}`;
}

/** A name in wire format, uncompressed and well-formed, as text that `parseName` reads back; no trailing dot. */
export function nameText(wire: Uint8Array): string {
  const labels: string[] = [];
  for (let at = 0; at < wire.length; ) {
    const length = wire[at] ?? 0;
    if (length === 0) break;
    labels.push(Array.from(wire.subarray(at + 1, at + 1 + length), octetText).join(''));
    at += 1 + length;
  }
  return labels.length === 0 ? '.' : labels.join('.');
}

/** Labels of a name in wire format, the root not counted. */
export function countLabels(wire: Uint8Array): number {
  let labels = 0;
  for (let at = 0; at < wire.length && wire[at] !== 0; at += 1 + (wire[at] ?? 0)) labels += 1;
  return labels;
}

/** `name` below `parent`, both in wire format; undefined if it would be longer than a name may be. */
export function joinNames(name: Uint8Array, parent: Uint8Array): Uint8Array | undefined {
  const length = name.length - 1 + parent.length;
  if (length > MAX_NAME_OCTETS) return undefined;
  const joined = new Uint8Array(length);
  joined.set(name.subarray(0, -1));
  joined.set(parent, name.length - 1);
  return joined;
}
