/** Address literals: text to bytes and back. Names are never looked up. */
import { isIPv4, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { addressText, mappedAddress } from '@dinodns-bench/wire';
import { UdpError } from './errors.ts';

/** An address as 16 bytes in network order, IPv4 as `::ffff:a.b.c.d`. */
export interface Address {
  readonly family: 4 | 6;
  readonly bytes: Uint8Array;
  /** Interface index of a link-local IPv6 address (sin6_scope_id), else 0. */
  readonly scope: number;
}

/** The interface index of a zone (`eth0` or `2`); undefined if there is no such interface. */
function scopeOfZone(zone: string): number | undefined {
  if (/^\d{1,9}$/.test(zone)) return Number(zone);
  for (const entry of networkInterfaces()[zone] ?? []) {
    if (entry.family === 'IPv6' && entry.scopeid) return entry.scopeid;
  }
  return undefined;
}

/** The interface's name, or its index if none of its addresses reveals the name. */
function zoneOfScope(scope: number): string {
  for (const [name, entries] of Object.entries(networkInterfaces())) {
    if (entries?.some((entry) => entry.family === 'IPv6' && entry.scopeid === scope)) return name;
  }
  return String(scope);
}

/** @throws UdpError ERR_UDP_ADDRESS unless `text` is an IPv4 or IPv6 literal. */
export function parseAddress(text: string): Address {
  if (isIPv4(text)) return { family: 4, bytes: mappedAddress(text), scope: 0 };
  if (!isIPv6(text)) {
    throw new UdpError(
      'ERR_UDP_ADDRESS',
      `address ${JSON.stringify(text)} is not an IPv4 or IPv6 literal: names are not resolved`,
    );
  }
  const [, zone] = text.split('%');
  const scope = zone === undefined ? 0 : scopeOfZone(zone);
  if (scope === undefined) {
    throw new UdpError(
      'ERR_UDP_ADDRESS',
      `address ${JSON.stringify(text)}: no interface ${JSON.stringify(zone)} with an IPv6 address; ip link lists them`,
    );
  }
  return { family: 6, bytes: mappedAddress(text), scope };
}

/** Text of the 16 bytes at `at`; dotted for family 4, with `%zone` where `scope` is not 0. */
export function formatAddress(bytes: Uint8Array, at: number, family: 4 | 6, scope = 0): string {
  const text = addressText(bytes.subarray(family === 4 ? at + 12 : at, at + 16));
  return scope === 0 ? text : `${text}%${zoneOfScope(scope)}`;
}
