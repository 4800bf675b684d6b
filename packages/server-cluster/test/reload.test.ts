/** New zones while the server answers: by all workers or none, and what happens if they are wrong. */
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineZoneSet, findFormat } from '@dinodns-bench/zones';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createServer, ServerError, type ZoneInput } from '../src/index.ts';
import { ask, RCODE, TRANSPORTS } from './support/client.ts';
import { record, zone } from './support/in-process.ts';
import {
  childrenOf,
  killAll,
  type RunningServer,
  sleep,
  startServer,
  until,
} from './support/server-process.ts';

/** Seconds. The tests prove that something happens, not how soon: the machine may be busy. */
const PATIENCE = 20;
const RELOADING = fileURLToPath(new URL('./support/reloading-program.ts', import.meta.url));

let directory: string;
let file: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'server-cluster-reload-'));
  file = join(directory, 'zones.ndjson');
});
afterEach(async () => {
  await killAll();
  await rm(directory, { recursive: true });
});

/** Writes ten zones whose names begin with `label`, each with this address. */
async function writeZones(label: string, address = '192.0.2.1'): Promise<void> {
  const zoneSet = defineZoneSet({
    pattern: `${label}{X}.example`,
    from: 1,
    to: 20,
    records: [`60 A ${address}`],
  });
  const [rendered] = findFormat('dinodns-json').render(zoneSet);
  await writeFile(file, [...(rendered?.chunks ?? [])].join(''));
}

/** The address that every one of 20 clients gets; fails if they differ, as they must not within one generation. */
async function addressAt({ ready }: RunningServer, name: string): Promise<unknown[]> {
  const replies = await Promise.all(Array.from({ length: 20 }, () => ask('udp', ready, name)));
  return [...new Set(replies.map(({ answers: [answer] }) => (answer?.type === 'A' ? answer.data : null)))];
}

test('the copy of the zones is removed when the primary is killed', async () => {
  const copies = async () =>
    (await readdir(tmpdir())).filter((name) => name.startsWith('dinodns-server-')).toSorted();
  const before = await copies();
  await writeZones('old');
  const server = await startServer(['--mode', 'multi', '--workers', '2', '--zones-file', file]);
  const ours = (await copies()).filter((name) => !before.includes(name));
  expect(ours.length).toBeGreaterThan(0);
  process.kill(server.pid, 'SIGKILL');
  const left = async () => (await copies()).filter((name) => ours.includes(name));
  expect(await until(async () => (await left()).length === 0, PATIENCE)).toBe(true);
});

