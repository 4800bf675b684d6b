/** The command line program: readiness, flags, errors, stopping. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { reportError } from '@dinodns-bench/program';
import { defineZoneSet, findFormat } from '@dinodns-bench/zones';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseCommandLine } from '../src/command-line.ts';
import { STOP_SECONDS, createServer as serverWith } from '../src/index.ts';
import { ask, framed, query, RCODE, TcpClient, TRANSPORTS } from './support/client.ts';
import {
  CLI,
  freePort,
  killAll,
  run,
  runToEnd,
  sleep,
  startServer,
  until,
} from './support/server-process.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'server-cluster-'));
});
afterEach(async () => {
  await killAll();
  await rm(directory, { recursive: true });
});

test('the first line on standard output says where the server answers, and it is the only one', async () => {
  const server = await startServer();
  const { port, ...rest } = server.ready;
  expect(rest).toEqual({
    ready: true,
    address: '127.0.0.1',
    addresses: ['127.0.0.1'],
    pid: server.pid,
    workers: 1,
    udpBackend: expect.stringMatching(/^(native|dgram)$/),
  });
  expect(port).toBeGreaterThan(0);
  await ask('udp', server.ready, 'example1.com');
  expect(await server.stop()).toEqual({ code: 0, signal: null });
  expect(server.stdout.trimEnd().split('\n')).toHaveLength(1);
  expect(server.stderr).toBe('');
});

test.each([
  ['::1', ['::1']],
  ['::', ['::1', '127.0.0.1']],
  ['0.0.0.0', ['127.0.0.1']],
])('--address %s is reachable over every transport', async (address, reachableAt) => {
  const { ready } = await startServer(['--address', address]);
  expect(ready.address).toBe(address);
  for (const client of reachableAt) {
    for (const transport of TRANSPORTS) {
      const reply = await ask(transport, { address: client, port: ready.port }, 'example1.com');
      expect(reply.answers).toHaveLength(1);
    }
  }
});

test('a plain server loads neither TLS nor HTTP, which the framework has as well', async () => {
  const tell = "process.on('exit', () => process.stderr.write(process.moduleLoadList.join()))";
  const options = `${process.env.NODE_OPTIONS} --import data:text/javascript,${encodeURIComponent(tell)}`;
  const server = await startServer([], { wrapper: ['env', `NODE_OPTIONS=${options}`] });
  await server.stop();
  const loaded = server.stderr.split(',');
  expect(loaded).toContain('NativeModule net');
  for (const name of ['tls', 'http', 'http2']) expect(loaded).not.toContain(`NativeModule ${name}`);
});

test('several addresses are served on one port, with as many zones as --zones says', async () => {
  const args = ['--address', '127.0.0.1', '--address', '::1', '127.0.0.2', '--zones', '3'];
  const { ready } = await startServer(args);
  expect(ready.addresses).toEqual(['127.0.0.1', '::1', '127.0.0.2']);
  for (const address of ready.addresses) {
    expect((await ask('tcp', { address, port: ready.port }, 'example1.com')).answers).toHaveLength(1);
  }
  expect((await ask('udp', ready, 'example5.com')).rcode).toBe(RCODE.NOERROR);
  expect((await ask('udp', ready, 'example7.com')).rcode).toBe(RCODE.REFUSED);
});

test.each(['dinodns', 'stock'])('--zones-file serves a generated file with profile %s', async (profile) => {
  const file = join(directory, 'zones.ndjson');
  const zoneSet = defineZoneSet({
    pattern: 'zone{X}.example',
    records: ['300 A 192.0.2.1', 'MX 10 mail.example.net'],
  });
  const [rendered] = findFormat('dinodns-json').render(zoneSet);
  if (rendered === undefined) throw new Error('nothing rendered');
  await pipeline(Readable.from(rendered.chunks), createWriteStream(file));
  const { ready } = await startServer(['--zones-file', file, '--profile', profile]);
  expect((await ask('udp', ready, 'zone1.example')).answers).toMatchObject([{ data: '192.0.2.1' }]);
  expect((await ask('udp', ready, 'zone1.example', 'MX')).answers).toMatchObject([
    { data: { preference: 10, exchange: 'mail.example.net' } },
  ]);
});

test('--help documents every exit status', async () => {
  const { code, stdout, stderr } = await runToEnd(['--help']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  for (const text of ['--profile', '--zones-file', 'Exit status', '130']) expect(stdout).toContain(text);
});

test('--version names the package, the framework and the runtime', async () => {
  const manifest = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));
  expect(await runToEnd(['--version'])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(new RegExp(`^${manifest.version}\\b`)),
  });
});

test.each([
  [['--profile', 'fast'], 'fast'],
  [['--mode', 'many'], 'many'],
  [['--port', '65536'], '65536'],
  [['--port', '53x'], '53x'],
  [['--address', 'localhost'], 'localhost'],
  [['--workers', '2'], '--mode multi'],
  [['--mode', 'multi', '--workers', '0'], 'workers'],
  [['--gather', '1001'], 'gather'],
  [['--profile', 'stock', '--gather', '50'], 'gather'],
  [['--busy-poll', '1000001'], '--busy-poll cannot be 1000001'],
  [['--profile', 'stock', '--busy-poll', '50'], 'look for queries'],
  [['--zones', '0'], '--zones 0'],
  [['--zones', '5', '--zones-file', 'zones.ndjson'], '--zones-file'],
  [['--profile', 'stock', '--mode', 'multi', '--workers', '2'], 'os.cpus().length'],
  [['--profile', 'stock', '--address', '::1'], 'IPv4'],
  [['--unknown'], '--unknown'],
  [['argument'], 'argument'],
])('%j is refused with status 2 and a message', async (args, message) => {
  let said = '';
  const stderr = { write: (text: string) => (said += text) };
  const status = await parseCommandLine(args)
    .then((options) => serverWith(options ?? {}))
    .catch((error: unknown) => reportError(error, 'dinodns-server', { stderr }));
  expect(status).toBe(2);
  expect(said).toContain(message);
  expect(said).toMatch(/^error \[E_(USAGE|UNSUPPORTED)\]: .*\n(.*\n)* {2}fix: .+\n$/);
});

test.each([
  [['--unknown'], 'E_USAGE'],
  [['--profile', 'stock', '--address', '::1'], 'E_UNSUPPORTED'],
])('that of %j ends the program with that status, and is on standard error', async (args, error) => {
  const { code, stdout, stderr } = await runToEnd(args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(`error [${error}]: `);
});

test('a missing or damaged zones file is refused by name', async () => {
  const file = join(directory, 'zones.ndjson');
  expect(await runToEnd(['--zones-file', file])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining(file),
  });
  await writeFile(file, '{"no":"zones"}\n');
  const { code, stderr } = await runToEnd(['--zones-file', file]);
  expect(code).toBe(2);
  expect(stderr).toContain(file);
  expect(stderr).toContain('E_ZONES');
});

const PROFILES_AND_MODES = [
  ['dinodns', 'single'],
  ['dinodns', 'multi'],
  ['stock', 'single'],
  ['stock', 'multi'],
] as const;
const onPort = (profile: string, mode: string, port: number) => [
  '--profile',
  profile,
  '--mode',
  mode,
  '--port',
  String(port),
];

describe.each(PROFILES_AND_MODES)('profile %s in mode %s', (profile, mode) => {
  test('refuses a port that is in use over UDP, with status 3 and the fix', async () => {
    const socket = createSocket({ type: 'udp4', reusePort: true });
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    const { port } = socket.address();
    const { code, stdout, stderr } = await runToEnd(onPort(profile, mode, port));
    socket.close();
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toContain(`[E_PORT_TAKEN]: 127.0.0.1:${port} is already in use.`);
    expect(stderr).toContain('--port');
  });

  test('refuses a port that is in use over TCP', async () => {
    const blocker = createServer().listen(0, '127.0.0.1');
    await once(blocker, 'listening');
    const address = blocker.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    expect(await runToEnd(onPort(profile, mode, port))).toMatchObject({ code: 3, stdout: '' });
    blocker.close();
  });
});

test('every profile and mode refuses the port of another dinodns-server, which keeps running', async () => {
  const { ready } = await startServer(['--mode', 'multi', '--workers', '2']);
  for (const [profile, mode] of PROFILES_AND_MODES) {
    expect(await runToEnd(onPort(profile, mode, ready.port))).toMatchObject({ code: 3, stdout: '' });
    expect((await ask('udp', ready, 'example1.com')).rcode).toBe(RCODE.NOERROR);
  }
});

test('an address that does not belong to this machine is refused with status 3', async () => {
  const { code, stderr } = await runToEnd(['--address', '192.0.2.1']);
  expect(code).toBe(3);
  expect(stderr).toContain('E_ADDRESS');
});

test('SIGINT ends the server with status 0', async () => {
  const server = await startServer();
  server.child.kill('SIGINT');
  expect(await server.exited).toEqual({ code: 0, signal: null });
});

test('a query in flight when the server stops is answered', async () => {
  const server = await startServer();
  const client = new TcpClient(server.ready);
  client.socket.write(framed(query('example1.com')));
  await client.receive(1);
  const socket = createSocket('udp4');
  const replies: Buffer[] = [];
  socket.on('message', (message) => replies.push(message));
  for (let count = 0; count < 50; count++) socket.send(query('example1.com'), server.ready.port, '127.0.0.1');
  await sleep(0.002);
  server.child.kill('SIGTERM');
  expect(await server.exited).toEqual({ code: 0, signal: null });
  expect(await until(() => replies.length === 50, 20)).toBe(true);
  socket.close();
  expect(client.ended).toBe(true);
});

test.each(['single', 'multi'])('a signal before it is ready ends mode %s with status 0', async (mode) => {
  const metricsPort = await freePort();
  const zones = ['--zones', '1000000', '--metrics-port', String(metricsPort)];
  const program = run(CLI, ['--port', '0', '--mode', mode, ...zones]);
  // The endpoint is there before the zones are.
  const status = async () => (await fetch(`http://127.0.0.1:${metricsPort}/ready`).catch(() => null))?.status;
  expect(await until(async () => (await status()) === 503, 50)).toBe(true);
  expect(program.stdout).toBe('');
  program.child.kill('SIGTERM');
  expect(await program.exited).toEqual({ code: 0, signal: null });
  expect({ stdout: program.stdout, stderr: program.stderr }).toEqual({ stdout: '', stderr: '' });
});

test('an idle connection does not keep the server from stopping', async () => {
  const server = await startServer();
  const client = new TcpClient(server.ready);
  await once(client.socket, 'connect');
  const start = performance.now();
  expect(await server.stop()).toEqual({ code: 0, signal: null });
  // Connections with a query under way have until then.
  expect(performance.now() - start).toBeLessThan(0.9 * STOP_SECONDS * 1000);
});
