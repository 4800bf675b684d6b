/** `--servers my=./server.yaml`: programs that a file describes. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type RunRecord, recordSchema } from '../src/results/record.ts';
import { descriptionSchema, parseDescription } from '../src/servers/own/description.ts';
import { serverJsonSchema } from '../src/servers/own/json-schema.ts';
import { filled, PLACEHOLDERS, unknownPlaceholders } from '../src/servers/own/placeholders.ts';
import { realWorld } from '../src/world.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

const EXAMPLE = resolve(import.meta.dirname, '../../../examples/getting-started');

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
afterEach(() => world.remove());

const SHORT = [
  ...['--duration', '1', '--warmup', '0', '--trials', '1', '--zones', '5'],
  ...['--loader', 'builtin', '--rate', '200'],
];
const run = (...flags: string[]) => world.bench('run', ...SHORT, ...flags);
const said = () => world.err().replaceAll(/\s+/g, ' ');

async function recordOf(): Promise<RunRecord> {
  const [folder = ''] = (await readdir(join(world.directory, 'results'))).filter((name) => /^\d/.test(name));
  const text = await readFile(join(world.directory, 'results', folder, 'run.json'), 'utf8');
  return recordSchema.parse(JSON.parse(text));
}

/** A server in plain Node.js: it answers `example<odd>.com`, says when it ends, and does what `extra` says first. */
const SERVER = (extra = '') => `
import { createSocket } from 'node:dgram';
import { appendFileSync, writeFileSync } from 'node:fs';
const [port, address, directory] = process.argv.slice(2);
const note = (text) => appendFileSync(directory + '/notes.txt', text + '\\n');
writeFileSync(directory + '/pid.txt', String(process.pid));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => { note(signal); process.exit(0); });
${extra}
const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
socket.on('message', (message, from) => {
  const name = message.toString('latin1', 13, 13 + message[12]);
  const exists = /example\\d*[13579]$/i.test(name);
  const question = message.subarray(12);
  const header = Buffer.from([message[0], message[1], 0x84, exists ? 0 : 5, 0, 1, 0, exists ? 1 : 0, 0, 0, 0, 0]);
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1]);
  socket.send(Buffer.concat([header, question, exists ? record : Buffer.alloc(0)]), from.port, from.address);
});
socket.bind(Number(port), address, () => console.log('serving'));
`;

const COMMAND = `command: ['{node}', server.mjs, '{port}', '{address}', .]`;

/** Writes a server and its description; more lines of YAML and of the program can be given. */
async function describeServer(yaml = '', extra = '', command = COMMAND): Promise<void> {
  await mkdir(join(world.directory, 'app'));
  await writeFile(join(world.directory, 'app/server.mjs'), SERVER(extra));
  await writeFile(join(world.directory, 'app/server.yaml'), `${command}\n${yaml}\n`);
}
const noted = () => readFile(join(world.directory, 'app/notes.txt'), 'utf8');

/** No run folder is left, and no program of ours runs. */
async function nothingIsLeft(): Promise<void> {
  expect(await readdir(join(world.directory, 'results')).catch(() => [])).toEqual([]);
  for (const { process: started, command } of world.started) {
    expect(started.exit, command.join(' ')).toBeDefined();
  }
}

describe('a server file', () => {
  it.each([
    ['command: [x, "{port}"]\nzoness: {}', 'zoness: there is no such key; did you mean "zones"?'],
    [
      'command: [x, "{port}"]\nzones: {formt: bind}',
      'zones.formt: there is no such key; did you mean "format"?',
    ],
    [
      'command: [x, "{port}"]\nzones: {format: bnid}',
      'zones.format: "bnid" is not a format; did you mean "bind"?',
    ],
    ['title: x', 'command: is missing'],
    ['command: my-server --port {port}', 'command: must be a list of words'],
    ['command: [x, "{prot}"]', 'command.1: {prot} is not known: did you mean {port}?'],
    ['command: [x]', 'command: must contain {port}'],
    ['command: [x, "{zone-file}"]\nzones: {format: dinodns-store}', 'command: must contain {port}'],
    ['command: [x, "{port}", "{zone-file}"]', 'zones: {zone-file} needs a format'],
    ['command: [x, "{port}"]\nstop: SIGQUIT', 'stop: must be one of SIGTERM'],
    ['command: [x, "{port}"]\nready: soon', 'ready: must be answer, stdout-json, or {line:'],
    ['command: [x, "{port}"]\nmodes: [singel]', 'modes.0: must be one of single, multi'],
    ['command: [x, "{port}"]\ntransports: [quic]', 'transports.0: must be one of udp, tcp'],
    ['command: [x, "{port}"]\nversion: {command: [x], pattern: "v1"}', 'version.pattern: must be a regular'],
    ['command: [x, "{port}"]\nfiles: {"../x": y}', 'files.../x: must be the plain name of a file'],
    ['- x', 'must be a mapping'],
    ['command: [x', 'is not YAML'],
  ])('%j is refused: %s', async (yaml, problem) => {
    expect(await parseDescription(yaml)).toMatchObject({
      problems: expect.arrayContaining([expect.stringContaining(problem)]),
    });
  });

  it.each(['corefile', 'bind', 'nsd'])(
    'needs no {port} where the file of the format %s has it',
    async (format) => {
      const yaml = `command: [x, "{zone-file}"]\nzones: {format: ${format}}`;
      expect(await parseDescription(yaml)).toMatchObject({ zones: { format } });
    },
  );

  it('tells all that is wrong at once, with its path', async () => {
    await describeServer('tittle: x\nstop: now');
    expect(await run('--servers', 'my=app/server.yaml')).toBe(2);
    expect(said()).toContain('app/server.yaml: tittle: there is no such key; did you mean "title"?');
    expect(said()).toContain('app/server.yaml: stop: must be one of');
    await nothingIsLeft();
  });

  it('has placeholders, and a way to write one as it is', () => {
    const values = { address: '::1', port: '53', node: 'n' } as unknown as Parameters<typeof filled>[1];
    expect(filled('[{address}]:{port} {{port}} {Port} { port }', values)).toBe(
      '[::1]:53 {port} {Port} { port }',
    );
    expect(unknownPlaceholders('{{other}} {x y}')).toEqual([]);
  });
});

