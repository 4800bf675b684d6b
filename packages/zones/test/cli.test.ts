/** The command line: what it says and writes in this process, and what takes a real one: pipes, full disks, signals. */
import { spawn } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startProgress } from '../src/cli/generate.ts';
import { runCli } from '../src/cli/run.ts';
import { formats } from '../src/index.ts';
import { temporaryDirectory } from './support/servers.ts';

const cli = fileURLToPath(new URL('../src/cli.ts', import.meta.url));

let directory: string;
beforeEach(async () => {
  directory = await temporaryDirectory();
});
afterEach(() => rm(directory, { recursive: true, force: true }));

interface Result {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Collects what is written; optionally a terminal. */
class Screen extends Writable {
  readonly isTTY: boolean;
  text = '';
  constructor(isTTY: boolean) {
    super();
    this.isTTY = isTTY;
  }
  override _write(chunk: unknown, _encoding: string, done: () => void) {
    this.text += String(chunk);
    done();
  }
}

/** In this process: a program of its own takes ten times as long. */
async function zones(...args: string[]): Promise<Result> {
  const [stdout, stderr] = [new Screen(false), new Screen(false)];
  const { signal } = new AbortController();
  const status = await runCli(args, { stdout, stderr, env: {}, cwd: directory, signal });
  return { status, stdout: stdout.text, stderr: stderr.text };
}

/** Runs a shell script in which `"$0" "$@"` is the program with `args`. */
function shell(script: string, ...args: string[]): Promise<Result> {
  const child = spawn('bash', ['-c', script, process.execPath, cli, ...args], { cwd: directory });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (data) => {
    stdout += data;
  });
  child.stderr.on('data', (data) => {
    stderr += data;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, stdout, stderr }));
  });
}

