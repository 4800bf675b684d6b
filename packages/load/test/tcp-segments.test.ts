/** TCP segments of capture files. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readCapture, readTcpSegments, TCP_FLAG, type TcpSegment } from '../src/index.ts';
import { collect } from './support/collect.ts';

const directory = mkdtempSync(join(tmpdir(), 'dnscannon-segments-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** A TCP header with these ports, sequence number and flags. */
function tcp(from: number, to: number, sequence: number, flags: number): Buffer {
  const header = Buffer.alloc(20);
  header.writeUInt16BE(from, 0);
  header.writeUInt16BE(to, 2);
  header.writeUInt32BE(sequence, 4);
  header[12] = 5 << 4;
  header[13] = flags;
  return header;
}

function ipv4(protocol: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(20);
  header[0] = 0x45;
  header.writeUInt16BE(20 + payload.length, 2);
  header[9] = protocol;
  header.set([192, 0, 2, 1, 192, 0, 2, 2], 12);
  return Buffer.concat([header, payload]);
}

function ipv6(protocol: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(40);
  header[0] = 0x60;
  header.writeUInt16BE(payload.length, 4);
  header[6] = protocol;
  header.set([0x20, 0x01, 0x0d, 0xb8, ...Array(11).fill(0), 1], 8);
  header.set([0x20, 0x01, 0x0d, 0xb8, ...Array(11).fill(0), 2], 24);
  return Buffer.concat([header, payload]);
}

/** A pcap file of raw IP packets, a second apart. */
function capture(...packets: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(24);
  head.writeUInt32LE(0xa1b2c3d4, 0);
  head.writeUInt32LE(65_535, 16);
  head.writeUInt32LE(101, 20);
  const records = packets.flatMap((packet, index) => {
    const record = Buffer.alloc(16);
    record.writeUInt32LE(index + 1, 0);
    record.writeUInt32LE(500_000, 4);
    record.writeUInt32LE(packet.length, 8);
    record.writeUInt32LE(packet.length, 12);
    return [record, packet];
  });
  return Buffer.concat([head, ...records]);
}

async function segmentsOf(name: string, bytes: Buffer): Promise<TcpSegment[]> {
  const path = join(directory, name);
  writeFileSync(path, bytes);
  return collect(readTcpSegments(path));
}

describe('TCP segments', () => {
  it('have their addresses, ports, sequence number and flags, over IPv4 and IPv6', async () => {
    const ecn = TCP_FLAG.syn | TCP_FLAG.ece | TCP_FLAG.cwr;
    const file = capture(
      ipv4(6, tcp(40_000, 80, 0xfedcba98, TCP_FLAG.syn)),
      ipv4(17, Buffer.alloc(8)),
      ipv6(6, tcp(40_001, 443, 7, ecn)),
    );
    expect(await segmentsOf('both.pcap', file)).toEqual([
      {
        seconds: 1.5,
        ipVersion: 4,
        source: '192.0.2.1',
        sourcePort: 40_000,
        destination: '192.0.2.2',
        destinationPort: 80,
        sequence: 0xfedcba98,
        flags: TCP_FLAG.syn,
      },
      {
        seconds: 3.5,
        ipVersion: 6,
        source: '2001:db8::1',
        sourcePort: 40_001,
        destination: '2001:db8::2',
        destinationPort: 443,
        sequence: 7,
        flags: ecn,
      },
    ]);
  });

  it('are read up to the packet within which a file ends, and headers that were cut off are skipped', async () => {
    const whole = capture(ipv4(6, tcp(1, 80, 1, TCP_FLAG.syn)), ipv4(6, tcp(2, 80, 2, TCP_FLAG.syn)));
    expect(await segmentsOf('cut.pcap', whole.subarray(0, -5))).toHaveLength(1);
    expect(await segmentsOf('short.pcap', capture(ipv4(6, Buffer.alloc(10))))).toEqual([]);
  });

  it('of a file that is no capture are an error', async () => {
    await expect(
      segmentsOf('none.pcap', Buffer.from('not a capture, but long enough')),
    ).rejects.toMatchObject({
      code: 'E_PCAP',
    });
  });
});

it('a capture without queries is an error only unless it may be empty', async () => {
  const path = join(directory, 'empty.pcap');
  writeFileSync(path, capture(ipv4(6, tcp(1, 80, 1, TCP_FLAG.syn))));
  await expect(collect(readCapture(path))).rejects.toMatchObject({ code: 'E_PCAP' });
  expect(await collect(readCapture(path, { mayBeEmpty: true }))).toEqual([]);
});
