/** The echo servers, the package's and the C one, as `bench` starts them. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { collector, open } from './support/sockets.ts';

const run = promisify(execFile);
const program = fileURLToPath(new URL('../src/udp-echo.ts', import.meta.url));
const source = fileURLToPath(new URL('../../../benchmarks/udp-echo/udp-echo.c', import.meta.url));

const children: ChildProcess[] = [];
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'udp-echo-'));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function start(command: string, ...args: string[]) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const [line] = await once(child.stdout, 'data');
  return {
    child,
    ready: JSON.parse(String(line)) as { ready: boolean; address: string; port: number; pid: number },
  };
}

async function behavesAsEcho(command: string, ...args: string[]): Promise<void> {
  const { child, ready } = await start(command, ...args, '--address', '127.0.0.1', '--port', '0');
  expect(ready).toMatchObject({ ready: true, address: '127.0.0.1', pid: child.pid });
  const { received, onBatch } = collector();
  const client = await open({ connect: { address: '127.0.0.1', port: ready.port }, onBatch });
  const query = Uint8Array.of(0x12, 0x34, 0x01, 0x00, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0x61, 0, 0, 1, 0, 1);
  client.queue(query);
  await expect.poll(() => received.length).toBe(1);
  const response = query.slice();
  response[2] = 0x81;
  expect([...(received[0]?.bytes ?? [])]).toEqual([...response]);
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
}

it.each(['native', 'dgram'])('is a program of this package, over %s', (backend) =>
  behavesAsEcho(process.execPath, program, '--backend', backend),
);

it('says what is wrong with its arguments, with status 2', async () => {
  const wrong = (...args: string[]) => run(process.execPath, [program, ...args]);
  await expect(wrong('--port', 'http')).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /^error \[ERR_UDP_OPTION\]: local port NaN is not an integer from 0 to 65535\n {2}fix: /,
    ),
  });
  await expect(wrong('--speed', '9')).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining("'--speed'"),
  });
});

const compiler = await run('cc', ['--version']).then(
  () => true,
  () => false,
);

it(`is a C program for comparison${compiler ? '' : ', not tried here for want of a C compiler'}`, async () => {
  if (!compiler) return;
  const binary = join(directory, 'udp-echo');
  await run('cc', ['-O2', '-Wall', '-Wextra', '-Werror', '-o', binary, source]);
  await behavesAsEcho(binary);
  await expect(run(binary, ['--batch', '0'])).rejects.toMatchObject({ code: 2 });
});
