/** Fields that hold an address: IPv4, IPv6, EUI (RFC 7043), and the locators of ILNP (RFC 6742). */
import { isIPv4, isIPv6 } from 'node:net';
import type { DataReader, DataWriter } from '../record-data.ts';
import { type FieldKind, wrongToken } from './field.ts';

const FIX_IPV4 = 'write four numbers from 0 to 255, such as 192.0.2.1';
const FIX_IPV6 = 'write an address such as 2001:db8::1, without a zone index';

/** Throws a `TokenError`. */
export function ipv4Bytes(text: string): Buffer {
  if (!isIPv4(text)) {
    throw wrongToken(text, 'an IPv4 address', isIPv6(text) ? 'use type AAAA for an IPv6 address' : FIX_IPV4);
  }
  return Buffer.from(text.split('.').map(Number));
}

/** Throws a `TokenError`. */
export function ipv6Bytes(text: string): Buffer {
  if (!isIPv6(text) || text.includes('%')) {
    throw wrongToken(text, 'an IPv6 address', isIPv4(text) ? 'use type A for an IPv4 address' : FIX_IPV6);
  }
  const dotted = text.lastIndexOf(':') + 1;
  const last = text.includes('.') ? ipv4Bytes(text.slice(dotted)) : undefined;
  const [head = '', tail] = (last === undefined ? text : `${text.slice(0, dotted)}${groupsText(last)}`).split(
    '::',
  );
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const bytes = Buffer.alloc(16);
  for (const [index, group] of before.entries()) bytes.writeUInt16BE(Number.parseInt(group, 16), index * 2);
  const start = 16 - after.length * 2;
  for (const [index, group] of after.entries())
    bytes.writeUInt16BE(Number.parseInt(group, 16), start + index * 2);
  return bytes;
}

function groupsText(ipv4: Buffer): string {
  return `${ipv4.readUInt16BE(0).toString(16)}:${ipv4.readUInt16BE(2).toString(16)}`;
}

export function ipv4Text(bytes: Uint8Array): string {
  return bytes.join('.');
}

/**
 * As inet_ntop writes it: the longest run of two or more zero groups, or the first of equally long ones, becomes `::`;
 * embedded IPv4 addresses are dotted.
 */
export function ipv6Text(bytes: Buffer): string {
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(index * 2));
  const { start, length } = longestZeroRun(groups);
  const isMapped = start === 0 && (length === 6 || (length === 5 && groups[5] === 0xffff));
  const texts = groups.slice(0, isMapped ? 6 : 8).map((group) => group.toString(16));
  if (isMapped) texts.push(ipv4Text(bytes.subarray(12)));
  if (length < 2) return texts.join(':');
  return `${texts.slice(0, start).join(':')}::${texts.slice(start + length).join(':')}`;
}

function longestZeroRun(groups: readonly number[]): { start: number; length: number } {
  let best = { start: -1, length: 0 };
  for (let start = 0; start < groups.length; start++) {
    let end = start;
    while (groups[end] === 0) end++;
    if (end - start > best.length) best = { start, length: end - start };
    start = Math.max(start, end);
  }
  return best;
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
  print: (data) => ipv4Text(data.bytes(4)),
};

const ipv6: FieldKind = {
  parse: (tokens, out) => out.bytes(ipv6Bytes(tokens.next('an IPv6 address'))),
  print: (data) => ipv6Text(data.bytes(16)),
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
