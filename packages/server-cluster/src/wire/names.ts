/**
 * Domain names in their two forms: octets on the wire, and text. In text every octet that is not a plain
 * printable character is written `\DDD` (RFC 1035, section 5.1), also a dot inside of a label, so that
 * every `.` in a name of ours separates labels.
 */

const DOT = 0x2e;
const BACKSLASH = 0x5c;
/** Length octets above this are compression pointers or reserved (RFC 1035, section 4.1.4). */
export const MAX_LABEL_OCTETS = 63;
/** A whole name on the wire, with its length octets and the root (RFC 1035, section 3.1). */
export const MAX_NAME_OCTETS = 255;

/**
 * Offset behind the uncompressed name at `start`, or -1 if there is none: it runs out of the message, is
 * too long, or holds a compression pointer, for which nothing exists yet that it could point to.
 */
export function findNameEnd(message: Buffer, start: number): number {
  let offset = start;
  for (;;) {
    const length = message[offset];
    if (length === undefined || length > MAX_LABEL_OCTETS) return -1;
    offset += length + 1;
    if (offset - start > MAX_NAME_OCTETS) return -1;
    if (length === 0) return offset;
  }
}

/** Offset behind a name that may end in a compression pointer, which is not followed; -1 if malformed. */
export function skipName(message: Buffer, start: number): number {
  let offset = start;
  for (;;) {
    const length = message[offset];
    if (length === undefined) return -1;
    if (length >= 0xc0) return offset + 2 <= message.length ? offset + 2 : -1;
    if (length > MAX_LABEL_OCTETS) return -1;
    offset += length + 1;
    if (offset - start > MAX_NAME_OCTETS) return -1;
    if (length === 0) return offset;
  }
}

function isPlain(octet: number): boolean {
  return octet > 0x20 && octet < 0x7f && octet !== DOT && octet !== BACKSLASH;
}

function escapeOctet(octet: number): string {
  return isPlain(octet) ? String.fromCharCode(octet) : `\\${octet.toString().padStart(3, '0')}`;
}

function labelText(message: Buffer, start: number, end: number): string {
  for (let offset = start; offset < end; offset++) {
    if (!isPlain(message[offset] ?? 0)) {
      return Array.from(message.subarray(start, end), escapeOctet).join('');
    }
  }
  return message.toString('latin1', start, end);
}

/** Text of the name at `start`, which `findNameEnd` has found to be well-formed. The root is `.`. */
export function readName(message: Buffer, start: number): string {
  let length = message[start] ?? 0;
  if (length === 0) return '.';
  let offset = start + 1;
  let text = labelText(message, offset, offset + length);
  offset += length;
  for (length = message[offset] ?? 0; length !== 0; length = message[offset] ?? 0) {
    text += `.${labelText(message, offset + 1, offset + 1 + length)}`;
    offset += length + 1;
  }
  return text;
}

/** Octets of each label of a name in text, without the root. */
function labelsOf(text: string): number[][] {
  if (text === '' || text === '.') return [];
  const octets = Buffer.from(text.endsWith('.') && !text.endsWith('\\.') ? text.slice(0, -1) : text, 'utf8');
  const labels: number[][] = [[]];
  for (let offset = 0; offset < octets.length; offset++) {
    const octet = octets[offset] ?? 0;
    if (octet === DOT) {
      labels.push([]);
    } else if (octet === BACKSLASH) {
      const digits = octets.toString('latin1', offset + 1, offset + 4);
      if (/^\d{3}$/.test(digits) && Number(digits) < 256) {
        labels.at(-1)?.push(Number(digits));
        offset += 3;
      } else {
        const escaped = octets[++offset];
        if (escaped === undefined) throw new RangeError(`The name "${text}" ends in a lone backslash.`);
        labels.at(-1)?.push(escaped);
      }
    } else {
      labels.at(-1)?.push(octet);
    }
  }
  let total = 1;
  for (const label of labels) {
    if (label.length === 0) throw new RangeError(`The name "${text}" has an empty label.`);
    if (label.length > MAX_LABEL_OCTETS) {
      throw new RangeError(`The name "${text}" has a label of ${label.length} octets; 63 is the most.`);
    }
    total += label.length + 1;
  }
  if (total > MAX_NAME_OCTETS)
    throw new RangeError(`The name "${text}" has ${total} octets; 255 is the most.`);
  return labels;
}

/** Names that are canonical already, as nearly all of a large zone set are. */
const ORDINARY_NAME = /^(?:[a-z0-9*_-]{1,63}\.)*[a-z0-9*_-]{1,63}$/;

function encodeOrdinary(text: string): Buffer {
  const octets = Buffer.allocUnsafe(text.length + 2);
  octets.write(text, 1, 'latin1');
  let label = 0;
  for (let at = 1; at <= text.length; at++) {
    if (octets[at] !== DOT) continue;
    octets[label] = at - label - 1;
    label = at;
  }
  octets[label] = text.length - label;
  octets[text.length + 1] = 0;
  return octets;
}

/** The name on the wire, uncompressed. Throws a RangeError for a label over 63 or a name over 255 octets. */
export function encodeName(text: string): Buffer {
  if (text.length <= MAX_NAME_OCTETS - 2 && ORDINARY_NAME.test(text)) return encodeOrdinary(text);
  const octets: number[] = [];
  for (const label of labelsOf(text)) octets.push(label.length, ...label);
  octets.push(0);
  return Buffer.from(octets);
}

/**
 * The one text of a name by which it is compared: lower case (ASCII only, RFC 4343), no final dot, `\DDD`
 * for special octets, the empty string for the root. Throws a RangeError like `encodeName`.
 */
export function canonicalName(text: string): string {
  if (text.length <= MAX_NAME_OCTETS - 2 && ORDINARY_NAME.test(text)) return text;
  return labelsOf(text)
    .map((label) => label.map(escapeOctet).join('').toLowerCase())
    .join('.');
}

/** `canonicalName` for text that comes from `readName`: nothing but the case can differ. */
export function canonicalKey(text: string): string {
  return text === '.' ? '' : text.toLowerCase();
}

/** The canonical name without its first label; undefined for the root. */
export function parentName(key: string): string | undefined {
  if (key === '') return undefined;
  const dot = key.indexOf('.');
  return dot === -1 ? '' : key.slice(dot + 1);
}
