/** The list of address prefixes of APL records (RFC 3123): `1:192.0.2.0/24 !2:2001:db8::/32`. */

import { addressText } from '@dinodns-bench/wire';
import { DataError, type DataReader, type DataWriter, NoTextError } from '../record-data.ts';
import { ipv4Bytes, ipv6Bytes } from './addresses.ts';
import { type FieldKind, wrongToken } from './field.ts';

const IPV4 = 1;
const IPV6 = 2;
const NEGATED = 0x80;

function parsePrefix(text: string, out: DataWriter): void {
  const [, negation = '', family = '', address = '', bits = ''] =
    /^(!?)([12]):([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const maxBits = family === String(IPV6) ? 128 : 32;
  if (family === '' || Number(bits) > maxBits) {
    throw wrongToken(
      text,
      'an address prefix',
      'write it as 1:192.0.2.0/24 for IPv4 or 2:2001:db8::/32 for IPv6',
    );
  }
  const bytes = maxBits === 128 ? ipv6Bytes(address) : ipv4Bytes(address);
  // Trailing zeros are not sent (RFC 3123, section 4).
  let length = bytes.length;
  while (length > 0 && bytes[length - 1] === 0) length--;
  out.u16(Number(family));
  out.u8(Number(bits));
  out.u8(length | (negation === '' ? 0 : NEGATED));
  out.bytes(bytes.subarray(0, length));
}

function printPrefix(data: DataReader): string {
  const family = data.u16();
  const bits = data.u8();
  const length = data.u8();
  const given = data.bytes(length & ~NEGATED);
  const size = family === IPV6 ? 16 : 4;
  if (family !== IPV4 && family !== IPV6)
    throw new NoTextError('an APL prefix has an unknown address family');
  if (given.length > size || bits > size * 8) {
    throw new DataError('an APL prefix is longer than its address');
  }
  const bytes = Buffer.alloc(size);
  bytes.set(given);
  const address = addressText(bytes);
  return `${(length & NEGATED) === 0 ? '' : '!'}${family}:${address}/${bits}`;
}

const prefixes: FieldKind = {
  parse(tokens, out) {
    while (tokens.hasMore) parsePrefix(tokens.next('a prefix'), out);
  },
  print: (data) => (data.left > 0 ? data.untilEnd(() => printPrefix(data)).join(' ') : ''),
};

export const APL_KINDS = { prefixes } satisfies Record<string, FieldKind>;
