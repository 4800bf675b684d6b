/** `bench lookup` at its edges: what it refuses before anything starts. */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type TestWorld, testWorld } from './support/test-world.ts';

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
afterEach(() => world.remove());

describe('bench lookup refuses', () => {
  it.each([
    [
      'an address instead of a name',
      ['--url', 'http://192.0.2.1/'],
      '192.0.2.1 is an address: there is no name',
    ],
    ['an IPv6 address', ['--url', 'http://[2001:db8::1]/'], '2001:db8::1 is an address: there is no name'],
    ['what is no URL', ['--url', 'example'], '"example" is not the URL of a web page'],
    [
      'an unknown mode',
      ['--local', '--simulate-policy', 'Inlin'],
      'must be a list of NoDelay, DelayDeniedPacket',
    ],
    [
      'a pace that curl cannot keep',
      ['--pace', '4ms'],
      '"4ms" must be 0, or a duration from 0.01 to 60 seconds',
    ],
    ['zero domains', ['--domains', '0'], '--domains: "0" must be 1 or more'],
    ['servers without namespaces', ['--servers', 'knot'], '--servers: has no effect without --local'],
    [
      'a delay without a policy',
      ['--local', '--program-delay', '50ms'],
      '--program-delay: has no effect without --simulate-policy',
    ],
    [
      'a delay that curl would not wait for',
      ['--local', '--simulate-policy', 'Inline', '--program-delay', '20s'],
      'must be a duration from 0 to 5 seconds',
    ],
    ['trials of less than a second', ['--duration', '3', '--trials', '6'], '3 s are too short for 6 trials'],
    ['https in the laboratory', ['--local', '--url', 'https://site.example.com'], 'answers http only'],
    [
      'https with a client that does not speak it',
      ['--url', 'https://example.com', '--client', 'builtin'],
      'the built-in client knows no https',
    ],
    ['an unknown client', ['--client', 'wget'], '--client: "wget" must be a list of curl, builtin'],
    [
      'a star within a name',
      ['--url', 'http://a*.example.com'],
      'a star stands for a whole label, the first one',
    ],
    [
      'a wildcard without one',
      ['--local', '--url', 'http://*.example.com'],
      'the zone of --local has no wildcard',
    ],
    [
      'settings of a cluster',
      ['--services', '0,10'],
      '--services: has no effect without --target kubernetes',
    ],
    [
      'namespaces on a cluster',
      ['--target', 'kubernetes', '--local'],
      '--local: has no effect without --target local',
    ],
    ['a host without a domain', ['--local', '--url', 'http://site/'], '"site" has no domain'],
  ])('%s', async (_, argv, message) => {
    expect(await world.bench('lookup', ...argv)).toBe(2);
    expect(world.err()).toContain(message);
    expect(world.started).toEqual([]);
  });

  it('with every problem at once, wherever it comes from', async () => {
    await world.remove();
    world = await testWorld({ env: { DINODNS_BENCH_LEASE: '5' } });
    expect(await world.bench('lookup', '--local', '--ndots', '16', '--client', 'wget')).toBe(2);
    expect(world.err()).toContain('--ndots: "16" must be a whole number from 0 to 15');
    expect(world.err()).toContain('--client: "wget" must be a list of curl, builtin');
    expect(world.err()).toContain('DINODNS_BENCH_LEASE: "5" must be a duration from 10 to 600 seconds');
  });

  it('a name that does not resolve, and leaves nothing behind', async () => {
    expect(await world.bench('lookup', '--url', 'http://nothing.invalid/')).toBe(4);
    expect(world.err()).toContain("this machine's resolver finds no address of nothing.invalid");
    expect(await world.fs.readdir(`${world.directory}/results`)).toEqual([]);
  });

  it('namespaces without root, and says what works without', async () => {
    await world.remove();
    world = await testWorld({ machine: { userId: 1000 } });
    expect(await world.bench('lookup', '--local', '--client', 'builtin')).toBe(3);
    expect(world.err()).toContain('for which bench must be root');
    expect(world.err()).toContain(
      'Without --local, this machine is measured as it is, which needs no rights.',
    );
  });
});

it('puts runs where the environment says, which may also have what only --local uses', async () => {
  await world.remove();
  world = await testWorld({ env: { DINODNS_BENCH_OUT: 'elsewhere', DINODNS_BENCH_SERVERS: 'knot' } });
  expect(await world.bench('lookup', '--url', 'http://nothing.invalid/')).toBe(4);
  expect(await world.fs.readdir(world.directory)).toContain('elsewhere');
  expect(await world.fs.readdir(world.directory)).not.toContain('results');
});

it('names what is wrong in a test of tiger-bench, which fails', async () => {
  const tests = `[{TestKind: dnsperf, Duration: 2, CalicoNodeCPULimit: much, DNSPerf: {TargetURL: 'http://www.example.net'}}]`;
  await world.fs.writeFile(`${world.directory}/tests.yaml`, tests);
  expect(await world.bench('lookup', '--config', 'tests.yaml')).toBe(5);
  expect(world.err()).toContain('--calico-node-cpu: "much" is not a quantity of CPU');
});

