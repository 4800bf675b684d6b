/**
 * Messages that nobody should send, over UDP: each gets the one right answer or none, and the server keeps
 * running.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask, opt, query, RCODE, sendUdp } from './support/client.ts';
import { killAll, type RunningServer, startServer } from './support/server-process.ts';

const SILENCE_SECONDS = 0.15;

describe.each(['native', 'dgram'])('UDP backend %s', (backend) => {
  let server: RunningServer;
  beforeAll(async () => {
    server = await startServer(['--udp-backend', backend]);
  });
  afterAll(killAll);

  async function expectHealthy(): Promise<void> {
    expect((await ask('udp', server.ready, 'example1.com')).answers).toHaveLength(1);
    expect(server.child.exitCode).toBeNull();
    expect(server.stderr).toBe('');
  }

  test('is the one that the readiness line names', () => {
    expect(server.ready.udpBackend).toBe(backend);
  });

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['one byte', Buffer.alloc(1)],
    ['eleven bytes', Buffer.alloc(11)],
    ['a response', Buffer.concat([Buffer.from([0, 1, 0x84, 0]), query('example1.com').subarray(4)])],
    ['a response with nothing in it', Buffer.from([0, 1, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0])],
    ['a response that is malformed', Buffer.from([0, 1, 0x80, 0, 0, 1, 0, 0, 0, 0, 0, 0, 63, 1])],
    ['60,000 bytes', Buffer.alloc(60_000, 1)],
    ['a query with 5,000 bytes behind it', Buffer.concat([query('example1.com'), Buffer.alloc(5000)])],
  ])('%s gets no answer', async (_what, message) => {
    expect(await sendUdp(server.ready, message, SILENCE_SECONDS)).toBeUndefined();
    await expectHealthy();
  });

  const loop = query('example1.com').subarray(0, 12);
  test.each([
    ['a header alone that announces a question', loop],
    ['a name that points to itself', Buffer.concat([loop, Buffer.from([0xc0, 12, 0, 1, 0, 1])])],
    ['two pointers at each other', Buffer.concat([loop, Buffer.from([0xc0, 14, 0xc0, 12, 0, 1, 0, 1])])],
    ['a label that runs past the end', Buffer.concat([loop, Buffer.from([63, 97, 0, 0, 1, 0, 1])])],
    ['a label of a reserved kind', Buffer.concat([loop, Buffer.from([0x80, 97, 0, 0, 1, 0, 1])])],
    ['a name without a type', query('example1.com').subarray(0, -4)],
    ['a name without a class', query('example1.com').subarray(0, -2)],
    [
      'a name of 256 bytes',
      Buffer.concat([
        loop,
        ...Array.from({ length: 128 }, () => Buffer.from([1, 97])),
        Buffer.from([0, 0, 1, 0, 1]),
      ]),
    ],
    ['two OPT records', query('example1.com', 'A', { additionals: [opt(1232), opt(1232)] })],
    [
      'an OPT record that is cut off',
      query('example1.com', 'A', { additionals: [opt(1232)] }).subarray(0, -1),
    ],
  ])('%s gets FORMERR', async (_what, message) => {
    const reply = await sendUdp(server.ready, message, 2);
    expect(reply?.readUInt16BE(0)).toBe(message.readUInt16BE(0));
    expect((reply?.readUInt8(3) ?? 0) & 0xf).toBe(RCODE.FORMERR);
    // Never larger than the query, so forging its source gains nothing.
    expect(reply?.length).toBeLessThanOrEqual(message.length);
    await expectHealthy();
  });

  test('a query longer than any client needs, but not too long, is answered', async () => {
    const padding = { code: 12, data: Buffer.alloc(3000) };
    const reply = await ask('udp', server.ready, 'example1.com', 'A', {
      additionals: [opt(1232, { options: [padding] })],
    });
    expect(reply.answers).toHaveLength(1);
  });

  test('a full batch of all of it together is answered where it must be', async () => {
    const socket = createSocket('udp4');
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    let answered = 0;
    socket.on('message', () => answered++);
    const batch = [query('example1.com'), Buffer.alloc(3), query('example2.com'), Buffer.alloc(0), loop];
    for (let count = 0; count < 60; count++) {
      socket.send(batch[count % batch.length] ?? loop, server.ready.port, '127.0.0.1');
    }
    await expect.poll(() => answered).toBe(36);
    socket.close();
    await expectHealthy();
  });
});
