/** Counts TCP connections, in total and per client: an IPv4 address, or a prefix of IPv6 addresses. */
import { isIPv4 } from 'node:net';
import { mappedAddress } from '@dinodns-bench/wire';
import { isMapped } from '../limits/networks.ts';
import { type ConnectionTotals, NO_CONNECTIONS } from '../metrics/snapshot.ts';

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
  readonly #totals = { ...NO_CONNECTIONS };

  constructor(perClient: number) {
    this.#perClient = perClient;
  }

  /** Counts a new connection. If the client has too many, counts it as refused and returns false. */
  add(client: string): boolean {
    const count = this.#byClient.get(client) ?? 0;
    if (count >= this.#perClient) {
      this.#totals.refused++;
      return false;
    }
    this.#byClient.set(client, count + 1);
    this.#totals.open++;
    this.#totals.accepted++;
    return true;
  }

  remove(client: string): void {
    const count = this.#byClient.get(client) ?? 0;
    if (count <= 1) this.#byClient.delete(client);
    else this.#byClient.set(client, count - 1);
    this.#totals.open--;
  }

  /** Counts a connection that this server closes. */
  close(why: 'refused' | 'timedOut' | 'displaced'): void {
    this.#totals[why]++;
  }

  get totals(): ConnectionTotals {
    return { ...this.#totals };
  }
}
