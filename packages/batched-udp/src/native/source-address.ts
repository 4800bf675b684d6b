/**
 * The control message that says to which of a machine's addresses a datagram came, and from which a reply leaves: IP_PKTINFO
 * (ip(7)) and IPV6_PKTINFO (RFC 3542, section 6). Without it, a socket that is bound to all addresses sends replies from the
 * address that the route begins with, and clients drop those from an address that they did not ask.
 */
import { constants, layout } from './layout.ts';

const { cmsghdr, in_pktinfo: v4, in6_pktinfo: v6 } = layout;
const { IPPROTO_IP, IP_PKTINFO, IPPROTO_IPV6, IPV6_RECVPKTINFO, IPV6_PKTINFO } = constants;

const align = (bytes: number) => Math.ceil(bytes / 8) * 8;

/** Sizes and positions in words of four bytes, from the beginning of the control message. */
interface SourceMessage {
  readonly level: number;
  readonly type: number;
  /** The option that has the kernel add it to what is received. */
  readonly receiveOption: number;
  /** CMSG_LEN of its data, bytes. */
  readonly length: number;
  /** CMSG_SPACE of its data, bytes. */
  readonly space: number;
  /**
   * The address: `ipi_spec_dst` or `ipi6_addr`. Both are ours in what is received, and the source in what is sent. What came to
   * a group or to everybody has no such address over IPv6, and the kernel refuses to reply from it.
   */
  readonly address: number;
  readonly addressWords: number;
  /** The index of the network interface. */
  readonly interface: number;
}

function messageOf(level: number, type: number, receiveOption: number, size: number) {
  const length = cmsghdr.size + size;
  return { level, type, receiveOption, length, space: align(length) };
}

const inWords = (offset: number) => (cmsghdr.size + offset) / 4;

export const sourceMessages: Readonly<Record<4 | 6, SourceMessage>> = {
  4: {
    ...messageOf(IPPROTO_IP, IP_PKTINFO, IP_PKTINFO, v4.size),
    address: inWords(v4.ipi_spec_dst),
    addressWords: 1,
    interface: inWords(v4.ipi_ifindex),
  },
  6: {
    ...messageOf(IPPROTO_IPV6, IPV6_PKTINFO, IPV6_RECVPKTINFO, v6.size),
    address: inWords(v6.ipi6_addr),
    addressWords: 4,
    interface: inWords(v6.ipi6_ifindex),
  },
};

/** Writes a message with the address 0, which leaves the choice to the kernel. */
export function writeSourceMessage(memory: Uint32Array, at: number, family: 4 | 6): void {
  const { length, level, type } = sourceMessages[family];
  memory[at + cmsghdr.cmsg_len / 4] = length;
  memory[at + cmsghdr.cmsg_level / 4] = level;
  memory[at + cmsghdr.cmsg_type / 4] = type;
}

/** fe80::/10: such an address is one of an interface. The first word, as a little-endian number. */
const isLinkLocal = (firstWord: number) => (firstWord & 0xc0ff) === 0x80fe;

/**
 * Copies the address from the received message at `from` to the message at `to`, 0 if there is none. The interface only for a
 * link-local address: replies otherwise take the route that the machine has for them, as those of a socket with one address do.
 */
export function copySource(memory: Uint32Array, from: number, to: number, family: 4 | 6): void {
  const message = sourceMessages[family];
  const isThere =
    memory[from + cmsghdr.cmsg_len / 4] === message.length &&
    memory[from + cmsghdr.cmsg_level / 4] === message.level &&
    memory[from + cmsghdr.cmsg_type / 4] === message.type;
  for (let word = message.address; word < message.address + message.addressWords; word++) {
    memory[to + word] = isThere ? (memory[from + word] as number) : 0;
  }
  if (family === 4) return;
  const hasInterface = isThere && isLinkLocal(memory[from + message.address] as number);
  memory[to + message.interface] = hasInterface ? (memory[from + message.interface] as number) : 0;
}
