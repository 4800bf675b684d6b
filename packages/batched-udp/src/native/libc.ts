/** libc's socket calls through koffi, bound once per thread. */
import { UdpError } from '../errors.ts';
import { architectures } from './layout.ts';

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
  ref(): void;
  unref(): void;
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

/** Koffi 3.3 passes libuv's status first, which its types omit. */
const adapt = (callback: PollCallback) => (status: unknown) =>
  callback(typeof status === 'number' ? status : 0);

/** Space for a pointer. V8 keeps small buffers on its heap, where they move. */
const POINTER_BUFFER_BYTES = 128;

/**
 * Finds the loop through Node-API, which knows it in worker threads too. Other runtimes lack libuv, or hide it; there
 * a function is missing or the call fails.
 */
function findEventLoop({ default: koffi }: typeof import('koffi')): EventLoop | undefined {
  const process = koffi.load(null);
  try {
    const find = process.func('napi_get_uv_event_loop', 'int', ['void *', 'uintptr_t']);
    const backend = process.func('uv_backend_fd', 'int', ['uintptr_t']);
    const timeout = process.func('uv_backend_timeout', 'int', ['uintptr_t']);
    const updateTime = process.func('uv_update_time', 'void', ['uintptr_t']);
    const result = new BigUint64Array(POINTER_BUFFER_BYTES / 8);
    if (find(koffi.node.env, Number(koffi.address(result.buffer))) !== 0) return undefined;
    const loop = Number(result[0]);
    const fd = backend(loop);
    if (fd < 0) return undefined;
    return { fd, timeout: () => timeout(loop), updateTime: () => updateTime(loop) };
  } catch {
    return undefined;
  }
}

async function bindLibc(): Promise<Libc> {
  const module = await import('koffi');
  const { default: koffi } = module;
  // The process's own symbols: from whichever libc Node.js uses, glibc or musl.
  const process = koffi.load(null);
  const int = (name: string, ...parameters: string[]) => process.func(name, 'int', parameters);
  const names = new Map(Object.entries(koffi.os.errno).map(([name, number]) => [number, name]));
  return {
    socket: int('socket', 'int', 'int', 'int'),
    dup3: int('dup3', 'int', 'int', 'int'),
    close: int('close', 'int'),
    bind: int('bind', 'int', 'uintptr_t', 'uint'),
    connect: int('connect', 'int', 'uintptr_t', 'uint'),
    getsockname: int('getsockname', 'int', 'uintptr_t', 'uintptr_t'),
    setsockopt: int('setsockopt', 'int', 'int', 'int', 'uintptr_t', 'uint'),
    getsockopt: int('getsockopt', 'int', 'int', 'int', 'uintptr_t', 'uintptr_t'),
    recvmmsg: int('recvmmsg', 'int', 'uintptr_t', 'uint', 'int', 'uintptr_t'),
    sendmmsg: int('sendmmsg', 'int', 'uintptr_t', 'uint', 'int'),
    clock_gettime: int('clock_gettime', 'int', 'uintptr_t'),
    usleep: int('usleep', 'uint'),
    errno: () => koffi.errno(),
    errnoName: (errno) => names.get(errno) ?? `errno ${errno}`,
    addressOf: (buffer) => Number(koffi.address(buffer)),
    poll: int('poll', 'uintptr_t', 'uint64', 'int'),
    eventLoop: findEventLoop(module),
    watch: (fd, events, callback) => {
      const handle = koffi.node.poll(fd, { ...events }, adapt(callback));
      return {
        start: (next, nextCallback) => handle.start({ ...next }, adapt(nextCallback)),
        stop: () => handle.stop(),
        close: () => handle.close(),
        ref: () => handle.ref(),
        unref: () => handle.unref(),
      };
    },
  };
}

let bound: Promise<Libc> | undefined;

/** @throws UdpError ERR_UDP_BACKEND if this system, machine or runtime lacks it; the message says why. */
export async function loadLibc(): Promise<Libc> {
  const { platform, arch } = process;
  if (platform !== 'linux' || !architectures.includes(arch)) {
    throw new UdpError(
      'ERR_UDP_BACKEND',
      `recvmmsg and sendmmsg are used only on Linux on x64 and arm64; this is ${platform} on ${arch}`,
    );
  }
  bound ??= bindLibc();
  try {
    return await bound;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.split('\n')[0] : String(cause);
    throw new UdpError('ERR_UDP_BACKEND', `koffi cannot be loaded: ${why}`, undefined, cause);
  }
}
