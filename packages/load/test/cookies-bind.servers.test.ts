/** DNS cookies (RFC 7873): BIND requires its cookie, and every socket returns it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { needs, pathOf } from '@dinodns-bench/test-support';
import { expect, it, onTestFinished } from 'vitest';
import { cannon } from '../src/index.ts';

async function freePort(): Promise<number> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  socket.close();
  return port;
}

async function answers(port: number): Promise<boolean> {
  const run = cannon({
    server: `127.0.0.1:${port}`,
    workload: { kind: 'names', names: ['example.test'] },
    maxQueries: 1,
    timeoutSeconds: 0.2,
  });
  return (await run.result).counts.answered > 0;
}

/** BIND with a zone example.test that answers UDP queries with BADCOOKIE unless they have its cookie. */
async function startBind(): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'load-cookies-'));
  const port = await freePort();
  writeFileSync(
    join(directory, 'example.test.zone'),
    '$TTL 60\n@ SOA ns hostmaster 1 60 60 60 60\n@ NS ns\nns A 127.0.0.1\n@ A 192.0.2.1\n',
  );
  writeFileSync(
    join(directory, 'named.conf'),
    `options {
      directory "${directory}"; listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };
      recursion no; pid-file none; session-keyfile none; require-server-cookie yes;
    };
    controls { };
    zone "example.test" { type primary; file "example.test.zone"; };\n`,
  );
  const child: ChildProcess = spawn(pathOf('named'), ['-g', '-n', '1', '-c', join(directory, 'named.conf')], {
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(directory, { recursive: true });
  });
  for (let tries = 0; tries < 200 && child.exitCode === null; tries++) if (await answers(port)) return port;
  throw new Error('named does not answer');
}

it('returns the cookies of BIND, which otherwise answers BADCOOKIE', needs('named'), async () => {
  const port = await startBind();
  const run = (message: object) =>
    cannon({
      server: `127.0.0.1:${port}`,
      workload: { kind: 'names', names: ['example.test'] },
      message,
      clients: 3,
      maxQueries: 600,
      load: { kind: 'closed', outstanding: 6 },
    }).result;
  const without = await run({ ednsSize: 1232, options: ['10:0123456789abcdef'] });
  expect(without.codes).toEqual({ BADCOOKIE: 600 });
  const { codes, counts } = await run({ cookie: 'random', nsid: true });
  expect(counts).toMatchObject({ answered: 600, mismatched: 0, malformed: 0 });
  // Only queries sent before the first answer reached their socket.
  expect(codes.BADCOOKIE).toBeGreaterThan(0);
  expect(codes.BADCOOKIE).toBeLessThanOrEqual(3 * 16);
  expect(codes.NOERROR).toBe(600 - (codes.BADCOOKIE ?? 0));
});
