/**
 * libc's socket calls through `node:ffi`, which Node.js has from 26.1 on: V8 calls them from optimized code without a
 * step in between. It prints an ExperimentalWarning where it is loaded.
 */
import { isBuiltin } from 'node:module';
import { getSystemErrorName } from 'node:util';
import { UdpError } from '../errors.ts';
import type { EventLoop, Libc } from './libc.ts';

type Native = (...values: readonly (number | bigint)[]) => number | bigint;

/** What is used of `node:ffi`, which the types of Node.js 24 do not have. */
interface NodeFfi {
  dlopen(
    path: null,
    definitions: Readonly<Record<string, { readonly arguments: readonly string[]; readonly return: string }>>,
  ): { readonly functions: Readonly<Record<string, Native>> };
  getRawPointer(source: ArrayBuffer): bigint;
  getInt32(pointer: bigint): number;
  /** From 26.7 on. */
  getCurrentEventLoop?(): bigint;
}

function isNodeFfi(module: object | undefined): module is NodeFfi {
  return module !== undefined && ['dlopen', 'getRawPointer', 'getInt32'].every((name) => name in module);
}

/** Whether this runtime has `node:ffi`. Does not load it. */
export const hasNodeFfi = (): boolean => isBuiltin('node:ffi');

/** Addresses that are in use at once: two of each socket, and few others. */
const KEPT_POINTERS = 256;

/**
 * `node:ffi` takes addresses as BigInts, and to make one for each call would allocate. A socket calls with the same few
 * addresses again and again, so the latest of each hash are kept.
 */
function pointers(): (address: number) => bigint {
  const addresses = new Float64Array(KEPT_POINTERS);
  const made = Array.from({ length: KEPT_POINTERS }, () => 0n);
  return (address) => {
    // Large buffers begin at the same offset of a page: the bits above it differ.
    const at = ((address >>> 6) ^ (address >>> 12) ^ (address >>> 20)) & (KEPT_POINTERS - 1);
    const kept = made[at];
    if (addresses[at] === address && kept !== undefined) return kept;
    const pointer = BigInt(address);
    addresses[at] = address;
    made[at] = pointer;
    return pointer;
  };
}

/** Functions of the process's own libc and libuv that return an int. */
const INTS = {
  socket: ['int32', 'int32', 'int32'],
  dup3: ['int32', 'int32', 'int32'],
  close: ['int32'],
  bind: ['int32', 'pointer', 'uint32'],
  connect: ['int32', 'pointer', 'uint32'],
  getsockname: ['int32', 'pointer', 'pointer'],
  setsockopt: ['int32', 'int32', 'int32', 'pointer', 'uint32'],
  getsockopt: ['int32', 'int32', 'int32', 'pointer', 'pointer'],
  recvmmsg: ['int32', 'pointer', 'uint32', 'int32', 'pointer'],
  sendmmsg: ['int32', 'pointer', 'uint32', 'int32'],
  clock_gettime: ['int32', 'pointer'],
  usleep: ['uint32'],
  timerfd_create: ['int32', 'int32'],
  timerfd_settime: ['int32', 'int32', 'pointer', 'pointer'],
  // nfds_t is an unsigned long, of which the kernel reads an unsigned int (fs/select.c).
  poll: ['pointer', 'uint32', 'int32'],
  uv_backend_fd: ['pointer'],
  uv_backend_timeout: ['pointer'],
} as const;

/** Where the thread's errno is: the same function in glibc and musl. */
const ERRNO = '__errno_location';
const UPDATE_TIME = 'uv_update_time';

function open(ffi: NodeFfi) {
  const definitions = {
    ...Object.fromEntries(
      Object.entries(INTS).map(([name, types]) => [name, { arguments: types, return: 'int32' }]),
    ),
    [UPDATE_TIME]: { arguments: ['pointer'], return: 'void' },
    [ERRNO]: { arguments: [], return: 'pointer' },
  };
  const { functions } = ffi.dlopen(null, definitions);
  return (name: string): Native => {
    const found = functions[name];
    if (found === undefined) throw new UdpError('ERR_UDP_BACKEND', `node:ffi does not find ${name}`);
    return found;
  };
}

