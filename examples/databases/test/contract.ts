/** What an application with either database does; `place` makes an empty database for a test. */
import { createServer } from '@dinodns-bench/server-cluster';
import type { DecodedPacket } from 'dns-packet';
import { expect, it } from 'vitest';
import {
  afterwards,
  askAllTheTime,
  expectRcode,
  fill,
  manyZones,
  question,
  startApp,
  temporaryDirectory,
  writeZones,
  zoneOf,
} from './support.ts';

const ZONE = 'zone.example';
const ZONES = [
  zoneOf(
    ZONE,
    ['', 'A', '192.0.2.1'],
    ['', 'A', '192.0.2.2'],
    ['ns1.', 'A', '192.0.2.53'],
    ['a.deep.down.', 'AAAA', '2001:db8::1'],
    ['*.wild.', 'A', '192.0.2.9'],
    ['there.wild.', 'TXT', 'here'],
    ['www.', 'CNAME', ZONE],
    ['alias.', 'CNAME', `www.${ZONE}`],
    ['away.', 'CNAME', 'www.example.net'],
    ['loop.', 'CNAME', `loop.${ZONE}`],
  ),
];
const NAMES = ['', 'ns1.', 'deep.', 'down.', 'deep.down.', 'a.deep.down.', 'x.deep.down.', 'missing.']
  .concat(['wild.', 'x.wild.', 'x.y.wild.', 'there.wild.', 'x.there.wild.', '*.wild.', 'www.', 'alias.'])
  .concat(['away.', 'WWW.', 'x.www.'])
  .map((prefix) => `${prefix}${ZONE}`)
  .concat(['example', 'other.example', 'www.example.net', `a${ZONE}`]);

/** Code, authority and records, in an order that does not matter. */
function content(packet: DecodedPacket) {
  const { rcode, flag_aa, answers = [], authorities = [] } = packet as DecodedPacket & { rcode: string };
  const sorted = (records: readonly { name: string }[]) =>
    records.map((record) => JSON.stringify({ ...record, name: record.name.toLowerCase() })).sort();
  return { rcode, flag_aa, answers: sorted(answers), authorities: sorted(authorities) };
}

export function describesAnApplication(place: () => Promise<string> | string): void {
  it('answers as a server does that has the zones in memory', async () => {
    const app = await startApp(await place(), '--zones', writeZones(temporaryDirectory(), ZONES));
    const memory = createServer({ port: 0, zones: { zones: () => ZONES as never } });
    const { port } = await memory.start();
    afterwards(() => memory.stop());
    // A chain of CNAMEs without end.
    expect(await app.ask(`loop.${ZONE}`)).toMatchObject({ rcode: 'SERVFAIL', answers: [] });
    for (const name of NAMES) {
      for (const type of ['A', 'AAAA', 'TXT', 'CNAME', 'SOA', 'NS', 'MX']) {
        const answer = content((await app.ask(name, type)).packet);
        expect([name, type, answer]).toEqual([name, type, content(await question(port, name, type))]);
      }
    }
  });

  it('forgets what the zones no longer have after SIGHUP, in every worker', async () => {
    const directory = temporaryDirectory();
    const zones = writeZones(directory, manyZones(2, '192.0.2.1'));
    const app = await startApp(await place(), '--zones', zones, '--workers', '2');
    expect(await app.ask('zone1.example')).toMatchObject({ rcode: 'NOERROR', answers: ['192.0.2.1'] });
    writeZones(directory, manyZones(1, '192.0.2.2'));
    app.signal('SIGHUP');
    await expectRcode(app, 'zone1.example', 'REFUSED');
    for (let time = 0; time < 20; time++) {
      expect(await app.ask('zone0.example')).toMatchObject({ rcode: 'NOERROR', answers: ['192.0.2.2'] });
      expect(await app.ask('zone1.example')).toMatchObject({ rcode: 'REFUSED' });
    }
  });

  it('answers from the old or the new content while it is filled, and no question waits for it', async () => {
    const [directory, store] = [temporaryDirectory(), await place()];
    expect(await fill(store, writeZones(directory, manyZones(10_000, '192.0.2.1')))).toMatchObject({
      status: 0,
    });
    const app = await startApp(store);
    const filled = new AbortController();
    const from = performance.now();
    const asking = askAllTheTime(app, 'zone9999.example', filled.signal);
    expect(await fill(store, writeZones(directory, manyZones(10_000, '192.0.2.2')))).toMatchObject({
      status: 0,
    });
    filled.abort();
    const fillSeconds = (performance.now() - from) / 1000;
    const { seen, slowestSeconds } = await asking;
    expect(['NOERROR 192.0.2.1', 'NOERROR 192.0.2.2']).toEqual(expect.arrayContaining(seen));
    expect(await app.ask('zone0.example')).toMatchObject({ rcode: 'NOERROR', answers: ['192.0.2.2'] });
    // A share of the time, so that a busy machine changes nothing.
    expect(slowestSeconds / fillSeconds).toBeLessThan(1 / 3);
  });

  it('keeps its content when a fill is refused, and says why', async () => {
    const [directory, store] = [temporaryDirectory(), await place()];
    const zones = writeZones(directory, manyZones(1, '192.0.2.1'));
    const app = await startApp(store, '--zones', zones);
    const wrong = [
      [[], /holds no zones/],
      [
        [zoneOf('a.example', ['sub.', 'NS', 'ns.example.net'])],
        /cannot serve the NS record of "sub.a.example"/,
      ],
      [
        [zoneOf('a.example', ['old.', 'DNAME', 'b.example'])],
        /cannot serve the DNAME record of "old.a.example"/,
      ],
    ] as const;
    for (const [content, message] of wrong) {
      const { status, said } = await fill(store, writeZones(directory, content));
      expect([status, said]).toEqual([1, expect.stringMatching(message)]);
    }
    app.signal('SIGHUP');
    await expect.poll(app.said).toMatch(/cannot serve the DNAME record[\s\S]*The database was not filled/);
    expect(await app.ask('zone0.example')).toMatchObject({ rcode: 'NOERROR' });
  });

  it('answers SERVFAIL and is not ready until the database is filled', async () => {
    const store = await place();
    const app = await startApp(store);
    expect(await app.ask('zone0.example')).toMatchObject({ rcode: 'SERVFAIL' });
    expect([await app.status('/ready'), await app.status('/health')]).toEqual([503, 200]);
    await fill(store, writeZones(temporaryDirectory(), manyZones(1, '192.0.2.1')));
    await expectRcode(app, 'zone0.example', 'NOERROR');
    expect([await app.status('/ready'), await app.status('/health')]).toEqual([200, 200]);
  });
}
