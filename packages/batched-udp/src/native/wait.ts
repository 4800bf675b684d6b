/** How a socket learns that its descriptor is ready; here from the event loop. */
import type { Waiting } from '../socket.ts';
import type { Libc, PollHandle, Readiness } from './libc.ts';

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

/** Maximum datagrams handled in one turn of the event loop, before timers and other sockets get theirs. */
const DATAGRAMS_PER_TURN = 1024;

/** libuv watches the descriptor, and the socket is served after the loop has polled. */
export class LoopWait implements Wait {
  readonly place = 'event-loop';
  readonly #poll: PollHandle;
  readonly #serve: Served;
  #wanted: Readiness;
  #watched = true;
  #scheduled = false;
  #stopped = false;

  constructor(libc: Libc, fd: number, wanted: Readiness, serve: Served) {
    this.#serve = serve;
    this.#wanted = wanted;
    this.#poll = libc.watch(fd, wanted, this.#wake);
  }

  // Koffi calls back without a callback scope, so promises and process.nextTick would not run until another callback
  // ends. An immediate has a scope, and runs in the same turn of the loop, right after the poll.
  readonly #wake = (status: number): void => {
    if (status < 0) this.#watched = false;
    if (this.#scheduled || this.#stopped) return;
    this.#scheduled = true;
    setImmediate(this.#turn);
  };

  readonly #turn = (): void => {
    this.#scheduled = false;
    if (this.#stopped) return;
    this.#serve(DATAGRAMS_PER_TURN); // Clears a pending error from the socket.
    if (!this.#watched && !this.#stopped) this.want(this.#wanted);
  };

  want(wanted: Readiness): void {
    if (this.#stopped) return;
    this.#wanted = wanted;
    this.#watched = true;
    this.#poll.start(wanted, this.#wake);
  }

  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#poll.stop();
  }

  close(): void {
    this.#stopped = true;
    this.#poll.close();
  }
}
