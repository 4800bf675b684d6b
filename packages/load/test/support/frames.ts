/** Frames and capture files built by hand: for links and damage that no interface here produces. */
import { encodeQuery, FLAG, parseName } from '@dinodns-bench/wire';

export function queryFor(name: string): Buffer {
  const parsed = parseName(name);
  if ('problem' in parsed) throw new Error(parsed.problem);
  return encodeQuery({ flags: FLAG.recursionDesired, name: parsed.wire, type: 1 });
}

export function udpOf(payload: Uint8Array, port = 53): Buffer {
  const header = Buffer.alloc(8);
  header.writeUInt16BE(40_000, 0);
  header.writeUInt16BE(port, 2);
  header.writeUInt16BE(8 + payload.length, 4);
  return Buffer.concat([header, payload]);
}

export function tcpOf(payload: Uint8Array, port = 53, options = 0): Buffer {
  const header = Buffer.alloc(20 + options);
  header.writeUInt16BE(40_000, 0);
  header.writeUInt16BE(port, 2);
  header[12] = ((20 + options) / 4) << 4;
  return Buffer.concat([header, payload]);
}

export function framed(message: Uint8Array): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
}

/** From 192.0.2.1. */
export function ipv4Of(segment: Uint8Array, protocol = 17, { fragment = 0, options = 0 } = {}): Buffer {
  const header = Buffer.alloc(20 + options);
  header[0] = 0x40 | ((20 + options) / 4);
  header.writeUInt16BE(header.length + segment.length, 2);
  header.writeUInt16BE(fragment, 6);
  header[9] = protocol;
  header.set([192, 0, 2, 1], 12);
  return Buffer.concat([header, segment]);
}

/** From 2001:db8::1. `extensions`: protocol numbers of extension headers of eight bytes each, before the segment. */
export function ipv6Of(segment: Uint8Array, protocol = 17, extensions: readonly number[] = []): Buffer {
  const header = Buffer.alloc(40);
  header[0] = 0x60;
  header.writeUInt16BE(segment.length + 8 * extensions.length, 4);
  const following = [...extensions, protocol];
  header[6] = following[0] ?? protocol;
  header.set([0x20, 0x01, 0x0d, 0xb8], 8);
  header[23] = 1;
  const chain = extensions.map((_, i) => {
    const extension = Buffer.alloc(8);
    extension[0] = following[i + 1] ?? protocol;
    return extension;
  });
  return Buffer.concat([header, ...chain, segment]);
}

/** `tags`: VLAN tag protocol identifiers, outermost first. */
export function ethernetOf(packet: Uint8Array, tags: readonly number[] = []): Buffer {
  const head = Buffer.alloc(12 + 4 * tags.length + 2);
  for (const [i, tag] of tags.entries()) head.writeUInt16BE(tag, 12 + 4 * i);
  head.writeUInt16BE((packet[0] ?? 0) >> 4 === 6 ? 0x86dd : 0x0800, 12 + 4 * tags.length);
  return Buffer.concat([head, packet]);
}

export interface Timed {
  readonly seconds: number;
  readonly frame: Uint8Array;
  /** Length on the wire where less was captured. */
  readonly wireLength?: number;
}

export function pcapOf(
  linkType: number,
  packets: readonly Timed[],
  { little = true, nanoseconds = false } = {},
): Buffer {
  const put = (buffer: Buffer, value: number, at: number) =>
    little ? buffer.writeUInt32LE(value >>> 0, at) : buffer.writeUInt32BE(value >>> 0, at);
  const header = Buffer.alloc(24);
  put(header, nanoseconds ? 0xa1b23c4d : 0xa1b2c3d4, 0);
  put(header, 0x00040002, 4);
  put(header, 262_144, 16);
  put(header, linkType, 20);
  const records = packets.flatMap(({ seconds, frame, wireLength }) => {
    const record = Buffer.alloc(16);
    const whole = Math.floor(seconds);
    put(record, whole, 0);
    put(record, Math.round((seconds - whole) * (nanoseconds ? 1e9 : 1e6)), 4);
    put(record, frame.length, 8);
    put(record, wireLength ?? frame.length, 12);
    return [record, frame];
  });
  return Buffer.concat([header, ...records]);
}

/** `block`: its type and body, as `[type, body]`. */
function pcapngBlock(type: number, body: Buffer, little: boolean): Buffer {
  const padded = Buffer.concat([body, Buffer.alloc((4 - (body.length % 4)) % 4)]);
  const block = Buffer.alloc(12 + padded.length);
  const put = (value: number, at: number) =>
    little ? block.writeUInt32LE(value, at) : block.writeUInt32BE(value, at);
  put(type, 0);
  put(block.length, 4);
  padded.copy(block, 8);
  put(block.length, block.length - 4);
  return block;
}

/** One section with one interface whose clock ticks 10^`digits` times a second; a block of statistics last. */
export function pcapngOf(
  linkType: number,
  packets: readonly Timed[],
  { little = true, digits = 9, offsetSeconds = 0 } = {},
): Buffer {
  const put32 = (buffer: Buffer, value: number, at: number) =>
    little ? buffer.writeUInt32LE(value >>> 0, at) : buffer.writeUInt32BE(value >>> 0, at);
  const put16 = (buffer: Buffer, value: number, at: number) =>
    little ? buffer.writeUInt16LE(value, at) : buffer.writeUInt16BE(value, at);
  const section = Buffer.alloc(16);
  put32(section, 0x1a2b3c4d, 0);
  put16(section, 1, 4);
  section.fill(0xff, 8);
  const described = Buffer.alloc(32);
  put16(described, linkType, 0);
  put32(described, 262_144, 4);
  put16(described, 9, 8);
  put16(described, 1, 10);
  described[12] = digits;
  put16(described, 14, 16);
  put16(described, 8, 18);
  if (little) described.writeBigInt64LE(BigInt(offsetSeconds), 20);
  else described.writeBigInt64BE(BigInt(offsetSeconds), 20);
  const blocks = packets.map(({ seconds, frame, wireLength }) => {
    const body = Buffer.alloc(20 + frame.length);
    const ticks = BigInt(Math.round((seconds - offsetSeconds) * 10 ** digits));
    put32(body, Number(ticks >> 32n), 4);
    put32(body, Number(ticks & 0xffffffffn), 8);
    put32(body, frame.length, 12);
    put32(body, wireLength ?? frame.length, 16);
    Buffer.from(frame).copy(body, 20);
    return pcapngBlock(6, body, little);
  });
  return Buffer.concat([
    pcapngBlock(0x0a0d0d0a, section, little),
    pcapngBlock(1, described, little),
    ...blocks,
    pcapngBlock(5, Buffer.alloc(12), little),
  ]);
}
