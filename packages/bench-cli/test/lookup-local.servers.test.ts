/** `bench lookup --local`: real packets between network namespaces. What it measures: lookup-local.servers.timing.test.ts. */
import { fileURLToPath } from 'node:url';
import { needs } from '@dinodns-bench/test-support';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lookupKind } from '../src/experiments/lookup/evidence.ts';
import { overallsOf } from '../src/experiments/lookup/overall.ts';
import { createStore } from '../src/results/store.ts';
import { expectAgreement, runLookup } from './support/lookup-local.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
afterEach(() => world.remove());

describe('resolvers', () => {
  it('are compared by lookups through each of them, with a search list that costs queries', {
    timeout: 60_000,
    ...needs('root', 'tcpdump', 'unbound', 'knotd'),
  }, async () => {
    const record = await runLookup(world, '--servers', 'unbound,knot', '--duration', '2', '--trials', '2');
    expectAgreement(record);
    expect(record.subjects.map(({ name }) => name)).toEqual(['unbound', 'knot']);
    for (const { samples, queriesPerLookup, families } of overallsOf(record)) {
      expect(samples.failed).toEqual([]);
      expect(samples.taken).toBeGreaterThan(10);
      expect(queriesPerLookup).toBe(2);
      expect(families).toEqual({ ipv4: samples.taken, ipv6: 0 });
    }
  });

  it('of a cluster cost a query for each name of the search list', {
    timeout: 60_000,
    ...needs('root', 'tcpdump', 'coredns'),
  }, async () => {
    const record = await runLookup(
      world,
      ...['--servers', 'coredns-cluster', '--duration', '1', '--trials', '1', '--ipv6', '--ecn'],
      ...['--search', 'default.svc.cluster.local,svc.cluster.local,cluster.local', '--ndots', '5'],
    );
    expectAgreement(record);
    const [result] = overallsOf(record);
    expect(result?.samples.failed).toEqual([]);
    expect(result?.queriesPerLookup).toBe(8);
    // getaddrinfo prefers IPv6 where both have it (RFC 6724).
    expect(result?.families.ipv4).toBe(0);
    const [evidence] = result?.evidence ?? [];
    expect(evidence?.packets?.handshakes.syn).toMatchObject({ ipv4: 0, ipv6: result?.samples.taken });
    expect(evidence?.packets?.handshakes.syn.ecn).toBe(result?.samples.taken);
  });
});

/** Processes that have inherited this from bench. */
async function processesWith(mark: string): Promise<string[]> {
  const pids = (await world.fs.readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const marked = await Promise.all(
    pids.map(async (pid) => {
      const environment = await world.fs.readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
      return environment.includes(mark) ? [pid] : [];
    }),
  );
  return marked.flat();
}

const hasLink = async (pid: number) =>
  (await world.fs.readdir('/sys/class/net')).includes(`bench${pid.toString(36)}`);

/** Lines of samples in the raw output of the only run. */
async function samplesTaken(): Promise<number> {
  const results = `${world.directory}/results`;
  const [id = ''] = (await world.fs.readdir(results).catch(() => [])).filter((name) => /^\d/.test(name));
  const raw = `${results}/${id}/raw`;
  const [file] = (await world.fs.readdir(raw).catch(() => [])).filter((name) => name.startsWith('0-'));
  if (file === undefined) return 0;
  return (await world.fs.readFile(`${raw}/${file}`, 'utf8')).split('\n').length - 1;
}

describe('what a run made', () => {
  it('goes away even if bench is killed', {
    timeout: 60_000,
    ...needs('root', 'tcpdump', 'unbound'),
  }, async () => {
    const mark = `LOOKUP_TEST=${world.directory}`;
    const argv = ['lookup', '--local', '--servers', 'unbound', '--duration', '30', '--trials', '1'];
    const bench = await world.processes.start([world.processes.nodePath, MAIN, ...argv], {
      cwd: world.directory,
      env: { LOOKUP_TEST: world.directory },
    });
    await expect.poll(samplesTaken).toBeGreaterThan(2);
    expect(await hasLink(bench.pid)).toBe(true);
    expect((await processesWith(mark)).length).toBeGreaterThan(4);
    world.processes.signal(bench.pid, 'SIGKILL');
    await bench.exited;
    await expect.poll(() => processesWith(mark)).toEqual([]);
    await expect.poll(() => hasLink(bench.pid)).toBe(false);
  });

  it('goes away after Ctrl-C, and what was measured is kept', {
    timeout: 60_000,
    ...needs('root', 'tcpdump', 'unbound'),
  }, async () => {
    const running = world.bench(
      ...['lookup', '--local', '--servers', 'unbound', '--duration', '30', '--trials', '30'],
    );
    const store = createStore(world, 'results');
    await expect.poll(() => store.list()).toHaveLength(1);
    world.send('SIGINT');
    expect(await running).toBe(130);
    expect(world.started.filter(({ process }) => process.exit === undefined)).toEqual([]);
    // The kernel removes a namespace, and its links, a moment after its last process has ended.
    await expect.poll(() => hasLink(world.processes.ownPid)).toBe(false);
    const { record } = await store.loadAs(lookupKind, 'latest');
    expect(record.status).toBe('interrupted');
    expect(record.trials.length).toBeGreaterThan(0);
  });
});
