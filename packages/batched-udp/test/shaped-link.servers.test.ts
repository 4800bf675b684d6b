/** Back-pressure of a real kernel: a link slower than the server, between two network namespaces made for it. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { fileNeeds, namespaceName } from '@dinodns-bench/test-support';
import { afterAll, beforeAll, expect } from 'vitest';

const { it } = fileNeeds('ip', 'tc', 'root');

const run = promisify(execFile);
const program = fileURLToPath(new URL('support/shaped.ts', import.meta.url));
const [a, b] = [namespaceName('a'), namespaceName('b')];

const ip = (...args: string[]) => run('ip', args);

/** Two namespaces and a link of 20 Mbit/s from the first to the second. */
beforeAll(async () => {
  await ip('netns', 'add', a);
  await ip('netns', 'add', b);
  await ip('link', 'add', 'shaped', 'netns', a, 'type', 'veth', 'peer', 'name', 'peer', 'netns', b);
  await ip('-n', a, 'addr', 'add', '10.99.0.1/24', 'dev', 'shaped');
  await ip('-n', b, 'addr', 'add', '10.99.0.2/24', 'dev', 'peer');
  await ip('-n', a, 'link', 'set', 'shaped', 'up');
  await ip('-n', b, 'link', 'set', 'peer', 'up');
  const rate = ['rate', '20mbit', 'burst', '4kb', 'latency', '5s'];
  await ip('netns', 'exec', a, 'tc', 'qdisc', 'add', 'dev', 'shaped', 'root', 'tbf', ...rate);
});
afterAll(async () => {
  for (const name of [a, b]) await ip('netns', 'del', name);
});

it('answers all in order over a link slower than it is', async () => {
  const server = spawn('ip', ['netns', 'exec', a, process.execPath, program, 'serve'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  try {
    await once(server.stdout, 'data');
    const { stdout } = await ip('netns', 'exec', b, process.execPath, program, 'ask');
    expect(JSON.parse(stdout)).toEqual({ answers: 600, inOrder: true });
    server.stdin.write('stop\n');
    const [line] = await once(server.stdout, 'data');
    const result = JSON.parse(String(line));
    expect(result).toMatchObject({ received: 600, sent: 600, sendErrors: 0 });
    // 600 answers of 500 bytes through a buffer of 20 kB: the kernel had no room many times.
    expect(result.calls).toBeGreaterThan(600 / 16);
  } finally {
    server.kill('SIGKILL');
  }
});
