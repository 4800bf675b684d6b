/**
 * Record data in wire format (RFC 1035 §3.3, RFC 2782, RFC 3596, RFC 8659), without name compression, as
 * hexadecimal digits: for dnsmasq's `dns-rr`, and to compute the size of answers.
 */
import { addressBytes, encodeName } from '@dinodns-bench/wire';
import type { TypedData } from './records.ts';

function unsigned(value: number, bytes: 1 | 2 | 4): string {
  return value.toString(16).padStart(bytes * 2, '0');
}

function ascii(text: string): string {
  return Buffer.from(text, 'latin1').toString('hex');
}

function characterString(text: string): string {
  return unsigned(text.length, 1) + ascii(text);
}

export function nameHex(name: string): string {
  return encodeName(name).toString('hex');
}

/** The labels of a name without the root's length byte, so that a zone's name can follow. */
export function labelsHex(name: string): string {
  return nameHex(name).slice(0, -2);
}

function addressHex(address: string): string {
  return Buffer.from(addressBytes(address)).toString('hex');
}

/** The record's data; `nameOf` encodes the domain names in it. */
export function dataHex(record: TypedData, nameOf: (name: string) => string = nameHex): string {
  switch (record.type) {
    case 'A':
    case 'AAAA':
      return addressHex(record.data);
    case 'CNAME':
    case 'DNAME':
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
