/** `bench capacity plan`: the published figures exactly, each with its basis, and nothing beyond what was measured. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { defineCluster, startApiServer } from '@dinodns-bench/cluster-objects';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { describeEnvironment } from '../src/environment/describe.ts';
import { throughputKind } from '../src/experiments/capacity/cases/evidence.ts';
import { measuredBasis, versionOf } from '../src/experiments/capacity/measured-basis.ts';
import { type MemoryFigure, memoryKind } from '../src/experiments/capacity/memory/evidence.ts';
import type { MemoryFit } from '../src/experiments/capacity/memory/lines.ts';
import { beyond, publishedBasis } from '../src/experiments/capacity/memory-basis.ts';
import { planCapacity } from '../src/experiments/capacity/plan.ts';
import { savePlan } from '../src/experiments/capacity/plan-command.ts';
import { planAnswer } from '../src/experiments/capacity/plan-document.ts';
import type { CapacityPlan, Verification } from '../src/experiments/capacity/plan-record.ts';
import { planKind } from '../src/experiments/capacity/plan-record.ts';
import { planSvg } from '../src/experiments/capacity/plan-svg.ts';
import { fittedLine, PUBLISHED_POINTS } from '../src/experiments/capacity/published.ts';
import { publishedThroughput } from '../src/experiments/capacity/throughput-basis.ts';
import { documentText } from '../src/report/document/terminal.ts';
import { parseRecordAs } from '../src/results/parse-record.ts';
import { createStore } from '../src/results/store.ts';
import { casesRecord } from './fixtures/cases-record.ts';
import { useCluster } from './support/api-server.ts';
import { referenceText } from './support/reference.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
afterEach(() => world.remove());

const SIZE = ['--pods', '15000', '--services', '820'] as const;

async function plan(...flags: readonly string[]): Promise<CapacityPlan> {
  expect(await world.bench('capacity', 'plan', ...flags, '--json'), world.err()).toBe(0);
  return JSON.parse(world.out());
}

const figureOf = (planned: CapacityPlan, name: string) =>
  planned.figures.find((figure) => figure.name === name)?.value;

describe('memory', () => {
  it.each([
    [[], 69.82, 67],
    [['--autopath'], 119.28, 114],
  ])(
    'of 15,000 pods and 820 services is what was published, with %j',
    async (flags, megabytes, mebibytes) => {
      const planned = await plan(...SIZE, ...flags);
      expect(figureOf(planned, 'steady memory')).toBe(megabytes);
      expect(planned.memoryRequestMegabytes).toBeCloseTo((mebibytes * 2 ** 20) / 1e6, 2);
      for (const { basis } of planned.figures) expect(basis).not.toBe('');
    },
  );

  it('is shown by the published data as well, which disagree with the formula for autopath', () => {
    const fit = fittedLine(PUBLISHED_POINTS.autopath);
    expect(fit.objectsPerMegabyte).toBeCloseTo(400, -1);
    expect(fit.baseMegabytes).toBeCloseTo(55.5, 1);
    const plain = fittedLine(PUBLISHED_POINTS.default);
    expect(plain.objectsPerMegabyte).toBeCloseTo(1165, -1);
    expect(plain.baseMegabytes).toBeCloseTo(54.1, 1);
  });

  it.each([
    ['60Mi', 'does not fit'],
    ['170Mi', 'cannot tell'],
    ['340Mi', 'fits'],
  ])('a limit of %s: %s', async (limit, fit) => {
    const { verdicts } = await plan(...SIZE, '--memory-limit', limit);
    expect(verdicts.find(({ about }) => about === 'memory')?.fit).toBe(fit);
  });
});

/** 1 kB for each object and 40 MB; peaks of 2 kB and 20 MB, and 3 kB and 20 MB. */
function measured(bytesEach: number, constant: number, figure: MemoryFigure): MemoryFit {
  return {
    server: 'coredns-cluster@1.15.0',
    configuration: 'default',
    figure,
    terms: [
      { of: 'constant', bytes: constant, low: constant, high: constant },
      { of: 'objects', bytes: bytesEach, low: bytesEach, high: bytesEach },
    ],
    covariance: [
      [0, 0],
      [0, 0],
    ],
    scatterRatio: 0.02,
    starts: 12,
    maxObjects: 20_000,
    merged: null,
  };
}