describe('a described server', () => {
  it('is started, checked, measured beside others, and stopped as it wants to be', async () => {
    const yaml = [
      'title: Mine',
      'stop: SIGINT',
      'ready: {line: serving}',
      'unknownZones: REFUSED',
      'environment: {GREETING: "on {port}"}',
      'zones: {format: hosts}',
      'files: {"extra.conf": "listen {address}:{port}"}',
      `version: {command: ['{node}', -p, '"mine 1.2.3"'], pattern: 'mine (\\S+)'}`,
    ];
    await describeServer(yaml.join('\n'), `note(process.env.GREETING.replace(port, 'PORT'));`);
    expect(await run('--servers', 'dinodns,my=app/server.yaml', '--baseline', 'my')).toBe(0);
    const record = await recordOf();
    const mine = record.servers.find(({ name }) => name === 'my');
    expect(mine).toMatchObject({ kind: 'own', title: 'Mine', version: '1.2.3' });
    expect(Object.keys(mine?.files ?? {})).toEqual(['server.yaml', 'hosts', 'extra.conf']);
    expect(mine?.files['extra.conf']).toMatch(/^listen 127\.0\.0\.1:\d+$/);
    expect(mine?.files['server.yaml']).toContain('title: Mine');
    expect(record.cases.map(({ server }) => server)).toEqual(['dinodns', 'my']);
    const trial = record.trials.find(({ caseKey }) => caseKey.startsWith('my/'));
    if (trial?.status !== 'ok') throw new Error(JSON.stringify(trial));
    expect(trial.metrics.cpuSecondsPerQuery).toBeGreaterThan(0);
    // Tried once, measured once.
    expect(await noted()).toBe('on PORT\nSIGINT\non PORT\nSIGINT\n');
    expect(record.command).toContain('my=app/server.yaml');
    for (const { process: started } of world.started) expect(started.exit).toBeDefined();
  });

  it('is ended by Ctrl-C', async () => {
    await describeServer();
    const running = run('--servers', 'my=app/server.yaml', '--duration', '20');
    await expect.poll(() => existsSync(join(world.directory, 'app/notes.txt'))).toBe(true);
    await expect.poll(() => world.started.filter(({ program }) => program === 'driver.ts').length).toBe(1);
    world.send('SIGINT');
    expect(await running).toBe(130);
    expect(await noted()).toBe('SIGTERM\nSIGTERM\n');
    await nothingIsLeft();
  });

  it('ends with bench, however that ends, and so does what runs beside it', async () => {
    await describeServer(`beside: [[sh, -c, 'echo $$ > beside.txt; exec sleep 60']]`);
    const bench = resolve(import.meta.dirname, '../bin/bench.js');
    const argv = [bench, 'run', ...SHORT, '--duration', '20', '--servers', 'my=app/server.yaml'];
    const child = spawn(process.execPath, argv, { cwd: world.directory, env: world.env, stdio: 'ignore' });
    const pidFiles = ['pid.txt', 'beside.txt'].map((name) => join(world.directory, 'app', name));
    await expect.poll(() => pidFiles.every(existsSync)).toBe(true);
    const pids = await Promise.all(pidFiles.map((file) => readFile(file, 'utf8').then(Number)));
    child.kill('SIGKILL');
    for (const pid of pids) await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
  });
});

