/** The package as a stranger gets it: packed, installed with npm outside of the workspace, used. */
import { execFile } from 'node:child_process';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { formats } from '../src/index.ts';
import { temporaryDirectory } from './support/servers.ts';

// What npm installs runs as it was built, not as this workspace runs it.
delete process.env.NODE_OPTIONS;

const run = promisify(execFile);
const packagesDirectory = fileURLToPath(new URL('../..', import.meta.url));
const workspaceBin = fileURLToPath(new URL('../../../node_modules/.bin', import.meta.url));
// The workspace's Node.js and TypeScript, whatever the host has.
const env = {
  ...process.env,
  PATH: [workspaceBin, dirname(process.execPath), process.env.PATH].join(delimiter),
};

/** pnpm as it runs this test, or the one that the README names. */
function pnpm(...args: string[]): [string, string[]] {
  const running = process.env.npm_execpath;
  return running?.includes('pnpm')
    ? [process.execPath, [running, ...args]]
    : ['npx', ['-y', 'pnpm@10', ...args]];
}

let directory: string;
let project: string;

beforeAll(async () => {
  directory = await temporaryDirectory();
  project = join(directory, 'project');
  await mkdir(project);
  for (const name of ['program', 'wire', 'zones']) {
    await run(...pnpm('pack', '--pack-destination', directory), { cwd: join(packagesDirectory, name), env });
  }
  const tarballs = (await readdir(directory)).filter((name) => name.endsWith('.tgz'));
  await writeFile(join(project, 'package.json'), '{ "private": true, "type": "module" }');
  const files = tarballs.map((name) => join(directory, name));
  await run('npm', ['install', '--no-audit', '--no-fund', ...files], { cwd: project, env });
});

afterAll(() => rm(directory, { recursive: true, force: true }));

it('runs as dinodns-zones', async () => {
  const { stdout } = await run('npx', ['--no-install', 'dinodns-zones', 'list-formats', '--json'], {
    cwd: project,
    env,
  });
  expect(JSON.parse(stdout).map(({ name }: { name: string }) => name)).toEqual(
    formats.map(({ name }) => name),
  );
});

it('is a library', async () => {
  const program = `
    import { defineZoneSet, findFormat } from '@dinodns-bench/zones';
    const [file] = findFormat('hosts').render(defineZoneSet({ to: 3 }));
    console.log([...file.chunks].join(''));`;
  await writeFile(join(project, 'use.js'), program);
  const { stdout } = await run(process.execPath, ['use.js'], { cwd: project, env });
  expect(stdout).toContain('127.0.0.1 example1.com\n127.0.0.1 example3.com\n');
});

it('brings types that a strict program compiles against', async () => {
  const program = (port: string) => `
    import { defineZoneSet, findFormat, type Lookup } from '@dinodns-bench/zones';
    const zoneSet = defineZoneSet({ records: ['A 192.0.2.1', { type: 'MX', data: { preference: 10, exchange: 'mail.example.net' } }] });
    const lookup: Lookup = zoneSet.lookup('example1.com', 'A');
    for (const file of findFormat('nsd').render(zoneSet, { port: ${port} })) for (const chunk of file.chunks) chunk.trim();
    if (lookup.kind === 'answer') lookup.records.map((record) => (record.type === 'MX' ? record.data.exchange : record.name));`;
  await writeFile(join(project, 'good.ts'), program('5300'));
  await writeFile(join(project, 'bad.ts'), program('"5300"'));
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024', '--types', ''];
  const compile = (file: string) => run(join(workspaceBin, 'tsc'), [...options, file], { cwd: project, env });
  await compile('good.ts');
  await expect(compile('bad.ts')).rejects.toMatchObject({ stdout: expect.stringContaining('bad.ts') });
});
