/** IP addresses as bytes, as text and as names of reverse zones. */
import { isIP, isIPv4, isIPv6 } from 'node:net';
import { u16 } from './header.ts';

const IPV6_BYTES = 16;
/** Where the address is in an IPv4-mapped IPv6 address (RFC 4291 §2.5.5.2). */
const MAPPED_OFFSET = 12;

/** The bytes of the groups of an IPv6 address; the last may be an IPv4 address. */
function groupBytes(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (group.includes('.')) return group.split('.').map(Number);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}

/** The 4 or 16 bytes of an address literal; a zone (`%eth0`) is ignored. @throws RangeError if it is invalid. */
export function addressBytes(address: string): Uint8Array {
  if (isIPv4(address)) return Uint8Array.from(address.split('.'), Number);
  const [plain = ''] = address.split('%');
  if (!isIPv6(plain)) throw new RangeError(`"${address}" is not an IP address`);
  const [head = '', tail = ''] = plain.split('::');
  const bytes = new Uint8Array(IPV6_BYTES);
  bytes.set(groupBytes(head));
  const after = groupBytes(tail);
  bytes.set(after, IPV6_BYTES - after.length);
  return bytes;
}

/** An address of 4 or 16 bytes, and the length of its prefix if one was given. */
export interface AddressPrefix {
  readonly bytes: Uint8Array;
  readonly bits: number | undefined;
}

/** Reads `192.0.2.0/24`, or an address alone; undefined for any other text, or a prefix longer than the address. */
export function parsePrefix(text: string): AddressPrefix | undefined {
  const [address = '', length, ...rest] = text.split('/');
  if (isIP(address) === 0 || address.includes('%') || rest.length > 0) return undefined;
  const bytes = addressBytes(address);
  if (length === undefined) return { bytes, bits: undefined };
  return /^\d{1,3}$/.test(length) && Number(length) <= 8 * bytes.length
    ? { bytes, bits: Number(length) }
    : undefined;
}

/** A copy of the bytes in which the bits after the first `bits` are 0. */
export function prefixBytes(bytes: Uint8Array, bits: number): Uint8Array {
  return bytes.map((byte, at) => byte & ~(0xff >> Math.min(8, Math.max(0, bits - 8 * at))));
}

/** The same as 16 bytes, IPv4 as IPv4-mapped IPv6 (`::ffff:a.b.c.d`). */
export function mappedAddress(address: string | Uint8Array): Uint8Array {
  const bytes = typeof address === 'string' ? addressBytes(address) : address;
  if (bytes.length === IPV6_BYTES) return bytes;
  const mapped = new Uint8Array(IPV6_BYTES).fill(0xff, MAPPED_OFFSET - 2, MAPPED_OFFSET);
  mapped.set(bytes, MAPPED_OFFSET);
  return mapped;
}

/** The longest run of zero groups, or the first of equally long ones. */
function longestZeroRun(groups: readonly number[]): { start: number; length: number } {
  let best = { start: -1, length: 0 };
  for (let start = 0; start < groups.length; start++) {
    let end = start;
    while (groups[end] === 0) end++;
    if (end - start > best.length) best = { start, length: end - start };
    start = end;
  }
  return best;
}

/**
 * The text of an address of 4 or 16 bytes, as RFC 5952 and inet_ntop(3) write it: the longest run of two or more zero groups becomes
 * `::`, and embedded IPv4 addresses are dotted.
 */
export function addressText(bytes: Uint8Array): string {
  if (bytes.length !== IPV6_BYTES) return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, index) => u16(bytes, index * 2));
  const { start, length } = longestZeroRun(groups);
  const isEmbedded = start === 0 && (length === 6 || (length === 5 && groups[5] === 0xffff));
  const texts = groups.slice(0, isEmbedded ? 6 : 8).map((group) => group.toString(16));
  if (isEmbedded) texts.push(bytes.subarray(MAPPED_OFFSET).join('.'));
  if (length < 2) return texts.join(':');
  return `${texts.slice(0, start).join(':')}::${texts.slice(start + length).join(':')}`;
}

/** The name of an address's PTR record (RFC 1035 §3.5, RFC 3596 §2.5). */
export function reverseName(address: string | Uint8Array): string {
  const bytes = Array.from(typeof address === 'string' ? addressBytes(address) : address);
  if (bytes.length === 4) return `${bytes.reverse().join('.')}.in-addr.arpa`;
  const nibbles = bytes.flatMap((byte) => [byte >> 4, byte & 15]).reverse();
  return `${nibbles.map((nibble) => nibble.toString(16)).join('.')}.ip6.arpa`;
}