describe('memory by own measurements', () => {
  const record = { id: '20261122-090000-abcd', programs: [], cases: [], trials: [] };
  const fits = [
    measured(1000, 40e6, 'steady'),
    measured(2000, 20e6, 'coldStartPeak'),
    measured(3000, 20e6, 'relistPeak'),
  ];
  const options = { configuration: 'default', version: null, origin: "this machine's history" } as const;
  const basis = measuredBasis(record, options, fits);
  const demand = {
    pods: 9500,
    services: 500,
    endpoints: null,
    source: 'given',
    internalLookups: 0,
    externalLookups: 0,
    autopath: false,
    families: 2,
    searchDomains: 4,
    memoryLimitBytes: null,
    replicas: null,
    nodes: null,
  } as const;
  const planned = (memoryLimitBytes: number | null = null) => {
    if (basis === null) throw new Error('no basis');
    return planCapacity({ ...demand, memoryLimitBytes }, basis, publishedThroughput('default'));
  };

  it('requests the upper end of steady memory, and limits to 1.25 times the upper end of the largest peak and the pages of the program', () => {
    // In whole mebibytes, 52.23 and 65.29 MB, and 50 MiB for the program. Student's t for 10 degrees of freedom: 2.228 times the scatter of 2 % around each line.
    expect(figureOf(planned(), 'steady memory')).toBe(50);
    expect(planned().memoryRequestMegabytes).toBeCloseTo((50 * 2 ** 20) / 1e6, 2);
    expect(planned().memoryLimitMegabytes).toBeCloseTo((113 * 2 ** 20) / 1e6, 2);
    expect(figureOf(planned(), 'steady memory, by the published formula')).toBe(64);
    const bases = planned().figures.map((figure) => figure.basis);
    expect(bases.join('\n')).toContain(
      "this machine's history, run 20261122-090000-abcd (CoreDNS 1.15.0, default, 12 starts with up to 20,000 objects)",
    );
  });

  it.each([
    [45e6, 'does not fit', /steady use/],
    [47e6, 'does not fit', /less than the 50 MB of steady use/],
    [51e6, 'cannot tell', /within the interval of the peak/],
    [60e6, 'cannot tell', /may not hold the peak and the 52\.43 MB of the program/],
    [
      110e6,
      'fits',
      /above the peak of 50 MB and the 52\.43 MB of the program, but below the recommended 118\.49 MB/,
    ],
    [113 * 2 ** 20, 'fits', /at least the recommended/],
  ])('a limit of %d bytes %s', (limit, fit, because) => {
    const verdict = planned(limit).verdicts.find(({ about }) => about === 'memory');
    expect(verdict?.fit).toBe(fit);
    expect(verdict?.because).toMatch(because);
  });

  it.each([
    [40.5e6, 'it is within the interval of steady memory'],
    [45e6, 'may not hold steady memory and the 52.43 MB of the program'],
    [100e6, 'above steady memory of 40 MB and the 52.43 MB of the program, but below the recommended'],
  ])(
    'of a cluster so small that a full cache is more than the peaks, a limit of %d bytes is: %s',
    (limit, because) => {
      if (basis === null) throw new Error('no basis');
      const small = { ...demand, pods: 0, services: 0, memoryLimitBytes: limit };
      const [memory] = planCapacity(small, basis, publishedThroughput('default')).verdicts;
      expect(memory?.because).toContain(because);
    },
  );

  it('is used up to twice its range, and only for its configuration and version', () => {
    if (basis === null) throw new Error('no basis');
    const size = { services: 100, pods: 39_900, endpoints: 80_000 };
    expect(beyond(basis, size)).toBeNull();
    expect(beyond(basis, { ...size, services: 101 })).toEqual({
      ...{ of: 'objects', wanted: 40_001, measured: 20_000 },
    });
    // What has a term of its own has a range of its own.
    const apart = { ...basis, most: { endpoints: 20_000 } };
    expect(beyond(apart, size)).toEqual({ of: 'endpoints', wanted: 80_000, measured: 20_000 });
    expect(measuredBasis(record, { ...options, configuration: 'autopath' }, fits)).toBeNull();
    expect(measuredBasis(record, { ...options, version: '1.11.3' }, fits)).toBeNull();
    expect(measuredBasis(record, { ...options, version: '1.15.0' }, fits)).not.toBeNull();
  });

  it("is drawn: the published line, the measured ones, today's limit and the recommended one", async () => {
    if (basis === null) throw new Error('no basis');
    const svg = await planSvg(planned(170e6), basis);
    expect(svg).toMatch(/^<svg /);
    for (const text of ['published formula', 'steady, measured', 'recommended limit', "today's limit"]) {
      expect(svg).toContain(text);
    }
    expect(svg).toContain('10,000 objects of the plan');
  });
});