describe('generate', () => {
  it('writes the 100 default zones and prints the paths', async () => {
    const { status, stdout, stderr } = await shell(
      'exec "$0" "$@"',
      ...[
        'generate',
        '--format',
        'corefile',
        '--out',
        'out',
        '--from',
        '1',
        '--to',
        '200',
        '--parity',
        'odd',
      ],
    );
    expect(stderr).toBe('100 zones for CoreDNS, template plugin, 12,971 bytes\n');
    expect({ status, stdout }).toEqual({ status: 0, stdout: `${join(directory, 'out/Corefile')}\n` });
    const text = await readFile(join(directory, 'out/Corefile'), 'utf8');
    expect(text.match(/^example\d+\.com:5300 /gm)).toHaveLength(100);
    expect(await zones('generate', '--format', 'corefile', '--stdout')).toEqual({
      status: 0,
      stdout: text,
      stderr: '',
    });
  });

  it('takes records, hosts, TTL, address, port and workers', async () => {
    await zones(
      ...['generate', '--format', 'knot', '--out', 'out', '--pattern', 'a{X}.example', '--to', '3'],
      ...['--record', 'A 192.0.2.1', '--record', 'MX 10 mail.example.net', '--host', 'www', '--host', 'api'],
      ...['--ttl', '5', '--address', '::1', '--port', '5353', '--workers', '3'],
    );
    const configuration = await readFile(join(directory, 'out/knot.conf'), 'utf8');
    expect(configuration).toContain('listen: ::1@5353');
    expect(configuration).toContain('udp-workers: 3');
    expect(configuration).toMatch(/- domain: a1\.example\n {2}- domain: a3\.example\n$/);
    expect(configuration).toContain(`storage: "${join(directory, 'out')}"`);
    const zone = await readFile(join(directory, 'out/shared.zone'), 'utf8');
    expect(zone).toMatch(/^@ +5 IN MX +10 mail\.example\.net\.$/m);
    expect(zone).toMatch(/^api 5 IN A +192\.0\.2\.1$/m);
  });

  it('reads a specification from a file, which flags override', async () => {
    await writeFile(
      join(directory, 'spec.json'),
      '{ "pattern": "b{X}.example", "to": 5, "records": ["A 192.0.2.7"] }',
    );
    const { stdout } = await zones(
      'generate',
      '--format',
      'hosts',
      '--stdout',
      '--config',
      'spec.json',
      '--to',
      '3',
    );
    expect(stdout.split('\n').slice(2)).toEqual(['192.0.2.7 b1.example', '192.0.2.7 b3.example', '']);
  });

  it('reports all problems at once, with fixes, and writes nothing', async () => {
    const { status, stdout, stderr } = await zones(
      ...['generate', '--format', 'hosts', '--out', 'out', '--from', 'x', '--ttl', '-5'],
      ...['--record', 'A 1.2.3', '--pattern', 'plain.com'],
    );
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/^error \[E_ZONE_SET\]: the zone set is not valid: 4 problems\n/);
    for (const part of ['from cannot be "x"', 'ttl cannot be -5', '"1.2.3" is not an IPv4', 'plain{X}.com']) {
      expect(stderr).toContain(part);
    }
    expect(await readdir(directory)).toEqual([]);
  });

  it.each<[string, string[], number, RegExp]>([
    ['a missing format', ['generate', '--stdout'], 2, /--format is missing/],
    ['an unknown format', ['generate', '--format', 'bnid', '--stdout'], 2, /did you mean bind/],
    [
      'a backslash, as it was typed',
      ['generate', '--format', 'hosts', '--stdout', '--pattern', 'a\\b{X}.com'],
      2,
      /has the character "\\"/,
    ],
    ['no place to write to', ['generate', '--format', 'hosts'], 2, /--out DIR, or --stdout/],
    [
      'two places to write to',
      ['generate', '--format', 'hosts', '--stdout', '--out', 'x'],
      2,
      /keep the one/,
    ],
    ['several files for stdout', ['generate', '--format', 'nsd', '--stdout'], 2, /nsd.conf, shared.zone/],
    [
      'a bad port',
      ['generate', '--format', 'nsd', '--out', 'x', '--port', '99999'],
      2,
      /port cannot be 99999/,
    ],
    [
      'a bad address',
      ['generate', '--format', 'nsd', '--out', 'x', '--address', 'me'],
      2,
      /"me" is not an address/,
    ],
    ['an unknown option', ['generate', '--fromat', 'nsd'], 2, /--format/],
    ['an unknown command', ['genrate'], 2, /generate/],
    ['a surplus argument', ['list-formats', 'x'], 2, /too many arguments/],
    [
      'a config that is not there',
      ['generate', '--format', 'hosts', '--stdout', '--config', 'none'],
      3,
      /none does not exist/,
    ],
    ['a query type that is none', ['queries', '--type', 'AAAAA'], 2, /did you mean AAAA/],
    ['a file in the way', ['generate', '--format', 'hosts', '--out', 'file/x'], 7, /another directory/],
  ])('refuses %s', async (_, args, status, message) => {
    await writeFile(join(directory, 'file'), '');
    const result = await zones(...args);
    expect(result).toEqual({ status, stdout: '', stderr: expect.stringMatching(message) });
    expect(result.stderr).not.toContain('    at ');
    expect(await readdir(directory)).toEqual(['file']);
  });

  it.each(['[1]', '{ "to": }', 'null'])('refuses the config %s', async (text) => {
    await writeFile(join(directory, 'spec.json'), text);
    const { status, stderr } = await zones(
      'generate',
      '--format',
      'hosts',
      '--stdout',
      '--config',
      'spec.json',
    );
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining('spec.json') });
  });
});

describe('queries', () => {
  it('prints the published workload', async () => {
    const { status, stdout } = await zones('queries');
    expect(status).toBe(0);
    expect(stdout.split('\n')).toHaveLength(201);
  });

  it('writes a file', async () => {
    const { stdout } = await zones(
      'queries',
      '--out',
      'sub/q.txt',
      '--to',
      '2',
      '--type',
      'A',
      '--type',
      'MX',
    );
    expect(stdout).toBe(`${join(directory, 'sub/q.txt')}\n`);
    expect(await readFile(join(directory, 'sub/q.txt'), 'utf8')).toBe(
      'example1.com A\nexample1.com MX\nexample2.com A\nexample2.com MX\n',
    );
  });
});

