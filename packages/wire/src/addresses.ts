/** IP addresses as bytes and as names of reverse zones. */
import { isIPv4, isIPv6 } from 'node:net';

function ipv6Groups(text: string): string[] {
  return text === '' ? [] : text.split(':');
}

/** The 4 or 16 bytes of an address literal. @throws RangeError if it is invalid. */
export function addressBytes(address: string): Uint8Array {
  if (isIPv4(address)) return Uint8Array.from(address.split('.'), Number);
  const [plain = ''] = address.split('%');
  if (!isIPv6(plain)) throw new RangeError(`"${address}" is not an IP address`);
  const dotted = plain.slice(plain.lastIndexOf(':') + 1);
  let text = plain;
  if (isIPv4(dotted)) {
    const [a = 0, b = 0, c = 0, d = 0] = dotted.split('.').map(Number);
    text = `${plain.slice(0, -dotted.length)}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  }
  const [head = '', tail] = text.split('::');
  const before = ipv6Groups(head);
  const after = tail === undefined ? [] : ipv6Groups(tail);
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return Uint8Array.from(
    [...before, ...zeros, ...after].flatMap((group) => {
      const value = Number.parseInt(group, 16);
      return [value >> 8, value & 0xff];
    }),
  );
}

/** The name of an address's PTR record (RFC 1035 §3.5, RFC 3596 §2.5). */
export function reverseName(address: string): string {
  const bytes = Array.from(addressBytes(address));
  if (bytes.length === 4) return `${bytes.reverse().join('.')}.in-addr.arpa`;
  const nibbles = bytes.flatMap((byte) => [byte >> 4, byte & 15]).reverse();
  return `${nibbles.map((nibble) => nibble.toString(16)).join('.')}.ip6.arpa`;
}
