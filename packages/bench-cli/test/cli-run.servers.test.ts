/** The main job, for real: CoreDNS, DinoDNS and dnsperf, through the whole CLI. What takes a quiet machine: cli-rate.servers.timing.test.ts. */
import { createSocket } from 'node:dgram';
import { existsSync } from 'node:fs';
import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileNeeds, needs } from '@dinodns-bench/test-support';
import { afterEach, beforeEach, expect } from 'vitest';
import { ownerOf } from '../src/machine/owner.ts';
import { type RunRecord, recordSchema } from '../src/results/record.ts';
import { type TestWorld, type TestWorldOptions, testWorld } from './support/test-world.ts';

const { describe, it } = fileNeeds('coredns', 'dnsperf');

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
afterEach(async () => {
  await world.remove();
  await nothingIsLeft();
});

async function replaceWorld(options: TestWorldOptions): Promise<void> {
  await world.remove();
  world = await testWorld(options);
}

const SHORT = ['--duration', '1', '--warmup', '0', '--zones', '20'];
/** Where it does not matter how much is answered: without a rate, two CPUs would be busy. */
const LIGHT = [...SHORT, '--rate', '500'];

async function runFolder(): Promise<string> {
  const [id] = await readdir(join(world.directory, 'results'));
  if (id === undefined) throw new Error('no run folder');
  return join(world.directory, 'results', id);
}

async function readRecord(): Promise<RunRecord> {
  return recordSchema.parse(JSON.parse(await readFile(join(await runFolder(), 'run.json'), 'utf8')));
}

/** No process of ours is alive, no cgroup and no temporary directory of ours exists. */
async function nothingIsLeft(): Promise<void> {
  for (const { process: running, command } of world.started) {
    expect(running.exit, command.join(' ')).toBeDefined();
  }
  const ours = (names: string[]) => names.filter((name) => ownerOf(name)?.pid === process.pid);
  expect(ours(await readdir(tmpdir()))).toEqual([]);
  for (const hierarchy of ['/sys/fs/cgroup', '/sys/fs/cgroup/cpu', '/sys/fs/cgroup/cpuacct']) {
    if (existsSync(hierarchy)) expect(ours(await readdir(hierarchy)), hierarchy).toEqual([]);
  }
}

