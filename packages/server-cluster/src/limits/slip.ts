/** The reply that costs least and still tells a real client to come back over TCP. */
import { FLAG, HEADER_OCTETS } from '../wire/codes.ts';

const OPT_OCTETS = 11;

/**
 * Writes the query's own header and question with QR and TC set over the query, with an empty OPT record if
 * the query had one right behind its question. Returns the length, or 0 where there is nothing to answer.
 */
export function writeSlip(bytes: Uint8Array, offset: number, length: number, advertised: number): number {
  if (length < HEADER_OCTETS) return 0;
  const end = offset + length;
  const questionEnd =
    bytes[offset + 4] === 0 && bytes[offset + 5] === 1 ? questionEndOf(bytes, offset, end) : -1;
  if (questionEnd === -1) return 0;
  const hasOpt = isOpt(bytes, questionEnd, end);
  const dnssecOk = hasOpt ? (bytes[questionEnd + 7] ?? 0) & 0x80 : 0;
  bytes[offset + 2] = (FLAG.response >> 8) | ((bytes[offset + 2] ?? 0) & 0x79) | (FLAG.truncated >> 8);
  bytes[offset + 3] = 0;
  bytes.fill(0, offset + 6, offset + HEADER_OCTETS);
  if (!hasOpt) return questionEnd - offset;
  bytes[offset + 11] = 1;
  bytes[questionEnd + 3] = advertised >> 8;
  bytes[questionEnd + 4] = advertised & 0xff;
  bytes.fill(0, questionEnd + 5, questionEnd + OPT_OCTETS);
  bytes[questionEnd + 7] = dnssecOk;
  return questionEnd + OPT_OCTETS - offset;
}

function questionEndOf(bytes: Uint8Array, offset: number, end: number): number {
  let at = offset + HEADER_OCTETS;
  while (at < end) {
    const label = bytes[at] ?? 0;
    if (label === 0) return at + 5 <= end ? at + 5 : -1;
    // A pointer cannot stand in the first name of a message.
    if (label > 63) return -1;
    at += label + 1;
  }
  return -1;
}

function isOpt(bytes: Uint8Array, at: number, end: number): boolean {
  return at + OPT_OCTETS <= end && bytes[at] === 0 && bytes[at + 1] === 0 && bytes[at + 2] === 41;
}
