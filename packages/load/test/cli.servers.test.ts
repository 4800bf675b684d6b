import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileNeeds } from '@dinodns-bench/test-support';
import { afterAll, beforeAll, expect } from 'vitest';
import { buildCommand } from '../src/cli/flags.ts';
import { liveLine } from '../src/cli/live.ts';
import { runCli } from '../src/cli/run-cli.ts';
import { type CannonResult, type Interval, optionsSchema } from '../src/index.ts';
import { dnscannon, optionsFrom, start } from './support/cli.ts';
import { startCoredns, type TestCoredns } from './support/coredns.ts';

const { it } = fileNeeds('coredns', 'openssl');

let coredns: TestCoredns;
let directory = '';
let queries = '';
beforeAll(async () => {
  coredns = await startCoredns();
  directory = await mkdtemp(join(tmpdir(), 'dnscannon-'));
  queries = join(directory, 'queries');
  await writeFile(queries, 'example.test A\nmissing.example.test A\n');
});
afterAll(async () => {
  await coredns.stop();
  await rm(directory, { recursive: true });
});

const server = () => `127.0.0.1:${coredns.dnsPort}`;

it('prints, in its fixed form, a result with qps at the top level', async () => {
  const { status, stdout } = await dnscannon([
    ...['-w', '1', '-d', '0.3', '-q', '100', server(), '--queries', queries, '--json'],
  ]);
  const result: CannonResult = JSON.parse(stdout);
  expect(status).toBe(0);
  expect(result.qps).toBeGreaterThan(0);
  expect(result.qps).toBeCloseTo(result.counts.answered / result.elapsedSeconds, 6);
  expect(Object.keys(result.codes).sort()).toEqual(['NOERROR', 'NXDOMAIN']);
  expect(Math.abs((result.codes.NOERROR ?? 0) - (result.codes.NXDOMAIN ?? 0))).toBeLessThanOrEqual(100);
  expect(result.counts.sent).toBe(result.counts.answered + result.counts.lost);
  expect(optionsSchema.parse(result.options)).toEqual(result.options);
});

it('prints tables of at most 80 columns, and no progress without a terminal', async () => {
  const { status, stdout, stderr } = await dnscannon([
    '-R',
    '500',
    '-d',
    '1',
    '-w',
    '2',
    server(),
    '--queries',
    queries,
  ]);
  expect([status, stderr]).toEqual([0, '']);
  // A path is never broken, so that it can be copied; how long this one is depends on where temporary files are.
  const lines = stdout.replaceAll(queries, 'queries').split('\n');
  for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(80);
  for (const word of ['open loop, 500/s', 'NXDOMAIN', 'Latency', 'Lateness', 'worker 2', 'p99.9']) {
    expect(stdout).toContain(word);
  }
  expect(stdout).not.toContain('\u001b');
});

it('writes each interval and then the result as NDJSON', async () => {
  const { stdout } = await dnscannon([
    '-d',
    '1',
    '-S',
    '250ms',
    '--ndjson',
    '-R',
    '400',
    server(),
    '--queries',
    queries,
  ]);
  const records = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const [intervals, result] = [records.slice(0, -1), records.at(-1)];
  expect(result.type).toBe('result');
  expect(intervals.every(({ type }) => type === 'interval')).toBe(true);
  // Those that pass while a busy machine lets it wait are part of the next one.
  expect(intervals.length).toBeGreaterThanOrEqual(2);
  const sum = (key: 'sent' | 'answered') => intervals.reduce((total, { counts }) => total + counts[key], 0);
  expect([sum('sent'), sum('answered')]).toEqual([result.counts.sent, result.counts.answered]);
  // A busy machine leaves some unsent.
  expect(result.counts.sent + result.counts.unsent).toBe(400);
});

it('writes CSV: a row for each interval and one for the whole run, with as many cells as the header', async () => {
  const { stdout } = await dnscannon([
    '-d',
    '1',
    '-S',
    '0.5',
    '-Q',
    '1k',
    '--csv',
    server(),
    '--queries',
    queries,
  ]);
  const rows = stdout
    .trim()
    .split('\n')
    .map((line) => line.split(','));
  const [header, ...data] = rows;
  for (const row of data) expect(row.length).toBe(header?.length);
  expect(data.at(-1)?.[0]).toBe('total');
  const answered = header?.indexOf('answered') ?? -1;
  const parts = data.slice(0, -1).reduce((total, row) => total + Number(row[answered]), 0);
  expect(parts).toBe(Number(data.at(-1)?.[answered]));
});

it('writes an HdrHistogram log', async () => {
  const file = join(directory, 'latency.hgrm');
  const { stdout } = await dnscannon(['-d', '0.3', '--hgrm', file, '--json', server(), '--queries', queries]);
  const { latencySeconds }: CannonResult = JSON.parse(stdout);
  const log = await readFile(file, 'utf8');
  expect(log).toContain('1/(1-Percentile)');
  expect(log).toContain(`Total count    = ${String(latencySeconds?.count).padStart(12)}`);
});

it('exits with 9 when a threshold is crossed, and reports the threshold and the measured value', async () => {
  const crossed = await dnscannon([
    ...['-d', '0.3', '--fail-if', 'p50>1ns', '--fail-if', 'lost>50%', '--fail-if', 'NXDOMAIN>10%'],
    ...[server(), '--queries', queries],
  ]);
  expect(crossed.status).toBe(9);
  expect(crossed.stderr).toMatch(/failed: p50>1ns \(it was [\d.]+ [µm]?s\)/);
  // Half of them, but for those that were still in flight: of few, they are many.
  expect(crossed.stderr).toMatch(/failed: NXDOMAIN>10% \(it was [45]\d\.\d %\)/);
  expect(crossed.stderr).not.toContain('lost');
  const held = await dnscannon(['-d', '0.3', '--fail-if', 'qps<1', server(), '--queries', queries]);
  expect([held.status, held.stderr]).toEqual([0, '']);
});

