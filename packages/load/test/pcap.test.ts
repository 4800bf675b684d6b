import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeName, encodeOpt, encodeQuery, FLAG, TYPE } from '@dinodns-bench/wire';
import { afterAll, describe, expect, test } from 'vitest';
import { buildCommand, type Flags } from '../src/cli/flags.ts';
import { inputOf } from '../src/cli/options.ts';
import { LoadError } from '../src/errors.ts';
import { loadCapture } from '../src/pcap/capture.ts';
import { CaptureError, createCaptureReader } from '../src/pcap/file-format.ts';
import { readPacket } from '../src/pcap/packet.ts';
import { readCapture } from '../src/pcap/read-capture.ts';
import { createRandom } from '../src/workload/random.ts';
import { startWorkload } from '../src/workload/start.ts';
import { collect } from './support/collect.ts';
import {
  ethernetOf,
  framed,
  ipv4Of,
  ipv6Of,
  pcapngOf,
  pcapOf,
  queryFor,
  tcpOf,
  udpOf,
} from './support/frames.ts';
import { nameAt, plan } from './support/plans.ts';

const directory = mkdtempSync(join(tmpdir(), 'dnscannon-pcap-'));
afterAll(() => rm(directory, { recursive: true }));

let files = 0;
function fileOf(content: Uint8Array): string {
  files += 1;
  const path = join(directory, `${files}.pcap`);
  writeFileSync(path, content);
  return path;
}

/** The queries found in one frame, or why there is none. */
function found(linkType: number, frame: Uint8Array, port = 53): string[] | string {
  const queries: string[] = [];
  const skipped = readPacket(linkType, frame, port, (bytes, start, end) => {
    queries.push(Buffer.from(bytes.slice(start, end)).toString('hex'));
  });
  return skipped ?? queries;
}

const query = queryFor('example.com');
const hex = query.toString('hex');
const datagram = ipv4Of(udpOf(query));

