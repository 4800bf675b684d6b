/** Every command of docs/your-own-server.md, as it is shown but for the ports and the time. */
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileNeeds } from '@dinodns-bench/test-support';
import { afterEach, beforeEach, expect } from 'vitest';
import { type TestWorld, testWorld } from './support/test-world.ts';
import { startUdpServer, type UdpServer } from './support/udp-server.ts';

const { describe, it } = fileNeeds('coredns');

const ROOT = resolve(import.meta.dirname, '../../..');
const page = await readFile(join(ROOT, 'docs/your-own-server.md'), 'utf8');
const commands = [...page.matchAll(/^```sh\n([\s\S]*?)^```/gm)].flatMap(([, block = '']) =>
  block.trim().split('\n'),
);

const SHORT = ['--duration', '1', '--warmup', '0', '--trials', '1', '--loader', 'builtin', '--rate', '200'];

let world: TestWorld;
let servers: UdpServer[];
beforeEach(async () => {
  world = await testWorld();
  servers = await Promise.all([startUdpServer(), startUdpServer(), startUdpServer()]);
});
afterEach(async () => {
  for (const server of servers) server.close();
  await world.remove();
});

describe('docs/your-own-server.md', () => {
  it('has commands', () => {
    expect(commands).toHaveLength(4);
  });

  it.each(commands)('%s', { timeout: 60_000 }, async (command) => {
    await writeFile(
      join(world.directory, 'my-names.txt'),
      'example1.com A\nexample7.com A\nwww.example.org A\n',
    );
    const words = command
      .replace('examples/', `${ROOT}/examples/`)
      .replaceAll(/127\.0\.0\.1:530(\d)/g, (_, digit) => `127.0.0.1:${servers[Number(digit)]?.port}`)
      .split(' ')
      .filter((word) => word !== '');
    expect(words.slice(0, 2)).toEqual(['pnpm', 'bench']);
    const flags = words[2] === 'run' ? SHORT : [];
    expect(await world.bench(...words.slice(2), ...flags), world.err()).toBe(0);
    expect(world.out()).toMatch(
      words[2] === 'run' ? /Complete: \d trials? of|Complete: \d of \d/ : /correctly over udp/,
    );
  });
});
