/** Zone files on the command line: what is served, and what a reload makes of those that are wrong. */
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createAnswerTable, createServer, loadZoneFile, ZoneStore } from '../src/index.ts';
import { ask, RCODE, TRANSPORTS } from './support/client.ts';
import { killAll, type RunningServer, runToEnd, startServer, until } from './support/server-process.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'zone-files-'));
});
afterEach(async () => {
  await killAll();
  rmSync(directory, { recursive: true, force: true });
});

const HEAD = '$TTL 60\n@ SOA ns.invalid. host.invalid. 1 7200 3600 1209600 300\n@ NS ns.invalid.\n';

function write(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

function writeZone(name: string, address: string): string {
  return write(name, `${HEAD}www A ${address}\nmail 300 MX 10 www\nodd TYPE65280 \\# 3 010203\n`);
}

async function addressAt({ ready }: RunningServer, name: string): Promise<unknown> {
  const { answers } = await ask('udp', ready, name);
  const [answer] = answers;
  return answer?.type === 'A' ? answer.data : undefined;
}

describe.each([
  ['single', ['--mode', 'single']],
  ['multi', ['--mode', 'multi', '--workers', '2']],
])('mode %s', (_mode, args) => {
  test('serves zones named by a flag, by the file name, and in a directory', async () => {
    const given = writeZone('any-name', '192.0.2.1');
    const named = writeZone('named.example.zone', '192.0.2.2');
    mkdirSync(join(directory, 'zones'));
    writeZone('zones/one.example.zone', '192.0.2.3');
    writeZone('zones/db.two.example', '192.0.2.4');
    writeZone('zones/README', '192.0.2.5');
    const zones = [
      '--zone',
      `given.example=${given}`,
      '--zone',
      named,
      '--zone-dir',
      join(directory, 'zones'),
    ];
    const server = await startServer([...args, ...zones]);
    for (const [zone, address] of [
      ['given', '192.0.2.1'],
      ['named', '192.0.2.2'],
      ['one', '192.0.2.3'],
      ['two', '192.0.2.4'],
    ]) {
      expect(await addressAt(server, `www.${zone}.example`)).toBe(address);
    }
    for (const transport of TRANSPORTS) {
      const opaque = await ask(transport, server.ready, 'odd.given.example', 'UNKNOWN_65280');
      expect(opaque.answers).toMatchObject([{ ttl: 60, data: Buffer.from([1, 2, 3]) }]);
      const { rcode } = await ask(transport, server.ready, 'none.given.example');
      expect(rcode).toBe(3);
    }
    expect(await server.stop()).toEqual({ code: 0, signal: null });
  });

  test('SIGHUP reloads valid zones and keeps those whose files are broken', async () => {
    const good = writeZone('good.example.zone', '192.0.2.1');
    const bad = writeZone('bad.example.zone', '192.0.2.1');
    const server = await startServer([...args, '--zone', good, '--zone', bad, '--log-level', 'info']);
    const reloads = () => server.stderr.split('Zones reloaded').length - 1;
    writeZone('good.example.zone', '192.0.2.2');
    write('bad.example.zone', `${HEAD}www A 192.0.2\n`);
    server.child.kill('SIGHUP');
    expect(await until(() => reloads() === 1, 15)).toBe(true);
    expect(server.stderr).toContain(`${bad}:4:7: \\"192.0.2\\" is not an IPv4 address`);
    expect(await addressAt(server, 'www.good.example')).toBe('192.0.2.2');
    expect(await addressAt(server, 'www.bad.example')).toBe('192.0.2.1');
    // A zone that is read but not sound is refused as well, and one that is gone stays, until it can be read again.
    write('bad.example.zone', `${HEAD}www A 192.0.2.3\nwww CNAME @\n`);
    rmSync(good);
    server.child.kill('SIGHUP');
    expect(await until(() => reloads() === 2, 15)).toBe(true);
    expect(server.stderr).toContain(`${bad}:5: `);
    expect(await addressAt(server, 'www.good.example')).toBe('192.0.2.2');
    expect(await addressAt(server, 'www.bad.example')).toBe('192.0.2.1');
    writeZone('bad.example.zone', '192.0.2.4');
    server.child.kill('SIGHUP');
    expect(await until(() => reloads() === 3, 15)).toBe(true);
    expect(await addressAt(server, 'www.bad.example')).toBe('192.0.2.4');
    expect(await server.stop()).toEqual({ code: 0, signal: null });
  });

  test('a directory that cannot be read, or has a link to nowhere, costs no zone', async () => {
    mkdirSync(join(directory, 'zones'));
    writeZone('zones/one.example.zone', '192.0.2.1');
    const other = writeZone('other.example.zone', '192.0.2.2');
    const zones = ['--zone', other, '--zone-dir', `${join(directory, 'zones')}/`];
    const server = await startServer([...args, ...zones, '--log-level', 'info']);
    const reloads = () => server.stderr.split('eloaded').length - 1;
    const expectZones = async (reload: number, address: string) => {
      server.child.kill('SIGHUP');
      expect(await until(() => reloads() === reload, 15)).toBe(true);
      expect(await addressAt(server, 'www.one.example')).toBe(address);
      expect(await addressAt(server, 'www.other.example')).toBe('192.0.2.2');
    };
    symlinkSync('/nowhere', join(directory, 'zones', 'two.example.zone'));
    writeZone('zones/one.example.zone', '192.0.2.3');
    await expectZones(1, '192.0.2.3');
    renameSync(join(directory, 'zones'), join(directory, 'away'));
    await expectZones(2, '192.0.2.3');
    // A zone that stayed can stay once more.
    renameSync(join(directory, 'away'), join(directory, 'zones'));
    write('zones/one.example.zone', `${HEAD}www A 192.0.2\n`);
    await expectZones(3, '192.0.2.3');
  });

  test('after a reload without any valid zone, the next one still keeps those that are broken', async () => {
    const one = writeZone('one.example.zone', '192.0.2.1');
    mkdirSync(join(directory, 'zones'));
    writeZone('zones/two.example.zone', '192.0.2.2');
    const server = await startServer([
      ...args,
      '--zone-dir',
      join(directory, 'zones'),
      '--log-level',
      'info',
    ]);
    const reloads = () => server.stderr.split('eloaded').length - 1;
    renameSync(join(directory, 'zones', 'two.example.zone'), join(directory, 'away'));
    server.child.kill('SIGHUP');
    expect(await until(() => server.stderr.includes('not reloaded'), 15)).toBe(true);
    write('zones/two.example.zone', `${HEAD}www A 192.0.2\n`);
    renameSync(one, join(directory, 'zones', 'one.example.zone'));
    server.child.kill('SIGHUP');
    expect(await until(() => reloads() === 2, 15)).toBe(true);
    expect(await addressAt(server, 'www.one.example')).toBe('192.0.2.1');
    expect(await addressAt(server, 'www.two.example')).toBe('192.0.2.2');
  });

  test('a zone rejected at the start does not affect the others', async () => {
    const good = writeZone('good.example.zone', '192.0.2.1');
    const bad = write('bad.example.zone', 'www A 192.0.2.1\n');
    const server = await startServer([...args, '--zone', bad, '--zone', good]);
    expect(server.stderr).toContain(`${bad}:1:5: the record has no TTL`);
    expect(await addressAt(server, 'www.good.example')).toBe('192.0.2.1');
    expect((await ask('udp', server.ready, 'www.bad.example')).rcode).toBe(RCODE.REFUSED);
  });
});

test('a reload that is asked for during the start follows it', async () => {
  const file = writeZone('a.example.zone', '192.0.2.1');
  const zoneFiles = { files: [{ file }], directories: [] };
  const server = createServer({ mode: 'single', port: 0, logLevel: 'silent', zoneFiles });
  const starting = server.start();
  const reloading = server.reload();
  const outcomes = await Promise.allSettled([starting, reloading]);
  await server.stop();
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
});

test('a server that is stopped while it loads its zones starts no workers', async () => {
  const file = writeZone('a.example.zone', '192.0.2.1');
  const zoneFiles = { files: [{ file }], directories: [] };
  const server = createServer({ mode: 'multi', workers: 1, port: 0, logLevel: 'silent', zoneFiles });
  const starting = server.start();
  await Promise.all([server.stop(), expect(starting).rejects.toThrow('stopped before it was ready')]);
});

test('a zone whose kept records are gone does not hold up the reload of others', async () => {
  const good = writeZone('good.example.zone', '192.0.2.1');
  const bad = writeZone('bad.example.zone', '192.0.2.1');
  const zones = ['--mode', 'single', '--zone', good, '--zone', bad, '--log-level', 'info'];
  const server = await startServer(zones, { wrapper: ['env', `TMPDIR=${directory}`] });
  const [copies = ''] = readdirSync(directory).filter((name) => name.startsWith('dinodns-server-'));
  for (const name of readdirSync(join(directory, copies))) rmSync(join(directory, copies, name));
  writeZone('good.example.zone', '192.0.2.2');
  write('bad.example.zone', `${HEAD}www A 192.0.2\n`);
  server.child.kill('SIGHUP');
  expect(await until(() => server.stderr.includes('eloaded'), 15)).toBe(true);
  expect(server.stderr).toContain(`${bad}: the records of its last valid version are gone`);
  expect(await addressAt(server, 'www.good.example')).toBe('192.0.2.2');
});

test('a reload does without the directory of the kept records', async () => {
  const good = writeZone('good.example.zone', '192.0.2.1');
  const server = await startServer(['--zone', good], { wrapper: ['env', `TMPDIR=${directory}`] });
  const copies = readdirSync(directory).filter((name) => name.startsWith('dinodns-server-'));
  for (const name of copies) rmSync(join(directory, name), { recursive: true });
  writeZone('good.example.zone', '192.0.2.2');
  server.child.kill('SIGHUP');
  const isNew = async () => (await addressAt(server, 'www.good.example')) === '192.0.2.2';
  expect(await until(isNew, 15)).toBe(true);
});

test('zones whose long names begin alike are kept apart', async () => {
  const tail = Array.from({ length: 3 }, () => 'x'.repeat(60)).join('.');
  const zones = ['1', '2'].map((last) => `${tail}.${'y'.repeat(50)}${last}`);
  const files = zones.map((zone, index) => `${zone}.=${writeZone(`zone-${index}`, `192.0.2.${index + 1}`)}`);
  const server = await startServer(files.flatMap((file) => ['--zone', file]));
  expect(await addressAt(server, `www.${zones[0]}`)).toBe('192.0.2.1');
  expect(await addressAt(server, `www.${zones[1]}`)).toBe('192.0.2.2');
});

test('without a valid zone, the program ends and says why', async () => {
  const bad = write('bad.example.zone', `${HEAD}www AA 192.0.2.1\n`);
  const { code, stderr } = await runToEnd(['--port', '0', '--zone', bad]);
  expect(code).toBe(2);
  expect(stderr).toContain(`${bad}:4:5: "AA" is not a record type`);
  expect((await runToEnd(['--port', '0', '--zone-dir', directory])).stderr).toContain('bad.example.zone:4:5');
  const missing = await runToEnd(['--port', '0', '--zone', 'nope']);
  expect(missing.code).toBe(3);
  expect(missing.stderr).toContain('the zone file nope does not exist');
});

const WRONG = Array.from({ length: 25 }, (_, host) => `h${host} CNAME www\nh${host} A 192.0.2.1\n`).join('');

test('many wrong names before the SOA record cost that zone and no other', async () => {
  const parent = writeZone('example.zone', '192.0.2.1');
  const child = write('a.example.zone', `$TTL 60\n${WRONG}${HEAD}`);
  const server = await startServer(['--zone', `example=${parent}`, '--zone', `a.example=${child}`]);
  expect(server.stderr).toContain(`${child}:3: `);
  expect(server.stderr).not.toContain(parent);
  expect(await addressAt(server, 'www.example')).toBe('192.0.2.1');
  expect((await ask('udp', server.ready, 'h1.a.example')).rcode).toBe(RCODE.NXDOMAIN);
});

test('loadZoneFile refuses many wrong names before the SOA record, and adds every record beside what a store has', async () => {
  const wrong = write('wrong.txt', `$TTL 60\n${WRONG}${HEAD}`);
  const origin = 'a.example';
  await expect(loadZoneFile(new ZoneStore(), wrong, { origin })).rejects.toThrow(`${wrong}:3: `);
  const store = new ZoneStore();
  for (let host = 0; host < 25; host++) store.append(`h${host}.a.example`, 'A', '192.0.2.1');
  const aliases = Array.from({ length: 25 }, (_, host) => `h${host} CNAME www\n`).join('');
  await loadZoneFile(store, write('aliases.txt', `${HEAD}${aliases}www A 192.0.2.2\n`), { origin });
  expect(store.get('h24.a.example', 'CNAME')).toHaveLength(1);
  expect(store.get('www.a.example', 'A')).toEqual(['192.0.2.2']);
});

test.each(['before', 'after'])('records of other zones %s the SOA record are ignored', async (place) => {
  const nsec3 = `${'0'.repeat(31)}w.victim.test. NSEC3 1 0 9999 - ${'0'.repeat(32)}\n`;
  const stray = `victim.test. 60 A 203.0.113.66\nother.test. DNAME victim.test.\n${nsec3}`;
  const text = place === 'before' ? `$TTL 60\n${stray}${HEAD}` : `${HEAD}${stray}`;
  const evil = write('a.example.zone', `${text}www A 192.0.2.1\n`);
  const victim = write('victim.test.zone', `${HEAD}@ A 192.0.2.2\n`);
  const server = await startServer(['--zone', evil, '--zone', victim]);
  expect(server.stderr).toBe('');
  expect((await ask('udp', server.ready, 'victim.test')).answers).toMatchObject([{ data: '192.0.2.2' }]);
  expect((await ask('udp', server.ready, 'x.other.test')).rcode).toBe(RCODE.REFUSED);
  expect(await addressAt(server, 'www.a.example')).toBe('192.0.2.1');
});

test('a zone may have its NS records before its SOA record', async () => {
  const [ttl, soa, ns] = HEAD.replaceAll('@', 'b.example.').split('\n');
  const store = new ZoneStore();
  await loadZoneFile(store, write('ns-first.txt', `${ttl}\n${ns}\n${soa}\n`));
  expect(store.get('b.example', 'NS')).toEqual(['ns.invalid']);
  const without = write('without.txt', `${ttl}\nx.${ns}\n${soa}\n`);
  await expect(loadZoneFile(store, without)).rejects.toThrow('NS');
});

test('a record set has the TTL of its first record, also where its name returns later in the file', async () => {
  const records =
    'a 60 A 192.0.2.1\nb A 192.0.2.1\na 90 A 192.0.2.2\na 90 TXT x\nb A 192.0.2.2\na 30 A 192.0.2.3\n';
  const store = new ZoneStore();
  await loadZoneFile(store, write('returns.txt', `${HEAD}${records}`), { origin: 'a.example' });
  const ttls = (type: string) => store.lookup('a.a.example', type)?.sections.answers.map(({ ttl }) => ttl);
  expect(ttls('A')).toEqual([60, 60, 60]);
  expect(ttls('TXT')).toEqual([90]);
});

test('loadZoneFile adds a zone to a store completely or not at all', async () => {
  const store = new ZoneStore();
  await loadZoneFile(store, writeZone('zone.txt', '192.0.2.1'), { origin: 'a.example' });
  expect(store.get('www.a.example', 'A')).toEqual(['192.0.2.1']);
  expect(createAnswerTable(store)).toBeDefined();
  const broken = write('broken.txt', `${HEAD}www A 192.0.2.1\nx A y\n`);
  await expect(loadZoneFile(store, broken, { origin: 'b.example' })).rejects.toMatchObject({
    code: 'E_ZONE_FILE',
    problems: [{ file: broken, line: 5, column: 5 }],
  });
  expect(store.get('www.b.example', 'A')).toBeNull();
});
