/** The limits of connections, whatever they carry: TCP, TLS or HTTPS. */
import { isIPv4 } from 'node:net';
import { mappedAddress } from '@dinodns-bench/wire';
import { isMapped } from '../limits/networks.ts';
import type { ServerOptions } from '../options.ts';

/** A connection that sends no complete query for this long is closed (RFC 7766, section 6.2.3: a few seconds). */
export const DEFAULT_IDLE_SECONDS = 10;
/** Connections per process. For a further one, that which has been idle longest is closed. */
export const DEFAULT_MAX_CONNECTIONS = 1024;
/** Connections per client, so that one cannot take them all. */
export const DEFAULT_MAX_CONNECTIONS_PER_CLIENT = 256;
/** A customer gets at least a /64, and may use each of its 2^64 addresses (RFC 6177). */
export const DEFAULT_CLIENT_IPV6_BITS = 64;
/** Queries and answers buffered for all connections of one process together. */
export const DEFAULT_MAX_BUFFERED_BYTES = 64 * 1024 * 1024;

export type TcpLimits = Readonly<NonNullable<ServerOptions['tcp']>>;

/** One client, however many addresses of its prefix it uses: an IPv4 address, or a prefix of IPv6 addresses. */
export function clientOf(address: string, ipv6Bits: number = DEFAULT_CLIENT_IPV6_BITS): string {
  if (isIPv4(address)) return address;
  const bytes = mappedAddress(address);
  if (isMapped(bytes)) return bytes.subarray(12).join('.');
  const whole = ipv6Bits >> 3;
  const rest = (bytes[whole] ?? 0) & (0xff00 >> (ipv6Bits & 7));
  return `${Buffer.from(bytes.subarray(0, whole)).toString('hex')}/${rest}`;
}
