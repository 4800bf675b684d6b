/** Fields of types that are hardly used any more: WKS (RFC 1035), NSAP (RFC 1706), ATMA. */

import { addressText } from '@dinodns-bench/wire';
import { DataError } from '../record-data.ts';
import { ipv4Bytes } from './addresses.ts';
import { hexBytes } from './binary.ts';
import { type FieldKind, wrongToken } from './field.ts';
import { wholeNumber } from './numbers.ts';
import { PROTOCOLS, SERVICES } from './services.ts';

function portOf(text: string): number {
  const known = SERVICES[text.toLowerCase()];
  if (known !== undefined) return known;
  if (!/^\d+$/.test(text)) throw wrongToken(text, 'a known service', 'write the port, such as 25 for smtp');
  return wholeNumber(text, 65_535);
}

function protocolOf(text: string): number {
  const known = PROTOCOLS[text.toLowerCase()];
  if (known !== undefined) return known;
  if (!/^\d+$/.test(text))
    throw wrongToken(text, 'a protocol', 'write tcp, udp, or the number of a protocol');
  return wholeNumber(text, 255);
}

/** Address, protocol, and a bit for each port. */
const services: FieldKind = {
  parse(tokens, out) {
    out.bytes(ipv4Bytes(tokens.next('an IPv4 address')));
    out.u8(protocolOf(tokens.next('a protocol')));
    const ports: number[] = [];
    while (tokens.hasMore) ports.push(portOf(tokens.next('a service')));
    if (ports.length === 0) return;
    const bits = Buffer.alloc((ports.reduce((most, port) => Math.max(most, port), 0) >> 3) + 1);
    for (const port of ports) bits[port >> 3] = (bits[port >> 3] ?? 0) | (0x80 >> (port & 7));
    out.bytes(bits);
  },
  print(data) {
    const parts = [addressText(data.bytes(4)), data.u8()];
    for (const [index, byte] of data.rest().entries()) {
      for (let bit = 0; bit < 8; bit++) if ((byte & (0x80 >> bit)) !== 0) parts.push(index * 8 + bit);
    }
    return parts.join(' ');
  },
};

/** `0x`, then hexadecimal digits with dots anywhere between them. */
const nsapAddress: FieldKind = {
  parse(tokens, out) {
    const text = tokens.next('an NSAP address');
    if (!/^0x[0-9a-f][0-9a-f.]*$/i.test(text)) {
      throw wrongToken(
        text,
        'an NSAP address',
        'write 0x and hexadecimal digits, with dots anywhere between them',
      );
    }
    out.bytes(hexBytes(text.slice(2).replaceAll('.', '')));
  },
  print: (data) => `0x${data.rest().toString('hex')}`,
};

const E164 = 1;
const AESA = 0;

/** `+` and the digits of an E.164 number, or the hexadecimal digits of an ATM end system address. */
const atmAddress: FieldKind = {
  parse(tokens, out) {
    const text = tokens.next('an ATM address').replaceAll('.', '');
    if (/^\+\d+$/.test(text)) {
      out.u8(E164);
      out.bytes(Buffer.from(text.slice(1), 'latin1'));
    } else if (/^(?:[0-9a-f]{2})+$/i.test(text)) {
      out.u8(AESA);
      out.bytes(hexBytes(text));
    } else {
      throw wrongToken(text, 'an ATM address', 'write + and a telephone number, or hexadecimal digits');
    }
  },
  print(data) {
    const format = data.u8();
    if (format === E164) return `+${data.rest().toString('latin1')}`;
    if (format === AESA) return data.rest().toString('hex');
    throw new DataError('ATMA has an unknown format');
  },
};

export const LEGACY_KINDS = { services, nsapAddress, atmAddress } satisfies Record<string, FieldKind>;
