/** Fields of types that are hardly used any more: WKS (RFC 1035), NSAP (RFC 1706), ATMA. */

import { addressText } from '@dinodns-bench/wire';
import { DataError } from '../record-data.ts';
import { ipv4Bytes } from './addresses.ts';
import { hexBytes } from './binary.ts';
import { bitsOf, numbersIn } from './bitmap.ts';
import { type FieldKind, wrongToken } from './field.ts';
import { numberOr, numbersByName } from './numbers.ts';

/** Protocols and services that WKS records (RFC 1035, section 3.4.2) name, from IANA's registries. */
const PROTOCOLS = numbersByName(
  'icmp 1, igmp 2, ggp 3, tcp 6, egp 8, udp 17, dccp 33, sctp 132, udplite 136',
);

/** Services of RFC 1010's time that occur in WKS records, and common ones of today. */
const SERVICES = numbersByName(`
  tcpmux 1, echo 7, discard 9, systat 11, daytime 13, netstat 15, qotd 17, chargen 19, ftp-data 20, ftp 21,
  ssh 22, telnet 23, smtp 25, time 37, whois 43, tacacs 49, domain 53, tftp 69, gopher 70, finger 79, http 80,
  kerberos 88, pop3 110, sunrpc 111, nntp 119, ntp 123, imap2 143, snmp 161, snmp-trap 162, bgp 179, irc 194,
  ldap 389, https 443, submission 587, ldaps 636, imaps 993, pop3s 995`);

function portOf(text: string): number {
  const fix = 'write the port, such as 25 for smtp';
  return numberOr(SERVICES.get(text.toLowerCase()), text, 65_535, 'a known service', fix);
}

function protocolOf(text: string): number {
  const fix = 'write tcp, udp, or the number of a protocol';
  return numberOr(PROTOCOLS.get(text.toLowerCase()), text, 255, 'a protocol', fix);
}

/** Address, protocol, and a bit for each port. */
const services: FieldKind = {
  parse(tokens, out) {
    out.bytes(ipv4Bytes(tokens.next('an IPv4 address')));
    out.u8(protocolOf(tokens.next('a protocol')));
    const ports: number[] = [];
    while (tokens.hasMore) ports.push(portOf(tokens.next('a service')));
    if (ports.length > 0) out.bytes(bitsOf(ports.sort((a, b) => a - b)));
  },
  print: (data) => [addressText(data.bytes(4)), data.u8(), ...numbersIn(data.rest())].join(' '),
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