describe("memory by what was measured on the plan's cluster", () => {
  const RUN = '20261122-181313-6988';

  /** The published run, as one of a cluster, and of a machine. */
  async function saveRuns(server: string): Promise<void> {
    const record = parseRecordAs(memoryKind, referenceText('capacity-memory'), 'run.json');
    const { environment, endedAt } = record;
    const cluster = { version: 'v1.34.0', provider: null, server, cni: null, proxyMode: null, nodes: [] };
    const store = createStore(world, 'results');
    await store.saveAs(memoryKind, { ...record, environment: { ...environment, cluster } });
    const here = { ...environment, hostname: world.machine.hostname };
    await store.saveAs(memoryKind, { ...record, endedAt, id: '20261123-000000-0000', environment: here });
  }

  it.each([
    ['this one', [], `this cluster's history, run ${RUN}`],
    ['another', [], "this machine's history, run 20261123-000000-0000"],
    ['another', ['--basis', RUN], `measured, run ${RUN}`],
  ])('measured on %s, with %j: %s', async (which, flags, basis) => {
    const server = await startApiServer({ cluster: defineCluster({ pods: 500, services: 30 }) });
    try {
      await useCluster(world, server.url);
      await saveRuns(which === 'another' ? 'https://another.example' : server.url);
      const { figures } = await plan('--from-cluster', ...flags);
      expect(figures.find(({ name }) => name === 'steady memory')?.basis).toContain(basis);
    } finally {
      await server.close();
    }
  });

  it('of a single size, whose starts have no line, is not used, and that is said', async () => {
    const record = parseRecordAs(memoryKind, referenceText('capacity-memory'), 'run.json');
    const cases = record.cases.filter(({ point }) => point.objects === 0);
    const environment = { ...record.environment, hostname: world.machine.hostname };
    await createStore(world, 'results').saveAs(memoryKind, { ...record, cases, environment });
    const { notes } = await plan(...SIZE);
    expect(notes).toContain(
      `Run ${RUN} was not used, because there is no line through its starts: it takes at least two numbers of objects.`,
    );
  });
});

it.each([
  ['coredns/coredns:1.15.0', '1.15.0'],
  ['registry:5000/coredns:v1.13.1@sha256:0123', '1.13.1'],
  ['registry:5000/coredns', 'registry:5000/coredns'],
])('the version of the image %s is %s', (image, version) => {
  expect(versionOf({ programs: [{ name: 'coredns-cluster', version: image }] }, 'coredns-cluster')).toBe(
    version,
  );
});