describe.each([
  ['single', ['--mode', 'single']],
  ['multi', ['--mode', 'multi', '--workers', '2']],
])('mode %s', (_mode, args) => {
  const start = () =>
    startServer([...args, '--zones-file', file, '--log-level', 'info', '--metrics-port', '0']);
  const reloads = (server: RunningServer) => server.stderr.split('Zones reloaded').length - 1;

  test('SIGHUP serves the new contents of the file, over UDP and TCP', async () => {
    await writeZones('old');
    const server = await start();
    expect(await addressAt(server, 'old1.example')).toEqual(['192.0.2.1']);
    await writeZones('new', '192.0.2.2');
    server.child.kill('SIGHUP');
    expect(await until(() => reloads(server) === 1, PATIENCE)).toBe(true);
    expect(await addressAt(server, 'new1.example')).toEqual(['192.0.2.2']);
    for (const transport of TRANSPORTS) {
      expect((await ask(transport, server.ready, 'old1.example')).rcode).toBe(RCODE.REFUSED);
    }
    expect(await server.stop()).toEqual({ code: 0, signal: null });
  });

  test('however many signals come during a reload, one more follows', async () => {
    await writeZones('old');
    const server = await start();
    await writeZones('new', '192.0.2.2');
    // A reload takes some milliseconds: of a hundred signals, most come during one.
    for (let count = 0; count < 100; count++) {
      server.child.kill('SIGHUP');
      await sleep(0.001);
    }
    await writeZones('newest', '192.0.2.3');
    server.child.kill('SIGHUP');
    const isNewest = async () => (await ask('udp', server.ready, 'newest1.example')).answers.length === 1;
    expect(await until(isNewest, PATIENCE)).toBe(true);
    const count = reloads(server);
    await sleep(0.3);
    // And that of the newest zones, which are served before it is said.
    expect(reloads(server)).toBeLessThanOrEqual(count + 2);
  });

  test('an invalid or missing file changes nothing, and the message says what and where', async () => {
    await writeZones('old');
    const server = await start();
    await writeFile(file, '{"no":"zones"}\n');
    server.child.kill('SIGHUP');
    expect(await until(() => server.stderr.includes('[E_ZONES]'), PATIENCE)).toBe(true);
    expect(server.stderr).toContain('not reloaded');
    expect(server.stderr).toContain(file);
    await rm(file);
    server.child.kill('SIGHUP');
    expect(await until(() => server.stderr.includes('[E_UNREADABLE]'), PATIENCE)).toBe(true);
    expect(await addressAt(server, 'old1.example')).toEqual(['192.0.2.1']);
    await writeZones('new');
    server.child.kill('SIGHUP');
    expect(await until(() => reloads(server) === 1, PATIENCE)).toBe(true);
    expect(await addressAt(server, 'new1.example')).toEqual(['192.0.2.1']);
    const metrics = await (await fetch(`http://127.0.0.1:${server.ready.metricsPort}/metrics`)).text();
    expect(metrics).toContain('dinodns_reloads_total{outcome="succeeded"} 1\n');
    expect(metrics).toContain('dinodns_reloads_total{outcome="failed"} 2\n');
  });

  test('one that fails ends nothing if nobody reads standard error', async () => {
    await writeZones('old');
    const server = await start();
    server.child.stderr?.destroy();
    await writeFile(file, '{"no":"zones"}\n');
    server.child.kill('SIGHUP');
    const metrics = async () =>
      (await fetch(`http://127.0.0.1:${server.ready.metricsPort}/metrics`).catch(() => null))?.text();
    const hasFailed = async () => (await metrics())?.includes('{outcome="failed"} 1\n') === true;
    expect(await until(hasFailed, PATIENCE)).toBe(true);
    await writeZones('new');
    server.child.kill('SIGHUP');
    const isNew = async () => (await ask('udp', server.ready, 'new1.example')).answers.length === 1;
    expect(await until(isNew, PATIENCE)).toBe(true);
    expect(await server.stop()).toEqual({ code: 0, signal: null });
  });
});

test('a replacement worker serves what the others serve, not the new contents of the file', async () => {
  await writeZones('old');
  const server = await startServer([
    '--mode',
    'multi',
    '--workers',
    '2',
    '--zones-file',
    file,
    '--metrics-port',
    '0',
  ]);
  await writeZones('new');
  server.child.kill('SIGHUP');
  const isNew = async () => (await ask('udp', server.ready, 'new1.example')).answers.length === 1;
  expect(await until(isNew, PATIENCE)).toBe(true);
  await writeFile(file, 'nothing that could be served');
  for (const worker of childrenOf(server.pid)) {
    process.kill(worker, 'SIGKILL');
    const isReady = async () =>
      (await fetch(`http://127.0.0.1:${server.ready.metricsPort}/ready`)).status === 200;
    expect(await until(async () => !(await isReady()), PATIENCE)).toBe(true);
    expect(await until(isReady, PATIENCE)).toBe(true);
  }
  expect(await addressAt(server, 'new1.example')).toEqual(['192.0.2.1']);
  expect(await server.stop()).toEqual({ code: 0, signal: null });
});

test.each(['the copy of the zones', 'its directory'])(
  'a replacement worker, and a reload, do without %s',
  async (removed) => {
    await writeZones('old');
    const flags = ['--mode', 'multi', '--workers', '1', '--zones-file', file];
    const server = await startServer(flags, { wrapper: ['env', `TMPDIR=${directory}`] });
    const [copies = ''] = (await readdir(directory)).filter((name) => name.startsWith('dinodns-server-'));
    const isDirectory = removed === 'its directory';
    for (const name of await readdir(join(directory, copies))) await rm(join(directory, copies, name));
    if (isDirectory) await rm(join(directory, copies), { recursive: true });
    await writeFile(file, 'nothing that could be served');
    // The second one reads the file that was written for the first.
    for (let count = 0; count < 2; count++) {
      const [worker = -1] = childrenOf(server.pid);
      process.kill(worker, 'SIGKILL');
      expect(await until(() => childrenOf(server.pid).some((pid) => pid !== worker), PATIENCE)).toBe(true);
      const isServing = async () =>
        (await ask('udp', server.ready, 'old1.example').catch(() => undefined))?.answers.length === 1;
      expect(await until(isServing, PATIENCE)).toBe(true);
    }
    await writeZones('new');
    server.child.kill('SIGHUP');
    const isNew = async () => (await ask('udp', server.ready, 'new1.example')).answers.length === 1;
    expect(await until(isNew, PATIENCE)).toBe(true);
    expect(await server.stop()).toEqual({ code: 0, signal: null });
    expect((await readdir(directory)).filter((name) => name.startsWith('dinodns-server-'))).toEqual([]);
  },
);

