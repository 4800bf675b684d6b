/**
 * What this package needs of a network beyond the framework's `Network`: to report when it is bound or why it
 * cannot be, and to stop without losing what it has received.
 */
import type { Network } from 'dinodns/common/network/net.js';
import type { Packet } from 'dns-packet';

export interface ManagedNetwork extends Network<Packet> {
  /** Binds and listens. Rejects with the system error if that fails. */
  open(): Promise<void>;
  /** Answers the queries received so far, then closes. Gives up on the rest after `seconds`. Never rejects. */
  shutdown(seconds: number): Promise<void>;
}

/** How the processes of a cluster share a socket. */
export interface SharingOptions {
  /**
   * Bind with SO_REUSEPORT, so that the kernel spreads the load over all sockets of this port. If false, a socket
   * opened in a cluster worker belongs to the primary. Default: false.
   */
  readonly reusePort?: boolean;
}

/** Calls `check` every few milliseconds until it is true or `seconds` have passed. */
export async function waitUntil(check: () => boolean, seconds: number): Promise<boolean> {
  const deadline = performance.now() + seconds * 1000;
  while (!check()) {
    if (performance.now() >= deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return true;
}
