/** Random and mutated input by the hundred thousand; the same with every run, so that a failure repeats. */

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { randomFrom } from '@dinodns-bench/test-support';
import { IGNORE, QueryReader } from '@dinodns-bench/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Query, readQuery } from '../src/wire/query.ts';
import { ask, framed, opt, query, RCODE, TRANSPORTS } from './support/client.ts';
import { killAll, type RunningServer, sleep, startServer } from './support/server-process.ts';

/** Time for each of the two floods, which lasts longer where a busy machine sends less. */
const FLOOD_SECONDS = 4;
const LEAST_SENT = 10_000;
const LEAST_STREAMS = 200;
/** Largest growth of the server's memory that is no leak: heap that has not been collected yet. */
const MAX_GROWTH_BYTES = 150 * 1024 * 1024;

let server: RunningServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(killAll);

const SEEDS = [
  query('example1.com'),
  query('example2.com', 'AAAA', { additionals: [opt(4096, { flags: 0x8000 })] }),
  query('a.b.c.example3.com', 'TXT', {
    additionals: [opt(1232, { options: [{ code: 10, data: Buffer.alloc(8, 1) }] })],
  }),
  query('example5.com', 'A', {
    answers: [{ name: 'example5.com', type: 'CNAME', data: 'example7.com' }],
    authorities: [{ name: 'example5.com', type: 'NS', data: 'ns.example5.com' }],
  }),
];

/** Bytes that are nothing, or a query with bytes changed, cut off, repeated or put in. */
function fuzzed(random: (limit: number) => number): Buffer {
  const seed = SEEDS[random(SEEDS.length)] ?? Buffer.alloc(0);
  if (random(8) === 0) return Buffer.from(Array.from({ length: random(600) }, () => random(256)));
  let message = Buffer.from(seed);
  for (let change = random(4); change >= 0; change--) {
    const at = random(message.length + 1);
    const kind = random(4);
    if (kind === 0) message = message.subarray(0, at);
    else if (kind === 1) message = Buffer.concat([message, message.subarray(at)]);
    else if (kind === 2)
      message = Buffer.concat([message.subarray(0, at), Buffer.from([random(256)]), message.subarray(at)]);
    else if (at < message.length) message.writeUInt8(random(256), at);
  }
  return message;
}

function residentBytes(): number {
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1];
  return Number(kibibytes) * 1024;
}

async function expectHealthy(before: number): Promise<void> {
  await sleep(0.5);
  for (const transport of TRANSPORTS) {
    expect((await ask(transport, server.ready, 'example1.com')).answers).toHaveLength(1);
    expect((await ask(transport, server.ready, 'example2.com')).rcode).toBe(RCODE.REFUSED);
  }
  expect(server.child.exitCode).toBeNull();
  expect(server.stderr).toBe('');
  expect(residentBytes() - before).toBeLessThan(MAX_GROWTH_BYTES);
}

test('no input makes the reader throw, and every reply echoes the ID', () => {
  const random = randomFrom(1);
  const reader = new QueryReader();
  for (let count = 0; count < 300_000; count++) {
    const message = fuzzed(random);
    if (reader.read(message, 0, message.length) === IGNORE) continue;
    const result = readQuery(message, reader);
    const header = result instanceof Query ? result.message : result;
    expect(header.readUInt16BE(0)).toBe(message.readUInt16BE(0));
  }
});

test('a flood of garbage over UDP does not harm the server', async () => {
  const before = residentBytes();
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  let replies = 0;
  socket.on('message', () => replies++);
  const random = randomFrom(2);
  const deadline = performance.now() + FLOOD_SECONDS * 1000;
  let sent = 0;
  while (performance.now() < deadline || sent < LEAST_SENT) {
    for (let count = 0; count < 50; count++) socket.send(fuzzed(random), server.ready.port, '127.0.0.1');
    sent += 50;
    await new Promise((resolve) => setImmediate(resolve));
  }
  await expectHealthy(before);
  socket.close();
  // Nobody waits for the server: what it has no time for, the kernel drops.
  expect(replies).toBeGreaterThan(sent / 50);
});

/** One connection that sends fuzzed messages, some with a length that is wrong, until it is closed. */
function streamGarbage(random: (limit: number) => number, port: number): Promise<unknown> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.resume();
  for (let count = random(40); count >= 0; count--) {
    const message = framed(fuzzed(random));
    if (random(4) === 0) message.writeUInt8(random(256), random(2));
    socket.write(message);
  }
  if (random(3) === 0) socket.destroy();
  else socket.end();
  // A reset is what most of this deserves.
  return new Promise((resolve) => socket.once('close', resolve));
}

test('streams of garbage over TCP do not harm the server', async () => {
  const before = residentBytes();
  const random = randomFrom(3);
  const deadline = performance.now() + FLOOD_SECONDS * 1000;
  let streams = 0;
  while (performance.now() < deadline || streams < LEAST_STREAMS) {
    await Promise.all(Array.from({ length: 20 }, () => streamGarbage(random, server.ready.port)));
    streams += 20;
  }
  await expectHealthy(before);
});