describe('frames', () => {
  const null4 = Buffer.concat([Buffer.from([2, 0, 0, 0]), datagram]);
  const loop6 = Buffer.concat([Buffer.from([0, 0, 0, 30]), ipv6Of(udpOf(query))]);
  const sll = Buffer.concat([Buffer.alloc(14), Buffer.from([8, 0]), datagram]);
  const sll2 = Buffer.concat([Buffer.from([0x86, 0xdd]), Buffer.alloc(18), ipv6Of(udpOf(query))]);
  const sll2Tagged = Buffer.concat([
    Buffer.from([0x81, 0]),
    Buffer.alloc(18),
    Buffer.from([0, 7, 8, 0]),
    datagram,
  ]);
  test.each([
    ['Ethernet', 1, ethernetOf(datagram)],
    ['Ethernet with padding behind the packet', 1, Buffer.concat([ethernetOf(datagram), Buffer.alloc(9)])],
    ['a VLAN', 1, ethernetOf(datagram, [0x8100])],
    ['stacked VLANs, IPv6', 1, ethernetOf(ipv6Of(udpOf(query)), [0x88a8, 0x8100])],
    ['BSD loopback', 0, null4],
    ['OpenBSD loopback', 108, loop6],
    ['raw IP', 101, ipv6Of(udpOf(query))],
    ['raw IP as DLT 12', 12, datagram],
    ['raw IPv4', 228, datagram],
    ['raw IPv6', 229, ipv6Of(udpOf(query))],
    ['Linux cooked', 113, sll],
    ['Linux cooked, version 2', 276, sll2],
    ['Linux cooked, version 2, a VLAN', 276, sll2Tagged],
    ['IPv4 with options', 101, ipv4Of(udpOf(query), 17, { options: 8 })],
    ['IPv6 with extension headers', 101, ipv6Of(udpOf(query), 17, [0, 60, 43])],
    ['an atomic fragment', 101, ipv6Of(udpOf(query), 17, [44])],
    ['TCP', 101, ipv4Of(tcpOf(framed(query), 53, 12), 6)],
  ])('%s', (_what, linkType, frame) => {
    expect(found(linkType, frame)).toEqual([hex]);
  });

  test('several queries in one TCP segment', () => {
    const segment = tcpOf(Buffer.concat([framed(query), framed(query), framed(query)]));
    expect(found(101, ipv4Of(segment, 6))).toEqual([hex, hex, hex]);
  });

  test.each([
    ['unknown link type', 105, datagram],
    ['not IP', 1, Buffer.concat([Buffer.alloc(12), Buffer.from([8, 6]), Buffer.alloc(28)])],
    ['other traffic', 101, ipv4Of(Buffer.alloc(8), 1)],
    ['other traffic', 101, ipv4Of(udpOf(query, 5353))],
    ['other traffic', 101, ipv4Of(tcpOf(Buffer.alloc(0)), 6)],
    ['fragment', 101, ipv4Of(udpOf(query), 17, { fragment: 0x2000 })],
    ['fragment', 101, ipv4Of(udpOf(query), 17, { fragment: 100 })],
    ['truncated', 101, datagram.subarray(0, -3)],
    ['truncated', 101, ipv4Of(tcpOf(framed(query)), 6).subarray(0, -3)],
    ['malformed', 101, datagram.subarray(0, 15)],
    ['truncated', 101, datagram.subarray(0, 25)],
    ['malformed', 101, ipv4Of(Buffer.alloc(5))],
    ['malformed', 1, Buffer.alloc(10)],
    ['not a query', 101, ipv4Of(udpOf(Buffer.from('not a DNS message at all')))],
    ['not a query', 101, ipv4Of(udpOf(Buffer.from(query).fill(0x80, 2, 3)))],
    ['not a query', 101, ipv4Of(tcpOf(query), 6)],
  ])('%s', (reason, linkType, frame) => {
    expect(found(linkType, frame)).toBe(reason);
  });

  test('no mangled frame causes a crash or yields bytes outside itself', () => {
    const random = createRandom(5);
    const seeds = [
      ethernetOf(datagram, [0x8100]),
      ethernetOf(ipv6Of(udpOf(query), 17, [0, 44, 60])),
      ethernetOf(ipv4Of(tcpOf(Buffer.concat([framed(query), framed(query)])), 6)),
    ];
    let queries = 0;
    for (let i = 0; i < 200_000; i += 1) {
      const frame = Buffer.from(seeds[i % seeds.length] ?? datagram);
      for (let changes = 1 + (random.bits() % 3); changes > 0; changes -= 1)
        frame[random.bits() % frame.length] = random.bits();
      const cut = random.bits() % 4 === 0 ? frame.subarray(0, random.bits() % frame.length) : frame;
      readPacket(1, cut, 53, (_bytes, start, end) => {
        queries += 1;
        if (start < 0 || end > cut.length || end - start < 17) throw new Error(`${start} to ${end}`);
      });
    }
    expect(queries).toBeGreaterThan(1000);
  });
});

