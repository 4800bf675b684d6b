/** A bound UDP socket's descriptor, created and configured by system calls. */
import { closeSync, openSync } from 'node:fs';
import { systemError } from '../errors.ts';
import type { Settings } from '../options.ts';
import { constants, layout } from './layout.ts';
import type { Libc } from './libc.ts';
import { decodeSockaddr, encodeSockaddr, sockaddrLength } from './sockaddr.ts';
import { sourceMessages } from './source-address.ts';

export type Descriptor = ReturnType<typeof openDescriptor>;

/** Scratch memory for a system call's argument: `bytes` at `address`. */
function scratch(libc: Libc, length: number) {
  const buffer = new ArrayBuffer(Math.max(length, 128)); // V8 keeps small ones on its heap, where they move.
  return { bytes: new Uint8Array(buffer), view: new DataView(buffer), address: libc.addressOf(buffer) };
}

/**
 * Moves what `make` opens to a descriptor that Node.js tracks: `fs` opened it, so Node.js closes it when a worker thread
 * is terminated. Any other would stay open for the life of the process; a socket would stay bound, and swallow its share of
 * the port's datagrams.
 *
 * @throws UdpError with the errno's name; nothing is left open.
 */
export function openTracked(libc: Libc, syscall: string, subject: string, make: () => number): number {
  const fd = openSync('/dev/null', 'r');
  const made = make();
  const isMoved = made >= 0 && libc.dup3(made, fd, constants.O_CLOEXEC) >= 0;
  const failed = isMoved ? undefined : libc.errnoName(libc.errno());
  if (made >= 0) libc.close(made);
  if (failed === undefined) return fd;
  closeSync(fd);
  throw systemError(syscall, failed, subject);
}

function makeSocket(libc: Libc, family: 4 | 6): number {
  const { AF_INET, AF_INET6, SOCK_DGRAM, SOCK_CLOEXEC, SOCK_NONBLOCK } = constants;
  const domain = family === 4 ? AF_INET : AF_INET6;
  return openTracked(libc, 'socket', `IPv${family}`, () =>
    libc.socket(domain, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0),
  );
}

/**
 * Writes a packet filter that picks one of `sockets` sockets at random, as the argument of
 * SO_ATTACH_REUSEPORT_CBPF, and returns the argument's length. If an index has no socket (one was closed and the
 * others moved up), the kernel balances that datagram by flow.
 */
function writeRandomSpread({ view, address }: ReturnType<typeof scratch>, sockets: number): number {
  const { BPF_LD, BPF_W, BPF_ABS, BPF_ALU, BPF_MOD, BPF_K, BPF_RET, BPF_A } = constants;
  const instructions = [
    [BPF_LD | BPF_W | BPF_ABS, constants.SKF_AD_OFF + constants.SKF_AD_RANDOM],
    [BPF_ALU | BPF_MOD | BPF_K, sockets],
    [BPF_RET | BPF_A, 0],
  ] as const;
  const { sock_filter, sock_fprog } = layout;
  const start = sock_fprog.size;
  view.setUint16(sock_fprog.len, instructions.length, true);
  view.setBigUint64(sock_fprog.filter, BigInt(address + start), true);
  for (const [index, [code, k]] of instructions.entries()) {
    const at = start + index * sock_filter.size;
    view.setUint16(at + sock_filter.code, code, true);
    view.setUint16(at + sock_filter.jt, 0, true);
    view.setInt32(at + sock_filter.k, k, true);
  }
  return sock_fprog.size;
}

