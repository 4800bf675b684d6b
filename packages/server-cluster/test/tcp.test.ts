/** Slow, greedy, pipelining and broken TCP clients (RFC 7766). */
import { once } from 'node:events';
import { connect } from 'node:net';
import { DefaultServer } from 'dinodns/common/server/index.js';
import type { Handler } from 'dinodns/types/server.js';
import { afterEach, expect, test } from 'vitest';
import { RobustTcpNetwork, type TcpNetworkOptions, ZoneStore } from '../src/index.ts';
import { MAX_PENDING_QUERIES, type TcpConnection } from '../src/network/tcp-connection.ts';
import { createAnswerTable } from '../src/table/answer-table.ts';
import { Transfers } from '../src/transfer/transfer.ts';
import { type Endpoint, framed, query, sendTcp, TcpClient } from './support/client.ts';
import { record, zone } from './support/in-process.ts';
import { freePort, sleep, until } from './support/server-process.ts';

/**
 * Far more time than anything here takes. The tests prove that something happens, not how soon; the machine may be
 * busy.
 */
const PATIENCE = 20;
/** The idle time of tests in which a connection outlives it; a query each third of it keeps the connection. */
const IDLE_SECONDS = 3;

const networks: RobustTcpNetwork[] = [];
afterEach(async () => {
  await Promise.all(networks.splice(0).map((network) => network.shutdown(0)));
});

/** A server with one network, as any program may build it; answers from `example.org`, or with `handler`. */
async function start(options: Partial<TcpNetworkOptions> = {}, handler?: Handler | 'table') {
  const store = new ZoneStore();
  const table = handler === 'table' ? { responder: createAnswerTable(store) } : {};
  const network = new RobustTcpNetwork({ address: '127.0.0.1', port: 0, ...table, ...options });
  const server = new DefaultServer({ networks: [network] });
  const large = Array.from({ length: 200 }, (_, index) => record('big.example.org', 'A', `192.0.2.${index}`));
  store.addZone(zone([record('www.example.org', 'A', '192.0.2.1'), ...large]));
  if (handler === 'table') {
    store.set(
      'huge.example.org',
      'A',
      Array.from({ length: 3500 }, (_, index) => `10.0.${index >> 8}.${index & 255}`),
    );
  }
  server.use(typeof handler === 'function' ? handler : store.handler);
  await network.open();
  networks.push(network);
  const address = network.server.address();
  if (typeof address !== 'object' || address === null) throw new Error('not listening');
  return { network, endpoint: { address: address.address, port: address.port } };
}

function connectTo(endpoint: Endpoint): TcpClient {
  return new TcpClient(endpoint);
}

function connections(network: RobustTcpNetwork): Promise<number> {
  return new Promise((resolve) => network.server.getConnections((_error, count) => resolve(count)));
}

test('a client that waits for a transfer is not idle', async () => {
  const store = new ZoneStore();
  store.addZone(
    zone(Array.from({ length: 5000 }, (_, index) => record(`h${index}.example.org`, 'AAAA', '::1'))),
  );
  store.addZone(zone([], 'small.test'));
  const seen = { messages: 0, touches: 0 };
  const socket = { writable: true, write: () => true };
  const connection = {
    socket,
    touch: () => seen.touches++,
    skip: () => undefined,
  } as unknown as TcpConnection;
  const message = query('small.test', 'AXFR');
  const asked = { query: message, questionEnd: message.length, opt: Buffer.alloc(0), connection };
  await new Transfers(store, []).send({ ...asked, onMessage: () => seen.messages++ });
  expect(seen.messages).toBe(1);
  expect(seen.touches).toBeGreaterThan(2);
});

test('a query in chunks of one byte is answered', async () => {
  const { endpoint } = await start();
  const client = connectTo(endpoint);
  client.socket.setNoDelay(true);
  for (const byte of framed(query('www.example.org'))) {
    client.socket.write(Buffer.from([byte]));
    await sleep(0.001);
  }
  expect(await client.receive(1)).toHaveLength(1);
  client.socket.destroy();
});

test('a thousand queries in one piece are all answered, each once', async () => {
  const { endpoint } = await start();
  const client = connectTo(endpoint);
  const queries = Array.from({ length: 1000 }, () => query('www.example.org'));
  client.socket.write(Buffer.concat(queries.map(framed)));
  const replies = await client.receive(1000);
  const ids = (messages: readonly Buffer[]) => messages.map((message) => message.readUInt16BE(0)).sort();
  expect(ids(replies)).toEqual(ids(queries));
  client.socket.destroy();
});

