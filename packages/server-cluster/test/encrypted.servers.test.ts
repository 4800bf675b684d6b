/** DNS over TLS (RFC 7858) and over HTTPS (RFC 8484): real clients, and clients that misbehave. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type ClientHttp2Session, connect as connectHttp2, type OutgoingHttpHeaders } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { fileNeeds, makeCertificate } from '@dinodns-bench/test-support';
import { rcodeName } from '@dinodns-bench/wire';
import { decode } from 'dns-packet';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { framed, query } from './support/client.ts';
import {
  childrenOf,
  isAlive,
  killAll,
  type RunningServer,
  runToEnd,
  startServer,
  until,
} from './support/server-process.ts';

const { it: test } = fileNeeds('openssl', 'kdig', 'dig');
const execute = promisify(execFile);

/** Far more time than anything here takes. */
const PATIENCE = 20;

let directory = '';
let certificate = '';
let key = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'encrypted-'));
  ({ certificate, key } = makeCertificate(directory, 'DNS:dns.test,IP:127.0.0.1'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));
afterEach(killAll);

interface Encrypted extends RunningServer {
  readonly tlsPort: number;
  readonly httpsPort: number;
}

async function start(...args: string[]): Promise<Encrypted> {
  const tls = ['--tls-cert', certificate, '--tls-key', key, '--tls-port', '0', '--https-port', '0'];
  const server = await startServer([...tls, ...args]);
  const { tlsPort = 0, httpsPort = 0 } = server.ready;
  return Object.assign(server, { tlsPort, httpsPort });
}

/** A verified connection, up. */
async function dialTls(port: number, options: { session?: Buffer; ca?: Buffer } = {}): Promise<TLSSocket> {
  const ca = readFileSync(certificate);
  const socket = connectTls({ host: '127.0.0.1', port, ca, ALPNProtocols: ['dot'], ...options });
  socket.on('error', () => undefined);
  await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
  return socket;
}

async function askTls(socket: TLSSocket, name: string): Promise<string> {
  const answered = new Promise<Buffer>((resolve, reject) => {
    socket.once('data', resolve).once('close', () => reject(new Error('closed')));
  });
  socket.write(framed(query(name)));
  return rcodeName((await answered).readUInt16BE(4) & 0xf);
}

function dialHttps(port: number): ClientHttp2Session {
  const session = connectHttp2(`https://127.0.0.1:${port}`, { ca: readFileSync(certificate) });
  session.on('error', () => undefined);
  return session;
}

interface HttpReply {
  readonly status: number;
  readonly type: string | undefined;
  readonly cacheControl: string | undefined;
  readonly body: Buffer;
}

function request(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  body?: Buffer,
): Promise<HttpReply> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':path': '/dns-query', ...headers });
    let head: Pick<HttpReply, 'status' | 'type' | 'cacheControl'> | undefined;
    const chunks: Buffer[] = [];
    stream.on('response', (received) => {
      const { ':status': status = 0, 'content-type': type, 'cache-control': cacheControl } = received;
      head = { status, type, cacheControl };
    });
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('error', reject);
    stream.on('close', () => {
      if (head === undefined) reject(new Error('no response'));
      else resolve({ ...head, body: Buffer.concat(chunks) });
    });
    stream.end(body);
  });
}

function post(session: ClientHttp2Session, body: Buffer, type = 'application/dns-message') {
  return request(session, { ':method': 'POST', 'content-type': type }, body);
}