describe('before the first trial, one message says', () => {
  it.each<[string, { yaml?: string; extra?: string; command?: string; flags?: string[] }, number, string[]]>([
    [
      'that the program is not there',
      { command: 'command: [no-such-server, "{port}"]' },
      3,
      ['"no-such-server" is not in PATH', 'Correct command in app/server.yaml'],
    ],
    [
      'that a file is no program',
      { command: 'command: [./none, "{port}"]' },
      3,
      ['"./none" is not an executable file in'],
    ],
    [
      'why it ended',
      { extra: `console.error('no such database'); process.exit(7);` },
      4,
      ['it ended with exit status 7 before it was ready', 'no such database', 'server.mjs'],
    ],
    [
      'which answer is wrong',
      { extra: '', yaml: 'unknownZones: NXDOMAIN' },
      4,
      ['my gives a wrong answer', 'expected: NXDOMAIN', 'received: REFUSED'],
    ],
    [
      'which mode it lacks',
      { flags: ['--mode', 'multi'] },
      2,
      ['cannot be run with --mode multi', 'app/server.yaml has modes: [single]'],
    ],
    [
      'which transport it lacks',
      { flags: ['--transport', 'udp,tcp'] },
      2,
      ['my has no transport "tcp"', 'answers over udp'],
    ],
    [
      'that its version cannot be read',
      { yaml: `version: {command: ['{node}', --version], pattern: 'w(\\d)'}` },
      2,
      ['version.pattern of app/server.yaml does not match'],
    ],
    ['that the directory is missing', { yaml: 'directory: elsewhere' }, 2, ['elsewhere is not a directory']],
  ])('%s', async (_, { yaml, extra, command, flags = [] }, status, texts) => {
    await describeServer(yaml, extra, command);
    expect(await run('--servers', 'my=app/server.yaml', ...flags)).toBe(status);
    for (const text of texts) expect(said()).toContain(text);
    await nothingIsLeft();
  });

  it('that it never answers', async () => {
    // Half a minute, which is given to a server, is a second here.
    const { clock } = realWorld();
    await world.remove();
    world = await testWorld({
      clock: { sleep: (seconds, signal) => clock.sleep(seconds >= 30 ? 1 : seconds, signal) },
    });
    await describeServer('', 'setInterval(() => undefined, 1000); await new Promise(() => undefined);');
    expect(await run('--servers', 'my=app/server.yaml')).toBe(4);
    expect(said()).toMatch(/my did not start on 127\.0\.0\.1:\d+: it did not answer within \d+ seconds/);
    await nothingIsLeft();
  });

  it.each([
    [
      'server',
      'To start the server that the file server.yaml describes, give it a name: --servers my=server.yaml',
    ],
    ['./server.yaml', '--servers my=./server.yaml'],
    ['coredns=./server.yaml', '"coredns" is a server that bench has'],
    ['my=./server.yaml,my=./other.yaml', 'names something twice ("my")'],
    ['my=./server.yaml,coredsn', 'Did you mean "coredns"?'],
  ])('what is wrong with --servers %s', async (servers, text) => {
    await writeFile(join(world.directory, 'server.yaml'), `${COMMAND}\n`);
    expect(await run('--servers', servers)).toBe(2);
    expect(said()).toContain(text);
    await nothingIsLeft();
  });
});

describe('docs/your-own-server.md', async () => {
  const page = await readFile(new URL('../../../docs/your-own-server.md', import.meta.url), 'utf8');
  const blocks = [...page.matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map(([, block = '']) => block);

  it("shows the example's file, and files that are valid", async () => {
    const [, ...lines] = (await readFile(join(EXAMPLE, 'server.yaml'), 'utf8')).split('\n');
    expect(blocks[0]).toBe(lines.join('\n'));
    for (const block of blocks) expect(await parseDescription(block)).not.toHaveProperty('problems');
  });

  it('lists every key and every placeholder', () => {
    for (const key of Object.keys(descriptionSchema.shape))
      expect(page).toMatch(new RegExp(`^\\| \`${key}\\b`, 'm'));
    for (const name of Object.keys(PLACEHOLDERS)) expect(page).toContain(`\`{${name}}\``);
  });
});

describe('the example', () => {
  const description = join(EXAMPLE, 'server.yaml');

  it('answers correctly, as bench servers --check says', async () => {
    expect(await world.bench('servers', '--check', `my=${description}`)).toBe(0);
    expect(world.out()).toBe('my (My DinoDNS app) answers all 200 queries correctly over udp\n');
    await nothingIsLeft();
  });

  it('has a schema for editors, which is up to date (node packages/bench-cli/scripts/write-schemas.ts)', async () => {
    const schema = await readFile(new URL('../server.schema.json', import.meta.url), 'utf8');
    expect(schema).toBe(serverJsonSchema());
    expect(await readFile(description, 'utf8')).toContain('bench-cli/server.schema.json');
  });

  it.each(['dinodns+sqlite', 'dinodns+redis'])('was %s once, which says so', async (name) => {
    expect(await run('--servers', name)).toBe(2);
    const file = name.replace('dinodns+', '');
    expect(said()).toContain(`It is an example now: --servers ${file}=examples/databases/${file}.yaml`);
  });

  it("measures DinoDNS's getting-started application", async () => {
    expect(await run('--servers', `dinodns,my=${EXAMPLE}/server.yaml`, '--transport', 'udp')).toBe(0);
    const record = await recordOf();
    expect(record.servers.map(({ title, version }) => `${title} ${version}`)).toEqual([
      'DinoDNS 0.0.13',
      'My DinoDNS app 0.0.13',
    ]);
    expect(record.trials.map(({ status }) => status)).toEqual(['ok', 'ok']);
  });
});
