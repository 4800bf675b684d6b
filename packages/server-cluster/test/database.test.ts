/** Records in a database: the answers are those of the store in memory, whose own are compared with other servers. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineZoneSet } from '@dinodns-bench/zones';
import { afterEach, describe, expect, it } from 'vitest';
import { lookUp } from '../src/database/database-store.ts';
import { openDatabase } from '../src/database/open-database.ts';
import { entriesOf, type RecordDatabase } from '../src/database/record-database.ts';
import { ReplyReader } from '../src/database/redis-replies.ts';
import { createServer } from '../src/index.ts';
import { addZones } from '../src/store/load.ts';
import { ZoneStore } from '../src/store/zone-store.ts';

const directories: string[] = [];
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});

async function sqlite(): Promise<RecordDatabase> {
  const directory = mkdtempSync(join(tmpdir(), 'database-test-'));
  directories.push(directory);
  return openDatabase(`sqlite:${join(directory, 'records.db')}`);
}

const generated = defineZoneSet({
  pattern: 'zone-{X}.example',
  to: 3,
  parity: 'all',
  records: [
    'SOA ns1.{zone} admin.example.net 7 7200 1800 1209600 120',
    'NS ns1.{zone}',
    'A 192.0.2.1',
    'A 192.0.2.2',
    'ns1 A 192.0.2.53',
    'a.deep.down AAAA 2001:db8::1',
    'there.wild TXT "here"',
    'www CNAME {zone}',
    'alias CNAME www.{zone}',
    'away CNAME www.example.net',
  ],
});

/** With a wildcard and a loop in each zone, which generated zones cannot have. */
const zoneSet = {
  *zones() {
    for (const { name, records } of generated.zones()) {
      const wildcard = { name: `*.wild.${name}`, type: 'A', ttl: 60, data: '192.0.2.9' };
      const loop = { name: `loop.${name}`, type: 'CNAME', ttl: 60, data: `loop.${name}` };
      yield { name, records: [...records, wildcard, loop] };
    }
  },
};

const NAMES = ['', 'ns1.', 'deep.', 'down.', 'deep.down.', 'a.deep.down.', 'x.deep.down.', 'missing.']
  .concat(['wild.', 'x.wild.', 'x.y.wild.', 'there.wild.', 'x.there.wild.', '*.wild.', 'www.', 'alias.'])
  .concat(['away.', 'WWW.', 'x.www.'])
  .map((prefix) => `${prefix}zone-2.example`)
  .concat(['example', 'zone-4.example', 'www.example.net', 'azone-2.example']);

const plain = (records: readonly { name: string; type: string }[] = []) =>
  records.map((record) => JSON.stringify({ ...record, name: record.name.toLowerCase() })).sort();

describe('a database', () => {
  it('gives the same answers as the store in memory', async () => {
    const database = await sqlite();
    await database.fill(entriesOf(zoneSet));
    const store = new ZoneStore();
    addZones(store, zoneSet);
    for (const name of NAMES) {
      for (const type of ['A', 'AAAA', 'TXT', 'CNAME', 'SOA', 'NS', 'MX']) {
        const right = store.lookup(name, type);
        const answer = await lookUp(database, name, type);
        const seen = (records: Parameters<typeof plain>[0]) =>
          // The store decodes text as bytes.
          plain(records?.map(({ name: owner, type: kind }) => ({ name: owner, type: kind })));
        expect([name, type, answer?.rcode]).toEqual([name, type, right?.rcode]);
        expect([name, type, seen(answer?.answers)]).toEqual([name, type, seen(right?.sections.answers)]);
        expect([name, type, seen(answer?.authorities)]).toEqual([
          name,
          type,
          seen(right?.sections.authorities),
        ]);
      }
    }
    database.close();
  });

  it('has the addresses and TTLs of the zones, and a negative TTL of at most the minimum', async () => {
    const database = await sqlite();
    await database.fill(entriesOf(zoneSet));
    const answer = await lookUp(database, 'Zone-1.example', 'A');
    expect(answer?.answers).toMatchObject([
      { name: 'Zone-1.example', ttl: 60, data: '192.0.2.1' },
      { name: 'Zone-1.example', ttl: 60, data: '192.0.2.2' },
    ]);
    const missing = await lookUp(database, 'missing.zone-1.example', 'A');
    expect(missing).toMatchObject({
      rcode: 3,
      authorities: [{ name: 'zone-1.example', type: 'SOA', ttl: 60 }],
    });
    database.close();
  });

  it('answers SERVFAIL for a chain without end', async () => {
    const database = await sqlite();
    await database.fill(entriesOf(zoneSet));
    expect(await lookUp(database, 'loop.zone-1.example', 'A')).toMatchObject({ rcode: 2, answers: [] });
    database.close();
  });

  it('holds what it was filled with last, and nothing else', async () => {
    const database = await sqlite();
    await database.fill(entriesOf(zoneSet));
    await database.fill(entriesOf(defineZoneSet({ to: 1 })));
    expect(await lookUp(database, 'zone-1.example', 'A')).toBeNull();
    expect((await lookUp(database, 'example1.com', 'A'))?.rcode).toBe(0);
    database.close();
  });

  it.each([
    ['a delegation', { name: 'sub.a.example', type: 'NS', ttl: 60, data: 'ns.example.net' }],
    ['a redirection', { name: 'old.a.example', type: 'DNAME', ttl: 60, data: 'a.example' }],
  ])('refuses %s, which it could not serve', (_what, record) => {
    const source = { zones: () => [{ name: 'a.example', records: [record] }] };
    expect(() => entriesOf(source)).toThrow(/cannot serve the/);
  });

  it.each(['postgres:x', 'sqlite:', 'nothing'])('named "%s" is none', async (text) => {
    await expect(openDatabase(text)).rejects.toMatchObject({ code: 'E_USAGE' });
  });

  it('that cannot be opened says so', async () => {
    await expect(openDatabase('sqlite:/nonexistent/records.db')).rejects.toMatchObject({
      code: 'E_UNREADABLE',
    });
  });

  it('is not for zone files or the published framework', () => {
    const store = 'sqlite:/tmp/unused.db';
    expect(() => createServer({ store, zoneFiles: { files: [{ file: 'x' }], directories: [] } })).toThrow(
      /zone files/,
    );
    expect(() => createServer({ store, profile: 'stock' })).toThrow(/has no database/);
  });
});

describe('replies of Redis', () => {
  const text = '+OK\r\n*3\r\n$2\r\n{}\r\n$-1\r\n$7\r\nüx\r\n34\r\n-ERR no\r\n:5\r\n$0\r\n\r\n';
  const right = ['OK', ['{}', null, 'üx\r\n34'], 'Redis says: ERR no', '5', ''];

  it('are read in order, in whatever pieces they arrive', async () => {
    const bytes = Buffer.from(text);
    for (let size = 1; size <= bytes.length; size++) {
      const reader = new ReplyReader();
      const replies = right.map(() => reader.next().catch((error: Error) => error.message));
      for (let at = 0; at < bytes.length; at += size) reader.read(bytes.subarray(at, at + size));
      expect(await Promise.all(replies)).toEqual(right);
    }
  });

  it('that never come are failures, those asked for later too', async () => {
    const reader = new ReplyReader();
    const waiting = reader.next();
    reader.fail(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    await expect(reader.next()).rejects.toThrow('gone');
  });
});
