/** Zones loaded in bulk equal zones added one by one. */
import { statSync, utimesSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomFrom } from '@dinodns-bench/test-support';
import { defineZoneSet, findFormat, writeFiles } from '@dinodns-bench/zones';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { readSnapshot, ZonesSnapshot } from '../../src/cluster/zones-snapshot.ts';
import type { ZoneSource } from '../../src/options.ts';
import { buildTable, loadStore } from '../../src/store/load.ts';
import { ZoneStore } from '../../src/store/zone-store.ts';
import { ZonesFile } from '../../src/store/zones-file.ts';
import { randomQuestion } from '../compare/questions.ts';
import { zoneSet } from '../compare/zone.ts';
import { answerTo, decoded, query } from './ask.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'server-cluster-load-'));
});
afterAll(() => rm(directory, { recursive: true }));

async function fileOf(set: typeof zoneSet, name: string): Promise<string> {
  const path = join(directory, name);
  await writeFiles(path, findFormat('dinodns-json').render(set, {}));
  return join(path, 'zones.ndjson');
}

async function zonesIn(path: string): Promise<unknown[]> {
  const zones: unknown[] = [];
  for await (const zone of new ZonesFile(path).zones()) zones.push(zone);
  return zones;
}

/** The same zones, in an unknown form. */
function plain(set: typeof zoneSet): ZoneSource {
  return { zones: () => [...set.zones()] };
}

test('a zone set, its file, its snapshot, and its zones added one by one give the same answers', async () => {
  const snapshot = new ZonesSnapshot();
  const copy = await readSnapshot(await (await snapshot.write(zoneSet)).path());
  snapshot.clear();
  const sources = [plain(zoneSet), zoneSet, new ZonesFile(await fileOf(zoneSet, 'rich')), copy];
  const tables = await Promise.all(sources.map((source) => buildTable(source, { sliceSeconds: 0 })));
  const random = randomFrom(5);
  for (let count = 0; count < 3000; count++) {
    const { message } = randomQuestion(random);
    const [first, ...others] = tables.map(({ table }) => answerTo(table, message));
    for (const other of others) {
      // Compression may differ, where a zone's names end like those outside of it.
      if (typeof first !== 'number' && typeof other !== 'number')
        expect(decoded(other)).toEqual(decoded(first ?? 0));
      else expect(other).toBe(first);
    }
  }
});

test('DNAME records of a zone set are followed as it says, also from a file', async () => {
  const set = defineZoneSet({ records: ['A 192.0.2.1', 'www A 192.0.2.2', 'old DNAME {zone}'], to: 9 });
  const { table } = await buildTable(new ZonesFile(await fileOf(set, 'dname')));
  for (const name of ['www.old.example3.com', 'gone.old.example9.com', 'old.example1.com']) {
    const lookup = set.lookup(name, 'A');
    const { rcode, answers } = decoded(answerTo(table, query(name, 'A')));
    expect(rcode).toBe(lookup.kind === 'no-such-name' ? 3 : 0);
    expect(answers).toEqual('records' in lookup ? lookup.records : []);
  }
});

test('files that are kept never look old to what removes such', () => {
  vi.useFakeTimers();
  const snapshot = new ZonesSnapshot();
  try {
    const kept = join(snapshot.directory(), 'zone.records');
    writeFileSync(kept, '');
    for (const path of [kept, snapshot.directory()]) utimesSync(path, 0, 0);
    vi.advanceTimersByTime(9 * 24 * 3600 * 1000);
    for (const path of [kept, snapshot.directory()]) expect(statSync(path).mtimeMs).toBeGreaterThan(0);
  } finally {
    snapshot.clear();
    vi.useRealTimers();
  }
});

test('a store that was read from a snapshot can change like any other', async () => {
  const first = new ZoneStore();
  for (let host = 0; host < 200; host++) first.append(`h${host}.example`, 'A', `192.0.2.${host}`);
  for (let host = 0; host < 100; host++) first.delete(`h${host}.example`);
  const snapshot = new ZonesSnapshot();
  const second = await readSnapshot(await (await snapshot.write({ zones: () => [] })).path());
  expect(second.data.isEmpty).toBe(true);
  const bytes = first.data.byteLength;
  const copy = await readSnapshot(await (await snapshot.write(first)).path());
  snapshot.clear();
  expect(copy.data.byteLength).toBe(bytes);
  expect(copy.get('h150.example', 'A')).toEqual(['192.0.2.150']);
  expect(copy.get('h50.example')).toBeNull();
  // What is free is used again.
  for (let host = 0; host < 100; host++) copy.append(`h${host}.example`, 'A', `192.0.2.${host}`);
  expect(copy.data.byteLength).toBe(bytes);
  for (let host = 0; host < 200; host++) expect(copy.get(`h${host}.example`)).toEqual([`192.0.2.${host}`]);
});

test('loading yields to the event loop', async () => {
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  await buildTable(defineZoneSet({ from: 1, to: 40_000 }), { sliceSeconds: 0 });
  clearInterval(timer);
  expect(turns).toBeGreaterThan(5);
});