test('every query in a flood of malformed ones from a client that reads late is answered', async () => {
  const { endpoint } = await start();
  const client = connectTo(endpoint);
  client.socket.pause();
  const malformed = framed(query('www.example.org').subarray(0, 12));
  const count = 300_000;
  client.socket.write(Buffer.alloc(malformed.length * count, malformed));
  await sleep(0.5);
  client.socket.resume();
  await client.receive(count, 2 * PATIENCE);
  expect(client.messages.length).toBe(count);
  client.socket.destroy();
});

test('answers are sent when ready, and slow ones do not delay others', async () => {
  const { endpoint } = await start({}, (request, response) => {
    const name = request.packet.questions[0]?.name ?? '';
    const answer = () => response.answer({ name, type: 'A', ttl: 1, data: '192.0.2.1' });
    if (name.startsWith('slow')) setTimeout(answer, 200);
    else answer();
  });
  const client = connectTo(endpoint);
  const [slow, fast] = [query('slow.example.org'), query('fast.example.org')];
  client.socket.write(Buffer.concat([framed(slow), framed(fast)]));
  const replies = await client.receive(2);
  expect(replies.map((reply) => reply.readUInt16BE(0))).toEqual([fast.readUInt16BE(0), slow.readUInt16BE(0)]);
  client.socket.destroy();
});

test('a client that has sent its last query still gets its answers, then the connection ends', async () => {
  const { endpoint } = await start();
  const client = connectTo(endpoint);
  client.socket.end(Buffer.concat([framed(query('www.example.org')), framed(query('big.example.org'))]));
  expect(await client.receive(2)).toHaveLength(2);
  expect(await until(() => client.ended, PATIENCE)).toBe(true);
});

test('a client whose last query comes after more than are worked on at once gets all its answers', async () => {
  const { endpoint } = await start({}, (request, response) => {
    const name = request.packet.questions[0]?.name ?? '';
    setTimeout(() => response.answer({ name, type: 'A', ttl: 1, data: '192.0.2.1' }), 50);
  });
  const client = connectTo(endpoint);
  const queries = Array.from({ length: 3 * MAX_PENDING_QUERIES + 1 }, () => query('www.example.org'));
  client.socket.end(Buffer.concat(queries.map(framed)));
  expect(await client.receive(queries.length)).toHaveLength(queries.length);
  expect(await until(() => client.ended, PATIENCE)).toBe(true);
});

test('a client that closes in the middle of a query does not disturb others', async () => {
  const { endpoint, network } = await start();
  const client = connectTo(endpoint);
  client.socket.end(framed(query('www.example.org')).subarray(0, 9));
  expect(await until(() => client.ended, PATIENCE)).toBe(true);
  expect(await until(async () => (await connections(network)) === 0, PATIENCE)).toBe(true);
  expect(await sendTcp(endpoint, query('www.example.org'), PATIENCE)).toBeDefined();
});

test.each([
  ['a response', framed(Buffer.concat([query('www.example.org').fill(0x80, 2, 3)]))],
  ['a message that is too short', framed(Buffer.alloc(3))],
  ['a message that is too long', Buffer.from([0xff, 0xff, 1, 2, 3])],
])('what comes before %s is answered before the connection ends', async (_title, garbage) => {
  const { endpoint } = await start({}, 'table');
  const client = connectTo(endpoint);
  const good = framed(query('www.example.org'));
  client.socket.write(Buffer.concat([good, garbage, good]));
  expect(await until(() => client.ended, PATIENCE)).toBe(true);
  expect(client.messages).toHaveLength(1);
});

test('a message longer than any query ends the connection before it is read', async () => {
  const { endpoint } = await start();
  const client = connectTo(endpoint);
  client.socket.write(Buffer.from([0xff, 0xff, 1, 2, 3]));
  expect(await until(() => client.ended, PATIENCE)).toBe(true);
});

test('a connection without a complete query is closed after the idle time, even if bytes trickle in', async () => {
  const { endpoint } = await start({ idleSeconds: 0.3 });
  const silent = connectTo(endpoint);
  const trickling = connectTo(endpoint);
  const timer = setInterval(() => trickling.socket.write(Buffer.from([0])), 50);
  try {
    // Two bytes make the length 0, which is a complete message; the first one makes it a long one.
    trickling.socket.write(Buffer.from([8]));
    expect(await until(() => silent.ended, PATIENCE)).toBe(true);
    expect(await until(() => trickling.ended, PATIENCE)).toBe(true);
  } finally {
    clearInterval(timer);
  }
});

test('connections from one port to several addresses of the server are limited like any others', async () => {
  const { endpoint, network } = await start({ address: '0.0.0.0', idleSeconds: 0.3 });
  const localPort = await freePort();
  for (const host of ['127.0.0.2', '127.0.0.3']) {
    const client = connect({ host, port: endpoint.port, localAddress: '127.0.0.1', localPort });
    client.on('error', () => undefined).resume();
    await once(client, 'connect');
  }
  expect(await until(() => network.totals.timedOut === 2, PATIENCE)).toBe(true);
  expect(await until(() => network.totals.open === 0, PATIENCE)).toBe(true);
});

