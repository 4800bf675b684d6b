/**
 * Record data in wire format (RFC 1035 §3.3, 2782, 3596, 8659), without name compression, as hexadecimal
 * digits: what dnsmasq's `dns-rr` takes, and how the size of an answer is known.
 */
import { isIPv4 } from 'node:net';
import type { RecordType, TypedData } from './records.ts';

/** TYPE numbers of the IANA registry "Resource Record (RR) TYPEs". */
export const TYPE_NUMBERS: Readonly<Record<RecordType, number>> = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  CAA: 257,
};

function unsigned(value: number, octets: 1 | 2 | 4): string {
  return value.toString(16).padStart(octets * 2, '0');
}

function ascii(text: string): string {
  return Buffer.from(text, 'latin1').toString('hex');
}

function characterString(text: string): string {
  return unsigned(text.length, 1) + ascii(text);
}

/** The labels of a name without the root's length octet, so that a zone's name can follow. */
export function labelsHex(name: string): string {
  return name === '.' || name === '' ? '' : name.split('.').map(characterString).join('');
}

export function nameHex(name: string): string {
  return `${labelsHex(name)}00`;
}

function ipv6Hex(address: string): string {
  const dotted = address.slice(address.lastIndexOf(':') + 1);
  const [head = '', tail] = (
    isIPv4(dotted) ? address.slice(0, -dotted.length) + ipv4Groups(dotted) : address
  ).split('::');
  const groups = (text: string | undefined) => (text ? text.split(':') : []);
  const before = groups(head);
  const after = groups(tail);
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return [...before, ...zeros, ...after].map((group) => group.padStart(4, '0')).join('');
}

function ipv4Groups(address: string): string {
  const hex = ipv4Hex(address);
  return `${hex.slice(0, 4)}:${hex.slice(4)}`;
}

function ipv4Hex(address: string): string {
  return address
    .split('.')
    .map((octet) => unsigned(Number(octet), 1))
    .join('');
}

/** The record's data; `nameOf` encodes the domain names in it. */
export function dataHex(record: TypedData, nameOf: (name: string) => string = nameHex): string {
  switch (record.type) {
    case 'A':
      return ipv4Hex(record.data);
    case 'AAAA':
      return ipv6Hex(record.data);
    case 'CNAME':
    case 'NS':
      return nameOf(record.data);
    case 'MX':
      return unsigned(record.data.preference, 2) + nameOf(record.data.exchange);
    case 'TXT':
      return record.data.map(characterString).join('');
    case 'SRV': {
      const { priority, weight, port, target } = record.data;
      return [priority, weight, port].map((value) => unsigned(value, 2)).join('') + nameOf(target);
    }
    case 'CAA': {
      const { flags, tag, value } = record.data;
      return unsigned(flags, 1) + characterString(tag) + ascii(value);
    }
    case 'SOA': {
      const { mname, rname, serial, refresh, retry, expire, minimum } = record.data;
      const times = [serial, refresh, retry, expire, minimum].map((value) => unsigned(value, 4));
      return nameOf(mname) + nameOf(rname) + times.join('');
    }
  }
}
