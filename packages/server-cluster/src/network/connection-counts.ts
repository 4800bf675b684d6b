/** Counts TCP connections, in total and per client: an IPv4 address, or a prefix of IPv6 addresses. */
import { isIPv4 } from 'node:net';
import { mappedAddress } from '@dinodns-bench/wire';
import { isMapped } from '../limits/networks.ts';
import type { ConnectionTotals } from '../metrics/snapshot.ts';

/** A customer gets at least a /64, and may use each of its 2^64 addresses (RFC 6177). */
export const DEFAULT_CLIENT_IPV6_BITS = 64;

/** One client, however many addresses of its prefix it uses. */
export function clientOf(address: string, ipv6Bits: number = DEFAULT_CLIENT_IPV6_BITS): string {
  if (isIPv4(address)) return address;
  const bytes = mappedAddress(address);
  if (isMapped(bytes)) return bytes.subarray(12).join('.');
  const whole = ipv6Bits >> 3;
  const rest = (bytes[whole] ?? 0) & (0xff00 >> (ipv6Bits & 7));
  return `${Buffer.from(bytes.subarray(0, whole)).toString('hex')}/${rest}`;
}

export class ConnectionCounts {
  readonly #perClient: number;
  /** One entry per connected client. */
  readonly #byClient = new Map<string, number>();
  #open = 0;
  #accepted = 0;
  #refused = 0;
  #timedOut = 0;
  #displaced = 0;

  constructor(perClient: number) {
    this.#perClient = perClient;
  }

  /** Counts a new connection. If the client has too many, counts it as refused and returns false. */
  add(client: string): boolean {
    const count = this.#byClient.get(client) ?? 0;
    if (count >= this.#perClient) {
      this.#refused++;
      return false;
    }
    this.#byClient.set(client, count + 1);
    this.#open++;
    this.#accepted++;
    return true;
  }

  remove(client: string): void {
    const count = this.#byClient.get(client) ?? 0;
    if (count <= 1) this.#byClient.delete(client);
    else this.#byClient.set(client, count - 1);
    this.#open--;
  }

  refuse(): void {
    this.#refused++;
  }

  timeOut(): void {
    this.#timedOut++;
  }

  /** Counts a connection that is closed to make room for another one. */
  displace(): void {
    this.#displaced++;
  }

  get totals(): ConnectionTotals {
    return {
      open: this.#open,
      accepted: this.#accepted,
      refused: this.#refused,
      timedOut: this.#timedOut,
      displaced: this.#displaced,
    };
  }
}
