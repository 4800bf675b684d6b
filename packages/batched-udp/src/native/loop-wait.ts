/** Waiting in the event loop: libuv watches the descriptor, and the socket is served after the loop has polled. */
import type { Libc, PollHandle, Readiness } from './libc.ts';
import type { Served, Wait } from './wait.ts';

/** Maximum datagrams handled in one turn of the event loop, before timers and other sockets get theirs. */
const DATAGRAMS_PER_TURN = 1024;

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