describe('replicas', () => {
  it.each([
    // 20,000 × 2 + 5,000 × 2 × 5 queries at 33,669 and 33,667 QPS, 70 % used: 3.82, and one to spare.
    [['--lookups-internal', '20000', '--lookups-external', '5000'], 5],
    // With autopath, 5,000 × 2 queries for external names.
    [['--lookups-internal', '20000', '--lookups-external', '5000', '--autopath'], 4],
    [['--lookups-external', '5000', '--families', '1', '--search-domains', '0'], 2],
    [[], 2],
  ])('%j: %i', async (flags, replicas) => {
    expect((await plan(...SIZE, ...flags)).replicas).toBe(replicas);
  });

  it('those of today fit or do not; without lookups nobody can tell', async () => {
    const fitOf = async (...flags: string[]) => {
      await world.remove();
      world = await testWorld();
      const { verdicts } = await plan(...SIZE, ...flags);
      return verdicts.find(({ about }) => about === 'replicas')?.fit;
    };
    expect(await fitOf('--replicas', '2')).toBe('cannot tell');
    expect(await fitOf('--replicas', '2', '--lookups-internal', '30000')).toBe('does not fit');
    expect(await fitOf('--replicas', '4', '--lookups-internal', '30000')).toBe('fits');
  });
});

describe('replicas by throughput that was measured here', () => {
  const RUN = '20261122-121645-d34c';
  const LOOKUPS = ['--lookups-internal', '20000', '--lookups-external', '5000'] as const;

  const saveRun = async () => {
    const record = parseRecordAs(memoryKind, referenceText('capacity-memory'), 'run.json');
    const environment = { ...record.environment, hostname: world.machine.hostname };
    const made = casesRecord('capacity-throughput', { ...record, id: RUN, environment }, [
      { lookup: 'internal', lookupsPerSecond: 57_000 },
      { lookup: 'external', lookupsPerSecond: 10_000 },
      // What the load generator limited is no basis.
      { subject: 'coredns-cluster+nocache', lookup: 'internal', lookupsPerSecond: 1, otherwiseLimited: 1 },
    ]);
    await createStore(world, 'results').saveAs(throughputKind, made);
  };
  beforeEach(saveRun);

  const basisOf = ({ figures }: CapacityPlan) => figures.find(({ name }) => name === 'replicas')?.basis;

  it('plans for the lower end of what one answered, and names the run', async () => {
    const planned = await plan(...SIZE, ...LOOKUPS);
    // Measured: 57,000 lookups a second of one query each, and 10,000 of five, and some percents more.
    const internal = figureOf(planned, 'of one replica, for names of the cluster') ?? 0;
    expect(internal / 57_000).toBeCloseTo(1, 1);
    const external = figureOf(planned, 'of one replica, for other names') ?? 0;
    expect(external / 50_000).toBeCloseTo(1, 1);
    // 40,000 ÷ 57,000 + 50,000 ÷ 50,000, 70 % used: 2.43, and one to spare.
    expect(planned.replicas).toBe(4);
    expect(figureOf(planned, 'CPUs of one replica')).toBe(0.5);
    expect(basisOf(planned)).toContain(
      `this machine's history, run ${RUN} (CoreDNS 1.15.0, default, 0.5 CPUs)`,
    );
    expect(planned.notes.join(' ')).toContain('with a CPU limit of 0.5, which limited it');
    // Memory was not measured here.
    expect(figureOf(planned, 'steady memory')).toBe(69.82);
    const said = world.out().length;
    expect(await world.bench('capacity', 'plan', ...SIZE, ...LOOKUPS)).toBe(0);
    expect(world.out().slice(said)).toMatch(/^CPUs of one replica +0\.5$/m);
  });

  it.each([
    [['--basis', RUN], 4, `measured, run ${RUN}`],
    [['--coredns-version', '1.15.0'], 4, RUN],
    [['--basis', 'published'], 5, 'published: CoreDNS 1.2.5, 2018'],
    [['--coredns-version', '1.11.3'], 5, 'published: CoreDNS 1.2.5, 2018'],
  ])('with %j: %i replicas', async (flags, replicas, basis) => {
    const planned = await plan(...SIZE, ...LOOKUPS, ...flags);
    expect(planned.replicas).toBe(replicas);
    expect(basisOf(planned)).toContain(basis);
  });

  it('of another version than that of the line of memory is not used', async () => {
    const record = parseRecordAs(memoryKind, referenceText('capacity-memory'), 'run.json');
    const environment = { ...record.environment, hostname: world.machine.hostname };
    const cases = record.cases.filter(({ subject }) => subject.endsWith('1.11.3'));
    await createStore(world, 'results').saveAs(memoryKind, { ...record, cases, environment });
    const planned = await plan(...SIZE, ...LOOKUPS);
    expect(planned.figures.find(({ name }) => name === 'steady memory')?.basis).toContain('1.11.3');
    expect(basisOf(planned)).toContain('published: CoreDNS 1.2.5, 2018');
  });

  it('without both kinds of lookups for the version, a named run is refused', async () => {
    const flags = [...SIZE, ...LOOKUPS, '--basis', RUN, '--coredns-version', '1.11.3'];
    expect(await world.bench('capacity', 'plan', ...flags)).toBe(2);
    expect(world.err()).toContain(
      `--basis: run ${RUN} has no CPU-bound throughput for both kinds of lookups of CoreDNS 1.11.3 in the configuration default`,
    );
  });
});

