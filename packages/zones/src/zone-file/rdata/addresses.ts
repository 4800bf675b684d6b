/** Fields that hold an address: IPv4, IPv6, EUI (RFC 7043), and the locators of ILNP (RFC 6742). */
import { isIPv4, isIPv6 } from 'node:net';
import { addressBytes, addressText } from '@dinodns-bench/wire';
import type { DataReader, DataWriter } from '../record-data.ts';
import { type FieldKind, wrongToken } from './field.ts';

const FIX_IPV4 = 'write four numbers from 0 to 255, such as 192.0.2.1';
const FIX_IPV6 = 'write an address such as 2001:db8::1, without a zone index';

/** Throws a `TokenError`. */
export function ipv4Bytes(text: string): Uint8Array {
  if (!isIPv4(text)) {
    throw wrongToken(text, 'an IPv4 address', isIPv6(text) ? 'use type AAAA for an IPv6 address' : FIX_IPV4);
  }
  return addressBytes(text);
}

/** Throws a `TokenError`. */
export function ipv6Bytes(text: string): Uint8Array {
  if (!isIPv6(text) || text.includes('%')) {
    throw wrongToken(text, 'an IPv6 address', isIPv4(text) ? 'use type A for an IPv4 address' : FIX_IPV6);
  }
  return addressBytes(text);
}

const DOT = 0x2e;
const DIGIT_0 = 0x30;

/** Writes an address in its only usual form, which is most of a large zone; false for any other text. */
function writeUsualIpv4(text: Uint8Array, out: DataWriter): boolean {
  let address = 0;
  let at = 0;
  for (let part = 0; part < 4; part++) {
    const start = at;
    let value = 0;
    for (; at < text.length && text[at] !== DOT; at++) {
      const digit = (text[at] ?? 0) - DIGIT_0;
      if (digit < 0 || digit > 9) return false;
      value = value * 10 + digit;
    }
    const digits = at - start;
    if (digits === 0 || digits > 3 || value > 255 || (digits > 1 && text[start] === DIGIT_0)) return false;
    address = address * 256 + value;
    at++;
  }
  if (at !== text.length + 1) return false;
  out.u32(address);
  return true;
}

const ipv4: FieldKind = {
  parse(tokens, out) {
    const text = tokens.nextRaw('an IPv4 address');
    if (!writeUsualIpv4(text, out)) out.bytes(ipv4Bytes(Buffer.from(text).toString('latin1')));
  },
  print: (data) => addressText(data.bytes(4)),
};

const ipv6: FieldKind = {
  parse: (tokens, out) => out.bytes(ipv6Bytes(tokens.next('an IPv6 address'))),
  print: (data) => addressText(data.bytes(16)),
};

/** Pairs of hexadecimal digits, separated by hyphens. */
function eui(bytes: number): FieldKind {
  const form = new RegExp(`^[0-9a-f]{1,2}(?:-[0-9a-f]{1,2}){${bytes - 1}}$`, 'i');
  return {
    parse(tokens, out) {
      const text = tokens.next('an EUI address');
      if (!form.test(text))
        throw wrongToken(text, `an EUI-${bytes * 8} address`, 'write it as 01-23-45-67-89-ab');
      for (const pair of text.split('-')) out.u8(Number.parseInt(pair, 16));
    },
    print: (data) => Array.from(data.bytes(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('-'),
  };
}

/** Four groups of up to four hexadecimal digits. */
const locator64: FieldKind = {
  parse(tokens, out) {
    const text = tokens.next('a locator');
    if (!/^[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){3}$/i.test(text)) {
      throw wrongToken(text, 'a locator of 64 bits', 'write four groups, such as 2001:db8:0:1');
    }
    for (const group of text.split(':')) out.u16(Number.parseInt(group, 16));
  },
  print: (data: DataReader) => Array.from({ length: 4 }, () => data.u16().toString(16)).join(':'),
};

export const ADDRESS_KINDS = { ipv4, ipv6, eui48: eui(6), eui64: eui(8), locator64 } satisfies Record<
  string,
  FieldKind
>;