/** Resolves with the newest process of that program as soon as it was started so often, not counting calls for its version. */
async function running(program: string, times = 1) {
  for (;;) {
    const found = world.started.filter(
      (item) => item.program === program && !item.command.some((word) => /^-?-(v(ersion)?|h)$/.test(word)),
    );
    const last = found.at(-1);
    if (found.length >= times && last !== undefined) return last;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The port that dnsperf was told. */
async function portUnderLoad(): Promise<number> {
  const { command } = await running('dnsperf');
  return Number(command[command.lastIndexOf('-p') + 1]);
}

it('a run by the published method, shortened, can be held against the publication', async () => {
  const servers = ['--servers', 'coredns,dinodns-stock', '--baseline', 'coredns', '--tier', '1'];
  expect(await world.bench('matrix', '--preset', 'blog', ...servers, ...SHORT, '--trials', '1')).toBe(0);
  const asJson = async (...argv: string[]) => {
    const before = world.out().length;
    expect(await world.bench(...argv, '--json'), world.err()).toBe(0);
    return JSON.parse(world.out().slice(before));
  };
  const { cells } = await asJson('reproduce', 'blog');
  const measured = cells.filter(({ verdict }: { verdict: string }) => verdict !== 'not measured');
  expect(measured.map(({ tier }: { tier: number }) => tier)).toEqual([1, 1, 1, 1]);
  const [compared] = await asJson('compare', 'published/blog', 'latest');
  expect(compared.cases).toHaveLength(3);
  // Four trials and two more commands: 26 s on a busy machine.
}, 180_000);

describe('bench run', () => {
  it('measures, saves a record that fits its schema, and writes the report', async () => {
    expect(await world.bench(...SHORT, '--trials', '2')).toBe(0);
    const record = await readRecord();
    expect(record).toMatchObject({ status: 'complete', baseline: 'coredns', loader: { kind: 'dnsperf' } });
    expect(record.trials.map((trial) => trial.caseKey.split('/')[0])).toEqual([
      'coredns',
      'dinodns-stock',
      'dinodns',
      'dinodns',
      'dinodns-stock',
      'coredns',
    ]);
    for (const trial of record.trials) {
      if (trial.status !== 'ok') throw new Error(JSON.stringify(trial.failure));
      expect(trial.checkedAnswers).toBe(40);
      expect(trial.load.queriesCompleted).toBeGreaterThan(100);
      expect(trial.server?.cpuSeconds).toBeGreaterThan(0);
      // A quota of one CPU holds, within one period of 100 ms.
      expect(trial.server?.cpuCores).toBeLessThan(1.15);
      expect(trial.loader?.cpuSeconds).toBeGreaterThan(0);
      expect(trial.metrics.memoryBytes).toBeGreaterThan(10 * 2 ** 20);
      expect(Object.keys(trial.load.responseCodes).sort()).toHaveLength(2);
    }
    expect(record.cases.map((item) => item.comparison?.qps.n)).toEqual([undefined, 2, 2]);
    expect(record.servers.every((server) => Object.keys(server.files).length > 0)).toBe(true);
    expect(record.servers[0]?.components.go).toMatch(/^\d+\.\d+/);
    const report = await readFile(join(await runFolder(), 'report.md'), 'utf8');
    expect(report).toContain('| CoreDNS ');
    expect(report).toContain('Queries Completed');
    expect(world.out()).toContain('DinoDNS (stock)');
    expect((await readdir(join(await runFolder(), 'raw'))).length).toBe(6);
  }, 240_000);

  it('prints the record, and nothing else, with --json', async () => {
    expect(await world.bench(...LIGHT, '--servers', 'dinodns', '--trials', '1', '--json')).toBe(0);
    const record: RunRecord = recordSchema.parse(JSON.parse(world.out()));
    expect(record).toEqual(await readRecord());
    expect(record.cases[0]?.summary?.qps).toMatchObject({ n: 1, low: null, high: null });
    expect(record.cases[0]?.comparison).toBeNull();
    const [trial] = record.trials;
    if (trial?.status !== 'ok') throw new Error('failed');
    expect(trial.loads).toMatchObject([{ qps: trial.load.qps, latencyHistogram: null, hdrHistogram: null }]);
  }, 60_000);

  it('keeps a live line of at most 80 columns on a terminal', async () => {
    await replaceWorld({ columns: 80 });
    expect(await world.bench(...LIGHT, '--servers', 'dinodns', '--trials', '1', '--duration', '3')).toBe(0);
    const live = world
      .err()
      .split('\r')
      .filter((text) => text.includes('1/1  DinoDNS, trial 1: '));
    expect(live.some((text) => text.includes('measuring') && text.includes('queries/s'))).toBe(true);
    for (const text of live) expect(text.replace('\u001b[2K', '').split('\n')[0]?.length).toBeLessThan(80);
  }, 60_000);

  // Each of them and their variants in both modes, with one question: local-real-servers.servers.test.ts.
  it('runs every server kind over UDP, and some over TCP', {
    timeout: 600_000,
    ...needs('knotd', 'nsd', 'named', 'pdns_server', 'unbound', 'dnsmasq'),
  }, async () => {
    const optional = ['knot', 'nsd', 'bind', 'powerdns', 'unbound', 'dnsmasq'];
    const all = ['coredns', 'dinodns-stock', 'dinodns', ...optional];
    expect(await world.bench(...SHORT, '--servers', all.join(), '--mode', 'single', '--trials', '1')).toBe(0);
    const { cases } = await readRecord();
    expect(cases.filter((item) => item.trials.ok === 1)).toHaveLength(all.length);
    // No server comes with a rate limit, and none loses queries from a window of 100.
    for (const { key, summary } of cases) expect(summary?.lostRatio.median, key).toBe(0);
    await replaceWorld({});
    // Each of them answers over TCP there. Under load: one in Go, one in JavaScript, one in C.
    const tcp = ['--servers', 'coredns,dinodns,knot', '--mode', 'multi', '--transport', 'tcp'];
    expect(await world.bench(...SHORT, ...tcp, '--trials', '1')).toBe(0);
    expect((await readRecord()).cases.every((item) => item.trials.ok === 1)).toBe(true);
  });

  it('lowers the tiers of all servers before the first trial until they are the limit, if asked to', async () => {
    await replaceWorld({ env: { DINODNS_BENCH_CALIBRATE: 'true' } });
    const asked = ['--servers', 'dinodns', '--tier', '2', '--saturate', '--loader', 'dnsperf'];
    expect(await world.bench('run', ...SHORT, ...asked, '--trials', '1'), world.err()).toBe(0);
    const record = await readRecord();
    const share = record.calibration?.quotaShare ?? 0;
    expect(record.cases.map(({ tier }) => tier)).toEqual([expect.closeTo(2 * share, 9)]);
    // The command repeats the run as it was made.
    if (share < 1) expect(record.command).toContain(`--tier ${record.cases[0]?.tier}`);
    if (record.calibration?.saturated === true)
      expect(record.calibration.probes.at(-1)?.limitedBy).toBe('server');
  }, 120_000);

  it('adds up replicas in single mode above tier 1, and marks a tier that the machine does not have', async () => {
    await replaceWorld({ machine: { availableCpus: 2 } });
    expect(await world.bench(...LIGHT, '--servers', 'dinodns', '--tier', '2', '--trials', '1')).toBe(0);
    const record = await readRecord();
    const [trial] = record.trials;
    if (trial?.status !== 'ok') throw new Error('failed');
    expect(trial.instances).toHaveLength(2);
    expect(new Set(trial.instances.map(({ port }) => port)).size).toBe(2);
    expect(trial.load.qps).toBeCloseTo(
      trial.loads.reduce((sum, load) => sum + load.qps, 0),
      6,
    );
    expect(record.cases[0]?.contended).toBe(true);
    expect(record.warnings.join()).toContain('contended');
  }, 60_000);
});

describe('bench run when something fails', () => {
  it('records a server that is killed in mid-trial as a failed trial and goes on', async () => {
    const run = world.bench(...LIGHT, '--duration', '2', '--servers', 'coredns,dinodns', '--trials', '1');
    await running('dnsperf');
    (await running('coredns')).process.kill('SIGKILL');
    expect(await run).toBe(5);
    const record = await readRecord();
    const [first, second] = record.trials;
    if (first?.status !== 'failed') throw new Error('the trial did not fail');
    expect(first.failure).toMatchObject({ code: 'E_SERVER_DIED' });
    expect(first.failure.message).toContain('SIGKILL');
    expect(second?.status).toBe('ok');
    expect(record.cases[0]).toMatchObject({ summary: null, trials: { planned: 1, ok: 0, failed: 1 } });
    expect(await readFile(join(await runFolder(), 'report.md'), 'utf8')).toMatch(/E\\_SERVER\\_DIED/);
  }, 60_000);

  it('survives garbage on the socket; the stock framework does not, and its last words are kept', async () => {
    const run = world.bench(
      ...LIGHT,
      '--duration',
      '3',
      '--servers',
      'dinodns,dinodns-stock',
      '--trials',
      '1',
    );
    const garbage = createSocket('udp4');
    const sent = new Set<number>();
    const timer = setInterval(() => {
      void portUnderLoad().then((port) => {
        garbage.send(Buffer.from([1, 2, 3]), port, '127.0.0.1');
        sent.add(port);
      });
    }, 200);
    expect(await run).toBe(5);
    clearInterval(timer);
    garbage.close();
    const [dinodns, stock] = (await readRecord()).trials;
    expect(sent.size).toBe(2);
    expect(dinodns?.status).toBe('ok');
    if (stock?.status !== 'failed') throw new Error('the stock framework survived');
    expect(stock.failure.code).toBe('E_SERVER_DIED');
    expect(stock.failure.evidence.join('\n')).toMatch(/RangeError|Error/);
  }, 60_000);

  it('does not benchmark a server that answers wrongly', async () => {
    await writeFile(join(world.directory, 'queries.txt'), 'example1.com A\nexample1.com AAAA\n');
    // An existing name asked for another type: NXDOMAIN from the framework as published.
    expect(
      await world.bench(
        ...LIGHT,
        '--servers',
        'dinodns-stock,dinodns',
        '--workload',
        'queries.txt',
        '--trials',
        '2',
      ),
    ).toBe(5);
    const record = await readRecord();
    expect(record.trials.map((trial) => trial.status)).toEqual(['failed', 'ok', 'ok', 'failed']);
    expect(world.err()).toContain('query:    example1.com AAAA');
    expect(world.err()).toContain('expected: NOERROR with no answer records');
    expect(world.err()).toContain('received: NXDOMAIN with no answer records');
  }, 60_000);

  it('stops in order on Ctrl-C, keeps what it has, and goes on with --resume', async () => {
    const run = world.bench(...LIGHT, '--servers', 'dinodns,coredns', '--trials', '2');
    await world.errContains('1/4');
    await running('coredns');
    world.send('SIGINT');
    expect(await run).toBe(130);
    expect(world.err()).toContain('1 trial saved in');
    const interrupted = await readRecord();
    expect(interrupted.status).toBe('interrupted');
    expect(interrupted.trials).toHaveLength(1);

    // By its path, wherever the folder has gone since.
    const id = interrupted.id;
    await rename(join(world.directory, 'results'), join(world.directory, 'kept'));
    expect(await world.bench('run', '--resume', `kept/${id}`)).toBe(0);
    expect(await readdir(world.directory)).toEqual(['kept']);
    await rename(join(world.directory, 'kept'), join(world.directory, 'results'));
    const complete = await readRecord();
    expect(complete.status).toBe('complete');
    expect(complete.trials.map((trial) => trial.order)).toEqual([0, 1, 2, 3]);
    expect(complete.trials[0]).toEqual(interrupted.trials[0]);
  }, 60_000);

  it('goes on with --duet without a server that dies, and repeats a round that was interrupted as a whole', async () => {
    const duet = ['--duet', '--slice', '0.25', '--servers', 'coredns,dinodns', '--loader', 'dnsperf'];
    const run = world.bench('run', ...LIGHT, ...duet, '--duration', '2', '--trials', '2');
    await running('dnsperf', 3);
    (await running('coredns')).process.kill('SIGKILL');
    await world.errContains('2/4');
    await running('coredns', 2);
    world.send('SIGINT');
    expect(await run).toBe(130);
    const interrupted = await readRecord();
    expect(interrupted.trials).toHaveLength(2);
    const [dead, survivor] = interrupted.trials;
    expect(dead).toMatchObject({ status: 'failed', failure: { code: 'E_SERVER_DIED' } });
    if (survivor?.status !== 'ok') throw new Error(JSON.stringify(survivor));
    expect(survivor.duet?.slices).toHaveLength(8);

    expect(await world.bench('run', '--resume', 'latest'), world.err()).toBe(5);
    const record = await readRecord();
    expect(record.trials.map(({ status }) => status)).toEqual(['failed', 'ok', 'ok', 'ok']);
    expect(record.trials.slice(0, 2)).toEqual(interrupted.trials);
  }, 60_000);

  it('kills a server that does not stop when Ctrl-C comes twice', async () => {
    const run = world.bench(...LIGHT, '--duration', '20', '--servers', 'coredns', '--trials', '1');
    await running('dnsperf');
    (await running('coredns')).process.kill('SIGSTOP');
    world.send('SIGINT');
    world.send('SIGINT');
    expect(await run).toBe(130);
    expect(world.err()).toContain('killing the servers');
    // Nothing was measured: no folder is left either.
    expect(await readdir(join(world.directory, 'results'))).toEqual([]);
  }, 60_000);

  it('says which tool is missing and how to get it, before it measures anything', async () => {
    await replaceWorld({ env: { PATH: '/nonexistent', HOME: '/nonexistent', XDG_CACHE_HOME: '' } });
    expect(await world.bench(...SHORT, '--servers', 'dinodns', '--loader', 'dnsperf', '--no-provision')).toBe(
      3,
    );
    expect(world.err()).toContain('E_TOOL_MISSING');
    expect(world.err()).toContain('dnsperf');
    expect(world.err()).toMatch(/fix: .*[Ii]nstall/);
    expect(await readdir(join(world.directory, 'results'))).toEqual([]);
  });

  it('falls back and says so where it may not set limits', async () => {
    const { mkdir } = await import('node:fs/promises');
    const denied: TestWorldOptions['fs'] = {
      mkdir: ((path: string, ...rest: []) =>
        String(path).startsWith('/sys/fs/cgroup')
          ? Promise.reject(
              Object.assign(new Error(`EACCES: permission denied, mkdir '${path}'`), { code: 'EACCES' }),
            )
          : mkdir(path, ...rest)) as unknown as typeof mkdir,
    };
    await replaceWorld({ fs: denied });
    expect(await world.bench(...LIGHT, '--servers', 'dinodns', '--trials', '1')).toBe(0);
    const { cpuLimits, warnings } = await readRecord();
    expect(cpuLimits.method).toBe('affinity');
    expect(cpuLimits.reason).toContain('no permission to create groups in /sys/fs/cgroup');
    expect(warnings.join()).toContain('affinity');
  }, 60_000);
});
