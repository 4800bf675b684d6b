/** `bench capacity survive` on a real CoreDNS in real control groups: the kernel kills it under a limit that is too small. */
import { spawn } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { defineCluster, startApiServer } from '@dinodns-bench/cluster-objects';
import { fileNeeds } from '@dinodns-bench/test-support';
import { afterEach, beforeEach, expect, onTestFinished } from 'vitest';
import { keptSchema, type SurviveRecord, surviveKind } from '../src/experiments/capacity/survive/evidence.ts';
import { createStore } from '../src/results/store.ts';
import { controlGroups } from './local-fixtures.ts';
import { useCluster } from './support/api-server.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

const { it } = fileNeeds('coredns', 'root');

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
afterEach(() => world.remove());

async function record(): Promise<SurviveRecord> {
  return (await createStore(world, 'results').loadAs(surviveKind, 'latest')).record;
}

const BENCH = fileURLToPath(new URL('../bin/bench.js', import.meta.url));

/** Control groups of a process, with what runs in them. */
async function groupsOf(owner: number): Promise<readonly { path: string; pids: readonly string[] }[]> {
  const all = await controlGroups();
  const own = all.filter((path) => /capacity-survive[^/]*$/.test(path) && path.includes(`-${owner}-`));
  return Promise.all(
    own.map(async (path) => {
      const text = await readFile(`${path}/cgroup.procs`, 'utf8').catch(() => '');
      return { path, pids: text.split('\n').filter((pid) => pid !== '') };
    }),
  );
}

const pidsOf = async (owner: number) => (await groupsOf(owner)).flatMap(({ pids }) => pids);

/** Everything that runs as a part of bench in `directory`, CoreDNS and the programs beside it. */
async function running(directory: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const environ = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
      return environ.includes(`KUBECONFIG=${directory}/kubeconfig`)
        ? [`${pid} ${await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')}`.trim()]
        : [];
    }),
  );
  return found.flat();
}

/** For what hangs: a start takes some seconds, but ten times as long beside 20 other programs, and one that gets nowhere a minute more. */
const SEARCH_MS = 300_000;

const SMALL = [
  '--trials',
  '1',
  '--side-by-side',
  '1',
  '--starts',
  '1',
  '--resolution',
  '50%',
  '--outage',
  '1s',
  '--rate',
  '100',
];
const FACTORS = ['--factors', 'lists=streamed;config=nocache'];

it(
  'finds a limit between one that killed and one that was survived; killed or interrupted, leaves nothing behind and goes on',
  async () => {
    const cluster = await startApiServer({
      cluster: defineCluster({ pods: 300, services: 2000, endpoints: 9000 }),
    });
    onTestFinished(() => cluster.close());
    await useCluster(world, cluster.url);

    // Killed in its search.
    const bench = spawn(
      world.processes.nodePath,
      [BENCH, 'capacity', 'survive', '--from-cluster', ...FACTORS, ...SMALL],
      { cwd: world.cwd, env: world.env, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    onTestFinished(() => void bench.kill('SIGKILL'));
    const owner = bench.pid ?? 0;
    let log = '';
    bench.stderr.on('data', (data) => {
      log += String(data);
    });
    // A search takes long: a log has a line for each of its starts. On a busy machine, the first may have to be made again.
    const survivedLine = /^1\/1 {2}CoreDNS, streamed lists, trial 1: start \d, \S+ MiB: survived/m;
    await expect.poll(() => log, { timeout: SEARCH_MS }).toMatch(survivedLine);
    await expect.poll(() => pidsOf(owner), { timeout: SEARCH_MS }).not.toEqual([]);
    bench.kill('SIGKILL');
    await expect.poll(() => running(world.directory)).toEqual([]);
    // A process leaves its group a moment after its memory.
    await expect.poll(() => pidsOf(owner)).toEqual([]);
    const kept = await record();
    expect(kept).toMatchObject({ status: 'running', trials: [] });
    const search = `${kept.cases[0]?.key}#0`;
    const begun = keptSchema.parse(kept.unfinished?.[search]);
    expect(begun.starts[0]).toMatchObject({ outcome: 'survived' });

    // Resumed, and interrupted in the next start.
    const resumed = world.bench('capacity', 'survive', '--resume', 'latest');
    await expect.poll(() => pidsOf(process.pid), { timeout: SEARCH_MS }).not.toEqual([]);
    world.send('SIGINT');
    expect(await resumed, world.err()).toBe(130);
    expect(world.err()).toMatch(/Continue with: pnpm bench capacity survive --resume \d{8}-/);
    for (const { process: started } of world.started) expect(started.exit).toBeDefined();
    expect([...(await groupsOf(process.pid)), ...(await groupsOf(owner))]).toEqual([]);

    expect((await record()).unfinished).toMatchObject({ [search]: begun });

    expect(await world.bench('capacity', 'survive', '--resume', 'latest'), world.err()).toBe(0);
    const { status, trials, cases, settings, warnings, unfinished } = await record();
    expect(status).toBe('complete');
    expect(unfinished).toBeUndefined();
    expect(warnings).toContainEqual(expect.stringContaining(`${search}: interrupted, and resumed after`));
    // What was counted is what a run goes on with.
    expect(settings).toMatchObject({ fromCluster: false, objects: [cases[0]?.point.objects] });
    expect(cases[0]?.point.endpoints).toBeGreaterThanOrEqual(9000);
    const [trial] = trials;
    if (trial?.status !== 'ok') throw new Error(trial?.failure.message);
    const { limitBytes, killedBytes, starts, streamed } = trial.evidence;
    // What it has learnt before it was killed counts.
    expect(starts.slice(0, begun.starts.length)).toEqual(begun.starts);
    expect(trial.figures.limit).toBe(limitBytes);
    // Observed: the kernel killed it, or, just below what it needs, it lived and got nowhere. Kills: capacity-verify.servers.test.ts.
    const failed = starts.filter(({ outcome }) => outcome !== 'survived');
    expect(Math.max(...failed.map((start) => start.limitBytes))).toBe(killedBytes);
    expect(limitBytes).toBeGreaterThan(killedBytes ?? Number.POSITIVE_INFINITY);
    const survived = starts.filter((start) => start.limitBytes === limitBytes);
    expect(survived.map(({ outcome }) => outcome)).toEqual(['survived']);
    for (const { scenarios, peakBytes } of survived) {
      expect(scenarios.map(({ name }) => name)).toEqual([
        'cold start',
        'relist',
        'replaced endpoints',
        'API server outage',
      ]);
      for (const { rightSeconds, queries, name } of scenarios) {
        // In so small a cluster, no headless Service need be among the replaced ones.
        if (name !== 'replaced endpoints') expect(rightSeconds, name).toBeGreaterThanOrEqual(0);
        if (name !== 'cold start') expect(queries?.sent).toBeGreaterThan(0);
      }
      expect(peakBytes).toBeGreaterThan(5e6);
      expect(peakBytes).toBeLessThan(limitBytes);
    }
    expect(streamed.toSorted()).toEqual(['endpointslices', 'namespaces', 'services']);
    expect(cases[0]?.summary.limit?.median).toBe(limitBytes);
    expect(world.out()).toContain('Limits that survived');

    for (const { process: started } of world.started) expect(started.exit).toBeDefined();
    expect(await groupsOf(process.pid)).toEqual([]);
  },
  3 * SEARCH_MS,
);
