/** What clients of DNS over HTTPS can make the server keep in memory. */
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { join } from 'node:path';
import { DefaultServer } from 'dinodns/common/server/index.js';
import type { Handler } from 'dinodns/types/server.js';
import { decode } from 'dns-packet';
import { afterEach, expect, test } from 'vitest';
import { Request } from '../src/framework/request.ts';
import { HttpsNetwork, type HttpsNetworkOptions, readCredentials, ZoneStore } from '../src/index.ts';
import { query } from './support/client.ts';
import { record, zone } from './support/in-process.ts';
import { sleep, until } from './support/server-process.ts';

/** Far more time than anything here takes. */
const PATIENCE = 20;

const hostile = (name: string) => join(import.meta.dirname, 'hostile', name);
const tls = readCredentials({ certificateFile: hostile('certificate.pem'), keyFile: hostile('key.pem') });

const networks: HttpsNetwork[] = [];
const sessions: ClientHttp2Session[] = [];
afterEach(async () => {
  for (const session of sessions.splice(0)) session.destroy();
  await Promise.all(networks.splice(0).map((network) => network.shutdown(0)));
});

/** A server with one network, as any program may build it; answers from `example.org`, or with `handler`. */
async function start(options: Partial<HttpsNetworkOptions> = {}, handler?: Handler): Promise<HttpsNetwork> {
  const store = new ZoneStore();
  store.addZone(zone([record('www.example.org', 'A', '192.0.2.1')]));
  const network = new HttpsNetwork({ address: '127.0.0.1', port: 0, tls, ...options });
  const server = new DefaultServer({ networks: [network] });
  server.use(handler ?? store.handler);
  await network.open();
  networks.push(network);
  return network;
}

function dial({ port }: HttpsNetwork): ClientHttp2Session {
  const session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
  session.on('error', () => undefined);
  sessions.push(session);
  return session;
}

/** A request whose body is yet to be sent. */
function begin(session: ClientHttp2Session): ClientHttp2Stream {
  const stream = session.request({
    ':method': 'POST',
    ':path': '/dns-query',
    'content-type': 'application/dns-message',
  });
  return stream.on('error', () => undefined);
}

/** The number of answers in the reply. Rejects if there is none. */
function answersOf(stream: ClientHttp2Stream): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk) => chunks.push(Buffer.from(chunk)));
    stream.on('end', () => resolve(decode(Buffer.concat(chunks)).answers?.length));
    stream.on('close', () => reject(new Error('closed before the reply')));
  });
}

function ask(session: ClientHttp2Session): Promise<number | undefined> {
  const stream = begin(session);
  stream.end(query('www.example.org'));
  return answersOf(stream);
}

test('the client whose request bodies take most is cut off when all together take too much', async () => {
  const network = await start({ maxBufferedBytes: 100_000 });
  const [polite, greedy] = [dial(network), dial(network)];
  expect(await ask(polite)).toBe(1);
  const begun = begin(polite);
  const message = query('www.example.org');
  begun.write(message.subarray(0, 20));
  for (let count = 0; count < 100; count++) begin(greedy).write(Buffer.alloc(2000));
  expect(await until(() => greedy.closed || greedy.destroyed, PATIENCE)).toBe(true);
  begun.end(message.subarray(20));
  expect(await answersOf(begun)).toBe(1);
  expect([polite.closed, polite.destroyed]).toEqual([false, false]);
});

test('bodies and replies count only while their stream is open', async () => {
  const network = await start({ maxBufferedBytes: 10_000 });
  const session = dial(network);
  for (let round = 0; round < 20; round++) {
    const answers = await Promise.all(Array.from({ length: 50 }, () => ask(session)));
    expect(new Set(answers)).toEqual(new Set([1]));
  }
  expect([session.closed, session.destroyed]).toEqual([false, false]);
});

test.each([1, 3, 33])('a body in %i pieces is put together, and keeps nothing else', async (pieces) => {
  const kept: number[] = [];
  const network = await start({}, (request, response) => {
    if (request instanceof Request) kept.push(request.query.message.buffer.byteLength);
    response.answer({ name: 'www.example.org', type: 'A', ttl: 1, data: '192.0.2.1' });
  });
  const message = query('www.example.org');
  const stream = begin(dial(network));
  const size = Math.ceil(message.length / pieces);
  for (let at = 0; at < message.length; at += size) {
    stream.write(message.subarray(at, at + size));
    await sleep(0.005);
  }
  stream.end();
  expect(await answersOf(stream)).toBe(1);
  expect(kept).toEqual([message.length]);
});