test('kdig and dig get the same answers over TLS and HTTPS as over UDP', async () => {
  const { ready, tlsPort, httpsPort } = await start();
  const kdig = async (port: number, ...args: string[]) => {
    const { stdout } = await execute('kdig', [
      '@127.0.0.1',
      '-p',
      String(port),
      '+short',
      'example1.com',
      ...args,
    ]);
    return stdout;
  };
  expect(await kdig(ready.port)).toBe('127.0.0.1\n');
  const verified = [`+tls-ca=${certificate}`, '+tls-hostname=dns.test'];
  expect(await kdig(tlsPort, '+tls', ...verified)).toBe('127.0.0.1\n');
  expect(await kdig(httpsPort, '+https', ...verified)).toBe('127.0.0.1\n');
  expect(await kdig(httpsPort, '+https', '+https-get', ...verified)).toBe('127.0.0.1\n');
  for (const [port, how] of [
    [tlsPort, '+tls'],
    [httpsPort, '+https'],
    [httpsPort, '+https-get'],
  ] as const) {
    const { stdout } = await execute('dig', ['@127.0.0.1', '-p', String(port), how, 'example2.com']);
    expect(stdout).toContain('status: REFUSED');
  }
});

test('the published framework answers over HTTPS, in one process and in many', async () => {
  for (const mode of ['single', 'multi']) {
    const tls = ['--tls-cert', certificate, '--tls-key', key, '--https-port', '0'];
    const { ready } = await startServer(['--profile', 'stock', '--mode', mode, ...tls]);
    const session = dialHttps(ready.httpsPort ?? 0);
    const { body } = await post(session, query('example1.com'));
    expect(decode(body).answers).toMatchObject([{ data: '127.0.0.1' }]);
    session.destroy();
  }
});

test('every worker of a cluster answers, and resumes the sessions of the others', async () => {
  const { tlsPort, httpsPort, ready } = await start('--mode', 'multi', '--workers', '3');
  expect(ready.workers).toBe(3);
  const first = await dialTls(tlsPort);
  const ticket = new Promise<Buffer>((resolve) => first.once('session', resolve));
  expect(await askTls(first, 'example1.com')).toBe('NOERROR');
  const session = await ticket;
  // The kernel picks the worker: with 12 connections, all of them reach the same one once in 177,000 runs.
  for (let index = 0; index < 12; index++) {
    const socket = await dialTls(tlsPort, { session });
    expect(socket.isSessionReused()).toBe(true);
    expect(await askTls(socket, 'example1.com')).toBe('NOERROR');
    socket.destroy();
  }
  first.destroy();
  const https = dialHttps(httpsPort);
  expect((await post(https, query('example1.com'))).status).toBe(200);
  https.destroy();
});

test('queries are pipelined over TLS, and each is answered once', async () => {
  const { tlsPort } = await start();
  const socket = await dialTls(tlsPort);
  const received: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => received.push(chunk));
  const queries = Array.from({ length: 500 }, (_, index) => query(`example${index}.com`));
  socket.write(Buffer.concat(queries.map(framed)));
  const ids = () => {
    const bytes = Buffer.concat(received);
    const found: number[] = [];
    for (let at = 0; at + 2 < bytes.length; at += 2 + bytes.readUInt16BE(at))
      found.push(bytes.readUInt16BE(at + 2));
    return found.sort();
  };
  expect(await until(() => ids().length === 500, PATIENCE)).toBe(true);
  expect(ids()).toEqual(queries.map((message) => message.readUInt16BE(0)).sort());
  socket.destroy();
});

test('an HTTP cache may keep an answer for its TTL, and a denial for that of the SOA record', async () => {
  const file = join(directory, 'fresh.zone');
  writeFileSync(
    file,
    [
      '$ORIGIN fresh.test.',
      '@ 900 SOA ns.fresh.test. a.fresh.test. 1 2 3 4 77',
      '@ 900 NS ns',
      'ns 900 A 192.0.2.1',
      'www 60 A 192.0.2.2',
      '',
    ].join('\n'),
  );
  const { httpsPort } = await start('--zone', `fresh.test=${file}`);
  const session = dialHttps(httpsPort);
  const fresh = async (name: string) => (await post(session, query(name))).cacheControl;
  expect(await fresh('www.fresh.test')).toBe('max-age=60');
  expect(await fresh('none.fresh.test')).toBe('max-age=77');
  expect(await fresh('elsewhere.test')).toBe('max-age=0');
  session.destroy();
});