test('twenty thousand zones of one layout take a few bytes each', async () => {
  const { store } = await buildTable(defineZoneSet({ from: 1, to: 40_000 }));
  expect(store.data.names.size).toBe(20_002);
  expect(store.data.byteLength / 20_000).toBeLessThan(80);
});

test('duplicate zones are merged, and those of another layout added', async () => {
  const file = await fileOf(defineZoneSet({ from: 1, to: 9 }), 'twice');
  const store = new ZoneStore();
  store.set('example3.com', 'TXT', 'was here before');
  await loadStore(store, new ZonesFile(file));
  await loadStore(store, defineZoneSet({ from: 1, to: 19, records: ['A 192.0.2.77', 'www A 192.0.2.78'] }));
  await loadStore(store, new ZonesFile(file));
  expect(store.get('example3.com', 'TXT')).toEqual([[Buffer.from('was here before')]]);
  expect(store.get('example3.com', 'A')).toEqual(['127.0.0.1', '192.0.2.77']);
  expect(store.get('www.example3.com', 'A')).toEqual(['192.0.2.78']);
  expect(store.get('example19.com', 'A')).toEqual(['192.0.2.77']);
  expect(store.get('example3.com', 'NS')).toEqual(['ns.invalid']);
});

describe('a file', () => {
  const HEADER = '{"format":"dinodns-zones","version":1,"zones":3}';
  const line = (name: string, ...records: object[]) => JSON.stringify({ name, records });
  const txt = (name: string, text: string) => ({ name, ttl: 1, type: 'TXT', data: [text] });

  async function loaded(...lines: string[]): Promise<ZoneStore> {
    const path = join(directory, 'lines.ndjson');
    await writeFile(path, [HEADER, ...lines, ''].join('\n'));
    const store = new ZoneStore();
    await loadStore(store, new ZonesFile(path));
    expect(await zonesIn(path)).toHaveLength(3);
    return store;
  }

  test('whose lines have the zone name in texts, in parts of labels and as other words is read as it says', async () => {
    const zones = ['ab.example', 'cd.example', 'ef.example'];
    const store = await loaded(
      ...zones.map((name) => line(name, txt(`x${name}.${name}`, `text of ${name}`))),
    );
    for (const name of zones) {
      expect(store.get(`x${name}.${name}`, 'TXT')).toEqual([[Buffer.from(`text of ${name}`)]]);
    }
    const words = ['ttl', 'txt', 'name'];
    const others = await loaded(...words.map((name) => line(name, txt(name, 'text'))));
    for (const name of words) expect(others.get(name, 'TXT')).toEqual([[Buffer.from('text')]]);
  });

  test.each([
    ['a name with an empty label', line('b..example', txt('b..example', 'x')), /line 3/],
    ['a name with a hyphen in front', line('-b.example', txt('-b.example', 'x')), /line 3/],
    ['a label over 63', line(`${'b'.repeat(64)}.example`, txt(`${'b'.repeat(64)}.example`, 'x')), /line 3/],
    ['a record of another zone', line('b.example', txt('c.example', 'x')), /line 3/],
    ['no JSON', line('b.example', txt('b.example', 'x')).slice(0, -3), /line 3/],
    ['a zone less than announced', '', /2 zones, but its first line says 3/],
  ])('with %s is refused, also where lines are alike', async (_case, bad, message) => {
    const [first, last] = ['a.example', 'c.example'].map((name) => line(name, txt(name, 'x')));
    await expect(loaded(first ?? '', bad, last ?? '')).rejects.toThrow(message);
    await expect(loaded(first ?? '', bad, last ?? '')).rejects.toMatchObject({ code: 'E_ZONES' });
  });

  test('that does not exist is reported as unreadable', async () => {
    const source = new ZonesFile(join(directory, 'missing'));
    await expect(loadStore(new ZoneStore(), source)).rejects.toMatchObject({ code: 'E_UNREADABLE' });
    await expect(zonesIn(source.path)).rejects.toThrow(/missing/);
  });
});

test('a name that is too long is refused with its zone', async () => {
  const name = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(63)).join('.');
  const bad = { name: 'example', records: [{ name, type: 'A', ttl: 1, data: '192.0.2.1' }] };
  const loading = loadStore(new ZoneStore(), { zones: () => [bad] });
  await expect(loading).rejects.toThrow(/^Zone "example" .* 255 are allowed/);
});

test('building a table does not disturb the one that is answering', async () => {
  const first = await buildTable(defineZoneSet({ from: 1, to: 3 }));
  const building = buildTable(defineZoneSet({ from: 1, to: 20_000 }), { sliceSeconds: 0 });
  expect(decoded(answerTo(first.table, query('example1.com', 'A'))).answers).toHaveLength(1);
  expect(decoded(answerTo(first.table, query('example5.com', 'A'))).rcode).toBe(5);
  first.store.replaceWith((await building).store);
  expect(decoded(answerTo(first.table, query('example5.com', 'A'))).answers).toHaveLength(1);
});
