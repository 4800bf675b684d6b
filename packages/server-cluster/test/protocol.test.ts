/** Replies to unusual, malformed or large queries. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Ready, Server } from '../src/index.ts';
import {
  ask,
  exchange,
  framed,
  opt,
  query,
  RCODE,
  send,
  sendUdp,
  TcpClient,
  TRANSPORTS,
} from './support/client.ts';
import { record, startInProcess, zone } from './support/in-process.ts';

let server: Server & { ready: Ready };
beforeAll(async () => {
  const many = Array.from({ length: 100 }, (_, index) => record('big.example.org', 'A', `192.0.2.${index}`));
  const some = Array.from({ length: 40 }, (_, index) => record('some.example.org', 'A', `192.0.2.${index}`));
  server = await startInProcess({}, [zone([record('example.org', 'A', '192.0.2.1'), ...some, ...many])]);
});
afterAll(() => server.stop());

describe.each(TRANSPORTS)('over %s', (transport) => {
  test('an OPCODE other than QUERY gets NOTIMP and is echoed', async () => {
    const message = query('example.org', 'SOA');
    message.writeUInt8(0x28, 2);
    const reply = await exchange(transport, server.ready, message);
    expect(reply.rcode).toBe(RCODE.NOTIMP);
    expect(reply.raw.readUInt8(2)).toBe(0xa8);
  });

  test('zero or two questions get FORMERR', async () => {
    const question = { name: 'example.org', type: 'A' as const };
    for (const questions of [[], [question, question]]) {
      const reply = await exchange(transport, server.ready, query('', 'A', { questions }));
      expect(reply.rcode).toBe(RCODE.FORMERR);
    }
  });

  test('a lone header that announces a question gets FORMERR with the same ID', async () => {
    const message = query('example.org').subarray(0, 12);
    const reply = await exchange(transport, server.ready, message);
    expect(reply.rcode).toBe(RCODE.FORMERR);
    expect(reply.packet.id).toBe(message.readUInt16BE(0));
  });

  test('a question name with a compression pointer gets FORMERR', async () => {
    const message = query('example.org');
    message.writeUInt16BE(0xc00c, 12);
    expect((await exchange(transport, server.ready, message)).rcode).toBe(RCODE.FORMERR);
  });

  test('a class other than IN gets REFUSED, class ANY the records without AA', async () => {
    const chaos = query('example.org', 'A', { questions: [{ name: 'example.org', type: 'A', class: 'CH' }] });
    expect((await exchange(transport, server.ready, chaos)).rcode).toBe(RCODE.REFUSED);
    const any = query('example.org', 'A', { questions: [{ name: 'example.org', type: 'A', class: 'ANY' }] });
    const reply = await exchange(transport, server.ready, any);
    expect(reply.answers).toHaveLength(1);
    expect(reply.isAuthoritative).toBe(false);
  });

  test('an unknown class is echoed in the question', async () => {
    const message = query('example.org');
    message.writeUInt16BE(0x1234, message.length - 2);
    const reply = await exchange(transport, server.ready, message);
    expect(reply.rcode).toBe(RCODE.REFUSED);
    expect(reply.raw.subarray(12)).toEqual(message.subarray(12));
  });

  test('type ANY gets one record set only', async () => {
    const message = query('example.org', 'A');
    message.writeUInt16BE(255, message.length - 4);
    const reply = await exchange(transport, server.ready, message);
    expect(reply.answers.map(({ type }) => type)).toEqual(['SOA']);
  });

  test('a zone transfer is REFUSED', async () => {
    expect((await ask(transport, server.ready, 'example.org', 'AXFR')).rcode).toBe(RCODE.REFUSED);
  });

  test('a type that the library does not know gets NODATA', async () => {
    const message = query('example.org', 'A');
    message.writeUInt16BE(65, message.length - 4);
    const reply = await exchange(transport, server.ready, message);
    expect(reply.rcode).toBe(RCODE.NOERROR);
    expect(reply.authorities).toMatchObject([{ type: 'SOA', ttl: 300 }]);
  });

  test('RD is echoed; RA, AD, CD and Z are not', async () => {
    const message = query('example.org', 'A');
    message.writeUInt16BE(0x0170, 2);
    const reply = await exchange(transport, server.ready, message);
    expect(reply.raw.readUInt16BE(2)).toBe(0x8500);
  });

  test('the reply has an OPT record only if the query had one', async () => {
    expect((await ask(transport, server.ready, 'example.org')).additionals).toEqual([]);
    const withOpt = { additionals: [opt(4096, { flags: 0x8000 })] };
    const reply = await ask(transport, server.ready, 'example.org', 'A', withOpt);
    expect(reply.additionals).toMatchObject([{ type: 'OPT', udpPayloadSize: 1232, flag_do: true }]);
    const refused = await ask(transport, server.ready, 'example.net', 'A', withOpt);
    expect(refused.additionals).toMatchObject([{ type: 'OPT' }]);
  });

  test('an unknown EDNS version gets BADVERS with our version', async () => {
    const withOpt = { additionals: [opt(1232, { ednsVersion: 1 })] };
    const reply = await ask(transport, server.ready, 'example.org', 'A', withOpt);
    expect(reply.additionals).toMatchObject([{ type: 'OPT', extendedRcode: 1, ednsVersion: 0 }]);
    expect(reply.rcode).toBe(0);
    expect(reply.answers).toEqual([]);
  });

  test('two OPT records get FORMERR', async () => {
    const additionals = [opt(1232), opt(1232)];
    const reply = await ask(transport, server.ready, 'example.org', 'A', { additionals });
    expect(reply.rcode).toBe(RCODE.FORMERR);
  });

  test('an OPT record that runs past the end of the message gets FORMERR', async () => {
    const message = query('example.org', 'A', { additionals: [opt(1232)] });
    message.writeUInt16BE(1, message.length - 2);
    expect((await exchange(transport, server.ready, message)).rcode).toBe(RCODE.FORMERR);
  });

  test('the root is outside of our zones', async () => {
    expect((await ask(transport, server.ready, '.', 'NS')).rcode).toBe(RCODE.REFUSED);
  });

  test('non-ASCII bytes are echoed unchanged', async () => {
    const message = query('abcdefg.example.org');
    for (const [index, byte] of [0xff, 0x00, 0x2e, 0x5c, 0xc3, 0x28, 0x41].entries()) {
      message.writeUInt8(byte, 13 + index);
    }
    const reply = await send(transport, server.ready, message);
    expect(reply?.readUInt8(3)).toBe(RCODE.NXDOMAIN);
    expect(reply?.subarray(12, message.length)).toEqual(message.subarray(12));
  });
});

test('a response over UDP is never answered, so that two servers cannot answer each other for ever', async () => {
  const message = query('example.org');
  message.writeUInt8(message.readUInt8(2) | 0x80, 2);
  expect(await sendUdp(server.ready, message, 0.3)).toBeUndefined();
});

test('a response over TCP ends the connection', async () => {
  const client = new TcpClient(server.ready);
  const message = query('example.org');
  message.writeUInt8(message.readUInt8(2) | 0x80, 2);
  client.socket.write(framed(message));
  expect(await client.receive(1)).toEqual([]);
  expect(client.ended).toBe(true);
});

describe('a response too large for UDP', () => {
  test.each([
    ['without EDNS beyond 512 bytes', 'some.example.org', [], 0],
    ['with a size beyond what we send', 'big.example.org', [opt(65_535)], 1],
    ['with a size below 512, which counts as 512', 'some.example.org', [opt(100)], 1],
  ])('is truncated to header and question %s', async (_case, name, additionals, opts) => {
    const reply = await ask('udp', server.ready, name, 'A', { additionals });
    expect(reply.isTruncated).toBe(true);
    expect(reply.answers).toEqual([]);
    expect(reply.additionals).toHaveLength(opts);
    expect(reply.packet.questions).toMatchObject([{ name, type: 'A' }]);
  });

  test('is complete for a client that accepts its size, and over TCP', async () => {
    const overUdp = await ask('udp', server.ready, 'some.example.org', 'A', { additionals: [opt(1232)] });
    expect(overUdp).toMatchObject({ isTruncated: false });
    expect(overUdp.answers).toHaveLength(40);
    const overTcp = await ask('tcp', server.ready, 'big.example.org');
    expect(overTcp).toMatchObject({ isTruncated: false });
    expect(overTcp.answers).toHaveLength(100);
  });
});
