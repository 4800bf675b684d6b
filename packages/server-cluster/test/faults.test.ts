/** The seven faults of the published framework (0.0.13) that profile `dinodns` must not have. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask, exchange, opt, query, RCODE, sendUdp, TcpClient, TRANSPORTS } from './support/client.ts';
import { startInProcess } from './support/in-process.ts';
import { killAll, type RunningServer, startServer } from './support/server-process.ts';

let server: RunningServer;
beforeAll(async () => {
  server = await startServer(['--profile', 'dinodns']);
});
afterAll(killAll);

test('a datagram of 3 bytes neither gets an answer nor ends the process', async () => {
  expect(await sendUdp(server.ready, Buffer.from([1, 2, 3]), 0.3)).toBeUndefined();
  expect((await ask('udp', server.ready, 'example1.com')).rcode).toBe(RCODE.NOERROR);
  expect(server.child.exitCode).toBeNull();
});

test('a TCP message of 3 bytes ends the connection, not the process', async () => {
  const client = new TcpClient(server.ready);
  client.socket.write(Buffer.from([0, 3, 1, 2, 3]));
  expect(await client.receive(1)).toEqual([]);
  expect(client.ended).toBe(true);
  expect((await ask('tcp', server.ready, 'example1.com')).rcode).toBe(RCODE.NOERROR);
});

describe.each(TRANSPORTS)('over %s', (transport) => {
  test('names compare case-insensitively, and the question is echoed in its own case', async () => {
    const reply = await ask(transport, server.ready, 'eXaMpLe1.CoM');
    expect(reply.rcode).toBe(RCODE.NOERROR);
    expect(reply.answers).toMatchObject([{ name: 'eXaMpLe1.CoM', type: 'A', data: '127.0.0.1' }]);
    expect(reply.packet.questions).toMatchObject([{ name: 'eXaMpLe1.CoM', type: 'A', class: 'IN' }]);
  });

  test('an existing name without the type gets NODATA with the SOA record', async () => {
    const reply = await ask(transport, server.ready, 'example1.com', 'AAAA');
    expect(reply.rcode).toBe(RCODE.NOERROR);
    expect(reply.answers).toEqual([]);
    expect(reply.authorities).toMatchObject([{ name: 'example1.com', type: 'SOA' }]);
    expect(reply.isAuthoritative).toBe(true);
  });

  test('a name that does not exist in a zone gets NXDOMAIN with the SOA record', async () => {
    const reply = await ask(transport, server.ready, 'a.b.example1.com');
    expect(reply.rcode).toBe(RCODE.NXDOMAIN);
    expect(reply.authorities).toMatchObject([{ name: 'example1.com', type: 'SOA' }]);
    expect(reply.isAuthoritative).toBe(true);
  });

  test('answers are authoritative', async () => {
    expect((await ask(transport, server.ready, 'example199.com')).isAuthoritative).toBe(true);
  });

  test('the TTL is that of the records', async () => {
    const reply = await ask(transport, server.ready, 'example1.com');
    expect(reply.answers).toMatchObject([{ ttl: 60 }]);
  });

  test("a client's cookie does not come back as if it were the server's", async () => {
    const cookie = { code: 10, data: Buffer.from('0123456789abcdef', 'hex') };
    const message = query('example1.com', 'A', { additionals: [opt(1232, { options: [cookie] })] });
    const reply = await exchange(transport, server.ready, message);
    // The client's half and one of ours; the framework returned the client's alone.
    expect(reply.additionals).toMatchObject([{ type: 'OPT', udpPayloadSize: 1232, options: [{ code: 10 }] }]);
    const sent = reply.raw.subarray(-24);
    expect(sent.subarray(0, 8)).toEqual(cookie.data);
    expect(sent[8]).toBe(1);
  });

  test('refused() sets REFUSED', async () => {
    const own = await startInProcess();
    own.server.use((_request, response) => response.errors.refused());
    try {
      expect((await ask(transport, own.ready, 'example1.com')).rcode).toBe(RCODE.REFUSED);
    } finally {
      await own.stop();
    }
  });

  test('a name outside of all zones gets REFUSED', async () => {
    const reply = await ask(transport, server.ready, 'example2.com');
    expect(reply.rcode).toBe(RCODE.REFUSED);
    expect(reply.isAuthoritative).toBe(false);
  });
});
