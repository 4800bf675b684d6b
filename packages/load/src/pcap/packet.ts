/**
 * Extracts the DNS queries from a captured frame: link layers, IPv4 and IPv6, UDP and TCP. Pure. Nothing in a frame
 * is trusted; what cannot be read is counted by reason.
 */

import { addressText, FLAG, findNameEnd, HEADER_BYTES, u16 } from '@dinodns-bench/wire';

/** Why a packet gave no query. */
export type Skipped =
  /** A link type not supported here. */
  | 'unknown link type'
  /** ARP and the like. */
  | 'not IP'
  /** Neither UDP nor TCP, or not to the port. */
  | 'other traffic'
  /** An IP fragment: fragments are not reassembled. */
  | 'fragment'
  /** Captured with a snapshot length that cut the message off. */
  | 'truncated'
  /** Lengths that contradict one another. */
  | 'malformed'
  /** To the port, but not a DNS query: a response, garbage, or the middle of a TCP stream. */
  | 'not a query';

/** A transport segment of a frame: where its header is, and where it ends by the IP header. */
export interface FoundSegment {
  readonly ipAt: number;
  /** 4 or 6. */
  readonly ipVersion: number;
  /** As in the IP header: 6 for TCP, 17 for UDP. */
  readonly protocol: number;
  readonly at: number;
  readonly end: number;
}

/** An address of a packet, as text. */
export function addressIn(
  frame: Uint8Array,
  { ipAt, ipVersion }: FoundSegment,
  end: 'source' | 'destination',
): string {
  const [source, bytes] = ipVersion === 4 ? [ipAt + 12, 4] : [ipAt + 8, 16];
  const at = end === 'source' ? source : source + bytes;
  return addressText(frame.subarray(at, at + bytes));
}

/** A query lies at `bytes[start, end)`. */
export type OnQuery = (bytes: Uint8Array, start: number, end: number, segment: FoundSegment) => void;
type OnMessage = (start: number, end: number) => void;

/** LINKTYPE_ values from the registry at tcpdump.org. */
const LINK = {
  null: 0,
  ethernet: 1,
  raw: 101,
  loop: 108,
  sll: 113,
  ipv4: 228,
  ipv6: 229,
  sll2: 276,
} as const;
/** DLT_RAW as some systems write it into files. */
const RAW_ALIASES = new Set<number>([LINK.raw, 12, 14]);

const ETHER_IPV4 = 0x0800;
const ETHER_IPV6 = 0x86dd;
/** 802.1Q, 802.1ad, and older values for stacked VLANs. */
const VLAN_TYPES = new Set([0x8100, 0x88a8, 0x9100, 0x9200]);

export const PROTOCOL = {
  hopByHop: 0,
  tcp: 6,
  udp: 17,
  routing: 43,
  fragment: 44,
  authentication: 51,
  options: 60,
};

/** Where the network layer begins in a frame. */
type Network = { readonly at: number } | Skipped;

function afterVlans(bytes: Uint8Array, typeAt: number): Network {
  let at = typeAt;
  while (VLAN_TYPES.has(u16(bytes, at)) && at + 6 <= bytes.length) at += 4;
  if (at + 2 > bytes.length) return 'malformed';
  const type = u16(bytes, at);
  return type === ETHER_IPV4 || type === ETHER_IPV6 ? { at: at + 2 } : 'not IP';
}

/** Version 2 of Linux's cooked header has the type of what follows at its beginning; it is 20 bytes long. */
function afterCookedVlans(bytes: Uint8Array): Network {
  const type = u16(bytes, 0);
  if (type === ETHER_IPV4 || type === ETHER_IPV6) return { at: 20 };
  // A tag's own two bytes come before the next type.
  return VLAN_TYPES.has(type) ? afterVlans(bytes, 22) : 'not IP';
}

function networkOf(linkType: number, frame: Uint8Array): Network {
  if (RAW_ALIASES.has(linkType) || linkType === LINK.ipv4 || linkType === LINK.ipv6) return { at: 0 };
  switch (linkType) {
    case LINK.ethernet:
      return afterVlans(frame, 12);
    case LINK.sll:
      return afterVlans(frame, 14);
    case LINK.sll2:
      return afterCookedVlans(frame);
    case LINK.null:
    case LINK.loop:
      // The address family is in the capturing machine's byte order; the IP version gives the same information.
      return { at: 4 };
    default:
      return 'unknown link type';
  }
}

/** A transport segment. `end` is from the IP header: beyond the frame's end if the frame was cut off. */
type Segment = { readonly protocol: number; readonly at: number; readonly end: number } | Skipped;