describe('files', () => {
  const packets = [
    { seconds: 1_700_000_000.5, frame: ethernetOf(ipv4Of(udpOf(queryFor('one.test')))) },
    { seconds: 1_700_000_000.75, frame: ethernetOf(ipv4Of(udpOf(queryFor('two.test')))) },
    { seconds: 1_700_000_002, frame: ethernetOf(ipv6Of(udpOf(queryFor('three.test')))) },
  ];

  test.each([
    ['pcap, little-endian, microseconds', pcapOf(1, packets)],
    ['pcap, big-endian, nanoseconds', pcapOf(1, packets, { little: false, nanoseconds: true })],
    ['pcapng, little-endian, nanoseconds', pcapngOf(1, packets)],
    ['pcapng, big-endian, milliseconds', pcapngOf(1, packets, { little: false, digits: 3 })],
    ['pcapng with an offset', pcapngOf(1, packets, { offsetSeconds: 1_600_000_000 })],
    [
      'several sections',
      Buffer.concat([pcapngOf(1, packets.slice(0, 1)), pcapngOf(1, packets.slice(1), { little: false })]),
    ],
  ])('%s: queries with their times', async (_what, content) => {
    const made = await plan({ kind: 'pcap', path: fileOf(content) });
    expect([0, 1, 2].map((i) => nameAt(made, i))).toEqual(['one.test', 'two.test', 'three.test']);
    for (const [i, due] of [0, 0.25, 1.5].entries()) expect(made.dueSeconds?.[i]).toBeCloseTo(due, 6);
    expect(made.order).toBe('timed');
  });

  test('speed, passes and workers: each query is due when it was seen', async () => {
    const path = fileOf(pcapOf(1, packets));
    const made = { ...(await plan({ kind: 'pcap', path, speed: 2 })), passes: 2 };
    const due = [0, 1].map((worker) => {
      const workload = startWorkload(made, { worker, workers: 2, seed: 1 });
      const times: number[] = [];
      while (workload.next() !== -1) times.push(workload.dueSeconds?.() ?? Number.NaN);
      return times;
    });
    const together = due.flat().sort((a, b) => a - b);
    // The second pass begins one mean gap (0.375 s) after the end of the first.
    for (const [i, seconds] of [0, 0.125, 0.75, 1.125, 1.25, 1.875].entries())
      expect(together[i]).toBeCloseTo(seconds, 6);
    expect(due.map((times) => times.length)).toEqual([3, 3]);
  });

  test.each([
    [['--pcap', 'x'], { kind: 'timed' }, {}],
    [['--pcap', 'x', '--speed', '2.5'], { kind: 'timed' }, { speed: 2.5 }],
    [['--pcap', 'x', '--speed', 'max'], { kind: 'closed' }, {}],
    [['--pcap', 'x', '--speed', 'max', '-q', '7'], { kind: 'closed', outstanding: 7 }, {}],
  ])('%j on the command line', (args, load, workload) => {
    const flags = buildCommand()
      .parse(['127.0.0.1', ...args], { from: 'user' })
      .opts<Flags>();
    expect(inputOf('127.0.0.1', [], flags)).toMatchObject({
      load,
      workload: { kind: 'pcap', path: 'x', ...workload },
    });
  });

  test('packets of several interfaces are put in order', async () => {
    const [first, second, third] = packets;
    if (first === undefined || second === undefined || third === undefined) throw new Error('three packets');
    const made = await plan({ kind: 'pcap', path: fileOf(pcapOf(1, [third, first, second])) });
    expect([0, 1, 2].map((i) => nameAt(made, i))).toEqual(['one.test', 'two.test', 'three.test']);
  });

  test('the description counts what was skipped', async () => {
    const damaged = [
      ...packets,
      { seconds: 1_700_000_003, frame: ethernetOf(ipv4Of(udpOf(query), 17, { fragment: 0x2000 })) },
      { seconds: 1_700_000_003, frame: ethernetOf(datagram).subarray(0, 40) },
      { seconds: 1_700_000_003, frame: ethernetOf(ipv4Of(udpOf(query, 443))) },
    ];
    const content = pcapOf(1, damaged);
    const made = await plan({ kind: 'pcap', path: fileOf(content.subarray(0, -10)) });
    expect(made.arena.count).toBe(3);
    expect(made.description).toContain('skipped: 1 × fragment, 1 × truncated, the file ends within a packet');
  });

  test('the result does not depend on the chunks in which the file is read', () => {
    for (const content of [pcapOf(1, packets), pcapngOf(1, packets)]) {
      for (const size of [1, 7, 23, 64]) {
        const lengths: number[] = [];
        const reader = createCaptureReader((_link, _seconds, frame) => lengths.push(frame.length));
        for (let at = 0; at < content.length; at += size) reader.push(content.subarray(at, at + size));
        expect(reader.end()).toBe(true);
        expect(lengths).toEqual(packets.map(({ frame }) => frame.length));
      }
    }
  });

  test.each([
    ['text', Buffer.from('example.com A\n'.repeat(10)), /neither a pcap nor a pcapng/],
    ['an empty file', Buffer.alloc(0), /neither a pcap nor a pcapng/],
    [
      'not a query',
      pcapOf(1, [{ seconds: 1, frame: ethernetOf(ipv4Of(udpOf(query, 5300))) }]),
      /no DNS query to port 53 .*1 × other/,
    ],
    [
      'a record longer than a frame',
      Buffer.concat([pcapOf(1, []), Buffer.alloc(16, 0x7f)]),
      /longer than any frame/,
    ],
    ['simple packet blocks', Buffer.concat([pcapngOf(1, []), simpleBlock()]), /no timestamps/],
  ])('%s is an error with a reason', async (_what, content, message) => {
    const error = await plan({ kind: 'pcap', path: fileOf(content) }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(LoadError);
    expect(error).toMatchObject({ code: 'E_PCAP', message: expect.stringMatching(message) });
    const path = fileOf(content);
    await expect(collect(readCapture(path))).rejects.toMatchObject({ code: 'E_PCAP' });
  });

  test('a missing file is an error', async () => {
    const path = join(directory, 'missing');
    await expect(loadCapture(path, 53)).rejects.toMatchObject({ code: 'E_UNREADABLE' });
    await expect(collect(readCapture(path))).rejects.toMatchObject({ code: 'E_UNREADABLE' });
  });

  test('queries one after the other, with all that they say', async () => {
    const signed = encodeQuery({
      id: 7,
      flags: FLAG.recursionDesired,
      name: encodeName('Sub.one.test'),
      type: TYPE.HTTPS,
      class: 3,
      opt: encodeOpt({ dnssecOk: true, udpBytes: 4096 }),
    });
    const update = Buffer.from(query);
    update.writeUInt8(0x28, 2);
    const path = fileOf(
      pcapOf(101, [
        { seconds: 1_700_000_000.25, frame: ipv4Of(udpOf(signed)) },
        { seconds: 1_700_000_001, frame: ipv6Of(tcpOf(Buffer.concat([framed(query), framed(update)])), 6) },
        { seconds: 1_700_000_002, frame: ipv4Of(udpOf(query), 17, { fragment: 0x2000 }) },
      ]),
    );
    const capture = readCapture(path);
    const queries = await collect(capture);
    const client = { address: '192.0.2.1', port: 40_000 };
    const other = { address: '2001:db8::1', port: 40_000 };
    const plain = {
      name: 'example.com',
      type: 'A',
      class: 'IN',
      edns: null,
      transport: 'tcp',
      client: other,
    };
    expect(queries).toMatchObject([
      {
        seconds: 1_700_000_000.25,
        client,
        transport: 'udp',
        name: 'Sub.one.test',
        type: 'HTTPS',
        class: 'CH',
        flags: 0x0100,
        edns: { udpBytes: 4096, dnssecOk: true },
      },
      { ...plain, seconds: 1_700_000_001, flags: 0x0100 },
      { ...plain, flags: 0x2800 },
    ]);
    expect(Buffer.from(queries[0]?.message ?? [])).toEqual(signed);
    expect([capture.queries, capture.isComplete]).toEqual([3, true]);
    expect(Object.fromEntries(capture.skipped)).toEqual({ fragment: 1 });
  });

  test('no more is read ahead than a piece of the file holds', async () => {
    const record = pcapOf(101, [{ seconds: 1, frame: ipv4Of(udpOf(query)) }]);
    const repeated = Array.from({ length: 100_000 }, () => record.subarray(24));
    const capture = readCapture(fileOf(Buffer.concat([record.subarray(0, 24), ...repeated])));
    let count = 0;
    let ahead = 0;
    for await (const { name } of capture) {
      if (name !== 'example.com') throw new Error(name);
      ahead = Math.max(ahead, capture.queries - ++count);
    }
    expect(count).toBe(100_000);
    expect(ahead * (record.length - 24)).toBeLessThan(1.1 * 2 ** 20);
  });

  test('a damaged file gives an error or fewer packets, nothing else', () => {
    const random = createRandom(9);
    for (let i = 0; i < 20_000; i += 1) {
      const content = Buffer.from(i % 2 === 0 ? pcapOf(1, packets) : pcapngOf(1, packets));
      for (let changes = 1 + (random.bits() % 4); changes > 0; changes -= 1)
        content[random.bits() % content.length] = random.bits();
      try {
        const reader = createCaptureReader((link, _seconds, frame) => {
          readPacket(link, frame, 53, () => undefined);
        });
        reader.push(content.subarray(0, content.length - (random.bits() % 8)));
        reader.end();
      } catch (error) {
        if (!(error instanceof CaptureError)) throw error;
      }
    }
  });
});

function simpleBlock(): Buffer {
  const block = Buffer.alloc(16 + 4);
  block.writeUInt32LE(3, 0);
  block.writeUInt32LE(20, 4);
  block.writeUInt32LE(20, 16);
  return block;
}
