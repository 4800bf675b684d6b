/** The plugins alone, on the framework's servers, and what middleware and handlers see of queries. */
import { QueryReader } from '@dinodns-bench/wire';
import { DNSOverTCP, DNSOverUDP, SupportedNetworkType } from 'dinodns/common/network/index.js';
import { UDPSerializer } from 'dinodns/common/network/udp.js';
import { DefaultRouter, type Router } from 'dinodns/common/router/index.js';
import { DefaultServer } from 'dinodns/common/server/index.js';
import { DefaultCache } from 'dinodns/plugins/cache/index.js';
import { DefaultStore } from 'dinodns/plugins/storage/index.js';
import type { Handler } from 'dinodns/types/server.js';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { RouteGuard } from '../src/framework/route-guard.ts';
import {
  accelerate,
  BatchedUdpNetwork,
  CaseInsensitiveRouter,
  observe,
  RobustTcpNetwork,
  ServerError,
  ZoneStore,
} from '../src/index.ts';
import type { Log } from '../src/log/log.ts';
import { OFFSETS } from '../src/metrics/counters.ts';
import { ask, type Endpoint, query, RCODE, TRANSPORTS } from './support/client.ts';
import { record, zone } from './support/in-process.ts';

/** Milliseconds: far more than anything here takes, since the machine may be busy. */
const PATIENCE = 20_000;

const servers: DefaultServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    const ours = server.networks.filter((network) => 'shutdown' in network);
    await Promise.all(
      (ours as (BatchedUdpNetwork | RobustTcpNetwork)[]).map((network) => network.shutdown(0)),
    );
  }
});

function zones(): ZoneStore {
  const store = new ZoneStore();
  store.addZone(zone([record('www.example.org', 'A', '192.0.2.1')]));
  return store;
}

/** A logger that records what is logged at the default level. */
function warnings(): { log: Log; told: unknown[] } {
  const told: unknown[] = [];
  const ignore = () => undefined;
  return { told, log: { error: ignore, warn: (fields) => told.push(fields), info: ignore, debug: ignore } };
}

/** A server as in the framework's documentation, accelerated; started over UDP and TCP. */
async function start(
  store: ZoneStore | DefaultStore,
  prepare: (server: DefaultServer) => void = () => undefined,
  router: Router = new DefaultRouter(),
): Promise<{ server: DefaultServer; udp: BatchedUdpNetwork; endpoints: Record<'udp' | 'tcp', Endpoint> }> {
  const address = '127.0.0.1';
  const networks = [new DNSOverUDP({ address, port: 0 }), new DNSOverTCP({ address, port: 0 })];
  const server = new DefaultServer({ networks, router });
  prepare(server);
  servers.push(accelerate(server, store));
  const [udp, tcp] = server.networks;
  if (!(udp instanceof BatchedUdpNetwork) || !(tcp instanceof RobustTcpNetwork))
    throw new Error('not replaced');
  await Promise.all([udp.open(), tcp.open()]);
  return { server, udp, endpoints: { udp: { address, port: udp.port }, tcp: { address, port: tcp.port } } };
}

function hits({ counters }: BatchedUdpNetwork): number {
  return counters.values[OFFSETS.tableHits] ?? 0;
}

test.each(TRANSPORTS)('a framework server answers from its zone store over %s', async (transport) => {
  const store = zones();
  const { udp, endpoints } = await start(store, (server) => server.use(store.handler));
  const reply = await ask(transport, endpoints[transport], 'WWW.example.org');
  expect(reply.answers).toMatchObject([{ data: '192.0.2.1' }]);
  expect((await ask(transport, endpoints[transport], 'nowhere.example')).rcode).toBe(RCODE.NXDOMAIN);
  if (transport === 'udp') expect(hits(udp)).toBe(2);
  store.set('new.example.org', 'A', '192.0.2.2');
  expect((await ask(transport, endpoints[transport], 'new.example.org')).answers).toMatchObject([
    { data: '192.0.2.2' },
  ]);
});