function ipv4(bytes: Uint8Array, at: number): Segment {
  const headerBytes = ((bytes[at] ?? 0) & 15) * 4;
  const total = u16(bytes, at + 2);
  if (headerBytes < 20 || at + headerBytes > bytes.length) return 'malformed';
  // Segmentation offload hands packets to the capture with a length of 0.
  const end = total === 0 ? bytes.length : at + total;
  if (end < at + headerBytes) return 'malformed';
  // More fragments, or not the first one.
  if ((u16(bytes, at + 6) & 0x3fff) !== 0) return 'fragment';
  return { protocol: bytes[at + 9] ?? 0, at: at + headerBytes, end };
}

function ipv6(bytes: Uint8Array, at: number): Segment {
  if (at + 40 > bytes.length) return 'malformed';
  const payload = u16(bytes, at + 4);
  const end = payload === 0 ? bytes.length : at + 40 + payload;
  let protocol = bytes[at + 6] ?? 0;
  let next = at + 40;
  for (;;) {
    if (next > end || next + 8 > bytes.length) return 'malformed';
    if (protocol === PROTOCOL.fragment) {
      // An atomic fragment (RFC 6946) is whole.
      if ((u16(bytes, next + 2) & 0xfff9) !== 0) return 'fragment';
      protocol = bytes[next] ?? 0;
      next += 8;
    } else if (protocol === PROTOCOL.authentication) {
      protocol = bytes[next] ?? 0;
      next += ((bytes[next + 1] ?? 0) + 2) * 4;
    } else if (
      protocol === PROTOCOL.hopByHop ||
      protocol === PROTOCOL.routing ||
      protocol === PROTOCOL.options
    ) {
      const following = bytes[next] ?? 0;
      next += ((bytes[next + 1] ?? 0) + 1) * 8;
      protocol = following;
    } else return { protocol, at: next, end };
  }
}

function segmentOf(bytes: Uint8Array, at: number): Segment {
  const version = (bytes[at] ?? 0) >> 4;
  if (at + 20 > bytes.length) return 'malformed';
  if (version === 4) return ipv4(bytes, at);
  return version === 6 ? ipv6(bytes, at) : 'not IP';
}

/** Whether a message is a query with one question that lies within it, whatever its OPCODE. */
export function isQuery(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start < HEADER_BYTES || (u16(bytes, start + 2) & FLAG.response) !== 0) return false;
  if (u16(bytes, start + 4) !== 1) return false;
  const nameEnd = findNameEnd(bytes, start + HEADER_BYTES, end);
  return nameEnd !== -1 && nameEnd + 4 <= end;
}

function udp(bytes: Uint8Array, at: number, end: number, port: number, onMessage: OnMessage): Skipped | null {
  if (at + 8 > bytes.length) return end > bytes.length ? 'truncated' : 'malformed';
  if (u16(bytes, at + 2) !== port) return 'other traffic';
  const length = u16(bytes, at + 4);
  const messageEnd = length === 0 ? end : at + length;
  if ((length !== 0 && length < 8) || messageEnd > end) return 'malformed';
  if (messageEnd > bytes.length) return 'truncated';
  if (!isQuery(bytes, at + 8, messageEnd)) return 'not a query';
  onMessage(at + 8, messageEnd);
  return null;
}

/** Whole messages at the start of a segment; streams are not reassembled. */
function tcp(bytes: Uint8Array, at: number, end: number, port: number, onMessage: OnMessage): Skipped | null {
  if (at + 20 > bytes.length) return end > bytes.length ? 'truncated' : 'malformed';
  const start = at + ((bytes[at + 12] ?? 0) >> 4) * 4;
  if (start < at + 20 || start > end) return 'malformed';
  if (u16(bytes, at + 2) !== port || start === end) return 'other traffic';
  if (end > bytes.length) return 'truncated';
  for (let message = start; message < end; ) {
    const from = message + 2;
    const to = from + u16(bytes, message);
    if (to > end || !isQuery(bytes, from, to)) return 'not a query';
    onMessage(from, to);
    message = to;
  }
  return null;
}

/** The segment in a frame, or why there is none. */
export function findSegment(linkType: number, frame: Uint8Array): FoundSegment | Skipped {
  const network = networkOf(linkType, frame);
  if (typeof network === 'string') return network;
  const segment = segmentOf(frame, network.at);
  if (typeof segment === 'string') return segment;
  return { ipAt: network.at, ipVersion: (frame[network.at] ?? 0) >> 4, ...segment };
}

/** Calls `onQuery` for each DNS query to `port` in a frame; returns why there is none, or why it stopped. */
export function readPacket(
  linkType: number,
  frame: Uint8Array,
  port: number,
  onQuery: OnQuery,
): Skipped | null {
  const segment = findSegment(linkType, frame);
  if (typeof segment === 'string') return segment;
  const { protocol, at, end } = segment;
  const onMessage = (from: number, to: number) => onQuery(frame, from, to, segment);
  if (protocol === PROTOCOL.udp) return udp(frame, at, end, port, onMessage);
  if (protocol === PROTOCOL.tcp) return tcp(frame, at, end, port, onMessage);
  return 'other traffic';
}
