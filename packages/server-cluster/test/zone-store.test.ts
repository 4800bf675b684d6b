/** How the store answers, seen through a real socket, and what it does when it changes. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ready, type Server, ZoneStore } from '../src/index.ts';
import { ask, RCODE } from './support/client.ts';
import { record, startInProcess, zone } from './support/in-process.ts';

test('records of two names in turn are added like those of one after the other', () => {
  const addresses = Array.from({ length: 8000 }, (_, number) => `10.0.${number >> 8}.${number & 255}`);
  const store = new ZoneStore();
  store.addZone(
    zone(
      addresses.flatMap((address, number) =>
        ['a', 'b'].map((host) => record(`${host}.example.org`, 'A', address, 60 + number)),
      ),
    ),
  );
  expect(store.get('a.example.org', 'A')).toEqual(addresses);
  const ttls = store.lookup('b.example.org', 'A')?.sections.answers.map(({ ttl }) => ttl);
  expect(new Set(ttls)).toEqual(new Set([60]));
});

let server: Server & { ready: Ready };
beforeAll(async () => {
  server = await startInProcess({}, [
    zone([
      record('example.org', 'NS', 'ns.example.net'),
      record('WWW.example.org', 'A', '192.0.2.1', 30),
      record('www.example.org', 'TXT', ['one', 'two']),
      record('alias.example.org', 'CNAME', 'www.example.org'),
      record('away.example.org', 'CNAME', 'www.example.net'),
      record('gone.example.org', 'CNAME', 'missing.example.org'),
      record('loop.example.org', 'CNAME', 'loop2.example.org'),
      record('loop2.example.org', 'CNAME', 'loop.example.org'),
      record('a.deep.example.org', 'A', '192.0.2.2'),
      record('*.wild.example.org', 'A', '192.0.2.3'),
      record('here.wild.example.org', 'TXT', 'no address'),
      record('sub.example.org', 'NS', 'ns.sub.example.org'),
      record('ns.sub.example.org', 'A', '192.0.2.4'),
      record('mail.example.org', 'MX', { preference: 10, exchange: 'mx.example.net' }),
      record('srv.example.org', 'SRV', { priority: 1, weight: 2, port: 3, target: 'srv.example.net' }),
      record('caa.example.org', 'CAA', { flags: 0, tag: 'issue', value: 'ca.example.net' }),
    ]),
    zone([record('www.example.net', 'A', '192.0.2.9')], 'example.net'),
  ]);
});
afterAll(() => server.stop());

function askServer(name: string, type = 'A') {
  return ask('udp', server.ready, name, type);
}

describe('an alias', () => {
  test('is followed, and every record has its own name and TTL', async () => {
    const reply = await askServer('Alias.example.org');
    expect(reply.rcode).toBe(RCODE.NOERROR);
    expect(reply.answers).toMatchObject([
      { name: 'Alias.example.org', type: 'CNAME', ttl: 60, data: 'www.example.org' },
      { name: 'www.example.org', type: 'A', ttl: 30, data: '192.0.2.1' },
    ]);
  });

  test('is followed into another zone that we serve', async () => {
    const reply = await askServer('away.example.org');
    expect(reply.answers).toMatchObject([{ type: 'CNAME' }, { name: 'www.example.net', data: '192.0.2.9' }]);
  });

  test('is the only answer to a query for its own type', async () => {
    const reply = await askServer('alias.example.org', 'CNAME');
    expect(reply.answers).toMatchObject([{ type: 'CNAME', data: 'www.example.org' }]);
  });

  test('to a name that does not exist gets NXDOMAIN and the alias', async () => {
    const reply = await askServer('gone.example.org');
    expect(reply.rcode).toBe(RCODE.NXDOMAIN);
    expect(reply.answers).toMatchObject([{ type: 'CNAME' }]);
    expect(reply.authorities).toMatchObject([{ name: 'example.org', type: 'SOA' }]);
  });

  test('to a name without the type gets the alias and the SOA record', async () => {
    const reply = await askServer('alias.example.org', 'AAAA');
    expect(reply.rcode).toBe(RCODE.NOERROR);
    expect(reply.answers).toMatchObject([{ type: 'CNAME' }]);
    expect(reply.authorities).toMatchObject([{ type: 'SOA', ttl: 300 }]);
  });

  test('in a loop ends', async () => {
    const reply = await askServer('loop.example.org');
    expect(reply.rcode).toBe(RCODE.NOERROR);
    expect(reply.answers.length).toBeLessThan(12);
  });
});

describe('a wildcard', () => {
  test('answers for names that do not exist, at any depth, with the queried name as owner', async () => {
    for (const name of ['X.wild.example.org', 'a.b.wild.example.org']) {
      const reply = await askServer(name);
      expect(reply.answers).toMatchObject([{ name, type: 'A', data: '192.0.2.3' }]);
    }
  });

  test('does not add types to a name that exists', async () => {
    const reply = await askServer('here.wild.example.org');
    expect(reply.rcode).toBe(RCODE.NOERROR);
    expect(reply.answers).toEqual([]);
  });

  test('without the type gets NODATA', async () => {
    const reply = await askServer('x.wild.example.org', 'TXT');
    expect(reply.rcode).toBe(RCODE.NOERROR);
    expect(reply.answers).toEqual([]);
    expect(reply.authorities).toMatchObject([{ type: 'SOA' }]);
  });
});

test('an empty non-terminal gets NODATA, not NXDOMAIN', async () => {
  const reply = await askServer('deep.example.org');
  expect(reply.rcode).toBe(RCODE.NOERROR);
  expect(reply.authorities).toMatchObject([{ type: 'SOA' }]);
});

test('a delegated zone gets a referral with glue and without AA', async () => {
  for (const name of ['sub.example.org', 'www.sub.example.org', 'ns.sub.example.org']) {
    const reply = await askServer(name);
    expect(reply).toMatchObject({ rcode: RCODE.NOERROR, isAuthoritative: false, answers: [] });
    expect(reply.authorities).toMatchObject([{ name: 'sub.example.org', type: 'NS' }]);
    expect(reply.additionals).toMatchObject([{ name: 'ns.sub.example.org', type: 'A', data: '192.0.2.4' }]);
  }
});

test.each([
  ['www.example.org', 'TXT', [Buffer.from('one'), Buffer.from('two')]],
  ['mail.example.org', 'MX', { preference: 10, exchange: 'mx.example.net' }],
  ['srv.example.org', 'SRV', { priority: 1, weight: 2, port: 3, target: 'srv.example.net' }],
  ['caa.example.org', 'CAA', { flags: 0, tag: 'issue', value: 'ca.example.net', issuerCritical: false }],
  ['example.org', 'NS', 'ns.example.net'],
])('%s has its %s record', async (name, type, data) => {
  expect((await askServer(name, type)).answers).toMatchObject([{ name, type, data }]);
});

describe('a store that changes', () => {
  const typesOf = (store: ZoneStore, name: string, type: string) => {
    const answer = store.lookup(name, type);
    return answer && { rcode: answer.rcode, data: answer.sections.answers.map((item) => item.data) };
  };

  test('answers with the new data immediately', () => {
    const store = new ZoneStore();
    store.set('example.org', 'A', '192.0.2.1');
    expect(typesOf(store, 'EXAMPLE.org', 'A')).toEqual({ rcode: 0, data: ['192.0.2.1'] });
    store.set('example.org', 'A', ['192.0.2.2', '192.0.2.3']);
    expect(typesOf(store, 'example.org', 'A')?.data).toEqual(['192.0.2.2', '192.0.2.3']);
    store.append('Example.ORG.', 'A', '192.0.2.4');
    store.append('example.org', 'A', '192.0.2.4');
    expect(store.get('example.org', 'A')).toEqual(['192.0.2.2', '192.0.2.3', '192.0.2.4']);
    store.delete('example.org', 'A', '192.0.2.2');
    expect(typesOf(store, 'example.org', 'A')?.data).toEqual(['192.0.2.3', '192.0.2.4']);
  });

  test('removes a name with its last record, and empty names above it', () => {
    const store = new ZoneStore();
    store.addZone(zone([record('a.b.example.org', 'A', '192.0.2.1')]));
    expect(typesOf(store, 'b.example.org', 'A')).toEqual({ rcode: RCODE.NOERROR, data: [] });
    store.delete('a.b.example.org');
    expect(typesOf(store, 'b.example.org', 'A')).toEqual({ rcode: RCODE.NXDOMAIN, data: [] });
    expect(store.get('a.b.example.org')).toBeNull();
    store.delete('example.org');
    expect(typesOf(store, 'b.example.org', 'A')).toBeNull();
  });

  test('does not grow, however many types and names are queried', () => {
    const store = new ZoneStore();
    store.addZone(zone([record('*.example.org', 'CNAME', 'www.example.net')]));
    const first = store.lookup('example.org', 'UNKNOWN_4711');
    for (let type = 1000; type < 3000; type++) {
      expect(store.lookup('example.org', `UNKNOWN_${type}`)).toBe(first);
      expect(typesOf(store, `x${type}.example.org`, `UNKNOWN_${type}`)?.rcode).toBe(0);
    }
  });
});

describe('a record that cannot be served', () => {
  test.each([
    ['an address that is none', 'www.example.org', 'A', '192.0.2.256', 60],
    ['a string over 255 bytes', 'www.example.org', 'TXT', 'x'.repeat(256), 60],
    ['a label over 63 bytes', `${'x'.repeat(64)}.example.org`, 'A', '192.0.2.1', 60],
    ['a negative TTL', 'www.example.org', 'A', '192.0.2.1', -1],
  ])('is refused when it is added: %s', (_case, name, type, data, ttl) => {
    expect(() => new ZoneStore().addZone(zone([record(name, type, data, ttl)]))).toThrow(/example\.org/);
  });
});
