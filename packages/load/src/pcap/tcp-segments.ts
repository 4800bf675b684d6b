/** The TCP segments of a capture file, one after the other, in constant memory: their headers. */
import { u16 } from '@dinodns-bench/wire';
import { readPieces } from './capture-file.ts';
import { addressIn, findSegment, PROTOCOL } from './packet.ts';

/** Bits of `TcpSegment.flags` (RFC 9293 §3.1, RFC 3168 §6.1). */
export const TCP_FLAG = { fin: 1, syn: 2, rst: 4, psh: 8, ack: 16, urg: 32, ece: 64, cwr: 128 } as const;

export interface TcpSegment {
  /** Since 1970. */
  readonly seconds: number;
  readonly ipVersion: 4 | 6;
  readonly source: string;
  readonly sourcePort: number;
  readonly destination: string;
  readonly destinationPort: number;
  readonly sequence: number;
  /** See `TCP_FLAG`. */
  readonly flags: number;
}

/** Ports, sequence and acknowledgement numbers, and flags. */
const HEADER_BYTES_READ = 14;

function segmentIn(linkType: number, seconds: number, frame: Uint8Array): TcpSegment | null {
  const found = findSegment(linkType, frame);
  if (typeof found === 'string' || found.protocol !== PROTOCOL.tcp) return null;
  const { at, ipVersion } = found;
  if (at + HEADER_BYTES_READ > frame.length) return null;
  return {
    seconds,
    ipVersion: ipVersion === 4 ? 4 : 6,
    source: addressIn(frame, found, 'source'),
    sourcePort: u16(frame, at),
    destination: addressIn(frame, found, 'destination'),
    destinationPort: u16(frame, at + 2),
    sequence: u16(frame, at + 4) * 0x10000 + u16(frame, at + 6),
    flags: frame[at + 13] ?? 0,
  };
}

/**
 * The TCP segments of a pcap or pcapng file in the order of its packets. A file that ends within a packet is read up to
 * there. Throws a `LoadError`: `E_UNREADABLE`, or `E_PCAP` for another or a damaged file.
 */
export async function* readTcpSegments(path: string): AsyncGenerator<TcpSegment, void, void> {
  const onPacket =
    (add: (segment: TcpSegment) => void) => (linkType: number, seconds: number, frame: Uint8Array) => {
      const segment = segmentIn(linkType, seconds, frame);
      if (segment !== null) add(segment);
    };
  for await (const { items } of readPieces(path, onPacket)) yield* items;
}
