/** `--servers at=…`: servers that were running before, measured and left as they are. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type RunRecord, recordSchema } from '../src/results/record.ts';
import { parsePlace } from '../src/servers/at/place.ts';
import { renderMarkdown } from './support/render.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';
import { type CodeOf, NXDOMAIN, REFUSED, startUdpServer, zoneSetCode } from './support/udp-server.ts';

let world: TestWorld;
const closers: (() => void)[] = [];
beforeEach(async () => {
  world = await testWorld();
});
afterEach(async () => {
  for (const close of closers.splice(0)) close();
  await world.remove();
});

async function startServer(codeOf?: CodeOf, address?: string): Promise<number> {
  const server = await startUdpServer(codeOf, address);
  closers.push(server.close);
  return server.port;
}

const SHORT = [
  ...['--duration', '1', '--warmup', '0', '--trials', '1', '--zones', '5'],
  ...['--loader', 'builtin', '--rate', '200'],
];

function run(...flags: string[]): Promise<number> {
  return world.bench('run', ...SHORT, ...flags);
}

async function recordOf(): Promise<RunRecord> {
  const [folder = ''] = (await readdir(join(world.directory, 'results'))).filter((name) => /^\d/.test(name));
  return recordSchema.parse(
    JSON.parse(await readFile(join(world.directory, 'results', folder, 'run.json'), 'utf8')),
  );
}

/** Questions that change nothing: for versions, for what the machine's CPUs count, for the way to the server and its queues. */
const QUESTION = / --version\b|\/probe\/|"pids":\[\]|^ip -j route get |^tc -s -j qdisc show$/;

/** Programs that bench started, without loaders and questions. */
function started(): readonly string[][] {
  return world.started
    .filter(({ program }) => !/git$|driver\.ts$|systemd-detect-virt$/.test(program))
    .map(({ command }) => [...command])
    .filter((command) => !QUESTION.test(command.join(' ')));
}

/** Nothing was measured, written or started. */
async function nothingHappened(): Promise<void> {
  expect(
    (await readdir(world.directory)).filter((name) => name !== 'queries.txt' && name !== 'results'),
  ).toEqual([]);
  expect(await readdir(join(world.directory, 'results')).catch(() => [])).toEqual([]);
  expect(started()).toEqual([]);
}

describe('a place', () => {
  it.each([
    ['127.0.0.1', { host: '127.0.0.1', port: 53, address: '127.0.0.1', observed: null }],
    ['127.0.0.1:5300/pid=12', { host: '127.0.0.1', port: 5300, observed: { pid: 12 } }],
    ['[::1]:5300', { host: '::1', port: 5300, address: '::1' }],
    ['2001:db8::1', { host: '2001:db8::1', port: 53 }],
    ['[::1]/cgroup=/sys/fs/cgroup/x/y', { host: '::1', observed: { cgroup: '/sys/fs/cgroup/x/y' } }],
    ['ns1.example.net:5353', { host: 'ns1.example.net', port: 5353, address: null }],
    ['kube-system/kube-dns', { kind: 'service', namespace: 'kube-system', name: 'kube-dns', port: 53 }],
    ['dns/mine:5353', { kind: 'service', namespace: 'dns', name: 'mine', port: 5353 }],
  ])('%s is understood', (text, expected) => {
    expect(parsePlace(text)).toMatchObject(expected);
  });

  it.each([
    ['', 'neither an address nor a host name'],
    ['127.0.0', 'neither an address nor a host name'],
    ['300.0.0.1', 'neither an address nor a host name'],
    ['127.0.0.1:0', 'from 1 to 65535'],
    ['127.0.0.1:99999', 'from 1 to 65535'],
    ['[::1', 'neither an address nor a host name'],
    ['./server.yaml', 'neither an address nor a host name'],
    ['127.0.0.1/pid=x', 'not the id of a process'],
    ['127.0.0.1/cgroup=x', 'not the absolute path'],
    ['kube-system/kube-dns/pid=3', 'omit pid and cgroup'],
  ])('"%s" is refused: %s', (text, problem) => {
    expect(parsePlace(text)).toEqual({ problem: expect.stringContaining(problem) });
  });
});