test('a framework server answers from its default store as before', async () => {
  const store = new DefaultStore();
  store.set('example.com', 'A', '192.0.2.3');
  const { endpoints } = await start(store, (server) => server.use(store.handler));
  expect((await ask('udp', endpoints.udp, 'example.com')).answers).toMatchObject([{ data: '192.0.2.3' }]);
  expect((await ask('udp', endpoints.udp, 'other.com')).rcode).toBe(RCODE.NXDOMAIN);
  store.delete('example.com');
  expect((await ask('udp', endpoints.udp, 'example.com')).rcode).toBe(RCODE.NXDOMAIN);
});

test('without the store in the chain, its table answers nothing', async () => {
  const store = zones();
  const { udp, endpoints, server } = await start(store);
  expect((await ask('udp', endpoints.udp, 'www.example.org')).rcode).toBe(RCODE.NXDOMAIN);
  expect(hits(udp)).toBe(0);
  server.use(store.handler);
  expect((await ask('udp', endpoints.udp, 'www.example.org')).answers).toHaveLength(1);
  expect(hits(udp)).toBe(1);
});

describe.each([
  ['before', true],
  ['after', false],
])('middleware registered %s the server is made fast', (_when, before) => {
  test('sees every query, and its response', async () => {
    const store = zones();
    const seen: unknown[] = [];
    const logger: Handler = (request, response, next) => {
      response.on('done', ({ packet }) =>
        seen.push([request.packet.questions[0]?.name, packet.answers.length]),
      );
      next();
    };
    const use = (server: DefaultServer) => server.use(logger);
    const { server, udp, endpoints } = await start(store, (own) => {
      if (before) use(own);
      own.use(store.handler);
    });
    if (!before) use(server);
    for (const name of ['www.example.org', 'Www.Example.org', 'none.example.org']) {
      await ask('udp', endpoints.udp, name);
    }
    await vi.waitFor(() => {
      expect(seen).toEqual([
        ['www.example.org', 1],
        ['Www.Example.org', 1],
        ['none.example.org', 0],
      ]);
    }, PATIENCE);
    expect(hits(udp)).toBe(0);
  });
});

test('a cache in front of the store answers what it holds', async () => {
  const store = zones();
  const cache = new DefaultCache();
  cache.set('www.example.org', 'A', ['192.0.2.99']);
  const { endpoints } = await start(store, (server) => {
    server.use(cache.handler);
    server.use(store.handler);
  });
  expect((await ask('udp', endpoints.udp, 'www.example.org')).answers).toMatchObject([
    { data: '192.0.2.99' },
  ]);
});

test("the program's own default handler decides about names that the store does not know", async () => {
  const store = zones();
  const address = '127.0.0.1';
  const server = new DefaultServer({
    networks: [new DNSOverUDP({ address, port: 0 })],
    defaultHandler: (_request, response) => response.errors.notImplemented(),
  });
  server.use(store.handler);
  servers.push(accelerate(server, store));
  const [udp] = server.networks;
  await (udp as BatchedUdpNetwork).open();
  const endpoint = { address, port: udp?.port ?? 0 };
  expect((await ask('udp', endpoint, 'nowhere.example')).rcode).toBe(RCODE.NOTIMP);
  expect((await ask('udp', endpoint, 'www.example.org')).answers).toHaveLength(1);
});