function eventLoopOf(ffi: NodeFfi, native: (name: string) => Native): EventLoop | undefined {
  const loop = ffi.getCurrentEventLoop?.();
  if (loop === undefined) return undefined;
  const fd = Number(native('uv_backend_fd')(loop));
  const timeout = native('uv_backend_timeout');
  const updateTime = native(UPDATE_TIME);
  return fd < 0
    ? undefined
    : { fd, timeout: () => Number(timeout(loop)), updateTime: () => void updateTime(loop) };
}

/**
 * `libc` with all calls made through `node:ffi`; it still watches descriptors for the event loop.
 * @throws UdpError ERR_UDP_OPTION if this runtime does not have it.
 */
export function bindWithNodeFfi(libc: Libc): Libc {
  const ffi = hasNodeFfi() ? process.getBuiltinModule('node:ffi') : undefined;
  if (!isNodeFfi(ffi)) {
    throw new UdpError('ERR_UDP_OPTION', `calls: this Node.js (${process.versions.node}) has no node:ffi`);
  }
  const native = open(ffi);
  const pointer = pointers();
  const errnoAt = native(ERRNO)();
  if (typeof errnoAt !== 'bigint')
    throw new UdpError('ERR_UDP_BACKEND', 'node:ffi does not tell where errno is');
  const socket = native('socket');
  const dup3 = native('dup3');
  const close = native('close');
  const bind = native('bind');
  const connect = native('connect');
  const getsockname = native('getsockname');
  const setsockopt = native('setsockopt');
  const getsockopt = native('getsockopt');
  const recvmmsg = native('recvmmsg');
  const sendmmsg = native('sendmmsg');
  const clockGettime = native('clock_gettime');
  const usleep = native('usleep');
  const timerfdCreate = native('timerfd_create');
  const timerfdSettime = native('timerfd_settime');
  const poll = native('poll');
  return {
    through: 'node:ffi',
    socket: (domain, type, protocol) => Number(socket(domain, type, protocol)),
    dup3: (from, to, flags) => Number(dup3(from, to, flags)),
    close: (fd) => Number(close(fd)),
    bind: (fd, address, length) => Number(bind(fd, pointer(address), length)),
    connect: (fd, address, length) => Number(connect(fd, pointer(address), length)),
    getsockname: (fd, address, length) => Number(getsockname(fd, pointer(address), pointer(length))),
    setsockopt: (fd, level, name, value, length) =>
      Number(setsockopt(fd, level, name, pointer(value), length)),
    getsockopt: (fd, level, name, value, length) =>
      Number(getsockopt(fd, level, name, pointer(value), pointer(length))),
    recvmmsg: (fd, messages, count, flags, timeout) =>
      Number(recvmmsg(fd, pointer(messages), count, flags, pointer(timeout))),
    sendmmsg: (fd, messages, count, flags) => Number(sendmmsg(fd, pointer(messages), count, flags)),
    clock_gettime: (clock, timespec) => Number(clockGettime(clock, pointer(timespec))),
    usleep: (microseconds) => Number(usleep(microseconds)),
    timerfd_create: (clock, flags) => Number(timerfdCreate(clock, flags)),
    timerfd_settime: (fd, flags, newValue, oldValue) =>
      Number(timerfdSettime(fd, flags, pointer(newValue), pointer(oldValue))),
    poll: (entries, count, milliseconds) => Number(poll(pointer(entries), count, milliseconds)),
    errno: () => ffi.getInt32(errnoAt),
    errnoName: (errno) => getSystemErrorName(-errno),
    addressOf: (buffer) => Number(ffi.getRawPointer(buffer)),
    watch: libc.watch,
    eventLoop: eventLoopOf(ffi, native) ?? libc.eventLoop,
  };
}
