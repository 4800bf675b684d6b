/** How a socket learns that its descriptor is ready. */
import type { Waiting } from '../socket.ts';
import type { Readiness } from './libc.ts';

/**
 * Serves a socket: sends what waits, reads and handles about this many datagrams. Returns whether nothing is left to
 * the event loop: all replies are with the kernel, and the handler has said that it is done.
 */
export type Served = (maxDatagrams: number) => boolean;

/** Waits for a descriptor and has its socket served. */
export interface Wait {
  readonly place: Waiting;
  /** What to wait for from now on. */
  want(events: Readiness): void;
  /** Whether the process stays alive for this. */
  ref(): void;
  unref(): void;
  /** The socket is not served again. */
  stop(): void;
  close(): void;
}
