/**
 * Memory layouts and constants of Linux's socket interface on 64-bit little-endian machines, as data: x86-64 and
 * arm64 share the generic ones of <linux/socket.h>, <asm-generic/socket.h> and <asm-generic/errno.h>. glibc and
 * musl agree where it matters: musl's `int msg_iovlen` and its padding occupy the two halves of the size_t that
 * glibc and the kernel have. `test/layout.servers.test.ts` compares everything with a C compiler.
 */

/** Field offsets and sizes in bytes. */
export const layout = {
  /** struct mmsghdr: a struct msghdr, and `msg_len`, the bytes moved. */
  mmsghdr: {
    size: 64,
    msg_name: 0,
    msg_namelen: 8,
    msg_iov: 16,
    msg_iovlen: 24,
    msg_control: 32,
    msg_controllen: 40,
    msg_flags: 48,
    msg_len: 56,
  },
  iovec: { size: 16, iov_base: 0, iov_len: 8 },
  sockaddr_in: { size: 16, sin_family: 0, sin_port: 2, sin_addr: 4 },
  sockaddr_in6: { size: 28, sin6_family: 0, sin6_port: 2, sin6_flowinfo: 4, sin6_addr: 8, sin6_scope_id: 24 },
  cmsghdr: { size: 16, cmsg_len: 0, cmsg_level: 8, cmsg_type: 12 },
  in_pktinfo: { size: 12, ipi_ifindex: 0, ipi_spec_dst: 4, ipi_addr: 8 },
  in6_pktinfo: { size: 20, ipi6_addr: 0, ipi6_ifindex: 16 },
  pollfd: { size: 8, fd: 0, events: 4, revents: 6 },
  timespec: { size: 16, tv_sec: 0, tv_nsec: 8 },
  itimerspec: { size: 32, it_interval: 0, it_value: 16 },
  /** An instruction of the classic packet filter, and a program of them. */
  sock_filter: { size: 8, code: 0, jt: 2, jf: 3, k: 4 },
  sock_fprog: { size: 16, len: 0, filter: 8 },
} as const;

/** Constants; names as in C. */
export const constants = {
  AF_INET: 2,
  AF_INET6: 10,
  SOCK_DGRAM: 2,
  SOCK_CLOEXEC: 0o2000000,
  SOCK_NONBLOCK: 0o4000,
  O_CLOEXEC: 0o2000000,
  SOL_SOCKET: 1,
  SOL_UDP: 17,
  UDP_SEGMENT: 103,
  SO_SNDBUF: 7,
  SO_RCVBUF: 8,
  SO_REUSEPORT: 15,
  SO_TIMESTAMPNS: 35,
  SO_ATTACH_REUSEPORT_CBPF: 51,
  SCM_TIMESTAMPNS: 35,
  SO_MEMINFO: 55,
  SK_MEMINFO_RMEM_ALLOC: 0,
  SK_MEMINFO_DROPS: 8,
  SK_MEMINFO_VARS: 9,
  BPF_LD: 0x00,
  BPF_W: 0x00,
  BPF_ABS: 0x20,
  BPF_ALU: 0x04,
  BPF_MOD: 0x90,
  BPF_K: 0x00,
  BPF_RET: 0x06,
  BPF_A: 0x10,
  SKF_AD_OFF: -0x1000,
  SKF_AD_RANDOM: 56,
  IPPROTO_IP: 0,
  IP_PKTINFO: 8,
  IP_MTU_DISCOVER: 10,
  IP_PMTUDISC_PROBE: 3,
  IPPROTO_IPV6: 41,
  IPV6_V6ONLY: 26,
  IPV6_MTU_DISCOVER: 23,
  IPV6_RECVPKTINFO: 49,
  IPV6_PKTINFO: 50,
  IPV6_DONTFRAG: 62,
  MSG_DONTWAIT: 0x40,
  MSG_TRUNC: 0x20,
  POLLIN: 0x1,
  POLLOUT: 0x4,
  CLOCK_REALTIME: 0,
  CLOCK_MONOTONIC: 1,
  TFD_CLOEXEC: 0o2000000,
  TFD_NONBLOCK: 0o4000,
  EINTR: 4,
  EAGAIN: 11,
  ECONNREFUSED: 111,
} as const;

/** CMSG_LEN(sizeof (struct timespec)), the length of a timestamp's control message, and CMSG_SPACE of it, which is as long. */
export const timestampCmsgLength = layout.cmsghdr.size + layout.timespec.size;

/** Architectures with these layouts, as named by `process.arch`. */
export const architectures: readonly string[] = ['x64', 'arm64'];
