/** How a socket learns that its descriptor is ready. */
import type { Waiting } from '../socket.ts';
import type { Readiness } from './libc.ts';

/** What a handler may have left to the event loop, more after less. */
export const LEFT = {
  /** Nothing at all. */
  nothing: 0,
  /** What the event loop knows of when it is asked: timers, an immediate, descriptors. */
  known: 1,
  /** Also promises and the like, which it does not know of. */
  unknown: 2,
} as const;

export type Left = (typeof LEFT)[keyof typeof LEFT];

/** Serves a socket: sends what waits, reads and handles about this many datagrams. Returns what is left. */
export type Served = (maxDatagrams: number) => Left;

/** Waits for a descriptor and has its socket served. */
export interface Wait {
  readonly place: Waiting;
  /** What to wait for from now on. */
  want(events: Readiness): void;
  /** The socket is not served again. */
  stop(): void;
  close(): void;
}
