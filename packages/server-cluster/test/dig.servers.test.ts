/** dig, the truncated answer and the cookie. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { needs } from '@dinodns-bench/test-support';
import { afterEach, expect, test } from 'vitest';
import { largeZone } from './support/large-zone.ts';
import { killAll, startServer } from './support/server-process.ts';

const execute = promisify(execFile);
afterEach(killAll);

test('dig retries over TCP after a truncated UDP answer', needs('dig'), async () => {
  const server = await startServer(['--zones-file', await largeZone()]);
  const ask = (...args: string[]) =>
    execute('dig', ['@127.0.0.1', '-p', String(server.ready.port), 'big1.example', 'A', ...args]);
  const retried = await ask();
  expect(retried.stdout).toContain('Truncated, retrying in TCP mode');
  expect(retried.stdout).toContain('ANSWER: 100');
  const ignored = await ask('+ignore', '+noedns');
  expect(ignored.stdout).toMatch(/flags:.* tc/);
  expect(ignored.stdout).toContain('ANSWER: 0');
});

test('dig takes the cookie of a server for good', needs('dig'), async () => {
  const server = await startServer([]);
  const args = [
    '@127.0.0.1',
    '-p',
    String(server.ready.port),
    'example1.com',
    'A',
    '+cookie=2464c4abcf10c957',
  ];
  for (const transport of ['+notcp', '+tcp']) {
    expect((await execute('dig', [...args, transport])).stdout).toMatch(
      /COOKIE: 2464c4abcf10c957[0-9a-f]{32} \(good\)/,
    );
  }
});