/** @throws UdpError with the errno's name; nothing is left open. */
export function openDescriptor(libc: Libc, settings: Settings) {
  const { family, local, remote } = settings;
  const fd = makeSocket(libc, family);
  const memory = scratch(libc, 256);
  const lengthAt = 128; // The upper half of the scratch memory holds a socklen_t.

  const check = (syscall: string, result: number, subject: string) => {
    if (result < 0) throw systemError(syscall, libc.errnoName(libc.errno()), subject);
  };
  const setInt = (level: number, name: number, value: number, subject: string) => {
    memory.view.setInt32(0, value, true);
    check('setsockopt', libc.setsockopt(fd, level, name, memory.address, 4), subject);
  };
  const dontFragment = () => {
    const { IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_DONTFRAG } =
      constants;
    // An IPv6 socket sends to IPv4-mapped addresses by the rules of IPv4.
    setInt(IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE, 'IP_MTU_DISCOVER');
    if (family === 4) return;
    setInt(IPPROTO_IPV6, IPV6_MTU_DISCOVER, IP_PMTUDISC_PROBE, 'IPV6_MTU_DISCOVER');
    setInt(IPPROTO_IPV6, IPV6_DONTFRAG, 1, 'IPV6_DONTFRAG');
  };
  const spread = (sockets: number) => {
    const length = writeRandomSpread(memory, sockets);
    const { SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF } = constants;
    const result = libc.setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, memory.address, length);
    check('setsockopt', result, 'SO_ATTACH_REUSEPORT_CBPF');
  };
  const get = (name: number, length: number): boolean => {
    memory.view.setUint32(lengthAt, length, true);
    const { SOL_SOCKET } = constants;
    const result = libc.getsockopt(fd, SOL_SOCKET, name, memory.address, memory.address + lengthAt);
    return result === 0 && memory.view.getUint32(lengthAt, true) === length;
  };
  const getInt = (name: number, subject: string): number => {
    check('getsockopt', get(name, 4) ? 0 : -1, subject);
    return memory.view.getInt32(0, true);
  };
  const memoryInfo = (index: number): number | null =>
    get(constants.SO_MEMINFO, constants.SK_MEMINFO_VARS * 4) ? memory.view.getUint32(4 * index, true) : null;
  const named = (
    syscall: 'bind' | 'connect',
    target: { text: string; port: number },
    sockaddr: Uint8Array,
  ) => {
    memory.bytes.set(sockaddr);
    check(syscall, libc[syscall](fd, memory.address, sockaddr.length), `${target.text} port ${target.port}`);
  };

  try {
    const { SOL_SOCKET, SO_REUSEPORT, SO_RCVBUF, SO_SNDBUF, SO_TIMESTAMPNS } = constants;
    if (settings.reusePort) setInt(SOL_SOCKET, SO_REUSEPORT, 1, 'SO_REUSEPORT');
    if (family === 6) setInt(constants.IPPROTO_IPV6, constants.IPV6_V6ONLY, 0, 'IPV6_V6ONLY');
    const { receiveBufferBytes, sendBufferBytes } = settings;
    if (receiveBufferBytes !== undefined) setInt(SOL_SOCKET, SO_RCVBUF, receiveBufferBytes, 'SO_RCVBUF');
    if (sendBufferBytes !== undefined) setInt(SOL_SOCKET, SO_SNDBUF, sendBufferBytes, 'SO_SNDBUF');
    if (settings.dontFragment) dontFragment();
    if (settings.timestamps) setInt(SOL_SOCKET, SO_TIMESTAMPNS, 1, 'SO_TIMESTAMPNS');
    if (settings.keepsAddress) {
      const { level, receiveOption } = sourceMessages[family];
      setInt(level, receiveOption, 1, family === 4 ? 'IP_PKTINFO' : 'IPV6_RECVPKTINFO');
    }
    named('bind', local, encodeSockaddr(local, local.port));
    if (settings.spreadOver !== undefined) spread(settings.spreadOver);
    if (remote !== null) named('connect', remote, encodeSockaddr(remote, remote.port));

    memory.view.setUint32(lengthAt, layout.sockaddr_in6.size, true);
    check('getsockname', libc.getsockname(fd, memory.address, memory.address + lengthAt), '');
    return {
      fd,
      local: decodeSockaddr(memory.bytes.subarray(0, sockaddrLength(family))),
      receiveBufferBytes: getInt(SO_RCVBUF, 'SO_RCVBUF'),
      sendBufferBytes: getInt(SO_SNDBUF, 'SO_SNDBUF'),
      /** Datagrams dropped at this socket since it was opened; null if the kernel does not report it. */
      drops: () => memoryInfo(constants.SK_MEMINFO_DROPS),
      /** Kernel memory used by unread datagrams, bytes; null if the kernel does not report it. */
      queuedBytes: () => memoryInfo(constants.SK_MEMINFO_RMEM_ALLOC),
      close: () => closeSync(fd),
    };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}