it('checks answers with --expect', async () => {
  const args = ['-d', '0.3', '--json', server(), 'example.test'];
  const good = await dnscannon([...args, '--expect', 'NOERROR,127.0.0.1']);
  const wrong = await dnscannon([...args, '--expect', 'NOERROR,127.0.0.9', '--fail-if', 'unexpected>0']);
  const [first, second]: CannonResult[] = [JSON.parse(good.stdout), JSON.parse(wrong.stdout)];
  expect(first?.counts).toMatchObject({ wrongAddress: 0, wrongCode: 0, unreadable: 0 });
  expect(second?.counts.wrongAddress).toBe(second?.counts.answered);
  expect([good.status, wrong.status]).toEqual([0, 9]);
});

it('has --help with every flag and exit status, and --version', async () => {
  const help = await dnscannon(['--help']);
  expect(help.status).toBe(0);
  for (const { long } of buildCommand().options.filter(({ hidden }) => !hidden))
    expect(help.stdout).toContain(long);
  for (const word of ['Exit status:', 'Examples:', '130']) expect(help.stdout).toContain(word);
  for (const line of help.stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
  const version = await dnscannon(['--version']);
  expect([version.status, version.stdout]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)]);
});

it('shows a live line only on a terminal, without colours, and removes it at the end', async () => {
  const run = async (isTTY: boolean) => {
    const [stdout, stderr] = [new PassThrough(), Object.assign(new PassThrough(), { isTTY })];
    const [out, error]: [Buffer[], Buffer[]] = [[], []];
    stdout.on('data', (chunk) => out.push(chunk));
    stderr.on('data', (chunk) => error.push(chunk));
    const args = ['-R', '200', '-d', '1', '-S', '0.2', server(), '--queries', queries];
    const world = { stdout, stderr, env: { TERM: 'xterm' }, signal: new AbortController().signal };
    expect(await runCli(args, world)).toBe(0);
    return { out: Buffer.concat(out).toString(), live: Buffer.concat(error).toString() };
  };
  const { live } = await run(true);
  const shown = live.split('\r\u001b[K');
  expect(shown.length).toBeGreaterThan(2);
  expect(shown.at(-1)).toBe('');
  expect(shown[1]).toMatch(/^ +\d+ s {2}\d+ qps {2}p50 /);
  expect((await run(false)).live).toBe('');
});

it('keeps the live line below 80 columns whatever happens', () => {
  const statistics = { count: 1, min: 1, mean: 1, standardDeviation: 1, max: 1, p75: 1, p90: 1, p95: 1 };
  const interval = {
    index: 0,
    fromSeconds: 0,
    toSeconds: 86_400,
    qps: 12_345_678,
    sentPerSecond: 1,
    counts: { answered: 3, lost: 1_234_567 },
    codes: { NOERROR: 1, NXDOMAIN: 1, SERVFAIL: 1, REFUSED: 1 },
    latencySeconds: { ...statistics, p50: 0.0001234, p99: 0.123456 },
    latenessSeconds: null,
  } as unknown as Interval;
  expect(liveLine(interval).length).toBeLessThan(80);
  expect(liveLine({ ...interval, latencySeconds: null })).toContain('no answers');
});

it("takes the flags that dnsperf's and autocannon's users know", () => {
  const dnsperf = '-l 7 -c 20 -T 2 -q 50 -Q 1k -t 2 -b 64'.split(' ');
  expect(optionsFrom('192.0.2.1', ...dnsperf)).toMatchObject({
    durationSeconds: 7,
    clients: 20,
    workers: 2,
    load: { kind: 'closed', outstanding: 50, maxRate: 1000 },
    timeoutSeconds: 2,
    receiveBufferBytes: 65_536,
  });
  expect(optionsFrom('192.0.2.1', '-m', 'dot', '-e', '-D', '-n', '2', '-x', '4000')).toMatchObject({
    transport: 'tls',
    message: { ednsSize: 1232, dnssec: true },
    passes: 2,
    sourcePort: 4000,
  });
  expect(optionsFrom('https://192.0.2.1/x', '-w', '2', '-R', '5').transport).toBe('https');
  expect(optionsFrom('192.0.2.1', '--ramp', '0:5k').load).toEqual({ kind: 'ramp', from: 0, to: 5000 });
  expect(optionsFrom('192.0.2.1', '--steps', '1,2k').load).toEqual({ kind: 'steps', rates: [1, 2000] });
  expect(optionsFrom('192.0.2.1', '--pcap', 'x').load).toEqual({ kind: 'timed' });
  expect(optionsFrom('192.0.2.1', 'a.com', '--types', 'A,AAAA', '--zipf', '1.1').workload).toMatchObject({
    kind: 'names',
    names: ['a.com'],
    types: ['A', 'AAAA'],
    popularity: 'zipf',
    zipfExponent: 1.1,
  });
});

it('limits the threads of V8 if it has one CPU', async () => {
  const load = ['-w', '1', '-R', '100', '-d', '2', '--json', server(), 'example.test'];
  const { child, ended } = start(load, ['taskset', '-c', '0']);
  const commandLine = () => readFile(`/proc/${child.pid}/cmdline`, 'utf8');
  // The same process id and arguments as when it was started.
  await expect.poll(commandLine, { timeout: 50_000 }).toContain('\0--single-threaded\0');
  expect(await commandLine()).toContain('\0--json\0');
  const { status, stdout } = await ended;
  expect(status).toBe(0);
  const { counts }: CannonResult = JSON.parse(stdout);
  expect(counts.sent + counts.unsent).toBe(200);
});