describe('a server that is running', () => {
  it('is measured without being touched; its CPU and memory are not known', async () => {
    const port = await startServer(zoneSetCode);
    expect(await run('--servers', `at=127.0.0.1:${port}`)).toBe(0);
    const record = await recordOf();
    expect(record.servers).toMatchObject([
      {
        name: `at=127.0.0.1:${port}`,
        kind: 'at',
        title: `127.0.0.1:${port}`,
        version: 'as found',
        files: {},
      },
    ]);
    expect(record.baseline).toBe(`at=127.0.0.1:${port}`);
    const [trial] = record.trials;
    if (trial?.status !== 'ok') throw new Error(JSON.stringify(trial));
    expect(trial).toMatchObject({ checkedAnswers: 10, server: null });
    // A starved load generator does not hold the rate; of the server, whose CPU is not known, nobody can say that it was the limit.
    expect(['rate', 'loader']).toContain(trial.limitedBy);
    expect(Object.keys(trial.load.responseCodes).sort()).toEqual(['NOERROR', 'REFUSED']);
    expect(record.warnings.join('\n')).toContain('no process or control group of it was named');
    expect(world.out()).toContain('as found');
    expect(world.out()).toContain('tier and mode say nothing about it');
    expect(world.out()).not.toContain('1 × 1 vCPU');
    expect(renderMarkdown(record)).toContain('- Each trial checks every distinct answer, warms up for 0 s');
    // Besides the loader, only questions.
    expect(world.started.filter(({ program }) => program === 'driver.ts')).toHaveLength(1);
    expect(started()).toEqual([]);
  });

  it('has the CPU and memory of the process that is named, which goes on running', async () => {
    const port = await startServer(zoneSetCode);
    expect(await run('--servers', `mine=at:localhost:${port}/pid=${process.pid}`)).toBe(0);
    const record = await recordOf();
    expect(record.servers[0]).toMatchObject({ name: 'mine', title: 'mine' });
    expect(record.cases[0]?.key).toBe('mine/tier=1/single/half/udp/rate=200');
    const [trial] = record.trials;
    if (trial?.status !== 'ok') throw new Error(JSON.stringify(trial));
    expect(trial.server?.cpuSource).toBe('proc');
    expect(trial.metrics.memoryBytes).toBeGreaterThan(10 * 2 ** 20);
    expect(trial.instances).toMatchObject([{ pid: process.pid, command: [] }]);
  });

  it('is compared with others like it, over IPv6 too, and any of them is the baseline', async () => {
    const [old, next] = [await startServer(zoneSetCode), await startServer(zoneSetCode, '::1')];
    const servers = `old=at:127.0.0.1:${old},new=at:[::1]:${next}`;
    expect(await run('--servers', servers, '--baseline', 'new', '--trials', '2')).toBe(0);
    const { cases, command } = await recordOf();
    expect(cases.map(({ server, comparison }) => [server, comparison?.baseline])).toEqual([
      ['old', 'new/tier=1/single/half/udp/rate=200'],
      ['new', undefined],
    ]);
    expect(command).toContain(`old=at:127.0.0.1:${old},new=at:[::1]:${next}`);
    expect(command).toContain('--baseline new');
  });

  it('may answer names outside its zones with either code, but must not mix them', async () => {
    const port = await startServer(
      (name) => zoneSetCode(name, 0) && (name.includes('4') ? NXDOMAIN : REFUSED),
    );
    expect([4, 5]).toContain(await run('--servers', `at=127.0.0.1:${port}`));
    const [trial] = (await recordOf()).trials;
    // Before the load, or under it if the first answers came at the same time.
    expect(trial).toMatchObject({
      status: 'failed',
      failure: { code: expect.stringMatching(/^E_(WRONG_ANSWER|RESPONSE_CODES)$/) },
    });
  });
});

