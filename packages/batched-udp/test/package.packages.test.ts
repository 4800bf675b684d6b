/** The package as a stranger gets it: packed, installed with npm outside of the workspace, used. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';

// What npm installs runs as it was built, not as this workspace runs it.
delete process.env.NODE_OPTIONS;

const run = promisify(execFile);
const packageDirectory = fileURLToPath(new URL('..', import.meta.url));
const workspaceBin = fileURLToPath(new URL('../../../node_modules/.bin', import.meta.url));
// The workspace's Node.js and TypeScript, whatever the host has.
// Without NODE_PATH, in which pnpm's launchers offer everything of the workspace.
const { NODE_PATH: _, ...variables } = process.env;
const env = {
  ...variables,
  PATH: [workspaceBin, dirname(process.execPath), process.env.PATH].join(delimiter),
};

/** pnpm as it runs this test, or the one that the README names. */
function pnpm(...args: string[]): [string, string[]] {
  const running = process.env.npm_execpath;
  return running?.includes('pnpm')
    ? [process.execPath, [running, ...args]]
    : ['npx', ['-y', 'pnpm@10', ...args]];
}

const program = `
  import { openUdpSocket } from '@dinodns-bench/batched-udp';
  const done = Promise.withResolvers();
  const server = await openUdpSocket({
    address: '127.0.0.1',
    onBatch: (batch) => { for (let i = 0; i < batch.count; i++) batch.reply(i, batch.lengths[i]); },
  });
  const client = await openUdpSocket({ connect: server.local, onBatch: (batch) => done.resolve(batch.count) });
  client.queue(new TextEncoder().encode('hello'));
  await done.promise;
  console.log(JSON.stringify({ backend: server.backend, reason: server.reason }));
  await Promise.all([server.close(), client.close()]);
`;

let directory: string;
let tarballs: string[];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'batched-udp-package-'));
  for (const cwd of [packageDirectory, join(packageDirectory, '../program')]) {
    await run(...pnpm('pack', '--pack-destination', directory), { cwd, env });
  }
  const packed = (await readdir(directory)).filter((name) => name.endsWith('.tgz'));
  tarballs = packed.map((name) => join(directory, name));
});

afterAll(() => rm(directory, { recursive: true, force: true }));

async function install(name: string): Promise<string> {
  const project = join(directory, name);
  await mkdir(project);
  await writeFile(join(project, 'package.json'), '{ "private": true, "type": "module" }');
  await writeFile(join(project, 'use.js'), program);
  // Without scripts nothing can be compiled: what runs is what came from the registry.
  await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...tarballs], {
    cwd: project,
    env,
  });
  return project;
}

const use = async (project: string, more: object = {}) => {
  const { stdout } = await run(process.execPath, ['use.js'], { cwd: project, env: { ...env, ...more } });
  return JSON.parse(stdout);
};

const native = process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch);

it('installs and runs without a compiler, with types, and natively where it can', async () => {
  const project = await install('plain');
  expect(await use(project)).toMatchObject({ backend: native ? 'native' : 'dgram' });
  expect(await use(project, { DINODNS_UDP_BACKEND: 'dgram' })).toEqual({
    backend: 'dgram',
    reason: 'DINODNS_UDP_BACKEND requests dgram',
  });
  await expect(use(project, { DINODNS_UDP_BACKEND: 'io_uring' })).rejects.toMatchObject({
    stderr: expect.stringContaining('DINODNS_UDP_BACKEND is "io_uring": it may be auto, native, dgram'),
  });

  const source = (batchSize: string) => `
    import { openUdpSocket, type Batch, type UdpSocket } from '@dinodns-bench/batched-udp';
    const onBatch = (batch: Batch): void => batch.reply(0, 0);
    const socket: UdpSocket = await openUdpSocket({ batchSize: ${batchSize}, onBatch });
    await socket.close();`;
  await writeFile(join(project, 'good.ts'), source('8'));
  await writeFile(join(project, 'bad.ts'), source('"8"'));
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024', '--types', ''];
  const compile = (file: string) => run(join(workspaceBin, 'tsc'), [...options, file], { cwd: project, env });
  await compile('good.ts');
  await expect(compile('bad.ts')).rejects.toMatchObject({ stdout: expect.stringContaining('bad.ts') });

  const { stdout } = await run('npx', ['--no-install', 'udp-echo', '--help'], { cwd: project, env });
  expect(stdout).toContain('udp-echo [--address 127.0.0.1]');
});

it('runs over dgram, and says why, where koffi has no binary', async () => {
  const project = await install('bare');
  await rm(join(project, 'node_modules/@koromix'), { recursive: true });
  const result = await use(project);
  expect(result).toEqual({ backend: 'dgram', reason: expect.stringMatching(/^koffi cannot be loaded: ./) });
  await expect(use(project, { DINODNS_UDP_BACKEND: 'native' })).rejects.toMatchObject({
    stderr: expect.stringContaining('ERR_UDP_BACKEND'),
  });
});
