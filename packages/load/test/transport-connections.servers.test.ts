import { mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createSecureServer, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { fileNeeds, makeCertificate } from '@dinodns-bench/test-support';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { LoadError } from '../src/errors.ts';
import { responseCheck, VERDICT } from '../src/message/response.ts';
import { startCoredns, type TestCoredns } from './support/coredns.ts';
import { openTestClient, type TestClient } from './support/transport-client.ts';

const { describe, it: test } = fileNeeds('coredns', 'openssl');

let coredns: TestCoredns;
beforeAll(async () => {
  coredns = await startCoredns();
});
afterAll(() => coredns.stop());

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

type Arguments = Parameters<typeof openTestClient>;
async function client(...arguments_: Arguments): Promise<TestClient> {
  const opened = await openTestClient(...arguments_);
  cleanups.push(() => opened.transport.close());
  return opened;
}

/** Our own server for what CoreDNS never does; it ends with the test. */
async function serve(onConnection: (socket: Socket) => void): Promise<number> {
  const server: Server = createServer((socket) => {
    socket.on('error', () => undefined);
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Whether the answer to a question for `name` holds the address. */
function holds(answer: Buffer | undefined, name: string, address: string): boolean {
  const check = responseCheck({ codes: [0], addresses: [address], maxAgeSeconds: null });
  if (answer === undefined || check === null) return false;
  return check(answer, 0, answer.length, 12 + name.length + 2 + 4) === VERDICT.asExpected;
}
const codeIn = (answer: Buffer | undefined) => (answer?.[3] ?? 0) & 15;

describe.each([
  { what: 'TCP', kind: 'tcp', port: () => coredns.dnsPort, stream: {} },
  { what: 'TLS', kind: 'tls', port: () => coredns.tlsPort, stream: {} },
  { what: 'HTTPS with POST', kind: 'https', port: () => coredns.httpsPort, stream: { method: 'POST' } },
  { what: 'HTTPS with GET', kind: 'https', port: () => coredns.httpsPort, stream: { method: 'GET' } },
] as const)('$what against CoreDNS', ({ kind, port, stream }) => {
  const options = () => ({ stream: { ...stream, caFile: coredns.caFile } });

  test('answers come back with their ids', async () => {
    const { ask, seen, until } = await client(kind, port(), options());
    await ask(0, 0x1234, 'example.test');
    await ask(0, 0xffff, 'nothing.example.test');
    await until(() => seen.answers.size === 2);
    expect(holds(seen.answers.get(0x1234), 'example.test', '127.0.0.1')).toBe(true);
    expect(holds(seen.answers.get(0x1234), 'example.test', '127.0.0.2')).toBe(false);
    expect(codeIn(seen.answers.get(0xffff))).toBe(3);
    expect(seen.failures).toEqual([]);
    expect(seen.garbage).toEqual([]);
  });

  test('many queries are in flight on a few connections, which are kept', async () => {
    const { ask, seen, until } = await client(kind, port(), { ...options(), lanes: 3 });
    for (let id = 0; id < 300; id += 1)
      await ask(id % 3, id, id % 2 === 0 ? 'example.test' : 'no.example.test');
    await until(() => seen.answers.size === 300);
    for (const [id, answer] of seen.answers) expect(codeIn(answer), `query ${id}`).toBe(id % 2 === 0 ? 0 : 3);
    expect(seen).toMatchObject({ connections: 3, failures: [] });
  });

  test('a connection is replaced after the requested number of queries', async () => {
    const { ask, seen, until } = await client(kind, port(), {
      stream: { ...options().stream, queriesPerConnection: 5 },
    });
    for (let id = 0; id < 20; id += 1) await ask(0, id, 'example.test');
    await until(() => seen.answers.size === 20);
    await until(() => seen.connections >= 5);
    expect(seen.connections).toBe(5);
    expect(seen.failures).toEqual([]);
  });

  test('no more queries than requested are outstanding on a connection', async () => {
    const { ask, seen, until, transport } = await client(kind, port(), {
      stream: { ...options().stream, pipelining: 1 },
    });
    await ask(0, 1, 'example.test');
    expect(transport.ready(0)).toBe(false);
    expect(transport.reserve(0, 30)).toBe(-1);
    await until(() => seen.answers.size === 1);
    expect(transport.ready(0)).toBe(true);
  });
});

describe('certificates', () => {
  test.each(['tls', 'https'] as const)(
    '%s: an unknown authority is refused, with the ways out',
    async (kind) => {
      const port = kind === 'tls' ? coredns.tlsPort : coredns.httpsPort;
      const error = await openTestClient(kind, port).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(LoadError);
      expect(error).toMatchObject({
        code: 'E_UNREACHABLE',
        message: expect.stringContaining('certificate of 127.0.0.1'),
        fix: expect.stringContaining('--insecure'),
      });
    },
  );

  test('with verification off it is accepted', async () => {
    const { ask, seen, until } = await client('tls', coredns.tlsPort, { stream: { verify: false } });
    await ask(0, 7, 'example.test');
    await until(() => seen.answers.has(7));
  });

  test('a name in the certificate is accepted, another one is not', async () => {
    const named = (serverName: string) =>
      client('tls', coredns.tlsPort, { stream: { caFile: coredns.caFile, serverName } });
    await named('dns.test');
    await expect(named('other.test')).rejects.toThrow(/certificate.*other\.test/);
  });

  test('a certificate that no longer verifies is counted as a TLS failure', async () => {
    const ca = readFileSync(coredns.caFile);
    const server = createTlsServer({ cert: ca, key: readFileSync(coredns.keyFile) }, (socket) => {
      socket.on('error', () => undefined);
      socket.on('data', () => socket.end());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanups.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    const { ask, seen, until } = await client('tls', port, { stream: { caFile: coredns.caFile } });
    const other = mkdtempSync(join(tmpdir(), 'dnscannon-certificate-'));
    cleanups.push(() => rm(other, { recursive: true }));
    const { certificate, key } = makeCertificate(other, 'DNS:elsewhere.test');
    server.setSecureContext({ cert: readFileSync(certificate), key: readFileSync(key) });
    // The server closes the first connection instead of answering; the next ones meet the new certificate.
    await ask(0, 1, 'example.test');
    await until(() => seen.failures.length >= 3);
    expect(seen.failures.slice(0, 3).map(({ failure }) => failure)).toEqual(['closed', 'tls', 'tls']);
  });
});

describe('TCP that goes wrong', () => {
  test('a server that refuses is an error before anything is sent', async () => {
    const port = await serve(() => undefined);
    for (const clean of cleanups.splice(0)) await clean();
    await expect(openTestClient('tcp', port)).rejects.toMatchObject({
      code: 'E_UNREACHABLE',
      message: expect.stringContaining('ECONNREFUSED'),
    });
  });

  test('a server that never completes the TLS handshake times out', async () => {
    const port = await serve(() => undefined);
    await expect(openTestClient('tls', port, { timeoutSeconds: 0.2 })).rejects.toMatchObject({
      code: 'E_UNREACHABLE',
      message: expect.stringContaining('within 0.2 s'),
    });
  });

  test('a reset connection is counted, and another one is opened', async () => {
    let connections = 0;
    const port = await serve((socket) => {
      connections += 1;
      socket.on('data', () => socket.resetAndDestroy());
    });
    const { ask, seen, until, transport } = await client('tcp', port);
    await ask(0, 1, 'example.test');
    await until(() => seen.failures.length === 1 && connections === 2);
    expect(seen.failures[0]).toMatchObject({ lane: 0, failure: 'reset' });
    await until(() => transport.ready(0));
    expect(seen).toMatchObject({ connections: 2, failures: [{ failure: 'reset' }] });
  });

  test('a connection that is closed before the answer is counted; one closed while idle is not', async () => {
    const sockets: Socket[] = [];
    const port = await serve((socket) => sockets.push(socket));
    const { ask, seen, until, transport } = await client('tcp', port);
    await until(() => sockets.length === 1);
    sockets[0]?.on('data', (query) => sockets[0]?.end(query));
    await ask(0, 0, 'example.test');
    await until(() => sockets.length === 2 && transport.ready(0));
    expect(seen.failures).toEqual([]);
    sockets[1]?.on('data', () => sockets[1]?.end());
    await ask(0, 1, 'example.test');
    await until(() => seen.failures.length === 1);
    expect(seen.failures[0]?.failure).toBe('closed');
  });

  test('a server that accepts and closes at once is left alone for longer and longer', async () => {
    let connections = 0;
    const port = await serve((socket) => {
      connections += 1;
      socket.end();
    });
    const { seen, until } = await client('tcp', port);
    // 10, 20, 40, 80 and 160 ms.
    const begun = performance.now();
    await until(() => seen.failures.length >= 6);
    expect(performance.now() - begun).toBeGreaterThan(250);
    expect(new Set(seen.failures.map(({ failure }) => failure))).toEqual(new Set(['closed']));
    expect(connections).toBeLessThan(9);
  });

  test('messages arrive whole, however the stream is split', async () => {
    const port = await serve((socket) => {
      socket.setNoDelay(true);
      socket.on('data', async (query) => {
        // Answers of 3, 700 and 20,000 bytes, one byte and then a few at a time.
        const messages = [3, 700, 20_000].map((size, index) => {
          const message = Buffer.alloc(size + 2, index + 1);
          message.writeUInt16BE(size, 0);
          message.writeUInt16BE(query.readUInt16BE(2) + index, 2);
          return message;
        });
        const stream = Buffer.concat(messages);
        for (let at = 0; at < stream.length; ) {
          const step = at < 12 ? 1 : 997;
          await new Promise((resolve) => socket.write(stream.subarray(at, at + step), resolve));
          await new Promise(setImmediate);
          at += step;
        }
      });
    });
    const { ask, seen, until } = await client('tcp', port);
    await ask(0, 10, 'example.test');
    await until(() => seen.answers.size === 3);
    expect([...seen.answers].map(([id, { length }]) => [id, length])).toEqual([
      [10, 3],
      [11, 700],
      [12, 20_000],
    ]);
    expect(
      seen.answers
        .get(12)
        ?.subarray(2)
        .every((byte) => byte === 3),
    ).toBe(true);
  });

  test('a full connection on which nothing arrives is given up', async () => {
    const port = await serve((socket) => socket.resume());
    const { ask, seen, until, transport } = await client('tcp', port, {
      timeoutSeconds: 0.2,
      stream: { pipelining: 2 },
    });
    await ask(0, 1, 'example.test');
    await ask(0, 2, 'example.test');
    await until(() => seen.failures.length === 1);
    expect(seen.failures[0]?.failure).toBe('timeout');
    await until(() => transport.ready(0));
  });

  test('so is one without a limit of pipelining, however much is sent on it', async () => {
    const port = await serve((socket) => socket.resume());
    const { ask, seen, until } = await client('tcp', port, { timeoutSeconds: 0.3 });
    for (let id = 0; seen.failures.length === 0 && id < 200; id++) {
      await ask(0, id, 'example.test').catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await until(() => seen.failures.length > 0);
    expect(seen.failures[0]?.failure).toBe('timeout');
  });

  test('queries are sent from the source addresses in turn', async () => {
    const peers = new Set<string>();
    const port = await serve((socket) => peers.add(socket.remoteAddress ?? ''));
    await client('tcp', port, { lanes: 2, sources: ['127.0.0.2', '127.0.0.3'] });
    await expect.poll(() => [...peers].sort()).toEqual(['127.0.0.2', '127.0.0.3']);
  });

  test('a source address that this machine does not have is explained', async () => {
    await expect(openTestClient('tcp', coredns.dnsPort, { sources: ['192.0.2.1'] })).rejects.toMatchObject({
      code: 'E_SOURCE',
      message: expect.stringContaining('192.0.2.1'),
    });
  });
});

describe('HTTP that goes wrong', () => {
  /** An HTTP/2 server with the test's certificate. */
  async function httpServer(respond: (path: string, stream: ServerHttp2Stream) => void): Promise<number> {
    const server = createSecureServer({
      cert: readFileSync(coredns.caFile),
      key: readFileSync(coredns.keyFile),
    });
    server.on('stream', (stream, headers) => {
      stream.on('error', () => undefined);
      respond(String(headers[':path']), stream);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanups.push(() => server.close());
    return (server.address() as AddressInfo).port;
  }

  test('a status other than 200, another content type and an empty body are distinguished', async () => {
    const answers: OutgoingHttpHeaders[] = [
      { ':status': 503 },
      { ':status': 200, 'content-type': 'text/html' },
      { ':status': 200, 'content-type': 'application/dns-message' },
    ];
    const port = await httpServer((_path, stream) => {
      const headers = answers.shift() ?? {};
      stream.respond(headers);
      stream.end(headers['content-type'] === 'text/html' ? '<p>Hello</p>' : '');
    });
    const { ask, seen, until } = await client('https', port, { stream: { verify: false } });
    for (const id of [1, 2, 3]) {
      await ask(0, id, 'example.test');
      await until(() => seen.garbage.length === id);
    }
    expect(seen.garbage).toEqual([
      { id: 1, reason: 'HTTP status 503' },
      { id: 2, reason: 'HTTP content type text/html' },
      { id: 3, reason: 'HTTP response without a body' },
    ]);
  });

  test('a connection that the server leaves (GOAWAY) is replaced once its streams are answered', async () => {
    const port = await httpServer((_path, stream) => {
      stream.session?.goaway();
      stream.respond({ ':status': 200, 'content-type': 'application/dns-message' });
      stream.end(Buffer.alloc(12));
    });
    const { ask, seen, until } = await client('https', port, { stream: { verify: false } });
    for (const id of [1, 2, 3]) {
      await ask(0, id, 'example.test');
      await until(() => seen.answers.size === id);
    }
    await until(() => seen.connections === 4);
    expect(seen.failures).toEqual([]);
    expect(seen.garbage).toEqual([]);
  });

  test('a stream that the server resets counts as garbage, and the connection stays open', async () => {
    const port = await httpServer((_path, stream) => stream.close(7));
    const { ask, seen, until } = await client('https', port, { stream: { verify: false } });
    await ask(0, 1, 'example.test');
    await until(() => seen.garbage.length === 1);
    expect(seen.garbage[0]?.reason).toMatch(/^HTTP\/2 stream error|without a body/);
    expect(seen.connections).toBe(1);
  });

  test('GET sends the query in base64url, with id 0, to the requested path', async () => {
    const paths: string[] = [];
    const port = await httpServer((path, stream) => {
      paths.push(path);
      stream.respond({ ':status': 404 });
      stream.end();
    });
    const { ask, until, seen } = await client('https', port, {
      stream: { verify: false, method: 'GET', path: '/here' },
    });
    await ask(0, 0xabcd, 'a.b');
    await until(() => seen.garbage.length === 1);
    const query = Buffer.from([0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 97, 1, 98, 0, 0, 1, 0, 1]);
    expect(paths).toEqual([`/here?dns=${query.toString('base64url')}`]);
  });

  test('a server without HTTP/2 is refused with a reason', async () => {
    await expect(
      openTestClient('https', coredns.tlsPort, { stream: { caFile: coredns.caFile } }),
    ).rejects.toMatchObject({ code: 'E_UNREACHABLE' });
    const port = await serve((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    await expect(openTestClient('https', port)).rejects.toMatchObject({
      code: 'E_UNREACHABLE',
      message: expect.stringContaining('TLS'),
    });
  });
});