describe('everywhere', () => {
  const commands = [[], ['generate'], ['queries'], ['list-formats']];

  it.each(commands.map((command) => [command.join(' ') || 'dinodns-zones', command] as const))(
    '%s has help and version on standard output',
    async (_, command) => {
      const help = await zones(...command, '--help');
      expect(help).toMatchObject({ status: 0, stderr: '' });
      expect(help.stdout).toMatch(/^Usage: dinodns-zones.*Exit status:/s);
      expect(await zones(...command, '--version')).toEqual({ status: 0, stdout: '0.1.0\n', stderr: '' });
    },
  );

  it('lists the formats as text and JSON', async () => {
    const text = await zones('list-formats');
    const json = JSON.parse((await zones('list-formats', '--json')).stdout);
    for (const { name, title, files } of formats) {
      expect(text.stdout).toMatch(new RegExp(`^${name} .*${files[0]}`, 'm'));
      expect(json).toContainEqual(expect.objectContaining({ name, title, files }));
    }
  });

  it('is quiet when the reader of its output stops', async () => {
    const args = ['generate', '--format', 'hosts', '--stdout', '--to', '1000000'];
    const result = await shell(`"$0" "$@" | head -1; echo "\${PIPESTATUS[0]}"`, ...args);
    expect(result.stdout).toMatch(/^# 500000 zones.*\n0\n$/);
    expect(result.stderr).toBe('');
  });

  it('says so when standard output is full', async () => {
    const result = await shell('"$0" "$@" >/dev/full', 'queries');
    expect(result).toEqual({ status: 7, stdout: '', stderr: expect.stringMatching(/no space left/) });
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('leaves nothing behind on %s', async (signal, status) => {
    const out = join(directory, 'out');
    await mkdir(out);
    const args = [
      'generate',
      '--format',
      'dinodns-json',
      '--out',
      out,
      '--to',
      '100000000',
      '--parity',
      'all',
    ];
    const child = spawn(process.execPath, [cli, ...args]);
    let stderr = '';
    child.stderr.on('data', (data) => {
      stderr += data;
    });
    const ended = new Promise((resolve) => child.once('close', resolve));
    while ((await readdir(out)).length === 0) await sleep(20);
    child.kill(signal);
    expect(await ended).toBe(status);
    expect(stderr).toMatch(/^error \[E_[A-Z]+\]: stopped by .*\n {2}fix: /);
    expect(await readdir(out)).toEqual([]);
  });
});

describe('progress', () => {
  it('is shown on a terminal, on standard error, and removed', async () => {
    const [stdout, stderr] = [new Screen(false), new Screen(true)];
    const args = ['generate', '--format', 'dinodns-json', '--out', 'x', '--to', '1500000', '--parity', 'all'];
    const { signal } = new AbortController();
    expect(await runCli(args, { stdout, stderr, env: {}, cwd: directory, signal })).toBe(0);
    expect(stderr.text).toMatch(/[\d,]+ of 1,500,000 zones \(\d+ %\), [\d,]+\/s, \d+ s left/);
    const [last = ''] = stderr.text.split('\r\u001b[K').slice(-1);
    expect(last).toMatch(/^1,500,000 zones for [^\r]*\n$/);
  });

  it.each([true, false])('is shown after a second, where there is a terminal: %s', (isTTY) => {
    const stderr = new Screen(isTTY);
    let seconds = 0;
    const { update, end } = startProgress({ stderr }, 100, () => seconds);
    seconds = 0.9;
    update(20);
    expect(stderr.text).toBe('');
    seconds = 2;
    update(50);
    const shown = stderr.text;
    expect(shown).toBe(isTTY ? '\r\u001b[K50 of 100 zones (50 %), 25/s, 2 s left' : '');
    end();
    expect(stderr.text).toBe(isTTY ? `${shown}\r\u001b[K` : '');
  });
});
