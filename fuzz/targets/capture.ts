/** The reader of pcap and pcapng files, and that of frames. */
import { encodeName, encodeOpt, encodeQuery, FLAG, findNameEnd } from '@dinodns-bench/wire';
import { CaptureError, createCaptureReader } from '../../packages/load/src/pcap/file-format.ts';
import { readPacket } from '../../packages/load/src/pcap/packet.ts';
import {
  ethernetOf,
  framed,
  ipv4Of,
  ipv6Of,
  pcapngOf,
  pcapOf,
  tcpOf,
  udpOf,
} from '../../packages/load/test/support/frames.ts';
import { ensure, type Target } from '../engine/target.ts';

interface Seen {
  readonly linkType: number;
  readonly seconds: number;
  readonly message: Buffer;
}

interface Reading {
  readonly packets: number;
  readonly queries: readonly Seen[];
  readonly error: string | undefined;
  readonly complete: boolean;
}

function read(file: Buffer, pieceBytes: number): Reading {
  const queries: Seen[] = [];
  let packets = 0;
  let error: string | undefined;
  let complete = false;
  try {
    const reader = createCaptureReader((linkType, seconds, frame) => {
      packets++;
      ensure(frame.length <= file.length, `a frame of ${frame.length} bytes from ${file.length}`);
      readPacket(linkType, frame, 53, (bytes, start, end) => {
        ensure(bytes === frame && start >= 0 && end <= frame.length, `a query from ${start} to ${end}`);
        queries.push({ linkType, seconds, message: Buffer.from(frame.slice(start, end)) });
      });
    });
    for (let at = 0; at < file.length; at += pieceBytes) reader.push(file.subarray(at, at + pieceBytes));
    complete = reader.end();
  } catch (thrown) {
    if (!(thrown instanceof CaptureError)) throw thrown;
    error = thrown.message;
  }
  return { packets, queries, error, complete };
}

function checkQuery({ message, seconds }: Seen): void {
  ensure(message.length >= 17, `a query of ${message.length} bytes`);
  ensure((message.readUInt16BE(2) & FLAG.response) === 0, 'a response');
  const nameEnd = findNameEnd(message, 12);
  ensure(nameEnd !== -1 && nameEnd + 4 <= message.length, 'a question that leaves the query');
  ensure(Number.isFinite(seconds), `a query at ${seconds}`);
}

/** The queries, written into a new capture, come back with their times. */
function checkWritten(queries: readonly Seen[]): void {
  const usable = queries.filter(({ seconds }) => seconds >= 0 && seconds < 2 ** 31);
  const frames = usable.map(({ seconds, message }) => ({
    seconds,
    frame: ethernetOf(ipv4Of(udpOf(message))),
  }));
  const again = read(pcapOf(1, frames, { nanoseconds: true }), 1 << 20);
  ensure(again.error === undefined && again.complete, () => `a capture of ours is not read: ${again.error}`);
  ensure(again.queries.length === usable.length, 'another number of queries is read back');
  for (const [index, { seconds, message }] of again.queries.entries()) {
    const query = usable[index];
    ensure(query?.message.equals(message) === true, 'a query is read back otherwise');
    ensure(Math.abs(seconds - query.seconds) < 1e-6, `${query.seconds} s is read back as ${seconds} s`);
  }
}

function seeds(): Buffer[] {
  const [plain, signed] = [null, encodeOpt({ dnssecOk: true })].map((opt) =>
    encodeQuery({ flags: FLAG.recursionDesired, name: encodeName('www.example.com'), type: 1, opt }),
  );
  if (plain === undefined || signed === undefined) return [];
  const ip = [
    ipv4Of(udpOf(plain)),
    ipv6Of(udpOf(signed)),
    ipv6Of(udpOf(plain), 17, [0, 60, 44]),
    ipv4Of(tcpOf(Buffer.concat([framed(plain), framed(signed)])), 6),
  ];
  const at = (index: number) => 1_700_000_000 + index / 4;
  const cooked = (packet: Buffer, size: number, typeAt: number) => {
    const header = Buffer.alloc(size);
    header.writeUInt16BE((packet[0] ?? 0) >> 4 === 6 ? 0x86dd : 0x0800, typeAt);
    return Buffer.concat([header, packet]);
  };
  const links: [number, (packet: Buffer) => Buffer][] = [
    [1, (packet) => ethernetOf(packet)],
    [1, (packet) => ethernetOf(packet, [0x88a8, 0x8100])],
    [101, (packet) => packet],
    [0, (packet) => Buffer.concat([Buffer.from([2, 0, 0, 0]), packet])],
    [113, (packet) => cooked(packet, 16, 14)],
    [276, (packet) => cooked(packet, 20, 0)],
  ];
  return links.flatMap(([linkType, link]) => {
    const packets = ip.map((packet, index) => ({ seconds: at(index), frame: link(packet) }));
    return [
      pcapOf(linkType, packets.slice(0, 2)),
      pcapOf(linkType, packets.slice(2), { little: false, nanoseconds: true }),
      pcapngOf(linkType, packets.slice(0, 2)),
      pcapngOf(linkType, packets.slice(2), { little: false, digits: 6, offsetSeconds: 1_600_000_000 }),
    ];
  });
}

export const capture: Target = {
  name: 'capture',
  title: 'the reader of captures: pcap, pcapng and their frames (load)',
  maxBytes: 3000,
  dictionary: [
    '\xd4\xc3\xb2\xa1',
    '\xa1\xb2\xc3\xd4',
    '\x4d\x3c\xb2\xa1',
    '\x0a\x0d\x0d\x0a',
    '\x1a\x2b\x3c\x4d',
    '\x4d\x3c\x2b\x1a',
    '\x08\x00\x45',
    '\x86\xdd\x60',
    '\x81\x00',
    '\x88\xa8',
    '\x00\x35',
    '\x00\x09\x00\x01',
    '\x09\x00\x01\x00',
    '\x0e\x00\x08\x00',
  ],
  seeds,
  check(file) {
    const whole = read(file, 1 << 20);
    for (const query of whole.queries) checkQuery(query);
    const pieces = read(file, 13);
    ensure(JSON.stringify(whole) === JSON.stringify(pieces), 'the pieces of the file decide');
    checkWritten(whole.queries);
  },
};
