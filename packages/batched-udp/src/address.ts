/** Address literals: text to bytes and back. Names are never looked up. */
import { isIPv4, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
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

function writeIPv4(text: string, bytes: Uint8Array): void {
  bytes[10] = 0xff;
  bytes[11] = 0xff;
  text.split('.').forEach((part, i) => {
    bytes[12 + i] = Number(part);
  });
}

/** Writes text that `isIPv6` has accepted, without zone. */
function writeIPv6(text: string, bytes: Uint8Array): void {
  const groups = (part: string) =>
    part === ''
      ? []
      : part.split(':').flatMap((group) => {
          if (!group.includes('.')) return [Number.parseInt(group, 16)];
          const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
          return [a * 256 + b, c * 256 + d];
        });
  const [head = '', tail] = text.split('::');
  const first = groups(head);
  const last = tail === undefined ? [] : groups(tail);
  const all = [...first, ...new Array<number>(8 - first.length - last.length).fill(0), ...last];
  all.forEach((group, i) => {
    bytes[2 * i] = group >> 8;
    bytes[2 * i + 1] = group & 0xff;
  });
}

/** @throws UdpError ERR_UDP_ADDRESS unless `text` is an IPv4 or IPv6 literal. */
export function parseAddress(text: string): Address {
  const bytes = new Uint8Array(16);
  if (isIPv4(text)) {
    writeIPv4(text, bytes);
    return { family: 4, bytes, scope: 0 };
  }
  if (!isIPv6(text)) {
    throw new UdpError(
      'ERR_UDP_ADDRESS',
      `address ${JSON.stringify(text)} is not an IPv4 or IPv6 literal: names are not resolved`,
    );
  }
  const [literal = '', zone] = text.split('%');
  writeIPv6(literal, bytes);
  const scope = zone === undefined ? 0 : scopeOfZone(zone);
  if (scope === undefined) {
    throw new UdpError(
      'ERR_UDP_ADDRESS',
      `address ${JSON.stringify(text)}: no interface ${JSON.stringify(zone)} with an IPv6 address; ip link lists them`,
    );
  }
  return { family: 6, bytes, scope };
}

/** The longest run of two or more zero groups, as RFC 5952 abbreviates it. */
function longestZeroRun(groups: readonly number[]): { start: number; length: number } {
  let best = { start: -1, length: 1 };
  let start = -1;
  for (let i = 0; i <= groups.length; i++) {
    if (i < groups.length && groups[i] === 0) {
      if (start < 0) start = i;
    } else if (start >= 0) {
      if (i - start > best.length) best = { start, length: i - start };
      start = -1;
    }
  }
  return best;
}

/** RFC 5952 text of the 16 bytes at `at`; dotted for family 4, with `%zone` where `scope` is not 0. */
export function formatAddress(bytes: Uint8Array, at: number, family: 4 | 6, scope = 0): string {
  const address = bytes.subarray(at, at + 16);
  const dotted = address.subarray(12).join('.');
  if (family === 4) return dotted;
  const mapped =
    address.subarray(0, 10).every((byte) => byte === 0) && address[10] === 0xff && address[11] === 0xff;
  const zone = scope === 0 ? '' : `%${zoneOfScope(scope)}`;
  if (mapped) return `::ffff:${dotted}${zone}`;
  const groups = Array.from({ length: 8 }, (_, i) => (address[2 * i] ?? 0) * 256 + (address[2 * i + 1] ?? 0));
  const { start, length } = longestZeroRun(groups);
  const text = (part: readonly number[]) => part.map((group) => group.toString(16)).join(':');
  if (start < 0) return text(groups) + zone;
  return `${text(groups.slice(0, start))}::${text(groups.slice(start + length))}${zone}`;
}