describe('the plan', () => {
  it('is a patch and a ConfigMap that Kubernetes can read', async () => {
    const flags = [...SIZE, '--lookups-internal', '30000', '--nodes', '12', '--yaml'];
    expect(await world.bench('capacity', 'plan', ...flags)).toBe(0);
    const [patch, map] = parseAllDocuments(world.out()).map((document) => document.toJS());
    const [container] = patch.spec.template.spec.containers;
    expect(container.resources).toEqual({ requests: { memory: '67Mi' }, limits: { memory: '181Mi' } });
    expect(patch.spec.replicas).toBe(4);
    expect(map).toMatchObject({ kind: 'ConfigMap', metadata: { name: 'kube-dns-autoscaler' } });
    const linear = JSON.parse(map.data.linear);
    expect(linear).toMatchObject({ min: 4, nodesPerReplica: 3 });
    expect(linear).not.toHaveProperty('coresPerReplica');
  });

  it('never lets the autoscaler make more replicas than are planned', async () => {
    const flags = [...SIZE, '--lookups-internal', '30000', '--nodes', '5', '--yaml'];
    expect(await world.bench('capacity', 'plan', ...flags)).toBe(0);
    const [patch, map] = parseAllDocuments(world.out()).map((document) => document.toJS());
    const { nodesPerReplica } = JSON.parse(map.data.linear);
    expect(Math.ceil(5 / nodesPerReplica)).toBeLessThanOrEqual(patch.spec.replicas);
  });

  it.each([20_000, 24_000, 40_000])(
    'for %i pods, asks for as much in its YAML as in its report',
    async (pods) => {
      const size = ['--pods', String(pods), '--services', '9000', '--lookups-internal', '30000'];
      expect(await world.bench('capacity', 'plan', ...size)).toBe(0);
      const said = [...world.out().matchAll(/^memory (?:request|limit) .*?(\d+) MiB/gm)].map(
        ([, amount]) => `${amount}Mi`,
      );
      expect(await world.bench('capacity', 'plan', ...size, '--yaml')).toBe(0);
      const asked = [...world.out().matchAll(/memory: (\d+Mi)/g)].map(([, amount]) => amount);
      expect(asked).toHaveLength(2);
      expect(said).toEqual(asked);
    },
  );

  it('is 80 columns wide', async () => {
    expect(await world.bench('capacity', 'plan', ...SIZE, '--memory-limit', '170Mi')).toBe(0);
    for (const line of world.out().split('\n')) expect([...line].length, line).toBeLessThanOrEqual(80);
  });

  it('counts a cluster with read rights only, however large, and whatever DNS it has', async () => {
    const server = await startApiServer({
      cluster: defineCluster({ pods: 2200, services: 30, namespaces: 3 }),
    });
    try {
      await useCluster(world, server.url);
      const { demand, notes } = await plan('--from-cluster');
      expect(notes[0]).toContain('Autopath is assumed off');
      expect(demand).toMatchObject({
        pods: 2200,
        nodes: 20,
        replicas: null,
        memoryLimitBytes: null,
        autopath: false,
      });
      // The Service of the API server itself may be among them.
      expect(demand.services).toBeGreaterThanOrEqual(30);
      expect(demand.services).toBeLessThanOrEqual(31);
    } finally {
      await server.close();
    }
  });

  it.each([
    [['--pods', '5000'], 'pods given, the rest counted: cluster of the context '],
    [['--pods', '5000', '--services', '300'], 'given'],
  ])(
    'of another size than the cluster, with %j, has not the endpoints of the cluster',
    async (flags, source) => {
      const server = await startApiServer({ cluster: defineCluster({ pods: 500, services: 30 }) });
      try {
        await useCluster(world, server.url);
        const { demand } = await plan('--from-cluster', ...flags);
        expect(demand).toMatchObject({ pods: 5000, endpoints: null });
        expect(demand.source).toContain(source);
      } finally {
        await server.close();
      }
    },
  );
});

