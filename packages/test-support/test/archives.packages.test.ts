/** The packages as strangers get them: packed, installed with npm in an empty folder, used on Node.js 22 and 24. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { installIn, packWith, publishedPackages, run, strangersEnvironment } from './support/packages.ts';

const WORKSPACE = fileURLToPath(new URL('../../../node_modules', import.meta.url));
const EXAMPLE = fileURLToPath(new URL('../../../examples/experiment/startup.ts', import.meta.url));
const INSTALL_MILLISECONDS = 300_000;
const PUBLINT = 'publint@0.3.25';
const ATTW = '@arethetypeswrong/cli@0.18.5';

const packages = publishedPackages();
const programs = packages.flatMap(({ manifest }) => Object.keys(manifest.bin ?? {}));
// `load/driver` is a program that bench starts by its path; to import it would be to run it.
const entries = packages.flatMap(({ name, manifest }) =>
  Object.keys(manifest.exports)
    .filter((path) => !path.endsWith('.json') && !path.endsWith('/driver'))
    .map((path) => join(name, path)),
);

const folder = mkdtempSync(join(tmpdir(), 'archives-'));
const project = join(folder, 'project');
const archives = new Map<string, string>();
const nodes = { 22: join(folder, 'node-22/node_modules/node/bin'), 24: dirname(process.execPath) };

beforeAll(async () => {
  const packAndInstall = async () => {
    for (const { name, directory } of packages) archives.set(name, await packWith('npm', directory, folder));
    await installIn(project, [...archives.values()]);
  };
  // Downloads wait, and packing computes.
  await Promise.all([
    packAndInstall(),
    installIn(join(folder, 'node-22'), ['node@22', '--foreground-scripts']),
    installIn(join(folder, 'tools'), [PUBLINT, ATTW]),
  ]);
}, INSTALL_MILLISECONDS * 2);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function contentsOf(archive: string): Promise<Map<string, string>> {
  const { stdout } = await run('tar', ['-tzf', archive]);
  const files = stdout.split('\n').filter((file) => file !== '');
  const into = mkdtempSync(join(folder, 'contents-'));
  await run('tar', ['-xzf', archive, '-C', into]);
  return new Map(files.sort().map((file) => [file, readFileSync(join(into, file), 'latin1')]));
}

describe.each(packages)('$name', ({ name, directory }) => {
  test('is the same archive from npm and from pnpm', { timeout: INSTALL_MILLISECONDS }, async () => {
    const fromNpm = await contentsOf(archives.get(name) ?? '');
    const fromPnpm = await contentsOf(await packWith('pnpm', directory, join(folder, 'pnpm')));
    expect([...fromPnpm.keys()]).toEqual([...fromNpm.keys()]);
    for (const [file, text] of fromNpm) {
      if (file !== 'package/package.json') expect(fromPnpm.get(file) === text, file).toBe(true);
    }
    // pnpm omits what matters only before publishing.
    const manifest = (text = '{}') => ({ ...JSON.parse(text), scripts: {}, publishConfig: {} });
    expect(manifest(fromPnpm.get('package/package.json'))).toEqual(
      manifest(fromNpm.get('package/package.json')),
    );
    expect(fromNpm.get('package/package.json')).not.toContain('workspace:');
    expect([...fromNpm.keys()]).toContain('package/LICENSE');
  });

  test('gives publint and attw nothing to say', { timeout: INSTALL_MILLISECONDS }, async () => {
    const archive = archives.get(name) ?? '';
    const bin = join(folder, 'tools/node_modules/.bin');
    const env = strangersEnvironment();
    const publint = await run(join(bin, 'publint'), ['--strict', archive], { env });
    expect(publint.stdout).toContain('All good!');
    // Node.js 22 and later load these packages with require as well, and older ones are not supported.
    const isLibrary = entries.some((entry) => entry === name);
    if (isLibrary) await run(join(bin, 'attw'), [archive, '--profile', 'esm-only'], { env });
  });
});

/** Programs of the folder that are still running. */
const running: ChildProcess[] = [];
afterAll(async () => {
  for (const child of running.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
});

async function startServer(env: NodeJS.ProcessEnv, args: readonly string[]): Promise<{ port: number }> {
  const program = join(project, 'node_modules/.bin/dinodns-server');
  const child = spawn(program, ['--port', '0', ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  running.push(child);
  for await (const line of createInterface(child.stdout)) return JSON.parse(line);
  throw new Error('dinodns-server ended before it was ready');
}

/** The commands of a README that start with `npx`, as written, without their comments. */
function readmeCommands(name: string): string[] {
  const readme = readFileSync(join(project, 'node_modules', name, 'README.md'), 'utf8');
  return [...readme.matchAll(/^npx .*$/gm)].map(([line]) => line.replace(/ +#.*$/, ''));
}

describe.each([22, 24] as const)('on Node.js %s', (major) => {
  const env = strangersEnvironment(nodes[major]);
  const options = { cwd: project, env };

  test('it is that one', async () => {
    expect((await run('node', ['--version'], options)).stdout).toMatch(new RegExp(`^v${major}\\.`));
  });

  test.each(programs)('%s shows its help', { timeout: 60_000 }, async (program) => {
    const { stdout } = await run(join(project, 'node_modules/.bin', program), ['--help'], options);
    expect(stdout).toContain(program);
  });

  test('every entry point can be imported, and required', { timeout: 60_000 }, async () => {
    for (const [type, load] of [
      ['module', 'await import(entry)'],
      ['commonjs', 'require(entry)'],
    ] as const) {
      const program = `for (const entry of ${JSON.stringify(entries)}) console.log(entry, Object.keys(${load}).length > 0)`;
      const { stdout } = await run('node', [`--input-type=${type}`, '-e', program], options);
      expect(stdout).toBe(entries.map((entry) => `${entry} true\n`).join(''));
    }
  });

  test.each(['single', 'multi'])(
    'a server in mode %s answers the load generator',
    { timeout: 90_000 },
    async (mode) => {
      const { port } = await startServer(env, ['--mode', mode, '--workers', mode === 'multi' ? '2' : '1']);
      const cannon = join(project, 'node_modules/.bin/dnscannon');
      // As fast as they can, both would take two CPUs from the files beside this one.
      const args = ['-d', '1', '-w', '1', '-Q', '1000', `127.0.0.1:${port}`, 'example1.com', '--json'];
      const { stdout } = await run(cannon, args, { ...options, maxBuffer: 2 ** 24 });
      const { qps, lostRatio } = JSON.parse(stdout);
      expect(qps).toBeGreaterThan(100);
      expect(lostRatio).toBe(0);
    },
  );

  test('bench compares two servers, and renders its reports', { timeout: 180_000 }, async () => {
    const bench = join(project, 'node_modules/.bin/bench');
    const out = join(folder, `results-${major}`);
    const servers = ['--servers', 'dinodns,dinodns-stock', '--baseline', 'dinodns-stock'];
    const short = ['--tier', '0.5', '--mode', 'single', '--duration', '1', '--warmup', '0', '--trials', '1'];
    const args = [
      'run',
      ...servers,
      ...short,
      '--loader',
      'builtin',
      '--no-provision',
      '--no-calibrate',
      '--out',
      out,
      '--json',
    ];
    const { stdout } = await run(bench, args, { ...options, maxBuffer: 2 ** 26 });
    const record = JSON.parse(stdout);
    expect(record.trials.map(({ status }: { status: string }) => status)).toEqual(['ok', 'ok']);
    // Images are drawn by native code, and pages by most of the dependencies.
    const formats = major === 22 ? 'md,csv,json,html,svg,png,blog,github' : 'html,png';
    const report = ['report', 'latest', '--format', formats, '--out', out, '--to', join(out, 'all')];
    await run(bench, report, { ...options, maxBuffer: 2 ** 26 });
    expect(readdirSync(join(out, 'all'))).toEqual(
      expect.arrayContaining([
        ...['report.html', 'charts'],
        ...(major === 22 ? ['report.md', 'blog', 'trials.csv'] : []),
      ]),
    );
  });
});

test("an experiment of a user's own resumes, has verdicts, a page and a history", {
  timeout: 180_000,
}, async () => {
  const text = readFileSync(EXAMPLE, 'utf8');
  expect(text.split('\n').length).toBeLessThanOrEqual(80);
  writeFileSync(join(project, 'startup.ts'), text);
  const out = join(folder, 'results-own');
  mkdirSync(out);
  const options = { cwd: project, env: { ...strangersEnvironment(), DINODNS_BENCH_OUT: out } };
  const bench = (...args: string[]) =>
    run(
      join(project, 'node_modules/.bin/bench'),
      ['--experiment', './startup.ts', ...args],
      Object.assign({ maxBuffer: 2 ** 26 }, options),
    );
  const recordOf = (folderName: string) =>
    JSON.parse(readFileSync(join(out, folderName, 'run.json'), 'utf8'));
  const servers = ['--servers', 'dinodns,dinodns-stock', '--zones', '5', '--trials', '3'];
  const first = bench('startup', ...servers, '--no-provision');
  running.push(first.child);
  const ended = first.catch(({ code }) => ({ code }));
  const nameOf = () => readdirSync(out).find((name) => /^\d/.test(name)) ?? '';
  await vi.waitUntil(
    () => existsSync(join(out, nameOf(), 'run.json')) && recordOf(nameOf()).trials.length > 0,
    {
      timeout: 60_000,
    },
  );
  first.child.kill('SIGINT');
  expect(await ended).toMatchObject({ code: 130 });
  expect(recordOf(nameOf()).status).toBe('interrupted');
  await bench('startup', '--resume', 'latest');
  const { status, trials, cases } = recordOf(nameOf());
  expect([status, trials.length]).toEqual(['complete', 6]);
  expect(cases[1].comparison.deltas.startSeconds).toMatchObject({ n: 3, verdict: expect.any(String) });
  await bench('report', 'latest', '--format', 'html', '--to', join(out, 'page'));
  expect(readFileSync(join(out, 'page/report.html'), 'utf8')).toContain('How long until it answers');
  expect((await bench('history')).stdout).toContain('startup');
});

test('the commands of the READMEs run as they are written', { timeout: 300_000 }, async () => {
  const { port } = await startServer(strangersEnvironment(), ['--mode', 'single']);
  const commands = ['load', 'zones'].flatMap((name) => readmeCommands(`@dinodns-bench/${name}`));
  expect(commands.length).toBeGreaterThan(3);
  for (const command of commands) {
    // Against the server of this test, and shorter: one second, and tolerant of this machine.
    const here = command
      .replaceAll('127.0.0.1:5300', `127.0.0.1:${port}`)
      .replaceAll('-d 10', '-d 1')
      .replaceAll('--trials 5', '-d 0.3 --trials 1 --max-loss 5 -R 400 --precision 50')
      // A machine that is busy is no reason to fail here.
      .replaceAll('--max-p99 5ms', '--max-p99 10s')
      .replaceAll(/--fail-if '[^']*'/g, "--fail-if 'p99>10s'");
    const ended = run('bash', ['-c', here], { cwd: project, env: strangersEnvironment() });
    const { stdout } = await ended.catch((error) => {
      if (String(error.stderr).includes('not held (generator limit)')) return error;
      throw error;
    });
    expect(stdout, here).not.toBe('');
  }
});

test('batched-udp runs over dgram, and says why, where koffi has no binary', {
  timeout: INSTALL_MILLISECONDS,
}, async () => {
  const bare = join(folder, 'bare');
  const wanted = ['program', 'wire', 'batched-udp'].map(
    (name) => archives.get(`@dinodns-bench/${name}`) ?? '',
  );
  await installIn(bare, wanted);
  rmSync(join(bare, 'node_modules/@koromix'), { recursive: true });
  writeFileSync(
    join(bare, 'use.js'),
    `import { openUdpSocket } from '@dinodns-bench/batched-udp';
     const socket = await openUdpSocket({ onBatch: () => undefined });
     console.log(JSON.stringify({ backend: socket.backend, reason: socket.reason }));
     await socket.close();`,
  );
  const env = strangersEnvironment();
  const { stdout } = await run('node', ['use.js'], { cwd: bare, env });
  expect(JSON.parse(stdout)).toEqual({
    backend: 'dgram',
    reason: expect.stringMatching(/^koffi cannot be loaded: ./),
  });
  const native = run('node', ['use.js'], { cwd: bare, env: { ...env, DINODNS_UDP_BACKEND: 'native' } });
  await expect(native).rejects.toMatchObject({ stderr: expect.stringContaining('ERR_UDP_BACKEND') });
});

test('a strict TypeScript program compiles against each entry point', { timeout: 120_000 }, async () => {
  const imports = entries.map((entry, index) => `import * as m${index} from '${entry}';`).join('\n');
  const uses = entries.map((_entry, index) => `void m${index};`).join('\n');
  const typed = (port: string) => `
    import { defineZoneSet, findFormat } from '@dinodns-bench/zones';
    import { openUdpSocket, type Batch } from '@dinodns-bench/batched-udp';
    import { accelerate, ZoneStore } from '@dinodns-bench/server-cluster';
    import { cannon } from '@dinodns-bench/load';
    import { DefaultServer } from 'dinodns/common/index.js';
    const onBatch = (batch: Batch): void => batch.reply(0, 0);
    export const socket = openUdpSocket({ port: ${port}, onBatch });
    export const server: DefaultServer = accelerate(new DefaultServer({ networks: [] }), new ZoneStore());
    export const files = findFormat('nsd').render(defineZoneSet({ to: 3 }), { port: ${port} });
    export { cannon };`;
  writeFileSync(join(project, 'all.ts'), `${imports}\n${uses}\n`);
  writeFileSync(join(project, 'good.ts'), typed('5300'));
  writeFileSync(join(project, 'bad.ts'), typed('"5300"'));
  const typeRoots = join(WORKSPACE, '@types');
  const flags = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2024'];
  const compile = (...files: string[]) =>
    run(join(WORKSPACE, '.bin/tsc'), [...flags, '--typeRoots', typeRoots, '--types', 'node', ...files], {
      cwd: project,
      env: strangersEnvironment(),
    });
  await compile('all.ts', 'good.ts');
  await expect(compile('bad.ts')).rejects.toMatchObject({ stdout: expect.stringContaining('bad.ts') });
});

test('accelerate() knows a server of another copy of dinodns, of each version in range', {
  timeout: 300_000,
}, async () => {
  const range = packages.find(({ name }) => name.endsWith('/server-cluster'))?.manifest.peerDependencies;
  const wanted = `dinodns@${Reflect.get(Object(range), 'dinodns')}`;
  const view = await run('npm', ['view', wanted, 'version', '--json'], { env: strangersEnvironment() });
  const versions: string[] = [JSON.parse(view.stdout)].flat();
  expect(versions).toContain('0.0.13');
  for (const version of versions) {
    const other = join(folder, `dinodns-${version}`);
    await installIn(other, [`dinodns@${version}`]);
    const program = join(project, `other-${version}.mjs`);
    writeFileSync(program, otherCopyProgram(join(other, 'node_modules/dinodns')));
    const { stdout, stderr } = await run('node', [program], { env: strangersEnvironment() });
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual({
      same: false,
      networks: ['BatchedUdpNetwork', 'RobustTcpNetwork'],
      hits: 1,
    });
  }
});

/** A server of the copy of dinodns in `directory`, made fast and asked one question. */
function otherCopyProgram(directory: string): string {
  return `
    import dgram from 'node:dgram';
    import { once } from 'node:events';
    import { accelerate } from '@dinodns-bench/server-cluster';
    import { DefaultServer as Ours } from 'dinodns/common/index.js';
    import { createRequire } from 'node:module';
    const require = createRequire('${directory}/');
    const { DefaultServer, DNSOverUDP, DNSOverTCP } = require('${directory}/common/index.js');
    const { DefaultStore } = require('${directory}/plugins/storage/index.js');
    const address = '127.0.0.1';
    const store = new DefaultStore();
    store.set('example.org', 'A', '192.0.2.1');
    const networks = [new DNSOverUDP({ address, port: 0 }), new DNSOverTCP({ address, port: 0 })];
    const server = new DefaultServer({ networks });
    server.use(store.handler);
    accelerate(server, store);
    const [udp, tcp] = server.networks;
    await Promise.all([udp.open(), tcp.open()]);
    const client = dgram.createSocket('udp4');
    client.send(Buffer.from('00010100000100000000000007' + Buffer.from('example').toString('hex') + '03' + Buffer.from('org').toString('hex') + '0000010001', 'hex'), udp.port, address);
    await once(client, 'message');
    console.log(JSON.stringify({
      same: DefaultServer === Ours,
      networks: server.networks.map((network) => network.constructor.name),
      hits: udp.counters.count('tableHits', 0),
    }));
    process.exit(0);`;
}