describe.each([
  ['the framework’s router', () => new DefaultRouter()],
  ['ours', () => new CaseInsensitiveRouter()],
])('with %s', (_name, makeRouter) => {
  test('names with handlers go to them, all others to the table', async () => {
    const store = zones();
    const answer: Handler = (request, response) => {
      const name = request.packet.questions[0]?.name ?? '';
      response.answer({ name, type: 'A', class: 'IN', ttl: 5, data: '192.0.2.7' });
    };
    // The handler has to come before the store in the chain: the store answers first and then passes on.
    const { server, udp, endpoints } = await start(
      store,
      (own) => own.handle('early.example.net', answer),
      makeRouter(),
    );
    server.handle('*.dynamic.example.net', answer);
    server.use(store.handler);
    for (const name of ['early.example.net', 'a.dynamic.example.net', 'a.b.dynamic.example.net']) {
      expect((await ask('udp', endpoints.udp, name)).answers).toMatchObject([{ data: '192.0.2.7' }]);
    }
    expect(hits(udp)).toBe(0);
    expect((await ask('udp', endpoints.udp, 'www.example.org')).answers).toMatchObject([
      { data: '192.0.2.1' },
    ]);
    expect((await ask('udp', endpoints.udp, 'dynamic.example.net')).rcode).toBe(RCODE.NXDOMAIN);
    expect(hits(udp)).toBe(2);
  });
});

describe('what cannot be accelerated', () => {
  const address = '127.0.0.1';

  test('is a warning for each network that stays, with the reason', async () => {
    class OwnSerializer extends UDPSerializer {}
    const own = new DNSOverUDP({ address, port: 0, serializer: new OwnSerializer() });
    const overTls = Object.assign(new DNSOverTCP({ address, port: 0 }), {
      networkType: SupportedNetworkType.TLS as const,
    });
    const server = new DefaultServer({ networks: [own, overTls] });
    const { log, told } = warnings();
    accelerate(server, zones(), { log });
    expect(server.networks).toEqual([own, overTls]);
    expect(told).toMatchObject([
      { network: 'UDP', reason: 'it has a serializer of its own' },
      { network: 'TLS', reason: 'there is nothing faster for TLS here' },
    ]);
    for (const network of [own, overTls]) network.close();
  });

  test('is a warning if the chain needs the framework for every query', () => {
    const { log, told } = warnings();
    const server = new DefaultServer({
      networks: [],
      router: new (class extends CaseInsensitiveRouter {})(),
    });
    server.use((_request, _response, next) => next());
    accelerate(server, zones(), { log });
    expect(told).toEqual([{ reason: 'a middleware sees every query' }]);
  });

  test('is a warning if the store is not registered', async () => {
    const { log, told } = warnings();
    const server = new DefaultServer({ networks: [new DNSOverUDP({ address, port: 0 })] });
    servers.push(accelerate(server, zones(), { log }));
    const [udp] = server.networks;
    if (!(udp instanceof BatchedUdpNetwork)) throw new Error('not replaced');
    await udp.open();
    for (const name of ['a.example', 'b.example']) await ask('udp', { address, port: udp.port }, name);
    expect(told).toEqual([{ reason: expect.stringContaining('server.use(store.handler)') }]);
  });

  test('is an error for a server or store that is not from DinoDNS', () => {
    const server = new DefaultServer({ networks: [] });
    const notServer = { networks: [], default: () => undefined };
    expect(() => accelerate(notServer, zones())).toThrow('it is not a DefaultServer of dinodns');
    expect(() => accelerate(server, { handler: () => undefined })).toThrow(
      'it is not a DefaultStore of dinodns',
    );
  });
});