test('requests that are not DNS get the HTTP status that says why', async () => {
  const { httpsPort } = await start();
  const session = dialHttps(httpsPort);
  const message = query('example1.com');
  const statusOf = async (reply: Promise<HttpReply>) => (await reply).status;
  const get = (path: string) => request(session, { ':method': 'GET', ':path': path });
  expect(await statusOf(get(`/dns-query?dns=${message.toString('base64url')}`))).toBe(200);
  expect(await statusOf(get('/dns-query'))).toBe(400);
  expect(await statusOf(get('/dns-query?dns=a+b='))).toBe(400);
  expect(await statusOf(get(`/dns-query?dns=${'A'.repeat(6000)}`))).toBe(414);
  expect(await statusOf(get('/elsewhere'))).toBe(404);
  expect(await statusOf(request(session, { ':method': 'PUT' }, message))).toBe(405);
  expect(await statusOf(post(session, message, 'text/plain'))).toBe(415);
  expect(await statusOf(post(session, Buffer.alloc(5000)))).toBe(413);
  expect(await statusOf(post(session, Buffer.alloc(4)))).toBe(400);
  // Afterwards the connection still works.
  const { type, body } = await post(session, message);
  expect(type).toBe('application/dns-message');
  expect(decode(body).answers).toMatchObject([{ name: 'example1.com', data: '127.0.0.1' }]);
  session.destroy();
});

test('a client that never finishes its handshake, or goes silent, is cut off; others are served', async () => {
  const { tlsPort, httpsPort } = await start('--tcp-idle', '1');
  const silent = [tlsPort, httpsPort].map((port) => {
    const socket = connectTcp({ host: '127.0.0.1', port });
    socket.on('error', () => undefined);
    socket.resume();
    // The beginning of a TLS record, and no more.
    socket.write(Buffer.from([0x16, 0x03, 0x01]));
    return socket;
  });
  const idle = await dialTls(tlsPort);
  const session = dialHttps(httpsPort);
  await post(session, query('example1.com'));
  expect(
    await until(() => silent.every(({ closed }) => closed) && idle.closed && session.closed, PATIENCE),
  ).toBe(true);
  const later = await dialTls(tlsPort);
  expect(await askTls(later, 'example1.com')).toBe('NOERROR');
  later.destroy();
});

test('a client that closes before the end of its handshake holds no connection', async () => {
  const { tlsPort, httpsPort } = await start('--tcp-connections-per-client', '3', '--tcp-idle', '60');
  for (const port of [tlsPort, httpsPort]) {
    for (let count = 0; count < 8; count++) {
      const socket = connectTcp({ host: '127.0.0.1', port });
      await once(socket, 'connect');
      // With and without the beginning of a TLS record.
      socket.end(count % 2 === 0 ? '' : Buffer.from([0x16, 0x03, 0x01])).resume();
      await once(socket, 'close', { signal: AbortSignal.timeout(PATIENCE * 1000) });
    }
  }
  const late = await dialTls(tlsPort);
  expect(await askTls(late, 'example1.com')).toBe('NOERROR');
  late.destroy();
});

test('one client cannot take all connections, not even without a handshake', async () => {
  const { tlsPort, httpsPort } = await start('--tcp-connections-per-client', '3');
  for (const port of [tlsPort, httpsPort]) {
    const sockets = Array.from({ length: 8 }, () => {
      const socket = connectTcp({ host: '127.0.0.1', port });
      socket.on('error', () => undefined);
      return socket;
    });
    expect(await until(() => sockets.filter(({ closed }) => closed).length === 5, PATIENCE)).toBe(true);
    for (const socket of sockets) socket.destroy();
  }
});

test('plain text on the encrypted ports, and HTTP/1.1, end the connection and nothing else', async () => {
  const { tlsPort, httpsPort } = await start();
  for (const port of [tlsPort, httpsPort]) {
    const socket = connectTcp({ host: '127.0.0.1', port });
    socket.on('error', () => undefined);
    socket.resume();
    socket.write('GET / HTTP/1.1\r\nhost: dns.test\r\n\r\n');
    expect(await until(() => socket.closed, PATIENCE)).toBe(true);
  }
  await expect(dialTls(httpsPort)).rejects.toThrow(/alert/);
  const session = dialHttps(httpsPort);
  expect((await post(session, query('example1.com'))).status).toBe(200);
  session.destroy();
});

