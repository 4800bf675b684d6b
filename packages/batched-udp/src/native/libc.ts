/** libc's socket calls. */

/** What is ready, as reported by libuv's poll. */
export interface Readiness {
  readonly readable: boolean;
  readonly writable: boolean;
}

/** `status` is negative when the descriptor has an error to report; libuv stops watching it then. */
export type PollCallback = (status: number) => void;

/** A descriptor watched by the event loop. */
export interface PollHandle {
  start(events: Readiness, callback: PollCallback): void;
  stop(): void;
  close(): void;
}

/** libuv's loop of this thread. */
export interface EventLoop {
  /** The descriptor that is readable when the loop has an event: TCP, signals, worker threads, IPC, `fs`. */
  readonly fd: number;
  /**
   * How long the loop would wait, in ms: until the nearest timer; -1 without one; 0 if it must run now, because of an
   * immediate, closed handles, or descriptors that it does not watch yet. Counts from the last `updateTime`.
   */
  timeout(): number;
  /** Tells the loop what time it is. Timers that JavaScript sets count from there. */
  updateTime(): void;
}

/**
 * The calls that a socket needs. Addresses are plain numbers: user space on x86-64 and arm64 lies below 2^53.
 * All return -1 on failure; `errno` must be read immediately to learn why.
 * An interface, so that tests can inject failures that never occur on a loopback device.
 */
export interface Libc {
  socket(domain: number, type: number, protocol: number): number;
  dup3(from: number, to: number, flags: number): number;
  close(fd: number): number;
  bind(fd: number, address: number, length: number): number;
  connect(fd: number, address: number, length: number): number;
  getsockname(fd: number, address: number, length: number): number;
  setsockopt(fd: number, level: number, name: number, value: number, length: number): number;
  getsockopt(fd: number, level: number, name: number, value: number, length: number): number;
  recvmmsg(fd: number, messages: number, count: number, flags: number, timeout: number): number;
  sendmmsg(fd: number, messages: number, count: number, flags: number): number;
  clock_gettime(clock: number, timespec: number): number;
  /** Suspends this thread. */
  usleep(microseconds: number): number;
  timerfd_create(clock: number, flags: number): number;
  timerfd_settime(fd: number, flags: number, newValue: number, oldValue: number): number;
  errno(): number;
  errnoName(errno: number): string;
  /** The address of the buffer's bytes. V8 never moves a backing store; it frees one that is detached or unreachable. */
  addressOf(buffer: ArrayBuffer): number;
  /** poll(2) on `count` entries of struct pollfd. */
  poll(entries: number, count: number, milliseconds: number): number;
  /** Calls back from the event loop while the descriptor is ready, once per turn of the loop. */
  watch(fd: number, events: Readiness, callback: PollCallback): PollHandle;
  /** This thread's event loop; undefined if this runtime does not tell which it is. */
  readonly eventLoop: EventLoop | undefined;
}