describe('observe', () => {
  test('an observer sees about its share of the queries in full, and the table answers the rest', async () => {
    const store = zones();
    let seen = 0;
    let answered = 0;
    const observer = observe(
      (_request, response, next) => {
        seen++;
        response.on('done', ({ packet }) => {
          answered += packet.answers.length;
        });
        next();
      },
      { sample: 0.25 },
    );
    const { udp, endpoints } = await start(store, (server) => {
      server.use(observer);
      server.use(store.handler);
    });
    const asked = 800;
    for (let count = 0; count < asked; count += 20) {
      await Promise.all(Array.from({ length: 20 }, () => ask('udp', endpoints.udp, 'www.example.org')));
    }
    expect(hits(udp)).toBe(asked - seen);
    // Five standard deviations of a binomial distribution around 200.
    expect(Math.abs(seen - asked * 0.25)).toBeLessThan(5 * Math.sqrt(asked * 0.25 * 0.75));
    await vi.waitFor(() => expect(answered).toBe(seen), PATIENCE);
  });

  test('two observers each see their own share, even if queries reach the framework for other reasons', async () => {
    const store = zones();
    const seen = [0, 0];
    const counting =
      (index: number): Handler =>
      (_request, _response, next) => {
        seen[index] = (seen[index] ?? 0) + 1;
        next();
      };
    const { endpoints } = await start(store, (server) => {
      server.use(observe(counting(0), { sample: 0.5 }));
      server.use(observe(counting(1), { sample: 0.1 }));
      server.use(store.handler);
      server.handle('www.example.org', (_request, _response, next) => next());
    });
    const asked = 800;
    for (let count = 0; count < asked; count += 20) {
      await Promise.all(Array.from({ length: 20 }, () => ask('udp', endpoints.udp, 'www.example.org')));
    }
    for (const [index, sample] of [0.5, 0.1].entries()) {
      const deviation = Math.sqrt(asked * sample * (1 - sample));
      expect(Math.abs((seen[index] ?? 0) - asked * sample)).toBeLessThan(5 * deviation);
    }
  });

  test('an invalid share is refused', () => {
    const handler: Handler = (_request, _response, next) => next();
    for (const sample of [-0.1, 1.1, Number.NaN])
      expect(() => observe(handler, { sample })).toThrow(ServerError);
  });
});

describe('the route guard', () => {
  const matches = (patterns: readonly string[], name: string) => {
    const guard = new RouteGuard();
    for (const pattern of patterns) guard.add(pattern);
    const message = query(name);
    // In the middle of an arena, as in the networks.
    const arena = Buffer.concat([Buffer.alloc(7, 3), message, Buffer.alloc(7, 3)]);
    const reader = new QueryReader();
    reader.read(arena, 7, message.length);
    return guard.mayMatch(arena, 7, reader);
  };

  test.each([
    ['example.org', 'example.org', true],
    ['example.org', 'EXAMPLE.ORG', true],
    ['Example.Org', 'example.org', true],
    ['example.org', 'www.example.org', false],
    ['example.org', 'xexample.org', false],
    ['example.org/A', 'example.org', true],
    ['*.example.org', 'www.example.org', true],
    ['*.example.org', 'a.b.example.org', true],
    ['*.example.org', 'example.com', false],
    ['api*.example.org', 'api1.example.org', true],
    ['api*.example.org', 'other.example.com', false],
    ['*', 'anything', true],
    ['www.*', 'www.example.org', true],
    ['*ample.org', 'example.org', true],
    ['.', '.', true],
    ['.', 'org', false],
  ])('%s for %s: %s', (pattern, name, expected) => {
    expect(matches([pattern], name)).toBe(expected);
  });

  test('never passes a query that the router would give to a handler', () => {
    const labels = ['a', 'b', 'example', 'org', 'www'];
    const pick = (index: number) => labels[index % labels.length] ?? '';
    let given = 0;
    for (let round = 0; round < 3000; round++) {
      const parts = [pick(round), pick(round >> 1), pick(round >> 3)].slice(round % 3);
      const pattern = round % 2 === 0 ? `*.${parts.join('.')}` : parts.join('.');
      const name = [pick(round >> 2), pick(round >> 4), ...parts].slice(round % 4).join('.');
      const router = new CaseInsensitiveRouter();
      let isReached = false;
      router.handle(pattern, () => {
        isReached = true;
      });
      router.match(name)({} as never, {} as never, () => undefined);
      if (isReached) given++;
      if (isReached) expect([pattern, name, matches([pattern], name)]).toEqual([pattern, name, true]);
    }
    expect(given).toBeGreaterThan(100);
  });
});
