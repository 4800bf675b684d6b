/** `dinodns-cluster` as a program. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { controlsOver } from '../src/index.ts';
import { ask } from './support/dns.ts';

const run = promisify(execFile);
const PROGRAM = fileURLToPath(new URL('../src/cli.ts', import.meta.url));
const cluster = (...args: string[]) => run(process.execPath, [PROGRAM, ...args], { maxBuffer: 2 ** 26 });
const failure = (...args: string[]) =>
  cluster(...args).then(
    () => ({ code: 0, stderr: '' }),
    (error: { code: number; stderr: string }) => error,
  );

const running: ChildProcess[] = [];
afterEach(async () => {
  for (const child of running.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});

async function start(
  ...args: string[]
): Promise<{ child: ChildProcess; ready: { port: number; url: string; pid: number } }> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  running.push(child);
  for await (const line of createInterface(child.stdout)) return { child, ready: JSON.parse(line) };
  throw new Error('it ended before it was ready');
}

describe('api', () => {
  it('says when it is ready, serves, and ends on SIGTERM with 0', async () => {
    const { child, ready } = await start('api', '--services', '30', '--pods', '60', '--churn', '50');
    expect(ready).toMatchObject({ ready: true, address: '127.0.0.1', pid: child.pid });
    const controls = controlsOver(async (method, path) => (await fetch(ready.url + path, { method })).text());
    expect((await controls.status()).objects).toMatchObject({ services: 30, pods: 60 });
    await expect.poll(async () => (await controls.changesAfter(0)).length).toBeGreaterThan(5);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
});

/** What belongs to it alone, and its part of what it shares with others. */
async function ownMegabytes(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Number(/^Pss:\s+(\d+) kB$/m.exec(rollup)?.[1]) / 1000;
}

// 158,200 objects take no more, and three times as long.
it('the API server stays below 100 MB while all of 52,000 objects are read, and read again', async () => {
  const { ready } = await start('api', '--services', '2000', '--pods', '50000');
  const accept = 'application/vnd.kubernetes.protobuf';
  const read = async (path: string) => {
    const response = await fetch(`${ready.url}${path}`, { headers: { accept } });
    let bytes = 0;
    for await (const chunk of response.body ?? []) bytes += chunk.length;
    return bytes;
  };
  const whole = '?resourceVersion=0';
  const streamed = '?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&timeoutSeconds=1';
  expect(await read(`/api/v1/pods${whole}`)).toBeGreaterThan(35e6);
  await fetch(`${ready.url}/control/expire`, { method: 'POST' });
  const lists = ['/api/v1/services', '/apis/discovery.k8s.io/v1/endpointslices'];
  await Promise.all([`/api/v1/pods${streamed}`, ...lists.map((path) => path + whole)].map(read));
  expect(await ownMegabytes(ready.pid)).toBeLessThan(100);
}, 120_000);

it('with --with-parent a server ends when the process that started it is gone, however that ended', async () => {
  const program = JSON.stringify([PROGRAM, 'upstream', '--with-parent']);
  const script = `const { spawn } = require('node:child_process');
    spawn(process.execPath, ${program}, { stdio: ['ignore', 'inherit', 'inherit'] }); setInterval(() => 0, 1000);`;
  const parent = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  running.push(parent);
  for await (const line of createInterface(parent.stdout)) {
    const { pid } = JSON.parse(line);
    parent.kill('SIGKILL');
    // Signal 0 only asks whether the process exists.
    await expect.poll(() => exists(pid)).toBe(false);
    return;
  }
  throw new Error('nothing was ready');
});

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('upstream', () => {
  it('says when it is ready, answers, and ends on SIGINT with 0', async () => {
    const { child, ready } = await start('upstream', '--delay', '1', '--names', '10');
    expect(await ask(ready.port, { name: 'www9.example.org', type: 'A' })).toMatchObject({
      rcode: 'NOERROR',
    });
    expect(await ask(ready.port, { name: 'www10.example.org', type: 'A' })).toMatchObject({
      rcode: 'NXDOMAIN',
    });
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
});

describe('queries', () => {
  it('prints the internal workload as a query file, and with the answers as JSON', async () => {
    const flags = ['queries', 'internal', '--count', '200', '--services', '50', '--pods', '100'];
    const lines = (await cluster(...flags)).stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(200);
    for (const line of lines) expect(line).toMatch(/^\S+ (?:A|AAAA|SRV|PTR)$/);
    const count = (type: string) => lines.filter((line) => line.endsWith(` ${type}`)).length;
    expect([count('A'), count('AAAA'), count('SRV'), count('PTR')]).toEqual([128, 50, 10, 12]);
    const json = (await cluster(...flags, '--json')).stdout.trimEnd().split('\n');
    expect(json.map((line) => JSON.parse(line)).map(({ name, type }) => `${name} ${type}`)).toEqual(lines);
  });

  it('prints the external workload', async () => {
    const { stdout } = await cluster(
      'queries',
      'external',
      '--count',
      '3',
      '--external-domain',
      'example.net',
    );
    expect(stdout).toBe('www0.example.net A\nwww1.example.net A\nwww2.example.net A\n');
  });
});

it('objects prints what an API server would have', async () => {
  const { stdout } = await cluster('objects', 'endpointslices', '--services', '3', '--pods', '9');
  const slices = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(slices.map(({ kind, endpoints }) => [kind, endpoints.length])).toEqual(
    Array(3).fill(['EndpointSlice', 3]),
  );
});

it.each([
  [['api', '--services', 'many'], 'services cannot be "many"'],
  [['api', '--port', '70000'], '--port cannot be "70000"'],
  [['api', '--churn', '-1'], '--churn cannot be "-1"'],
  [['upstream', '--delay', 'long'], '--delay cannot be "long"'],
  [['corefile', '--pods', 'verfied'], 'did you mean verified?'],
  [['queries', 'intern'], 'did you mean internal?'],
  [['queries', 'internal', '--services', '0', '--pods', '0'], 'has no names for this mix'],
  [['objects', 'secrets'], '<resource> cannot be "secrets"'],
  [['serve'], "unknown command 'serve'"],
])('%j is refused with status 2', async (args, message) => {
  const { code, stderr } = await failure(...args);
  expect(stderr).toContain(message);
  expect(stderr).toContain('fix: ');
  expect(code).toBe(2);
});
