/** Middleware and handlers of the framework in front of the zones. */
import { afterEach, expect, test, vi } from 'vitest';
import type { Ready, Server } from '../src/index.ts';
import { ask, opt, RCODE, TRANSPORTS } from './support/client.ts';
import { startInProcess } from './support/in-process.ts';

const started: Server[] = [];
async function start(): Promise<Server & { ready: Ready }> {
  const server = await startInProcess();
  started.push(server);
  return server;
}
afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(started.splice(0).map((server) => server.stop()));
});

test.each(TRANSPORTS)('middleware sees every query and its finished response over %s', async (transport) => {
  const own = await start();
  const seen: unknown[] = [];
  own.server.use((request, response, next) => {
    response.on('done', ({ packet, metadata }) => {
      seen.push([
        request.packet.questions[0]?.name,
        packet.answers.length,
        typeof metadata.ts.responseTimeNs,
      ]);
    });
    next();
  });
  await ask(transport, own.ready, 'Example1.com');
  await ask(transport, own.ready, 'example2.com');
  await vi.waitFor(() => {
    expect(seen).toEqual([
      ['Example1.com', 1, 'bigint'],
      ['example2.com', 0, 'bigint'],
    ]);
  }, 20_000);
});

test('a handler answers before the zones, regardless of case in name and pattern', async () => {
  const own = await start();
  own.server.handle('*.Example1.com', (request, response) => {
    const name = request.packet.questions[0]?.name ?? '';
    response.answer({ name, type: 'A', class: 'IN', ttl: 5, data: '192.0.2.7' });
  });
  const reply = await ask('udp', own.ready, 'www.eXample1.com', 'A', { additionals: [opt(1232)] });
  expect(reply.answers).toMatchObject([{ name: 'www.eXample1.com', ttl: 5, data: '192.0.2.7' }]);
  expect(reply.additionals).toHaveLength(1);
  expect((await ask('udp', own.ready, 'example1.com')).answers).toMatchObject([{ data: '127.0.0.1' }]);
});

test('a handler that calls next leaves the answer to the zones', async () => {
  const own = await start();
  own.server.handle('example1.com', (_request, _response, next) => next());
  expect((await ask('udp', own.ready, 'example1.com')).answers).toMatchObject([{ data: '127.0.0.1' }]);
});

test.each([
  [
    'throws',
    () => {
      throw new Error('broken on purpose');
    },
  ],
  [
    'rejects',
    async () => {
      throw new Error('broken on purpose');
    },
  ],
])('a handler that %s gets SERVFAIL and the server goes on', async (_case, handler) => {
  // The framework prints what handlers throw.
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const own = await start();
  own.server.handle('broken.example1.com', handler);
  for (const transport of TRANSPORTS) {
    expect((await ask(transport, own.ready, 'broken.example1.com')).rcode).toBe(RCODE.SERVFAIL);
    expect((await ask(transport, own.ready, 'example1.com')).rcode).toBe(RCODE.NOERROR);
  }
});

test.each(TRANSPORTS)('a response that cannot be encoded gets SERVFAIL over %s', async (transport) => {
  const own = await start();
  own.server.use((_request, response) => {
    response.answer({ name: 'example1.com', type: 'A', data: 'no address' });
  });
  expect((await ask(transport, own.ready, 'example1.com')).rcode).toBe(RCODE.SERVFAIL);
});