it('refuses flags that each test of tiger-bench sets, once', async () => {
  const test = `{TestKind: dnsperf, Duration: 2, DNSPerf: {TargetURL: 'http://www.example.net'}}`;
  await world.fs.writeFile(`${world.directory}/tests.yaml`, `[${test}, ${test}]`);
  const flags = ['--duration', '9', '--standing-pods', '3', '--dry-run'];
  expect(await world.bench('lookup', '--config', 'tests.yaml', ...flags)).toBe(2);
  expect(
    world.err().match(/--duration and --standing-pods: each test of tests\.yaml has its own/g),
  ).toHaveLength(1);
});

/** A page at a port of this machine where nobody listens any more. */
async function closedUrl(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return `http://localhost:${typeof address === 'object' ? address?.port : ''}/`;
}

/** A page that answers this many samples, and then nobody any more. */
async function briefUrl(answers: number): Promise<string> {
  const site = createHttpServer((_, response) => {
    response.end('ok');
    answers -= 1;
    if (answers === 0) site.close();
  }).listen(0, '127.0.0.1');
  await once(site, 'listening');
  onTestFinished(() => void site.close());
  const address = site.address();
  return `http://localhost:${typeof address === 'object' ? address?.port : ''}/`;
}

it('a page that cannot be reached is said before the first trial, with the address and what would work', async () => {
  const url = await closedUrl();
  const flags = ['--client', 'builtin', '--duration', '60', '--trials', '12', '--no-capture'];
  expect(await world.bench('lookup', '--url', url, ...flags)).toBe(4);
  expect(world.err()).toMatch(
    /localhost:\d+\/ does not answer builtin, tried .*127\.0\.0\.1.* port \d+: exit status 7 \(no connection\)/,
  );
  expect(world.err()).toContain('--local brings its own');
  expect(await world.fs.readdir(`${world.directory}/results`)).toEqual([]);
});

describe('where packets cannot be captured', () => {
  const flags = ['--client', 'builtin', '--duration', '1', '--trials', '1'];

  /** With programs of this name in a PATH of their own. */
  async function measure(programs: Readonly<Record<string, string>>) {
    await world.remove();
    const directory = await mkdtemp(join(tmpdir(), 'lookup-programs-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    for (const [name, script] of Object.entries(programs))
      await writeFile(join(directory, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    world = await testWorld({ env: { PATH: directory }, machine: { userId: 0 } });
    return world.bench('lookup', '--url', await briefUrl(Number.POSITIVE_INFINITY), ...flags);
  }

  it('a run says before its first trial what tcpdump said, and what works', async () => {
    const programs = { ip: 'echo "local 127.0.0.1 dev lo"', tcpdump: 'echo "lo: no permission" >&2; exit 1' };
    expect(await measure(programs)).toBe(3);
    expect(world.err()).toMatch(
      /tcpdump does not capture on lo[\s\S]*lo: no permission[\s\S]*--no-capture measures/,
    );
    expect(await world.fs.readdir(`${world.directory}/results`)).toEqual([]);
  });

  it('for want of an interface, it measures and says so', async () => {
    expect(await measure({ tcpdump: 'exit 1' }), world.err()).toBe(0);
    expect(world.out()).toContain('tells no interface of the page or of a name server');
  });
});

it('a target that fails more than half of the samples is a failed trial, with the commonest reason', async () => {
  const flags = ['--client', 'builtin', '--duration', '1', '--trials', '1', '--no-capture'];
  expect(await world.bench('lookup', '--url', await briefUrl(1), ...flags)).toBe(5);
  expect(world.err()).toMatch(/(\d+) of \1 samples failed; most often exit status 7 \(no connection\)/);
  expect(world.out()).toMatch(/no sample succeeded/i);
});

describe('a run', () => {
  const flags = ['--client', 'builtin', '--duration', '2', '--trials', '2', '--no-capture'];
  const runs = () => `${world.directory}/results`;
  const find = async () =>
    (await world.fs.readdir(runs()).catch(() => [])).find((name) => /^\d/.test(name)) ?? '';
  const record = async () =>
    JSON.parse(await world.fs.readFile(`${runs()}/${await find()}/run.json`, 'utf8'));

  it('is planned with its time, and nothing else, with --dry-run', async () => {
    const plan = [...flags, '--dry-run', '--aa'];
    expect(await world.bench('lookup', '--url', 'http://localhost:1/', ...plan), world.err()).toBe(0);
    expect(world.out()).toBe(
      'this machine  this machine\nthis machine(aa)  this machine, A/A\n2 cases, 4 trials, about 8 s\n',
    );
  });

  it('has the figures of each trial, the command that makes it again, and a line in the history', async () => {
    const url = await briefUrl(Number.POSITIVE_INFINITY);
    expect(await world.bench('lookup', '--url', url, ...flags, '--json'), world.err()).toBe(0);
    const { status, trials, command } = await record();
    expect(status).toBe('complete');
    expect(trials.map(({ figures }: { figures: object }) => figures)).toEqual([
      expect.objectContaining({ lookupP50: expect.any(Number), repeatedSyn: null, failedSamples: 0 }),
      expect.objectContaining({ lookupP50: expect.any(Number), repeatedSyn: null, failedSamples: 0 }),
    ]);
    expect(command).toContain(
      `bench lookup --trials 2 --url ${url} --duration 2 --client builtin --no-capture`,
    );
    expect(await world.bench('history')).toBe(0);
    expect(world.out()).toMatch(
      /complete {2}2 trials; \d+ samples; this machine: median\n.* {2}lookup {4}lookup/,
    );
  });
});
