import { createSocket } from 'node:dgram';
import { createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { createDnsClient } from '../src/dns/client.ts';
import type { Endpoint } from '../src/dns/endpoint.ts';
import { decodeAnswer, encodeQuery } from '../src/dns/message.ts';
import { realClock } from '../src/world.ts';
import { askTcp, askUdp } from './support/ask.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

const query = { name: 'WwW.Example.com', type: 'A' } as const;

/** The query itself as an answer, with changes. */
function answered(message: Buffer, change: (bytes: Buffer) => void = () => undefined): Buffer {
  const bytes = Buffer.from(message);
  bytes.writeUInt8(bytes.readUInt8(2) | 0x80, 2);
  change(bytes);
  return bytes;
}

async function udpServer(reply: (message: Buffer) => readonly Buffer[]): Promise<Endpoint> {
  const socket = createSocket('udp4');
  closers.push(() => socket.close());
  socket.on('message', (message, from) => {
    for (const bytes of reply(message)) socket.send(bytes, from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return { address: '127.0.0.1', port: socket.address().port };
}

async function tcpServer(onData: (socket: Socket, data: Buffer) => void): Promise<Endpoint> {
  const server = createServer((socket) => {
    closers.push(() => socket.destroy());
    socket.on('error', () => socket.destroy());
    socket.on('data', (data) => onData(socket, data));
  });
  closers.push(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { address: '127.0.0.1', port: (server.address() as { port: number }).port };
}

describe('asking over UDP', () => {
  test('tells code, AA bit and whether the question came back as it was asked', async () => {
    const endpoint = await udpServer((message) => [
      answered(message, (bytes) => {
        bytes.writeUInt8(0x84, 2);
        bytes.writeUInt8(3, 3);
      }),
    ]);
    const answer = await askUdp(endpoint, query);
    expect(answer).toMatchObject({ responseCode: 'NXDOMAIN', authoritative: true, questionEchoed: true });
    expect(answer.question).toEqual({ name: 'WwW.Example.com', type: 'A', class: 'IN' });
  });

  test('notices a question in another case', async () => {
    const lower = await udpServer((message) => [
      answered(message, (bytes) => bytes.write('www', 13, 'latin1')),
    ]);
    expect((await askUdp(lower, query)).questionEchoed).toBe(false);
  });

  test('matches many answers in any order to their queries', async () => {
    const held: Buffer[] = [];
    const endpoint = await udpServer((message) => {
      held.unshift(answered(message));
      return held.length % 50 === 0 ? held.splice(0) : [];
    });
    const client = createDnsClient(endpoint, 'udp', realClock);
    closers.push(client.close);
    const names = Array.from({ length: 200 }, (_, index) => `n${index}.example.com`);
    const answers = await Promise.all(names.map((name) => client.ask({ name, type: 'A' })));
    expect(answers.map(({ question }) => question?.name)).toEqual(names);
    expect(answers.every(({ questionEchoed }) => questionEchoed)).toBe(true);
  });

  test('keeps no more queries in flight than it was told', async () => {
    let inFlight = 0;
    let most = 0;
    const socket = createSocket('udp4');
    closers.push(() => socket.close());
    socket.on('message', (message, from) => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      setTimeout(() => {
        inFlight -= 1;
        socket.send(answered(message), from.port, from.address);
      }, 5);
    });
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
    const endpoint = { address: '127.0.0.1', port: socket.address().port };
    const client = createDnsClient(endpoint, 'udp', realClock, { concurrency: 3 });
    closers.push(client.close);
    await Promise.all(Array.from({ length: 20 }, () => client.ask(query)));
    expect(most).toBe(3);
  });

  test('tells silence from bytes that are no answer, and shows those', async () => {
    const silent = await udpServer(() => []);
    await expect(askUdp(silent, query, { timeoutSeconds: 0.1 })).rejects.toMatchObject({
      failure: 'timeout',
      message: 'WwW.Example.com A: no answer within 0.1 s',
    });
    const cut = await udpServer((message) => [answered(message).subarray(0, 14)]);
    await expect(askUdp(cut, query)).rejects.toMatchObject({
      failure: 'undecodable',
      message: expect.stringMatching(/cannot decode 14 bytes \(.*\): [0-9a-f]{28}$/),
    });
    const parrot = await udpServer((message) => [message]);
    await expect(askUdp(parrot, query)).rejects.toMatchObject({
      failure: 'undecodable',
      message: expect.stringContaining('QR bit clear'),
    });
  });

  test('does not take an answer with another id, and says that one came', async () => {
    const endpoint = await udpServer((message) => [
      answered(message, (bytes) => bytes.writeUInt16BE((bytes.readUInt16BE(0) + 1) % 0x10000, 0)),
    ]);
    await expect(askUdp(endpoint, query, { timeoutSeconds: 2 })).rejects.toThrow(
      'no answer within 2 s; 1 messages had other IDs',
    );
  });

  test('fails at once where nobody listens', async () => {
    const socket = createSocket('udp4');
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
    const { port } = socket.address();
    await new Promise<void>((resolve) => socket.close(resolve));
    await expect(askUdp({ address: '127.0.0.1', port }, query, { timeoutSeconds: 5 })).rejects.toMatchObject({
      failure: 'connection',
    });
  });

  test('ends with the reason of the signal, and with `closed` when the client is closed', async () => {
    const endpoint = await udpServer(() => []);
    const abort = new AbortController();
    setTimeout(() => abort.abort(new Error('Ctrl-C')), 20);
    await expect(askUdp(endpoint, query, { signal: abort.signal })).rejects.toThrow('Ctrl-C');
    const client = createDnsClient(endpoint, 'udp', realClock);
    const asking = client.ask(query);
    setTimeout(client.close, 20);
    await expect(asking).rejects.toMatchObject({ failure: 'closed' });
    await expect(client.ask(query)).rejects.toMatchObject({ failure: 'closed' });
  });
});

describe('asking over TCP', () => {
  test('puts answers together however they are cut', async () => {
    const endpoint = await tcpServer((socket, data) => {
      const reply = Buffer.concat([data.subarray(0, 2), answered(data.subarray(2))]);
      socket.write(reply.subarray(0, 1));
      setTimeout(() => socket.write(reply.subarray(1, 9)), 5);
      setTimeout(() => socket.write(reply.subarray(9)), 10);
    });
    expect((await askTcp(endpoint, query)).responseCode).toBe('NOERROR');
  });

  test('reads several answers from one segment', async () => {
    let waiting = Buffer.alloc(0);
    const endpoint = await tcpServer((socket, data) => {
      waiting = Buffer.concat([waiting, data]);
      const size = 2 + waiting.readUInt16BE(0);
      if (waiting.length < 3 * size) return;
      const replies = [0, 1, 2].map((index) => {
        const framed = waiting.subarray(index * size, (index + 1) * size);
        return Buffer.concat([framed.subarray(0, 2), answered(framed.subarray(2))]);
      });
      socket.write(Buffer.concat(replies));
    });
    const client = createDnsClient(endpoint, 'tcp', realClock);
    closers.push(client.close);
    const answers = await Promise.all([client.ask(query), client.ask(query), client.ask(query)]);
    expect(new Set(answers.map(({ id }) => id)).size).toBe(3);
  });

  test('says that the server closed, and opens a new connection for the next query', async () => {
    let asked = 0;
    const endpoint = await tcpServer((socket, data) => {
      asked += 1;
      if (asked === 1) socket.end();
      else socket.write(Buffer.concat([data.subarray(0, 2), answered(data.subarray(2))]));
    });
    const client = createDnsClient(endpoint, 'tcp', realClock);
    closers.push(client.close);
    await expect(client.ask(query)).rejects.toMatchObject({
      failure: 'connection',
      message: expect.stringContaining('the server closed the connection'),
    });
    expect((await client.ask(query)).responseCode).toBe('NOERROR');
  });
});

test('a response code has the name of the registry, or its number', () => {
  const codeOf = (code: number) => {
    const bytes = answered(encodeQuery(7, query), (message) => message.writeUInt8(code, 3));
    return decodeAnswer(bytes, query).responseCode;
  };
  expect([2, 10, 11, 12].map(codeOf)).toEqual(['SERVFAIL', 'NOTZONE', 'DSOTYPENI', 'RCODE12']);
});

test('types are asked by name or number, and one that is none is refused', () => {
  const type = (name: string) => {
    const message = encodeQuery(1, { name: 'example.com', type: name });
    return message.readUInt16BE(message.length - 4);
  };
  expect([type('A'), type('AAAA'), type('CAA'), type('HTTPS'), type('TYPE999')]).toEqual([
    1, 28, 257, 65, 999,
  ]);
  expect(() => type('AAAAA')).toThrow('unknown record type AAAAA');
  const https = { name: 'example.com', type: 'HTTPS' };
  expect(decodeAnswer(answered(encodeQuery(1, https)), https).questionEchoed).toBe(true);
});
