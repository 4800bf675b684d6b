/** Every error names what failed, the value and the fix, and has its exit status. */

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CannonResult } from '../src/index.ts';
import { dnscannon, refusedBy, start } from './support/cli.ts';
import { answerTo, startServer } from './support/misbehaving-server.ts';

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'dnscannon-'));
});
afterAll(() => rm(directory, { recursive: true }));

/** A UDP port where nothing listens. */
async function closedPort(): Promise<number> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  socket.close();
  return port;
}

const resultOf = (stdout: string): CannonResult => JSON.parse(stdout);

describe('a server', () => {
  it('that does not answer: all queries are lost, with a message and status 4', async () => {
    const { port } = await startServer(() => undefined);
    const { status, stdout, stderr } = await dnscannon([
      '-d',
      '0.5',
      '-t',
      '0.3',
      '--json',
      `127.0.0.1:${port}`,
    ]);
    expect(status).toBe(4);
    expect(stderr).toContain('E_NO_ANSWER');
    expect(stderr).toContain(`127.0.0.1 port ${port}`);
    expect(resultOf(stdout)).toMatchObject({ qps: 0, lostRatio: 1, latencySeconds: null });
  });

  it('gets queries that are longer than usual, as with a long EDNS option', async () => {
    const { port, queries } = await startServer((query, reply) => reply(answerTo(query)));
    const option = `65001:${'ab'.repeat(5000)}`;
    const { status, stderr } = await dnscannon(['-d', '0.5', '-E', option, `127.0.0.1:${port}`]);
    expect(stderr).not.toContain('E_INTERNAL');
    expect(status).toBe(0);
    expect(queries[0]?.length).toBeGreaterThan(5000);
  });

  it('that refuses (ICMP) is noticed after a second, not at the end', async () => {
    const { status, stdout, stderr } = await dnscannon([
      '-d',
      '60',
      '--json',
      `127.0.0.1:${await closedPort()}`,
    ]);
    expect(status).toBe(4);
    expect(stderr).toContain('nothing listens there');
    const result = resultOf(stdout);
    expect(result.endedBy).toBe('refused');
    expect(result.counts.refused).toBeGreaterThan(0);
    expect(result.counts).toMatchObject({ lost: result.counts.sent, interrupted: 0 });
    expect(result.lostRatio).toBe(1);
  });

  it('that refuses a schedule gets no table of how well that was kept', async () => {
    const { stdout } = await dnscannon(['-d', '60', '--rate', '50', `127.0.0.1:${await closedPort()}`]);
    expect(stdout).toMatch(/answered 0 +lost \d+ \(100\.0 %\)/);
    expect(stdout).not.toMatch(/interrupted|Lateness/);
  });

  it('that resets every connection (TCP) is distinguished from a silent one', async () => {
    const server = createServer((socket: Socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.resetAndDestroy());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const { status, stdout, stderr } = await dnscannon([
      '-d',
      '1',
      '-m',
      'tcp',
      '--json',
      `127.0.0.1:${port}`,
    ]);
    server.close();
    expect(status).toBe(4);
    expect(stderr).toContain('closes the connection without an answer');
    const { counts } = resultOf(stdout);
    expect(counts.reset).toBeGreaterThan(0);
    expect(counts.lostWithConnection).toBe(counts.lost);
    expect(counts.sent).toBe(counts.lost);
  });

  it('that refuses connections (TCP) cannot be reached', async () => {
    const { status, stderr } = await dnscannon(['-d', '1', '-m', 'tcp', `127.0.0.1:${await closedPort()}`]);
    expect(status).toBe(4);
    expect(stderr).toContain('E_UNREACHABLE');
  });

  it('that sends garbage answers nothing', async () => {
    const { port } = await startServer((_query, reply) => reply(Buffer.from('not DNS at all')));
    const { status, stdout, stderr } = await dnscannon([
      '-d',
      '0.5',
      '-t',
      '0.3',
      '--json',
      `127.0.0.1:${port}`,
    ]);
    expect(status).toBe(4);
    expect(stderr).toContain('sends messages that do not answer the queries');
    const { counts } = resultOf(stdout);
    expect(counts.answered).toBe(0);
    expect(counts.malformed + counts.mismatched).toBeGreaterThan(0);
  });

  it('that answers otherwise than expected fails if all answers are wrong', async () => {
    const { port } = await startServer((query, reply) => reply(answerTo(query)));
    const args = ['-d', '0.3', '-R', '100', `127.0.0.1:${port}`];
    const { status, stderr } = await dnscannon(['--expect', 'NXDOMAIN', ...args]);
    expect(status).toBe(4);
    expect(stderr).toMatch(/none of \d+ answers of 127\.0\.0\.1 port \d+ was as expected/);
    expect((await dnscannon(['--expect', 'NOERROR', ...args])).status).toBe(0);
  });

  it('that answers from another address is detected', async () => {
    const other = createSocket('udp4');
    other.bind(0, '127.0.0.2');
    await once(other, 'listening');
    const asked = createSocket('udp4');
    asked.on('message', (query, { address, port }) => other.send(answerTo(query), port, address));
    asked.bind(0, '127.0.0.1');
    await once(asked, 'listening');
    const where = `127.0.0.1:${asked.address().port}`;
    const { status, stdout } = await dnscannon(['-d', '0.5', '-t', '0.3', '--json', where]);
    asked.close();
    other.close();
    expect(status).toBe(4);
    expect(resultOf(stdout).warnings.join()).toContain(`127.0.0.2 port`);
    expect(resultOf(stdout).counts.answered).toBe(0);
  });

  it('whose name has no address is an error', async () => {
    const { status, stderr } = await dnscannon(['-d', '1', 'no-such-host.invalid:53']);
    expect(status).toBe(4);
    expect(stderr).toContain('E_RESOLVE');
    expect(stderr).toContain('no-such-host.invalid');
  });
});

describe('before anything is sent', () => {
  it.each([
    { what: 'a name that is no name', args: ['127.0.0.1', 'a..b'], says: ['E_NAME', '"a..b"'] },
    { what: 'a name that is too long', args: ['127.0.0.1', `${'a'.repeat(64)}.com`], says: ['E_NAME', '63'] },
    { what: 'a type that does not exist', args: ['127.0.0.1', 'a.com', '--types', 'AX'], says: ['AX'] },
    {
      what: 'a rate of zero',
      args: ['-R', '0', '127.0.0.1'],
      says: ['E_OPTIONS', '--rate', '0', 'more than 0'],
    },
    {
      what: 'a window beyond the IDs of a socket',
      args: ['-q', '100000', '127.0.0.1'],
      says: ['100000 outstanding queries', '65536', 'at least 2 clients'],
    },
    {
      what: 'a window beyond the IDs of the sockets of one worker',
      args: ['-w', '2', '-c', '3', '-q', '190k', '127.0.0.1'],
      says: ['in 3 sockets', 'at least 4 clients'],
    },
    {
      what: 'a random label that would be another when it is resent',
      args: ['127.0.0.1', '--random-labels', '8', '--retries', '1'],
      says: ['random labels cannot be repeated'],
    },
    {
      what: 'a random label that would be another over TCP',
      args: ['127.0.0.1', '--random-labels', '8', '--tcp-fallback'],
      says: ['random labels cannot be repeated'],
    },
    {
      what: 'a port for connections that are renewed',
      args: ['-m', 'tcp', '-x', '20000', '--queries-per-connection', '10', '127.0.0.1'],
      says: ['cannot be renewed', '(-x)'],
    },
    { what: 'a negative rate', args: ['-Q', '-5', '127.0.0.1'], says: ['--max-rate', '-5'] },
    { what: 'a duration of zero', args: ['-d', '0', '127.0.0.1'], says: ['--duration', '0'] },
    { what: 'a duration that is none', args: ['-d', 'soon', '127.0.0.1'], says: ['soon', '500ms'] },
    {
      what: 'more workers than sockets',
      args: ['-w', '4', '-c', '2', '127.0.0.1'],
      says: ['4 workers', '2 clients'],
    },
    { what: 'two rates', args: ['-R', '5', '--poisson', '6', '127.0.0.1'], says: ['--rate', '--poisson'] },
    { what: 'a window for an open loop', args: ['-R', '5', '-q', '6', '127.0.0.1'], says: ['-q', 'open'] },
    { what: 'a port that is none', args: ['127.0.0.1:99999'], says: ['99999', '65535'] },
    { what: 'a server that is none', args: ['not a server'], says: ['"not a server"'] },
    { what: 'an unknown flag', args: ['--frobnicate', '127.0.0.1'], says: ['--frobnicate'] },
    { what: 'no server', args: [], says: ['server'] },
    { what: 'a threshold that is none', args: ['--fail-if', 'speed>5', '127.0.0.1'], says: ['speed', 'p99'] },
    { what: 'an expectation that is none', args: ['--expect', 'MAYBE', '127.0.0.1'], says: ['MAYBE'] },
    { what: 'no socket', args: ['-c', '0', '127.0.0.1'], says: ['--clients', 'at least 1'] },
    { what: 'a short EDNS size', args: ['--edns-size', '1', '127.0.0.1'], says: ['--edns-size', '512'] },
    { what: 'a cookie that is none', args: ['--cookie', 'xyz', '127.0.0.1'], says: ['"xyz"', 'random'] },
    { what: 'a network that is none', args: ['--subnet', 'nope', '127.0.0.1'], says: ['"nope"', '/24'] },
    { what: 'a class that is none', args: ['--class', 'ZZ', '127.0.0.1'], says: ['ZZ', 'CH'] },
    { what: 'a ramp to nowhere', args: ['--ramp', '5', '127.0.0.1'], says: ['--ramp', '0:100k'] },
    { what: 'a transport that is none', args: ['-m', 'smoke', '127.0.0.1'], says: ['smoke', 'doh'] },
    {
      what: 'a source port that is none',
      args: ['-x', '99999', '127.0.0.1'],
      says: ['--source-port', '65535'],
    },
    { what: 'more hits than queries', args: ['--hit-ratio', '2', '127.0.0.1'], says: ['--hit-ratio', '1'] },
    {
      what: 'a search of no trials',
      args: ['--find-max', '--trials', '0', '127.0.0.1'],
      says: ['E_OPTIONS', '--trials cannot be 0', 'at least 1'],
    },
    {
      what: 'half a search',
      args: ['--find-max', '--trials', '1.5', '127.0.0.1'],
      says: ['--trials cannot be 1.5', 'a whole number'],
    },
    {
      what: 'a search that would not end',
      args: ['--find-max', '--precision', '-1', '127.0.0.1'],
      says: ['E_OPTIONS', '--precision cannot be -1', 'from 0.01 to 50'],
    },
    {
      what: 'a search without room',
      args: ['--find-max', '-R', '10', '127.0.0.1'],
      says: ['E_OPTIONS', '--rate (-R) cannot be 10', 'more than 10'],
    },
    {
      what: 'more losses than queries',
      args: ['--find-max', '--max-loss', '101', '127.0.0.1'],
      says: ['--max-loss cannot be 101', 'from 0 to 100'],
    },
    {
      what: 'answers in no time',
      args: ['--find-max', '--max-p99', '0', '127.0.0.1'],
      says: ['--max-p99 cannot be 0', 'more than 0'],
    },
    { what: 'zones without a number', args: ['--zones', 'nope', '127.0.0.1'], says: ['"nope"', '{X}'] },
  ])('$what: status 2', async ({ args, says }) => {
    const { status, stdout, stderr } = await refusedBy(args);
    expect(status).toBe(2);
    expect(stdout).toBe('');
    for (const words of says) expect(stderr).toContain(words);
    expect(stderr).not.toContain('bug in dnscannon');
  });

  it.each([
    ['127.0.0.1 --speed 2', '--speed has no effect without --pcap'],
    ['127.0.0.1 --insecure', '--insecure has no effect without -m tls or -m https'],
    ['-m dot 127.0.0.1 --path /dns', '--path has no effect without -m https'],
    ['127.0.0.1 --max-loss 1', '--max-loss has no effect without --find-max'],
    ['-m tcp -b 64 127.0.0.1', '--buffer has no effect without -m udp'],
    ['-m tcp --no-segmentation 127.0.0.1', '--no-segmentation has no effect without -m udp'],
    ['https://127.0.0.1/dns --path /other', '--path has no effect with a URL that has a path'],
    ['127.0.0.1 --queries q --types AAAA', '--types has no effect with --queries'],
    ['127.0.0.1 --zones {X}.test --weights 1,2', '--weights has no effect with --zones'],
    ['127.0.0.1 --kubernetes --type-weights 1,2', '--type-weights has no effect with --kubernetes'],
    ['127.0.0.1 --pcap x --random', '--random has no effect with --pcap'],
    ['127.0.0.1 --pcap x --no-recursion', '--no-recursion has no effect with --pcap'],
    ['127.0.0.1 --find-max -n 1', '--passes has no effect with --find-max'],
    ['127.0.0.1 --find-max --fail-if qps<100000', '--fail-if has no effect with --find-max'],
    ['127.0.0.1 --ndots 3', '--ndots has no effect without --kubernetes'],
  ])('a flag without effect (%s): status 2', async (line, says) => {
    const { status, stdout, stderr } = await refusedBy(line.split(' '));
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain(says);
  });

  it('an empty query file: status 2; an invalid one: with the line number', async () => {
    const [empty, broken] = [join(directory, 'empty'), join(directory, 'broken')];
    await writeFile(empty, '# only a comment\n\n');
    await writeFile(broken, 'example1.com A\n; fine\nexample2.com AAAA\nexample..com A\n');
    const first = await refusedBy(['--queries', empty, '127.0.0.1']);
    expect([first.status, first.stderr]).toEqual([2, expect.stringContaining('E_QUERY_FILE')]);
    const second = await refusedBy(['--queries', broken, '127.0.0.1']);
    expect([second.status, second.stderr]).toEqual([2, expect.stringMatching(/line 4|:4\b/)]);
  });

  it('a missing query file: status 3', async () => {
    const { status, stderr } = await refusedBy(['--queries', join(directory, 'missing'), '127.0.0.1']);
    expect(status).toBe(3);
    expect(stderr).toContain('E_UNREADABLE');
  });

  it('no descriptors left: status 3, with the limit and how to raise it', async () => {
    const { status, stderr } = await dnscannon(['-c', '1000', '127.0.0.1'], ['prlimit', '--nofile=200:200']);
    expect(status).toBe(3);
    expect(stderr).toContain('E_LIMIT');
    expect(stderr).toContain('200 files');
    expect(stderr).toContain('ulimit -n');
  });

  it('permission denied (a broadcast address): status 3', async () => {
    const { status, stderr } = await dnscannon(['-d', '1', '255.255.255.255']);
    expect(status).toBe(3);
    expect(stderr).toContain('E_PERMISSION');
  });

  it("a source address that is not one of this machine's: status 3", async () => {
    const { status, stderr } = await dnscannon(['-d', '1', '-a', '192.0.2.77', '127.0.0.1']);
    expect(status).toBe(3);
    expect(stderr).toContain('E_SOURCE');
    expect(stderr).toContain('192.0.2.77');
  });

  it('a histogram of a search, which has none: status 2, and the file stays as it is', async () => {
    const kept = join(directory, 'kept.hgrm');
    await writeFile(kept, 'before');
    const { status, stderr } = await refusedBy(['--find-max', '--hgrm', kept, '127.0.0.1']);
    expect([status, stderr]).toEqual([2, expect.stringContaining('--hgrm has no effect with --find-max')]);
    expect(await readFile(kept, 'utf8')).toBe('before');
  });

  it('a histogram file that cannot be written: status 7', async () => {
    const { status, stderr } = await refusedBy(['--hgrm', join(directory, 'no', 'such', 'x'), '127.0.0.1']);
    expect(status).toBe(7);
    expect(stderr).toContain('E_WRITE_FAILED');
  });
});

it.each([
  { signal: 'SIGINT', status: 130, name: 'Ctrl-C' },
  { signal: 'SIGTERM', status: 143, name: 'SIGTERM' },
] as const)('$signal prints the result so far', async ({ signal, status, name }) => {
  const { port, queries } = await startServer((query, reply) => reply(answerTo(query)));
  const { child, ended } = start(['-d', '600', '--json', `127.0.0.1:${port}`]);
  await expect.poll(() => queries.length).toBeGreaterThan(1000);
  child.kill(signal);
  const { status: seen, stdout, stderr } = await ended;
  expect(seen).toBe(status);
  expect(stderr).toContain(`stopped by ${name}`);
  const result = resultOf(stdout);
  expect(result.endedBy).toBe('stopped');
  expect(result.counts.answered).toBeGreaterThan(900);
  expect(result.counts.lost).toBe(0);
  expect(result.counts.sent).toBe(result.counts.answered + result.counts.interrupted);
});

it('of a stopped open loop, only what was due by then is unsent', async () => {
  const { port, queries } = await startServer((query, reply) => reply(answerTo(query)));
  const { child, ended } = start(['-d', '36000', '-R', '10k', '--json', `127.0.0.1:${port}`]);
  await expect.poll(() => queries.length).toBeGreaterThan(1000);
  child.kill('SIGINT');
  const { counts, sendingSeconds } = resultOf((await ended).stdout);
  expect(counts.sent + counts.unsent).toBeLessThanOrEqual(10_000 * sendingSeconds + 1);
});
