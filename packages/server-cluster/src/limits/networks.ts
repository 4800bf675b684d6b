/** Client networks: address prefixes in the 16-byte form that sockets report. */
import { mappedAddress, parsePrefix, prefixBytes } from '@dinodns-bench/wire';
import { ServerError } from '../errors.ts';

export const ADDRESS_BYTES = 16;
/** Bits of the prefix `::ffff:0:0/96` under which IPv4 addresses appear (RFC 4291, section 2.5.5.2). */
const MAPPED_BITS = 96;

export interface ClientNetwork {
  /** 16 bytes. Bits beyond the prefix are 0. */
  readonly address: Uint8Array;
  /** 0 to 128. */
  readonly bits: number;
}

/** Whether the 16 bytes are an IPv4 address. */
export function isMapped(bytes: Uint8Array): boolean {
  return bytes[10] === 0xff && bytes[11] === 0xff && bytes.subarray(0, 10).every((byte) => byte === 0);
}

/** Parses `192.0.2.0/24`, `2001:db8::/56` or a single address. Throws `E_USAGE` for anything else. */
export function parseNetwork(text: string): ClientNetwork {
  const prefix = parsePrefix(text);
  if (prefix === undefined) {
    throw new ServerError(
      'E_USAGE',
      `"${text}" is not a network.`,
      'Give an address, or an address and a prefix length, like 192.0.2.0/24 or 2001:db8::/48.',
    );
  }
  const { bytes, bits = 8 * bytes.length } = prefix;
  const full = bytes.length === ADDRESS_BYTES ? bits : MAPPED_BITS + bits;
  return { address: prefixBytes(mappedAddress(bytes), full), bits: full };
}

/** Whether the address at `offset` lies in the network. */
export function contains({ address, bits }: ClientNetwork, addresses: Uint8Array, offset: number): boolean {
  const whole = bits >> 3;
  for (let index = 0; index < whole; index++) {
    if (addresses[offset + index] !== address[index]) return false;
  }
  const rest = bits & 7;
  if (rest === 0) return true;
  const mask = 0xff << (8 - rest);
  return ((addresses[offset + whole] ?? 0) & mask & 0xff) === address[whole];
}