test('a connection in use is kept beyond the idle time', async () => {
  const { endpoint } = await start({ idleSeconds: IDLE_SECONDS });
  const client = connectTo(endpoint);
  for (let count = 1; count <= 5; count++) {
    client.socket.write(framed(query('www.example.org')));
    expect(await client.receive(count)).toHaveLength(count);
    await sleep(IDLE_SECONDS / 3);
  }
  client.socket.destroy();
});

test('for a connection beyond the limit, that which has been idle longest is closed', async () => {
  const { endpoint, network } = await start({ maxConnections: 2 });
  const [idle, busy] = [connectTo(endpoint), connectTo(endpoint)];
  for (const client of [idle, busy, busy]) {
    const before = client.messages.length;
    client.socket.write(framed(query('www.example.org')));
    expect(await client.receive(before + 1)).toHaveLength(before + 1);
  }
  expect(await sendTcp(endpoint, query('www.example.org'), PATIENCE)).toBeDefined();
  expect(await until(() => idle.ended, PATIENCE)).toBe(true);
  busy.socket.write(framed(query('www.example.org')));
  expect(await busy.receive(3)).toHaveLength(3);
  expect(network.totals).toMatchObject({ accepted: 3, refused: 0, displaced: 1 });
  busy.socket.destroy();
  expect(await until(async () => (await connections(network)) === 0, PATIENCE)).toBe(true);
});

test('one client address cannot exceed its limit, and others still connect', async () => {
  const { endpoint, network } = await start({ maxConnectionsPerClient: 2 });
  const from = (localAddress: string) => {
    const client = new TcpClient(endpoint, localAddress);
    client.socket.write(framed(query('www.example.org')));
    return client;
  };
  const kept = [from('127.0.0.1'), from('127.0.0.1')];
  for (const client of kept) expect(await client.receive(1)).toHaveLength(1);
  const refused = from('127.0.0.1');
  expect(await until(() => refused.ended, PATIENCE)).toBe(true);
  expect(refused.messages).toEqual([]);
  const other = from('127.0.0.2');
  expect(await other.receive(1)).toHaveLength(1);
  expect(network.totals).toMatchObject({ open: 3, accepted: 3, refused: 1 });
  for (const { socket } of [...kept, other]) socket.destroy();
  expect(await until(() => network.totals.open === 0, PATIENCE)).toBe(true);
});

test('the connection that buffers most is closed when all together buffer too much', async () => {
  const { endpoint, network } = await start({ maxBufferedBytes: 200_000, idleSeconds: 60 }, 'table');
  const greedy = Array.from({ length: 4 }, () => connectTo(endpoint));
  for (const { socket } of greedy) {
    socket.pause();
    // Answers of 56 KB each: more than the kernel's buffers take for one connection.
    socket.write(Buffer.concat(Array.from({ length: 1000 }, () => framed(query('huge.example.org')))));
  }
  expect(await until(() => network.totals.open < 4, PATIENCE)).toBe(true);
  const polite = connectTo(endpoint);
  polite.socket.write(framed(query('www.example.org')));
  expect(await polite.receive(1)).toHaveLength(1);
  for (const { socket } of [...greedy, polite]) socket.destroy();
});

test('a client that queries but does not read cannot make the server buffer its answers', async () => {
  let asked = 0;
  const { endpoint, network } = await start({ idleSeconds: 2 }, (request, response) => {
    asked++;
    const name = request.packet.questions[0]?.name ?? '';
    const answers = Array.from({ length: 1500 }, () => ({
      name,
      type: 'A' as const,
      ttl: 1,
      data: '192.0.2.1',
    }));
    response.answer(answers);
  });
  const client = connectTo(endpoint);
  client.socket.pause();
  // 200,000 queries whose answers have about 45 KB each: 9 GB if they were all worked out.
  const batch = Buffer.concat(Array.from({ length: 10_000 }, () => framed(query('www.example.org'))));
  for (let count = 0; count < 20; count++) client.socket.write(batch);
  const restsAt = async () => {
    const before = asked;
    await sleep(0.5);
    return asked > 0 && asked === before;
  };
  expect(await until(restsAt, PATIENCE)).toBe(true);
  expect(asked).toBeLessThan(1000);
  expect(await sendTcp(endpoint, query('www.example.org'), PATIENCE)).toBeDefined();
  // And the server waits no longer for it than for any other silent client.
  expect(await until(async () => (await connections(network)) === 0, PATIENCE)).toBe(true);
  client.socket.destroy();
});