describe('a server with names of its own', () => {
  const own = async () => {
    await writeFile(join(world.directory, 'queries.txt'), 'a.my.test A\nb.my.test A\nc.my.test A\n');
    return ['--workload', 'queries.txt', '--answers', 'stable'];
  };

  it('is measured if its answers stay as they were, and the record says so', async () => {
    const port = await startServer((name) => (name === 'b.my.test' ? NXDOMAIN : 0));
    expect(await run('--servers', `at=127.0.0.1:${port}`, ...(await own()))).toBe(0);
    const record = await recordOf();
    expect(record.configuration).toMatchObject({ answers: 'stable' });
    expect(record.warnings.join('\n')).toContain('answers were not compared with known right ones');
    expect(record.trials).toMatchObject([{ status: 'ok', checkedAnswers: 3 }]);
  });

  it('fails if it answers otherwise under load', async () => {
    const port = await startServer((_, asked) => (asked > 20 ? NXDOMAIN : 0));
    expect(await run('--servers', `at=127.0.0.1:${port}`, ...(await own()))).toBe(5);
    expect((await recordOf()).trials).toMatchObject([{ failure: { code: 'E_RESPONSE_CODES' } }]);
  });

  it('fails if it answers nothing but errors: it is fast, and useless', async () => {
    const port = await startServer(() => REFUSED);
    expect(await run('--servers', `at=127.0.0.1:${port}`, ...(await own()))).toBe(4);
    const [trial] = (await recordOf()).trials;
    expect(trial).toMatchObject({ failure: { code: 'E_WRONG_ANSWER' } });
    expect(JSON.stringify(trial)).toContain('REFUSED');
  });

  it('needs --answers stable, and the error says so', async () => {
    const port = await startServer(() => 0);
    const [, file = ''] = await own();
    expect(await run('--servers', `at=127.0.0.1:${port}`, '--workload', file)).toBe(4);
    expect(JSON.stringify((await recordOf()).trials)).toContain('--answers stable --workload FILE');
  });
});

describe('before anything starts', () => {
  it.each([
    [['at=127.0.0.1:1'], 4, 'nothing answers over udp at 127.0.0.1:1', "sport = :1'"],
    [['at=192.0.2.1'], 2, 'at=192.0.2.1: 192.0.2.1 is not a loopback address', '--allow-remote'],
    [['old=at:[2001:db8::1]:5300'], 2, 'old: 2001:db8::1 is not a loopback address', '--allow-remote'],
    [['at=no-such-host.invalid'], 4, 'at=no-such-host.invalid: it', 'no-such-host.invalid'],
    [['at=127.0.0.1:1/pid=4194300'], 2, 'there is no process 4194300', '/pid='],
    [['at=127.0.0.1:1/cgroup=/nonexistent'], 2, '/nonexistent is not a control group', '/pid=1234'],
    [['at=kube-system/kube-dns'], 2, 'at=kube-system/kube-dns is part of a cluster', '--target kubernetes'],
    [['a=at:127.0.0.1:1,a=at:127.0.0.1:2'], 2, 'names something twice ("a")', 'under a name of its own'],
    [['coredns=at:127.0.0.1'], 2, '"coredns" is a server that bench has', 'another name'],
    [['My=at:127.0.0.1'], 2, '"My" cannot be the name of a server', 'lower-case'],
    [['at=1.2.3'], 2, '"1.2.3" is neither an address nor a host name', 'at=127.0.0.1:5300'],
    [['at=127.0.0.1', '--target', 'kubernetes'], 2, 'says nothing about the pods', 'at=NAMESPACE/SERVICE'],
  ])('--servers %s ends with status %i: %s', async ([servers = '', ...flags], status, message, fix) => {
    expect(await run('--servers', servers, ...flags)).toBe(status);
    expect(world.err().replaceAll(/\s+/g, ' ')).toContain(message);
    expect(world.err().replaceAll(/\s+/g, ' ')).toContain(fix);
    await nothingHappened();
  });

  it('a transport that the server lacks is named', async () => {
    const port = await startServer(zoneSetCode);
    expect(await run('--servers', `at=127.0.0.1:${port}`, '--transport', 'udp,tcp')).toBe(4);
    expect(world.err()).toContain(`nothing answers over tcp at 127.0.0.1:${port}`);
    expect(world.err().replaceAll(/\s+/g, ' ')).toContain("--exclude 'server=at=127.0.0.1");
    await nothingHappened();
  });
});
