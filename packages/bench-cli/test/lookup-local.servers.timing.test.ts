/** `bench lookup --local`: real packets between network namespaces, and policies with a programmed delay. */
import { fileURLToPath } from 'node:url';
import { needs } from '@dinodns-bench/test-support';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { okTrials } from '../src/engine/record.ts';
import { type LookupRecord, lookupKind } from '../src/experiments/lookup/evidence.ts';
import { overallsOf } from '../src/experiments/lookup/overall.ts';
import { agreementOf } from '../src/experiments/lookup/tables.ts';
import { createStore } from '../src/results/store.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
afterEach(() => world.remove());

async function run(...argv: readonly string[]): Promise<LookupRecord> {
  expect(await world.bench('lookup', '--local', ...argv), world.err()).toBe(0);
  return (await createStore(world, 'results').loadAs(lookupKind, 'latest')).record;
}

/** What the kernel counted must be what the capture shows, in every trial. */
function expectAgreement(record: LookupRecord): void {
  for (const { name } of record.subjects) {
    for (const { evidence } of okTrials(record, name)) {
      expect(evidence.packets?.isWhole).toBe(true);
      expect(evidence.packets?.handshakes.duplicateSyn).toBe(evidence.kernel.syn);
      expect(evidence.packets?.handshakes.duplicateSynAck).toBe(evidence.kernel.synAck);
    }
  }
  for (const { repeated } of overallsOf(record)) expect(repeated?.kernelAgrees).toBe(true);
}

const MODES = 'Inline,NoDelay,DelayDeniedPacket,DelayDNSResponse';

describe('a simulated policy', () => {
  it.each([
    ['0', 1],
    ['50ms', 2],
    ['200ms', 2],
    ['1500ms', 3],
  ])(
    'that needs %s shows in each mode as programmed, and says that it is simulated',
    { timeout: 90_000, ...needs('root', 'tcpdump') },
    async (delay, seconds) => {
      const record = await run(
        ...['--simulate-policy', MODES, '--program-delay', delay],
        ...['--duration', String(seconds), '--trials', '1'],
      );
      expectAgreement(record);
      const overalls = overallsOf(record);
      for (const overall of overalls) {
        const agreement = agreementOf(overall, overalls);
        expect(agreement, `${overall.title}: ${JSON.stringify(agreement)}`).toMatchObject({
          timesAgree: true,
          repeatedAgree: true,
        });
      }
      expect(world.out()).toContain('Simulated DNS policies');
      expect(world.err()).toContain('SIMULATION');
    },
  );
});

describe('resolvers', () => {
  it('are compared by lookups through each of them, with a search list that costs queries', {
    timeout: 60_000,
    ...needs('root', 'tcpdump', 'unbound', 'knotd'),
  }, async () => {
    const record = await run('--servers', 'unbound,knot', '--duration', '2', '--trials', '2');
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
    const record = await run(
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

/** Of the issue: how far the medians of the two clients may be apart. */
const MAX_CLIENT_DIFFERENCE_SECONDS = 0.0002;

it('the built-in client asks and connects as curl does, and its medians agree within 0.2 ms', {
  timeout: 60_000,
  ...needs('root', 'tcpdump', 'unbound'),
}, async () => {
  const record = await run(
    ...['--servers', 'unbound', '--client', 'curl,builtin', '--duration', '4', '--trials', '4'],
  );
  expectAgreement(record);
  const overalls = overallsOf(record);
  for (const { samples, queriesPerLookup, families } of overalls) {
    expect(samples.failed).toEqual([]);
    expect(queriesPerLookup).toBe(2);
    expect(families.ipv4).toBe(samples.taken);
  }
  for (const phase of ['lookup', 'connect'] as const) {
    const [curl = Number.NaN, builtin = Number.NaN] = overalls.map(
      ({ phases }) => phases?.[phase].percentiles.find(({ percentile }) => percentile === 50)?.seconds,
    );
    expect(Math.abs(builtin - curl), `${phase}: ${curl} and ${builtin}`).toBeLessThan(
      MAX_CLIENT_DIFFERENCE_SECONDS,
    );
  }
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