test('reload() with zones reaches all workers of a program, and those that replace them', async () => {
  const server = await startServer([], { file: RELOADING });
  expect(await addressAt(server, 'www.example.org')).toEqual(['192.0.2.1']);
  server.child.kill('SIGUSR2');
  const isNew = async () => {
    const addresses = await addressAt(server, 'www.example.org');
    return addresses.length === 1 && addresses[0] === '192.0.2.2';
  };
  expect(await until(isNew, PATIENCE)).toBe(true);
  const [victim = -1] = childrenOf(server.pid);
  process.kill(victim, 'SIGKILL');
  const isReplaced = () => childrenOf(server.pid).length === 2 && !childrenOf(server.pid).includes(victim);
  expect(await until(isReplaced, PATIENCE)).toBe(true);
  const isServing = async () =>
    (await fetch(`http://127.0.0.1:${server.ready.metricsPort}/ready`)).status === 200;
  expect(await until(isServing, PATIENCE)).toBe(true);
  expect(await addressAt(server, 'www.example.org')).toEqual(['192.0.2.2']);
});

test.each([1, 2])('nothing is left behind after %i signals', async (signals) => {
  const copies = async () => (await readdir(tmpdir())).filter((name) => name.startsWith('dinodns-server-'));
  const before = await copies();
  await writeZones('old');
  const server = await startServer(['--mode', 'multi', '--workers', '1', '--zones-file', file]);
  expect((await copies()).length).toBeGreaterThan(before.length);
  for (const worker of signals === 1 ? [] : childrenOf(server.pid)) process.kill(worker, 'SIGSTOP');
  for (let count = 0; count < signals; count++) {
    server.child.kill('SIGTERM');
    await sleep(0.2);
  }
  await server.exited;
  expect((await copies()).length).toBe(before.length);
});

describe('the library', () => {
  const zonesOf = (address: string): { zones: () => readonly ZoneInput[] } => ({
    zones: () => [zone([record('www.example.org', 'A', address)])],
  });

  test('reload() accepts other zones or calls the loader again, and rejects with the reason', async () => {
    let address = '192.0.2.1';
    const server = createServer({ port: 0, zones: async () => zonesOf(address), logLevel: 'silent' });
    const ready = await server.start();
    const current = async () => (await ask('udp', ready, 'www.example.org')).answers[0];
    try {
      address = '192.0.2.2';
      await server.reload();
      expect(await current()).toMatchObject({ data: '192.0.2.2' });
      await server.reload(zonesOf('192.0.2.3'));
      expect(await current()).toMatchObject({ data: '192.0.2.3' });
      const wrong = server.reload(zonesOf('not an address'));
      await expect(wrong).rejects.toThrow(ServerError);
      await expect(wrong).rejects.toMatchObject({
        code: 'E_ZONES',
        message: expect.stringContaining('example.org'),
      });
      expect(await current()).toMatchObject({ data: '192.0.2.3' });
    } finally {
      await server.stop();
    }
  });

  test('concurrent calls run one after the other', async () => {
    const server = createServer({ port: 0, zones: zonesOf('192.0.2.1'), logLevel: 'silent' });
    const ready = await server.start();
    try {
      await Promise.all([2, 3, 4, 5].map((last) => server.reload(zonesOf(`192.0.2.${last}`))));
      expect((await ask('udp', ready, 'www.example.org')).answers).toMatchObject([{ data: '192.0.2.5' }]);
    } finally {
      await server.stop();
    }
  });

  test('the published framework reports that it cannot reload', async () => {
    const server = createServer({ port: 0, profile: 'stock', zones: zonesOf('192.0.2.1') });
    await expect(server.reload()).rejects.toMatchObject({ code: 'E_UNSUPPORTED' });
  });
});