it('a plan that was verified on a cluster is kept with that cluster, and with paths that mean something elsewhere', async () => {
  Object.assign(world.env, { HOME: '/home/somebody' });
  const cluster = {
    ...{ version: 'v1.34.0', provider: null, cni: null, proxyMode: null, nodes: [] },
    ...{ server: 'https://c.example', context: 'there' },
  };
  const made = await plan(...SIZE);
  await savePlan(world, {
    plan: made,
    basis: publishedBasis('default'),
    environment: { ...(await describeEnvironment(world)), cluster },
    warnings: ['two nodes are one machine'],
    verification: {
      ...{ target: 'kubernetes', coredns: 'coredns:1', memoryLimitBytes: 1.6e8, queriesPerSecond: 500 },
      ...{ services: 820, pods: 15_000, endpoints: 15_000, held: true, because: 'it was enough' },
      ...{ peakBytes: 8e7, marginRatio: 0.2, phases: [] },
      queries: { sent: 1, answered: 1, lost: 0, wrong: 0 },
    },
    startedAt: world.clock.now(),
    argv: ['capacity', 'plan', '--chart', '/home/somebody/chart.svg'],
    out: 'results',
  });
  const { record } = await createStore(world, 'results').loadAs(planKind, 'latest');
  expect(record.environment.cluster).toEqual(cluster);
  expect(record.warnings).toEqual(['two nodes are one machine']);
  expect(record.argv).toContain('~/chart.svg');
  expect(record.command).not.toContain('/home/somebody');
  expect(await world.bench('report', 'latest', '--format', 'markdown')).toBe(0);
  expect(world.out()).toContain('https://c.example');
  expect(world.out()).toContain(
    'used 76 MiB of anonymous memory at most under a limit of 153 MiB, was not killed, and answered all 1 queries; with 50.0 MiB for the program, 17 % of the limit was never used: 80 % of it is no more than was used.',
  );
  const told = (changes: Partial<Verification>) =>
    documentText(planAnswer(made, { ...record.verification, ...changes }), {
      delta: 'relative',
      columns: 300,
    });
  expect(told({ peakBytes: 5.8e7 })).toContain('31 % of the limit was never used: 80 % of it is more than');
  // The pages of the program may have been the rest of the limit.
  expect(told({ peakBytes: 1.1e8 })).not.toContain('never used');
  const killed = told({ held: false, because: 'it was killed' });
  expect(killed).toContain('did not hold: it was killed.');
  expect(killed).not.toContain('never used');
  expect(world.out()).not.toContain('CPU governor');
});

