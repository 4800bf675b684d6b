/** libc's socket calls through koffi, bound once per thread. */
import { UdpError } from '../errors.ts';
import { architectures } from './layout.ts';
import type { EventLoop, Libc, PollCallback } from './libc.ts';

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

/** @throws whatever keeps koffi from being loaded. */
async function bindWithKoffi(): Promise<Libc> {
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
    timerfd_create: int('timerfd_create', 'int', 'int'),
    timerfd_settime: int('timerfd_settime', 'int', 'int', 'uintptr_t', 'uintptr_t'),
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
      };
    },
  };
}

/** Each thread has its own modules, and so its own. */
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
  try {
    bound ??= bindWithKoffi();
    return await bound;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.split('\n')[0] : String(cause);
    throw new UdpError('ERR_UDP_BACKEND', `koffi cannot be loaded: ${why}`, undefined, cause);
  }
}
