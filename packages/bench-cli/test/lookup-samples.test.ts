/** Samples, repeated packets and queries of lookups, as they are taken, read and counted. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TCP_FLAG, type TcpSegment } from '@dinodns-bench/load';
import { describe, expect, it } from 'vitest';
import { resolveSettings } from '../src/config/configuration.ts';
import { readCounters } from '../src/experiments/lookup/capture/counters.ts';
import { countHandshakes } from '../src/experiments/lookup/capture/duplicates.ts';
import {
  distributionOf,
  mergedDistribution,
  percentileOf,
  tellingPercentile,
} from '../src/experiments/lookup/distribution.ts';
import { synRepeatsIn } from '../src/experiments/lookup/lab-place.ts';
import { machinePlace, nameServersIn } from '../src/experiments/lookup/machine-place.ts';
import { predict, synRepeats } from '../src/experiments/lookup/policy/modes.ts';
import { exitText, parseSampleLine } from '../src/experiments/lookup/sampling/sample.ts';
import {
  BUILTIN_PROGRAM,
  builtinCommand,
  curlCommand,
  readSampled,
} from '../src/experiments/lookup/sampling/sampler.ts';
import { LOOKUP_SETTINGS } from '../src/experiments/lookup/settings.ts';
import { paceOf, subjectsOf } from '../src/experiments/lookup/subjects.ts';
import { evidenceOf } from '../src/experiments/lookup/trial.ts';
import type { FileSystem } from '../src/world.ts';
import { testWorld } from './support/test-world.ts';

const OK = 'sample|123456|0.010000|0.012500|0.013000|0.014000|192.0.2.1|40000|200|0';

describe('a line of the sampler', () => {
  it('gives the phases one after the other', () => {
    expect(parseSampleLine(OK)).toEqual({
      outcome: 'ok',
      phases: { lookup: 0.01, connect: 0.0025, firstByte: 0.0005, total: 0.014 },
      address: '192.0.2.1',
    });
  });

  it.each([
    ['a failed connection', OK.replace(/0$/, '7'), 7],
    ['a client that a signal ended', 'sample|5|139', 139],
    ['times that are no numbers', OK.replace('0.010000', 'x'), null],
    ['a connection before the lookup', OK.replace('0.012500', '0.000001'), null],
    ['a success without an address', OK.replace('192.0.2.1', ''), null],
    ['a line that was cut off', 'sample|5|0.01|0.0', null],
  ])('that tells of %s is a failure', (_, line, exitCode) => {
    expect(parseSampleLine(line)).toMatchObject({ outcome: 'failed', exitCode });
  });

  it('of another program is none', () => {
    expect(parseSampleLine('* Connected to example.com')).toBeNull();
  });
});

describe('samples', () => {
  // Nobody listens there.
  const url = 'http://localhost:1/';
  const program = fileURLToPath(BUILTIN_PROGRAM);

  it('ask for a new name each where a star stands for it, and once where there is no time for more', () => {
    const script = `curl() { eval "echo \\"\\$$#\\""; }\n${curlCommand('', 1, 0)[2]}`;
    const urlsIn = (star: string, time: string) =>
      // A hundredth of a second apart: they are many otherwise.
      execFileSync('/bin/sh', ['-c', script, 'sampler', star, time, '1'], { encoding: 'utf8' })
        .split('\n')
        .flatMap((line) => /^sample\|\d+\|(.*)$/.exec(line)?.[1] ?? []);
    const urls = urlsIn('http://*.example.com:8080/x', '100');
    expect(urls.length).toBeGreaterThan(1);
    expect(new Set(urls).size).toBe(urls.length);
    for (const asked of urls) expect(asked).toMatch(/^http:\/\/[0-9a-f-]{36}\.example\.com:8080\/x$/);
    expect(urlsIn('http://a.example.com/', '0')).toEqual(['http://a.example.com/']);
    const once = execFileSync(process.execPath, ['--single-threaded', program, url, '0', '0'], {
      encoding: 'utf8',
    });
    expect(readSampled(once.split('\n')).samples).toHaveLength(1);
  });

  it.each([
    // A machine may lack curl: here it is a function that fails.
    [
      'curl',
      ['/bin/sh', '-c', `curl() { return 7; }\n${curlCommand(url, 1, 0.3)[2]}`, 'sampler', url, '200', '30'],
    ],
    ['the built-in client', builtinCommand(process.execPath, program, url, 2, 0.3)],
  ])('of %s start as far apart as asked', (_, command) => {
    const [file = '', ...arguments_] = command;
    const lines = execFileSync(file, arguments_, { encoding: 'utf8' }).split('\n');
    const { samples, isComplete } = readSampled(lines);
    expect(isComplete).toBe(true);
    expect(samples.length).toBeGreaterThanOrEqual(2);
    expect(samples.length).toBeLessThanOrEqual(7);
    const starts = lines
      .flatMap((line) => /^sample\|(\d+)\|/.exec(line)?.[1] ?? [])
      .map((at) => Number(at) / 100);
    for (const [index, start] of starts.slice(1).entries()) {
      // /proc/uptime counts hundredths of a second.
      expect(start - (starts[index] ?? 0)).toBeGreaterThanOrEqual(0.289);
    }
  });

  it('of a simulation all start at the pace of the slowest mode, unless told otherwise', () => {
    const predictions = (['Inline', 'NoDelay'] as const).map((mode) => predict(mode, 0.2, 4));
    expect(paceOf({}, predictions)).toBe(1);
    expect(paceOf({ pace: 0.5 }, predictions)).toBe(0.5);
    expect(paceOf({}, [null, ...predictions.slice(0, 1)])).toBe(0);
  });
});

it('the kernel counts what was repeated between the first sample and the last', () => {
  const lines = ['kernel|begin|7', OK, OK, 'kernel|end|9'];
  expect(readSampled(lines)).toMatchObject({ kernelRepeats: 2, isComplete: true });
  // A kernel that does not count them: curl's loop, and the built-in client.
  const [, , loop = ''] = curlCommand('', 1, 0);
  const script = `curl() { return 7; }\n${loop.replace('/proc/net/netstat', '/dev/null')}`;
  const printed = execFileSync('/bin/sh', ['-c', script, 'sampler', 'http://a', '0', '0'], {
    encoding: 'utf8',
  });
  for (const uncounted of [printed.split('\n'), ['kernel|begin|undefined', OK, 'kernel|end|undefined']])
    expect(readSampled(uncounted)).toMatchObject({ kernelRepeats: null, isComplete: true });
  expect(readSampled(lines.slice(0, 2))).toMatchObject({ kernelRepeats: null, isComplete: false });
  expect(synRepeatsIn('TcpExt: A TCPSynRetrans B\nTcpExt: 1 22 3\nIpExt: A\nIpExt: 5\n')).toBe(22);
  expect(synRepeatsIn('TcpExt: A\nTcpExt: 1\n')).toBeNull();
});

const segment = (part: Partial<TcpSegment>): TcpSegment => ({
  seconds: 0,
  ipVersion: 4,
  source: '192.0.2.1',
  sourcePort: 40_000,
  destination: '192.0.2.2',
  destinationPort: 80,
  sequence: 1,
  flags: TCP_FLAG.syn,
  ...part,
});
const ECN = TCP_FLAG.syn | TCP_FLAG.ece | TCP_FLAG.cwr;
const answer = (part: Partial<TcpSegment> = {}) =>
  segment({
    source: '192.0.2.2',
    sourcePort: 80,
    destination: '192.0.2.1',
    destinationPort: 40_000,
    flags: TCP_FLAG.syn | TCP_FLAG.ack,
    ...part,
  });

describe('repeated packets', () => {
  it('are those with the same addresses, ports and sequence number', async () => {
    const packets = [segment({}), segment({}), segment({}), answer(), answer()];
    expect(await countHandshakes(packets, 80)).toMatchObject({
      connections: 1,
      connectionsRepeated: 1,
      duplicateSyn: 2,
      duplicateSynAck: 1,
      tigerRule: { duplicateSyn: 2, duplicateSynAck: 1 },
    });
  });

  it('are not those of a port that is used again, nor of other ports', async () => {
    const packets = [segment({}), segment({ sequence: 2 }), segment({ destinationPort: 443 })];
    expect(await countHandshakes(packets, 80)).toMatchObject({ connections: 2, duplicateSyn: 0 });
  });

  it('are not those of other programs, where only some addresses are those of the page', async () => {
    const other = { destination: '192.0.2.3' };
    const packets = [segment({}), segment(other), segment(other), answer(), answer({ source: '192.0.2.3' })];
    const site = new Set(['192.0.2.2']);
    expect(await countHandshakes(packets, 80, site)).toMatchObject({
      ...{ connections: 1, duplicateSyn: 0, syn: { ipv4: 1 }, synAck: { ipv4: 1 } },
    });
  });

  it("are counted over IPv6 and with ECN, which tiger-bench's rule leaves out", async () => {
    const six = { ipVersion: 6, source: '2001:db8::1', destination: '2001:db8::2' } as const;
    const ecn = { flags: ECN, sourcePort: 40_001 };
    const packets = [segment(six), segment(six), segment(ecn), segment(ecn)];
    expect(await countHandshakes(packets, 80)).toMatchObject({
      syn: { ipv4: 2, ipv6: 2, ecn: 2 },
      connections: 2,
      duplicateSyn: 2,
      tigerRule: { duplicateSyn: 0, duplicateSynAck: 0 },
    });
  });

  it("count by tiger-bench's rule only directly after one another", async () => {
    const packets = [segment({}), segment({ sequence: 2 }), segment({})];
    expect(await countHandshakes(packets, 80)).toMatchObject({
      duplicateSyn: 1,
      tigerRule: { duplicateSyn: 0, duplicateSynAck: 0 },
    });
  });
});

it("tcpdump's counters are read from its last lines", () => {
  const lines = ['listening on pod0, …', '444 packets captured', '445 packets received by filter'];
  expect(readCounters([...lines, '1 packet dropped by kernel'])).toEqual({
    captured: 444,
    received: 445,
    dropped: 1,
  });
  expect(readCounters(lines)).toBeNull();
});

describe('predictions of a policy', () => {
  it('follow the times at which Linux repeats a SYN', () => {
    expect(synRepeats(7, 4)).toEqual([1, 2, 3, 4, 5, 7, 11]);
    expect(synRepeats(3, 0)).toEqual([1, 3, 7]);
  });

  it.each([
    ['NoDelay', 0, 0, 0, 0],
    ['NoDelay', 0.05, 0, 1, 1],
    ['NoDelay', 1.5, 0, 2, 2],
    ['DelayDeniedPacket', 0.2, 0, 0.2, 0],
    ['DelayDeniedPacket', 1.5, 0, 1.5, 1],
    ['DelayDNSResponse', 0.2, 0.2, 0, 0],
    ['Inline', 1.5, 0, 0, 0],
  ] as const)('%s with a delay of %f s', (mode, delay, lookupSeconds, connectSeconds, duplicateSyn) => {
    expect(predict(mode, delay)).toEqual({ lookupSeconds, connectSeconds, duplicateSyn });
  });
});

describe('a distribution', () => {
  it("has percentiles by nearest rank, as tiger-bench's, and every value in one bin", () => {
    const distribution = distributionOf([0.004, 0.001, 0.003, 0.002]);
    expect(distribution).toMatchObject({ n: 4, min: 0.001, max: 0.004, mean: 0.0025 });
    if (distribution === null) throw new Error('no distribution');
    expect([50, 75, 99].map((p) => percentileOf(distribution, p))).toEqual([0.002, 0.003, 0.004]);
    expect(distribution.histogram.reduce((sum, { count }) => sum + count, 0)).toBe(4);
    for (const { lowSeconds, highSeconds } of distribution.histogram)
      expect(highSeconds / lowSeconds).toBeCloseTo(10 ** (1 / 20), 4);
  });

  it('of several trials is exact but for its percentiles, which are the medians of those of the trials', () => {
    const trials = [[0.001, 0.002], [0.003], [0.008, 0.009, 0.01]].flatMap(
      (times) => distributionOf(times) ?? [],
    );
    const merged = mergedDistribution(trials);
    expect(merged).toMatchObject({ n: 6, min: 0.001, max: 0.01 });
    expect(merged.mean).toBeCloseTo(0.0055, 12);
    expect(percentileOf(merged, 50)).toBe(0.003);
    expect(merged.histogram.reduce((sum, { count }) => sum + count, 0)).toBe(6);
    expect(trials.slice(0, 1).map((only) => mergedDistribution([only]))).toEqual(trials.slice(0, 1));
  });

  it.each([
    [50, 1],
    [90, 10],
    [99, 100],
  ])('tells its p%i from %i samples on: of fewer it would be the largest', (percentile, least) => {
    const told = (n: number) => {
      const distribution = distributionOf(Array.from({ length: n }, (_, index) => index + 1));
      return distribution === null ? null : tellingPercentile(distribution, percentile);
    };
    expect(told(least)).toBe(Math.ceil((least * percentile) / 100));
    expect(told(least - 1)).toBeNull();
  });

  it('of nothing is none', () => {
    expect(distributionOf([])).toBeNull();
  });
});

describe('a trial', () => {
  const evidenceFrom = (lines: readonly string[]) =>
    evidenceOf({
      seconds: 1,
      samplers: [{ ...readSampled(lines), name: 'pod', node: null, isCold: false }],
      packets: null,
      kernel: { syn: null, synAck: null, scope: 'namespace' },
      prediction: null,
    });
  const all = (lines: readonly string[]) => ['kernel|begin|0', ...lines, 'kernel|end|0'];

  it('counts failures apart, and the families of addresses', () => {
    const evidence = evidenceFrom(
      all([OK, OK.replace('192.0.2.1', '2001:db8::1'), OK, OK.replace(/0$/, '28')]),
    );
    expect(evidence).toMatchObject({
      samples: { taken: 4, succeeded: 3, failed: [{ exitCode: 28, count: 1 }] },
      families: { ipv4: 2, ipv6: 1 },
      phases: { lookup: { n: 3 } },
    });
  });

  it('fails if more than half of its samples do, with the commonest reason', () => {
    const failed = OK.replace(/0$/, '6');
    expect(() => evidenceFrom(all([OK, failed, failed, OK.replace(/0$/, '7')]))).toThrow(
      '3 of 4 samples failed; most often exit status 6 (the name could not be resolved)',
    );
    expect(() => evidenceFrom([])).toThrow('the sampler ended before its first sample');
  });

  it('says what exit statuses mean', () => {
    expect([139, 200, null].map(exitText)).toEqual([
      '139 (signal 11)',
      '200 (signal 72)',
      'unreadable output',
    ]);
  });
});

it('the name servers of a machine are those of its resolv.conf', () => {
  expect(nameServersIn('# none\nnameserver 192.0.2.53\nnameserver fe80::1%eth0\nnameserver x\n')).toEqual([
    '192.0.2.53',
    'fe80::1',
  ]);
});

it('queries count where they leave for a name server, not where that one asks another', async () => {
  const programs = await mkdtemp(join(tmpdir(), 'lookup-ip-'));
  const script =
    '#!/bin/sh\n[ "$3" = 127.0.0.53 ] && echo "local $3 dev lo" || echo "$3 via 192.0.2.9 dev eth0"\n';
  await writeFile(join(programs, 'ip'), script, { mode: 0o755 });
  const readFile = (async () => 'nameserver 127.0.0.53\n') as unknown as FileSystem['readFile'];
  const world = await testWorld({ env: { PATH: programs }, fs: { readFile } });
  const { taps } = await machinePlace(world, ['192.0.2.1']);
  expect(taps).toMatchObject([
    { interface: 'eth0', seesQueries: false },
    { interface: 'lo', seesQueries: true },
  ]);
  await Promise.all([world.remove(), rm(programs, { recursive: true })]);
});

describe('the subjects', () => {
  const subjects = (
    servers: readonly string[],
    simulatePolicy: readonly ('NoDelay' | 'Inline')[] | undefined,
    client: readonly ('curl' | 'builtin')[],
  ) => {
    const flags = {
      local: true,
      servers,
      client,
      ...(simulatePolicy === undefined ? {} : { simulatePolicy }),
    };
    return subjectsOf(resolveSettings(LOOKUP_SETTINGS, { env: {}, flags }, 'lookup')).map(({ name }) => name);
  };

  it('are named by what tells them apart', () => {
    expect(subjects(['knot'], undefined, ['curl'])).toEqual(['knot']);
    expect(subjects(['knot', 'nsd'], undefined, ['curl'])).toEqual(['knot', 'nsd']);
    expect(subjects(['knot'], ['NoDelay', 'Inline'], ['curl'])).toEqual(['NoDelay', 'Inline']);
    expect(subjects(['knot'], undefined, ['curl', 'builtin'])).toEqual(['curl', 'builtin']);
    expect(subjects(['knot', 'nsd'], ['NoDelay', 'Inline'], ['curl'])).toContain('nsd/Inline');
    expect(new Set(subjects(['knot', 'nsd'], ['NoDelay'], ['curl', 'builtin'])).size).toBe(4);
  });
});