describe('is refused with one message and a fix', () => {
  it.each([
    [['--pods', '-1', '--services', '5'], '--pods: "-1" must be a whole number from 0'],
    [['--pods', '1.5', '--services', '5'], '--pods: "1.5" must be a whole number from 0'],
    [['--pods', '5'], 'a plan needs the number of pods and of services'],
    [['--pods', '400000', '--services', '1'], 'more than twice what was measured'],
    [[...SIZE, '--families', '3'], '--families: "3" must be 1 or 2'],
    [[...SIZE, '--memory-limit', 'much'], '--memory-limit: "much" must be an amount of memory'],
    [[...SIZE, '--replicas', '0'], '--replicas: "0" must be a whole number from 1'],
  ])('%j', async (flags, message) => {
    expect(await world.bench('capacity', 'plan', ...flags)).toBe(2);
    expect(world.err()).toContain(message);
    expect(world.err()).toContain('fix:');
    expect(world.out()).toBe('');
  });

  it.each([
    [['--basis', '20200101-000000-0000'], 6, 'there is no run "20200101-000000-0000"'],
    [['--target', 'moon', '--verify'], 2, '--target: "moon" must be local or kubernetes'],
    [['--verify', '--max-objects', '-5'], 2, '--max-objects: "-5" must be a whole number from 1'],
    [['--verify', '--verify-limit', 'none'], 2, '--verify-limit: "none" must be an amount of memory'],
    [['--verify-limit', '120Mi'], 2, '--verify-limit: has no effect without --verify'],
    [['--target', 'kubernetes'], 2, '--target: has no effect without --verify'],
    [['--max-objects', '9'], 2, '--max-objects: has no effect without --verify'],
    [['--coredns-image', 'a/b:1'], 2, '--coredns-image: has no effect without --verify'],
    [['--yaml', '--json'], 2, "option '--yaml' cannot be used with option '--json'"],
    [['--endpoints', '-1'], 2, '--endpoints: "-1" must be a whole number from 0'],
  ])('%j', async (flags, status, message) => {
    expect(await world.bench('capacity', 'plan', ...SIZE, ...flags)).toBe(status);
    expect(world.err()).toContain(message);
    expect(world.out()).toBe('');
  });

  it('a number of endpoints that the line cannot count; the one that it expects is none', async () => {
    const flags = ['--pods', '5000', '--services', '100', '--basis', 'published'];
    expect(await world.bench('capacity', 'plan', ...flags, '--endpoints', '75000')).toBe(2);
    expect(world.err()).toContain('one endpoint for each pod, 5,000, and cannot count 75,000 (published');
    expect(world.err()).toContain('bench capacity memory --endpoints-per-pod 1,3');
    expect(world.out()).toBe('');
    expect(await world.bench('capacity', 'plan', ...flags, '--endpoints', '5000')).toBe(0);
  });

  it('endpoints without services, which they would belong to', async () => {
    const flags = ['--pods', '5', '--services', '0', '--endpoints', '5'];
    expect(await world.bench('capacity', 'plan', ...flags)).toBe(2);
    expect(world.err()).toContain('5 endpoints need pods and services, but there are 5 pods and 0 services');
  });

  it('but is made beyond the range where it is asked for', async () => {
    expect((await plan('--pods', '400000', '--services', '1', '--extrapolate')).objects).toBe(400_001);
  });

  it('a cluster that may not be read', async () => {
    const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Forbidden', code: 403 };
    const message =
      'pods is forbidden: User "u" cannot list resource "pods" in API group "" at the cluster scope';
    const server = createServer((_request, response) => {
      response.writeHead(403, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ ...status, message }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const address = server.address();
      await useCluster(world, `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`);
      expect(await world.bench('capacity', 'plan', '--from-cluster')).toBe(3);
      expect(world.err()).toContain('this user may not list ');
      expect(world.err().match(/fix:/g)).toHaveLength(1);
      expect(world.out()).toBe('');
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it('a cluster that cannot be reached', async () => {
    Object.assign(world.env, { KUBECONFIG: '/nowhere' });
    expect(await world.bench('capacity', 'plan', '--from-cluster')).toBe(3);
    expect(world.err()).toContain('Correct KUBECONFIG, which is /nowhere: the path of a kubeconfig file');
  });
});
