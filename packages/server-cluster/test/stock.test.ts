/** Profile `stock` is the published framework, faults included: it must not be fixed. */
import { cpus } from 'node:os';
import { afterEach, describe, expect, test } from 'vitest';
import { ask, opt, RCODE, sendUdp, TRANSPORTS } from './support/client.ts';
import { killAll, startServer } from './support/server-process.ts';

afterEach(killAll);

describe.each(['single', 'multi'])('in mode %s', (mode) => {
  test('answers over both transports once it is ready, and stops', async () => {
    const server = await startServer(['--profile', 'stock', '--mode', mode]);
    expect(server.ready.workers).toBe(mode === 'multi' ? cpus().length : 1);
    for (const transport of TRANSPORTS) {
      const reply = await ask(transport, server.ready, 'example1.com');
      expect(reply.answers).toMatchObject([{ name: 'example1.com', type: 'A', ttl: 0, data: '127.0.0.1' }]);
      expect((await ask(transport, server.ready, 'example2.com')).rcode).toBe(RCODE.NXDOMAIN);
    }
    expect(await server.stop()).toEqual({ code: 0, signal: null });
  });
});

test('has the faults of version 0.0.13', async () => {
  const server = await startServer(['--profile', 'stock']);
  expect((await ask('udp', server.ready, 'EXAMPLE1.com')).rcode).toBe(RCODE.NXDOMAIN);
  expect((await ask('udp', server.ready, 'example1.com', 'TXT')).rcode).toBe(RCODE.NXDOMAIN);
  const cookie = { code: 10, data: Buffer.from('0123456789abcdef', 'hex') };
  const withCookie = { additionals: [opt(1232, { options: [cookie] })] };
  const reply = await ask('udp', server.ready, 'example1.com', 'A', withCookie);
  expect(reply.isAuthoritative).toBe(false);
  expect(reply.raw.includes(cookie.data)).toBe(true);
  await sendUdp(server.ready, Buffer.from([1, 2, 3]), 0.1).catch(() => undefined);
  expect((await server.exited).code).toBe(1);
});
