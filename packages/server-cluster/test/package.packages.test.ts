/** The package as npm users get it: packed, installed in an empty directory, run from there. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { ask } from './support/client.ts';
import { killAll, startServer } from './support/server-process.ts';

// What npm installs runs as it was built, not as this workspace runs it.
delete process.env.NODE_OPTIONS;

const run = promisify(execFile);
const PACKAGES = fileURLToPath(new URL('../../', import.meta.url));
const PNPM = ['-y', 'pnpm@10'];

const directories: string[] = [];
afterAll(async () => {
  await killAll();
  for (const directory of directories) await rm(directory, { recursive: true });
});

async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'server-cluster-package-'));
  directories.push(directory);
  return directory;
}

/** Every program of the README. */
function programs(readme: string): string[] {
  return [...readme.matchAll(/```ts\n([\s\S]+?)```/g)].map(([, text = '']) => text);
}

test('an installed tarball serves zones, as a program and as a library', { timeout: 600_000 }, async () => {
  const tarballs = await temporaryDirectory();
  for (const name of ['program', 'wire', 'zones', 'batched-udp', 'server-cluster']) {
    await run('npx', [...PNPM, 'pack', '--pack-destination', tarballs], { cwd: join(PACKAGES, name) });
  }
  const directory = await temporaryDirectory();
  const files = (await readdir(tarballs)).map((file) => join(tarballs, file));
  expect(files).toHaveLength(5);
  await writeFile(join(directory, 'package.json'), '{"private":true,"type":"module"}');
  await run('npm', ['install', '--no-audit', '--no-fund', ...files], { cwd: directory });

  const installed = join(directory, 'node_modules/@dinodns-bench/server-cluster');
  const manifest = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
  expect(manifest.engines).toEqual({ node: '>=22.12' });
  expect(Object.keys(manifest.bin)).toEqual(['dinodns-server']);

  const command = join(directory, 'node_modules/.bin/dinodns-server');
  const server = await startServer(['--port', '0', '--mode', 'multi', '--workers', '2'], { file: command });
  expect((await ask('udp', server.ready, 'example1.com')).answers).toHaveLength(1);
  expect((await server.stop()).code).toBe(0);

  const readme = await readFile(join(installed, 'README.md'), 'utf8');
  const program = join(directory, 'server.js');
  await writeFile(program, programs(readme).find((text) => text.includes('time.example.org')) ?? '');
  const own = await startServer([], { file: program });
  expect((await ask('udp', own.ready, 'www.example.org')).answers).toHaveLength(1);
  expect((await own.stop()).code).toBe(0);
});
