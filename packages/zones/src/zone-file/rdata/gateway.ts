/**
 * Fields whose form depends on the number before them: the gateways of IPSECKEY (RFC 4025) and AMTRELAY (RFC 8777), the keys
 * of HIP (RFC 8005), and the parts of A6 (RFC 2874).
 */

import { addressText } from '@dinodns-bench/wire';
import { zoneFileName } from '../names.ts';
import { TokenError } from '../problem.ts';
import { DataError, type DataReader, type DataWriter } from '../record-data.ts';
import { ADDRESS_KINDS, ipv6Bytes } from './addresses.ts';
import { base64Bytes, hexBytes, hexText } from './binary.ts';
import { type FieldKind, NAME_KINDS, type Tokens, wrongToken } from './field.ts';
import { wholeNumber } from './numbers.ts';

const none: FieldKind = {
  parse(tokens) {
    const text = tokens.next('a dot, because there is no gateway');
    if (text !== '.')
      throw wrongToken(text, 'a dot', 'write . where the gateway type is 0, or correct the type');
  },
  print: () => '.',
};

/** By gateway type. */
const GATEWAYS: readonly FieldKind[] = [none, ADDRESS_KINDS.ipv4, ADDRESS_KINDS.ipv6, NAME_KINDS.name];

function parseGateway(form: number, tokens: Tokens, out: DataWriter): void {
  const gateway = GATEWAYS[form];
  if (gateway === undefined) {
    const fix = 'write 0 (none), 1 (IPv4), 2 (IPv6) or 3 (a name)';
    throw new TokenError(`the gateway type ${form} is unknown`, fix);
  }
  gateway.parse(tokens, out);
}

function printGateway(form: number, data: DataReader): string {
  const gateway = GATEWAYS[form];
  if (gateway === undefined) throw new DataError(`the gateway type ${form} is unknown`);
  return gateway.print(data);
}

/** Gateway type, algorithm, gateway. */
const ipsecGateway: FieldKind = {
  parse(tokens, out) {
    const form = wholeNumber(tokens.next('a gateway type'), 255);
    out.u8(form);
    out.u8(wholeNumber(tokens.next('an algorithm'), 255));
    parseGateway(form, tokens, out);
  },
  print(data) {
    const form = data.u8();
    return `${form} ${data.u8()} ${printGateway(form, data)}`;
  },
};

/** Discovery bit, relay type, relay. */
const relay: FieldKind = {
  parse(tokens, out) {
    const discovery = wholeNumber(tokens.next('the discovery bit'), 1);
    const form = wholeNumber(tokens.next('a relay type'), 127);
    out.u8((discovery << 7) | form);
    parseGateway(form, tokens, out);
  },
  print(data) {
    const byte = data.u8();
    return `${byte >> 7} ${byte & 0x7f} ${printGateway(byte & 0x7f, data)}`;
  },
};

/** Algorithm, host identity tag, public key, rendezvous servers. */
const hostIdentity: FieldKind = {
  parse(tokens, out) {
    const algorithm = wholeNumber(tokens.next('an algorithm'), 255);
    const tag = hexBytes(tokens.next('a host identity tag'));
    const key = base64Bytes(tokens.next('a public key'));
    if (tag.length < 1 || tag.length > 255) {
      throw new TokenError(`the host identity tag has ${tag.length} bytes`, 'give 1 to 255 bytes');
    }
    if (key.length < 1) throw new TokenError('the public key is empty', 'give it in base64, as one word');
    out.u8(tag.length);
    out.u8(algorithm);
    out.u16(key.length);
    out.bytes(tag);
    out.bytes(key);
    while (tokens.hasMore) out.bytes(tokens.nextName());
  },
  print(data) {
    const tagLength = data.u8();
    const algorithm = data.u8();
    const keyLength = data.u16();
    const parts = [algorithm, hexText(data.bytes(tagLength)), data.bytes(keyLength).toString('base64')];
    while (data.left > 0) parts.push(zoneFileName(data.name()));
    return parts.join(' ');
  },
};

/** Prefix length, the address without the prefix, the name of the prefix. */
const a6: FieldKind = {
  parse(tokens, out) {
    const prefix = wholeNumber(tokens.next('a prefix length'), 128);
    out.u8(prefix);
    if (prefix < 128) {
      const address = ipv6Bytes(tokens.next('an IPv6 address'));
      const from = prefix >> 3;
      address[from] = (address[from] ?? 0) & (0xff >> (prefix & 7));
      out.bytes(address.subarray(from));
    }
    if (prefix > 0) out.bytes(tokens.nextName());
  },
  print(data) {
    const prefix = data.u8();
    if (prefix > 128) throw new DataError('A6 has a prefix that is too long');
    const bytes = Buffer.alloc(16);
    bytes.set(data.bytes(16 - (prefix >> 3)), prefix >> 3);
    const address = prefix < 128 ? addressText(bytes) : '';
    return prefix === 0 ? `0 ${address}` : `${prefix} ${address} ${zoneFileName(data.name())}`;
  },
};

export const GATEWAY_KINDS = { ipsecGateway, relay, hostIdentity, a6 } satisfies Record<string, FieldKind>;
