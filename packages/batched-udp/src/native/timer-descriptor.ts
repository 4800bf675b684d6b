/**
 * A timer that poll(2) can wait for like for a socket (timerfd_create(2)).
 *
 * With a timeout, poll(2) starts and stops a timer in the kernel each time, and the caller must look at the clock to know
 * how much of it is left. Every Node.js process has some timer, if only one of V8's own that is due in seconds; set once
 * here, it costs a wait nothing.
 */
import { closeSync } from 'node:fs';
import { openTracked } from './descriptor.ts';
import { constants, layout } from './layout.ts';
import type { Libc } from './libc.ts';

/** The event loop counts whole milliseconds: times closer than this are the same. */
const RESOLUTION_MS = 1;

/** V8 keeps smaller buffers on its heap, where they move. */
const BUFFER_BYTES = 128;

export class TimerDescriptor {
  readonly fd: number;
  readonly #libc: Libc;
  /** struct itimerspec, of whose 64-bit fields only the lower halves are ever used. */
  readonly #words: Uint32Array;
  readonly #address: number;
  /** When it becomes readable, in ms of `performance.now()`. */
  #due = Number.POSITIVE_INFINITY;

  /** @throws UdpError with the errno's name. */
  constructor(libc: Libc) {
    const buffer = new ArrayBuffer(BUFFER_BYTES);
    const { CLOCK_MONOTONIC, TFD_CLOEXEC, TFD_NONBLOCK } = constants;
    this.#libc = libc;
    this.#words = new Uint32Array(buffer);
    this.#address = libc.addressOf(buffer);
    this.fd = openTracked(libc, 'timerfd_create', '', () =>
      libc.timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK),
    );
  }

  /** Makes it readable in that many whole ms, at least 1, and not before; below 0, never. */
  set(ms: number): void {
    const due = ms < 0 ? Number.POSITIVE_INFINITY : performance.now() + ms;
    if (due === this.#due || Math.abs(due - this.#due) < RESOLUTION_MS) return;
    const words = this.#words;
    const { it_value } = layout.itimerspec;
    words[(it_value + layout.timespec.tv_sec) / 4] = ms < 0 ? 0 : Math.floor(ms / 1000);
    words[(it_value + layout.timespec.tv_nsec) / 4] = ms < 0 ? 0 : (ms % 1000) * 1e6;
    this.#libc.timerfd_settime(this.fd, 0, this.#address, 0);
    this.#due = due;
  }

  close(): void {
    closeSync(this.fd);
  }
}