test('on SIGTERM everything received is answered, then all connections end', async () => {
  const server = await start();
  const socket = await dialTls(server.tlsPort);
  const session = dialHttps(server.httpsPort);
  // Its handshake is over.
  expect((await post(session, query('example1.com'))).status).toBe(200);
  const tls = askTls(socket, 'example1.com');
  const https = Array.from({ length: 50 }, () => post(session, query('example1.com')));
  // They came together: with the first answer, all have been received.
  await Promise.all([tls, Promise.any(https)]);
  const stopped = server.stop();
  expect(await tls).toBe('NOERROR');
  expect(new Set((await Promise.all(https)).map(({ status }) => status))).toEqual(new Set([200]));
  expect(await stopped).toEqual({ code: 0, signal: null });
});

test('SIGHUP shows a renewed certificate to clients that connect later', async () => {
  const mine = mkdtempSync(join(directory, 'renewed-'));
  const files = { certificate: join(mine, 'c.pem'), key: join(mine, 'k.pem') };
  copyFileSync(certificate, files.certificate);
  copyFileSync(key, files.key);
  const server = await start('--tls-cert', files.certificate, '--tls-key', files.key);
  const before = await dialTls(server.tlsPort);
  const renewed = makeCertificate(mine, 'DNS:dns.test,IP:127.0.0.1');
  copyFileSync(renewed.certificate, files.certificate);
  copyFileSync(renewed.key, files.key);
  process.kill(server.pid, 'SIGHUP');
  const ca = readFileSync(renewed.certificate);
  const connects = () =>
    dialTls(server.tlsPort, { ca }).then(
      (socket) => socket.destroy() !== undefined,
      () => false,
    );
  expect(await until(connects, PATIENCE)).toBe(true);
  expect(await askTls(before, 'example1.com')).toBe('NOERROR');
  before.destroy();
});

test('a replacement worker shows the certificate of the others while the file is half written', async () => {
  const mine = mkdtempSync(join(directory, 'half-'));
  const file = join(mine, 'c.pem');
  copyFileSync(certificate, file);
  const server = await start('--mode', 'multi', '--workers', '1', '--tls-cert', file, '--tls-key', key);
  writeFileSync(file, readFileSync(certificate).subarray(0, 100));
  const [worker = -1] = childrenOf(server.pid);
  process.kill(worker, 'SIGKILL');
  expect(await until(() => !isAlive(worker), PATIENCE)).toBe(true);
  const connects = () =>
    dialTls(server.tlsPort).then(
      (socket) => socket.destroy() !== undefined,
      () => false,
    );
  expect(await until(connects, PATIENCE)).toBe(true);
});

test('a certificate that cannot be used is refused before anything listens, with the fix', async () => {
  const port = ['--port', '0', '--tls-port', '0'];
  const missing = await runToEnd([...port, '--tls-cert', '/nowhere.pem', '--tls-key', key]);
  expect(missing).toMatchObject({ code: 3 });
  expect(missing.stderr).toContain('/nowhere.pem does not exist');
  const swapped = await runToEnd([...port, '--tls-cert', key, '--tls-key', certificate]);
  expect(swapped).toMatchObject({ code: 2 });
  expect(swapped.stderr).toContain('cannot be used for TLS');
  const alone = await runToEnd([...port, '--tls-cert', certificate]);
  expect(alone.stderr).toContain('--tls-key is missing');
  const portless = await runToEnd(['--port', '0', '--tls-cert', certificate, '--tls-key', key]);
  expect(portless.stderr).toContain('no port that uses it');
  const stock = await runToEnd([...port, '--tls-cert', certificate, '--tls-key', key, '--profile', 'stock']);
  expect(stock.stderr).toContain('The published framework has no DNS over TLS.');
});
