/** The pure parts of `bench capacity memory`, and its messages. */
import { readdir, readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { resolveSettings } from '../src/config/configuration.ts';
import { tableOf } from '../src/engine/settings.ts';
import { cachingKind, throughputKind } from '../src/experiments/capacity/cases/evidence.ts';
import { countCharts } from '../src/experiments/capacity/memory/chart.ts';
import { memoryDocument } from '../src/experiments/capacity/memory/document.ts';
import { type MemoryEvidence, memoryKind } from '../src/experiments/capacity/memory/evidence.ts';
import { memoryLines } from '../src/experiments/capacity/memory/lines.ts';
import { goHeapIn, metricIn } from '../src/experiments/capacity/memory/memory-of.ts';
import {
  enginePoint,
  type MemoryPoint,
  memoryPoints,
  pointOf,
} from '../src/experiments/capacity/memory/points.ts';
import { MEMORY_SETTINGS } from '../src/experiments/capacity/memory/settings.ts';
import { sideOf } from '../src/experiments/capacity/memory/tables.ts';
import { oneAtATime } from '../src/one-at-a-time.ts';
import { recordJsonSchema } from '../src/results/json-schema.ts';
import { leastSquares } from '../src/stats/least-squares.ts';
import { percentileOf } from '../src/stats/percentile.ts';
import { referenceText } from './support/reference.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

const memorySettings = (flags: Readonly<Record<string, unknown>>) =>
  resolveSettings(tableOf(MEMORY_SETTINGS), { file: undefined, env: {}, flags }, 'capacity memory');

const MB = 1e6;

describe('the points of a measurement', () => {
  it('are all combinations, in the published proportions unless told otherwise', () => {
    const points = memoryPoints(memorySettings({ objects: '0,15820', configurations: 'default,autopath' }));
    expect(points.map(({ key }) => key)).toEqual([
      'coredns-cluster/default/0',
      'coredns-cluster/default/15820',
      'coredns-cluster/autopath/0',
      'coredns-cluster/autopath/15820',
    ]);
    expect(points[1]?.cluster).toMatchObject({
      services: 820,
      pods: 15_000,
      endpoints: 15_000,
      headless: 0.1,
    });
  });

  it('with other shares have other names, and are found again in a record', () => {
    const settings = memorySettings({
      objects: '1000',
      configurations: 'default',
      serviceShare: '0.5',
      headless: '0.1,1',
    });
    const points = memoryPoints(settings);
    expect(points.map(({ key }) => key)).toEqual([
      'coredns-cluster/default/1000/services=0.5',
      'coredns-cluster/default/1000/services=0.5/headless=1',
    ]);
    for (const point of points) {
      const stored = JSON.parse(
        JSON.stringify({ subject: point.server, point: enginePoint(point, 'local') }),
      );
      expect(pointOf(stored)).toEqual(point);
    }
  });

  it('on a cluster have no share of headless Services, which depends on their number', () => {
    const points = memoryPoints(memorySettings({ target: 'kubernetes', objects: '0,1000' }));
    for (const point of points) {
      const made = enginePoint(point, 'kubernetes');
      expect(made).not.toHaveProperty('headless share');
      expect(pointOf({ subject: point.server, point: made })).toEqual(point);
    }
  });
});

it('charts by services and by endpoints have the points that differ in that count alone', () => {
  const shares = { serviceShare: '0.5', endpointsPerPod: '0,1,2' };
  const points = memoryPoints(
    memorySettings({ objects: '0,1000,2000', configurations: 'default', ...shares }),
  );
  const stored = memoryKind.schema.parse(JSON.parse(referenceText('capacity-memory')));
  const drawn = countCharts({ ...stored, ...recordOf(points, () => MB) });
  expect(
    drawn.map(({ name, panels }) => [name, ...panels.map(({ lines }) => lines[0]?.points.map(({ x }) => x))]),
  ).toEqual([
    ['memory-services', [0, 500, 1000]],
    ['memory-endpoints', [0, 1000, 2000]],
  ]);
  expect(countCharts(stored)).toEqual([]);
});

describe('starts side by side', () => {
  it('load one after the other, also after a failure', async () => {
    const alone = oneAtATime();
    let busy = 0;
    const work = (fails: boolean) =>
      alone(async () => {
        expect(++busy).toBe(1);
        await new Promise((resolve) => setImmediate(resolve));
        busy -= 1;
        if (fails) throw new Error('failed');
      });
    const results = await Promise.allSettled([work(false), work(true), work(false)]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });
});

describe('least squares', () => {
  it('finds the coefficients of exact values, whatever their sizes', () => {
    const services = [0, 100, 100, 5000, 9000];
    const pods = [0, 10, 90_000, 50, 100_000];
    const values = services.map((count, at) => 50 * MB + 900 * count + 12_000 * (pods[at] ?? 0));
    const fit = leastSquares([services.map(() => 1), services, pods], values);
    expect(fit?.coefficients.map(({ estimate }) => Math.round(estimate))).toEqual([50 * MB, 900, 12_000]);
    expect(fit?.residual).toBeLessThan(1);
  });

  it('agrees with a published example: height and weight of fifteen women, Hubble-like line', () => {
    // The `women` data set of R: lm(weight ~ height) is -87.5167 + 3.45 × height, residual standard error 1.525, and
    // confint gives 3.253112 to 3.646888 for the slope.
    const height = Array.from({ length: 15 }, (_, index) => 58 + index);
    const weight = [115, 117, 120, 123, 126, 129, 132, 135, 139, 142, 146, 150, 154, 159, 164];
    const fit = leastSquares([height.map(() => 1), height], weight);
    expect(fit?.coefficients[0]?.estimate).toBeCloseTo(-87.51667, 4);
    expect(fit?.coefficients[1]?.estimate).toBeCloseTo(3.45, 6);
    expect(fit?.coefficients[1]?.low).toBeCloseTo(3.253112, 5);
    expect(fit?.coefficients[1]?.high).toBeCloseTo(3.646888, 5);
    expect(fit?.residual).toBeCloseTo(1.525, 3);
  });

  it('says nothing of columns that go together, nor of too few values', () => {
    const objects = [0, 1000, 2000, 3000];
    const services = objects.map((count) => Math.round(count * 0.0518));
    expect(leastSquares([objects.map(() => 1), objects, services], objects)).toBeNull();
    expect(
      leastSquares(
        [
          [1, 1],
          [1, 2],
        ],
        [3, 4],
      ),
    ).toBeNull();
  });
});

/** Evidence with these bytes at every stage. */
function evidenceOf(bytes: number): MemoryEvidence {
  const heap = {
    allocatedBytes: 1,
    inUseBytes: 1,
    releasedBytes: 0,
    nextCollectionBytes: 1,
    collections: 9,
  };
  const stage = { anonymousBytes: bytes, residentBytes: bytes, proportionalBytes: null, heap };
  const peak = { anonymousBytes: 2 * bytes };
  return {
    coldStart: { peak },
    relist: { peak },
    stages: { loaded: stage, settled: stage, fullCache: null, underLoad: stage, reread: stage },
    settling: { seconds: 3, collections: 4, isStable: true },
    cacheEntries: null,
    load: { wantedQps: 30_000, heldQps: 29_990, lostRatio: 0 },
    cluster: null,
  };
}

/** Cases and trials of a record: two starts of each point. */
function recordOf(points: readonly MemoryPoint[], bytesOf: (point: MemoryPoint) => number) {
  const stored = memoryKind.schema.parse(JSON.parse(referenceText('capacity-memory')));
  const [[someCase], [someTrial]] = [stored.cases, stored.trials];
  if (someCase === undefined || someTrial?.status !== 'ok') throw new Error('an empty record');
  return {
    cases: points.map((point) => ({
      ...someCase,
      ...{ key: point.key, subject: point.server, point: enginePoint(point, 'local'), aa: false },
    })),
    trials: points.flatMap((point) =>
      [0, 1].map((round) => ({
        ...someTrial,
        ...{ case: point.key, round, evidence: evidenceOf(bytesOf(point) + round) },
      })),
    ),
  };
}

describe('the line through the starts', () => {
  const fitOf = (given: Record<string, unknown>, bytesOf: (point: MemoryPoint) => number) =>
    memoryLines(recordOf(memoryPoints(memorySettings(given)), bytesOf)).find(
      ({ figure }) => figure === 'steady',
    );

  it('is over objects where services, pods and endpoints grew together, and says so', () => {
    const fit = fitOf(
      { objects: '0,15820,63280', configurations: 'autopath' },
      ({ objects }) => 56 * MB + 4000 * objects,
    );
    expect(fit?.terms.map(({ of, bytes }) => [of, Math.round(bytes / 10)])).toEqual([
      ['constant', 5_600_000],
      ['objects', 400],
    ]);
    expect(fit?.merged).toMatch(/grew together/);
  });

  it('tells services, pods and endpoints apart where the design does', () => {
    const design = {
      objects: '0,10000,50000',
      configurations: 'autopath',
      serviceShare: '0.05,0.5',
      endpointsPerPod: '0.5,2',
    };
    const fit = fitOf(
      design,
      ({ cluster }) => 20 * MB + 900 * cluster.services + 8000 * cluster.pods + 300 * cluster.endpoints,
    );
    expect(fit?.merged).toBeNull();
    expect(
      Object.fromEntries(fit?.terms.map(({ of, bytes }) => [of, Math.round(bytes)]) ?? []),
    ).toMatchObject({
      services: 900,
      pods: 8000,
      endpoints: 300,
    });
  });
});

it('of a cluster, the line counts what the cluster has itself, and only what was created tells counts apart', () => {
  const points = memoryPoints(memorySettings({ target: 'kubernetes', objects: '0,2000' }));
  const record = recordOf(points, ({ objects }) => 40 * MB + 1500 * (15_820 + objects));
  const trials = record.trials.map((trial) => {
    // A pod comes while it runs.
    const own = { services: 820, pods: 15_000 + trial.round, endpoints: 15_000 };
    const counts = { services: 0, endpointSlices: 0, endpoints: 0, pods: 0 };
    const creation = { created: 0, seconds: 0, worstP99Seconds: 0 };
    const queries = { sent: 1, answered: 1, lost: 0, wrong: 0 };
    const cluster = { own, counts, creation, clusterDns: null, queries, workingSetBytes: null };
    return { ...trial, evidence: { ...trial.evidence, cluster } };
  });
  const lines = (own: typeof record.trials) =>
    memoryLines({ ...record, trials: own }).find(({ figure }) => figure === 'steady');
  const fit = lines(trials);
  expect(fit?.terms.map(({ of }) => of)).toEqual(['constant', 'objects']);
  expect(Math.abs((fit?.terms[0]?.bytes ?? 0) / MB - 40)).toBeLessThan(0.1);
  expect(fit?.maxObjects).toBe(17_821);
  // Of an older record.
  expect(lines(record.trials)?.maxObjects).toBe(2000);
});

it('a cache that did not get full is said', () => {
  const points = memoryPoints(memorySettings({ objects: '0,1000', configurations: 'default,no-denial' }));
  const stored = memoryKind.schema.parse(JSON.parse(referenceText('capacity-memory')));
  const record = recordOf(points, () => MB);
  const trials = record.trials.map((trial) => ({
    ...trial,
    evidence: { ...trial.evidence, cacheEntries: { success: 9950, denial: 4000 } },
  }));
  const { warnings = [] } = memoryDocument({ ...stored, ...record, trials });
  expect(warnings).toContain(
    'The cache did not get full in 4 starts: memory with a full cache and under load is a lower bound there.',
  );
});

it('a published figure lies within our interval, below or above it', () => {
  const ours = { median: 100, low: 90, high: 110, n: 5 };
  expect([89, 90, 105, 111].map((published) => sideOf(published, ours))).toEqual([
    'below',
    'within',
    'within',
    'above',
  ]);
  expect(sideOf(1, null)).toBeNull();
});

describe('a percentile', () => {
  it('is the smallest value that so many do not exceed', () => {
    expect(
      percentileOf(
        Array.from({ length: 100 }, (_, index) => index + 1),
        95,
      ),
    ).toBe(95);
    expect(percentileOf([3], 95)).toBe(3);
    expect(percentileOf([1, 2, 3, 4], 50)).toBe(2);
  });

  it('is the same in the program that runs in pods', async () => {
    const program = new URL('../src/experiments/capacity/beside/program/memory.mjs', import.meta.url);
    const { percentile }: { percentile: (values: readonly number[], percent: number) => number } =
      await import(program.href);
    for (let length = 1; length <= 120; length += 1) {
      const values = Array.from({ length }, (_, index) => (index * 37) % 101);
      for (const percent of [50, 95, 99])
        expect(percentile(values, percent), `${length}`).toBe(percentileOf(values, percent));
    }
  });
});

it('metrics of Prometheus are summed over their labels', () => {
  const text = `# HELP x y\ncoredns_cache_entries{server="dns://:53",type="denial"} 9964\ncoredns_cache_entries{server="dns://:53",type="success"} 9984\ngo_memstats_heap_alloc_bytes 1.5e+06\ngo_gc_duration_seconds_count 12\n`;
  expect(metricIn(text, 'coredns_cache_entries', 'type="denial"')).toBe(9964);
  expect(metricIn(text, 'coredns_cache_entries')).toBe(19_948);
  expect(metricIn(text, 'absent')).toBeNull();
  expect(goHeapIn(text)).toMatchObject({ allocatedBytes: 1_500_000, collections: 12 });
});

it.each([throughputKind, cachingKind, memoryKind])(
  '$schemaFile is up to date; if not, run `node scripts/write-schemas.ts`',
  async (kind) => {
    const file = new URL(`../${kind.schemaFile}`, import.meta.url);
    expect(await readFile(file, 'utf8')).toBe(recordJsonSchema(kind));
  },
);

describe('bad input', () => {
  let world: TestWorld;
  beforeEach(async () => {
    world = await testWorld();
  });
  afterEach(() => world.remove());

  it.each([
    [['--objects', '-5'], /--objects: "-5" must be a list of whole numbers from 0/],
    [['--objects', '10,10'], /--objects: 10,10 names something twice/],
    [['--configurations', 'fast'], /--configurations: "fast" must be a list of default, autopath/],
    [['--starts', '0'], /--trials: "0" must be a whole number from 1 to 1000/],
    [['--headless', '2'], /--headless: "2" must be a list of shares/],
    [['--memory', '1Ki'], /--memory: "1Ki" must be an amount of memory of at least 256 MiB/],
    [
      ['--memory', '1Gi', '--config', 'autopath'],
      /is expected to need 3\.\d GB, and --memory allows 1\.1 GB/,
    ],
    [
      ['--servers', 'kube-dns'],
      /is not coredns-cluster\n {2}fix: Its caching is measured .* Its memory by objects is not\./,
    ],
    [['--servers', 'constructor'], /"constructor" is not coredns-cluster\n {2}fix: Give versions of it/],
    [['--servers', 'dnsmasq'], /--servers: "dnsmasq" is not coredns-cluster/],
    [['--servers', 'coredns-cluster+autopath'], /names a variant[\s\S]*--config/],
    [['--context', 'here'], /--context: has no effect without --target kubernetes/],
    [
      ['--target', 'kubernetes', '--rate', '5000'],
      /--rate: 5,000 queries a second are more than a cluster is asked/,
    ],
    [['--target', 'kubernetes', '--loader', 'dnsperf'], /--loader: has no effect without --target local/],
    [['--target', 'kubernetes', '--memory', '4G'], /--memory: has no effect without --target local/],
  ])('%j is one clear message', async (flags, message) => {
    expect(await world.bench('capacity', 'memory', ...flags)).toBe(2);
    expect(world.err()).toMatch(message);
    expect(world.started.filter(({ program }) => program === 'coredns')).toEqual([]);
  });

  it('of caching: two versions, whose cases would have the same names', async () => {
    const servers = 'coredns-cluster@1.11.3,coredns-cluster@1.15.0';
    expect(await world.bench('capacity', 'caching', '--servers', servers)).toBe(2);
    expect(world.err()).toMatch(/takes one version; run it for each/);
    expect(world.started).toEqual([]);
  });

  it('several problems are all listed', async () => {
    expect(await world.bench('capacity', 'memory', '--objects', 'many', '--starts', 'x')).toBe(2);
    expect(world.err()).toMatch(/--trials[\s\S]*--objects/);
  });

  it('on a cluster: other settings beside --resume, and a run that is not there', async () => {
    const resume = ['capacity', 'memory', '--resume', 'latest'];
    expect(await world.bench(...resume, '--objects', '5', '--max-objects', '9')).toBe(2);
    expect(world.err()).toMatch(/accepts no others[\s\S]*also given: objects[\s\S]*also given: maxObjects/);
    expect(await world.bench(...resume)).toBe(6);
    expect(await readdir(world.directory)).not.toContain('results');
  });

  it('on a cluster: a dry run says what would be created, and asks no cluster', async () => {
    const size = ['--objects', '500,1000', '--config', 'default,autopath', '--starts', '2'];
    expect(await world.bench('capacity', 'memory', '--target', 'kubernetes', ...size, '--dry-run')).toBe(0);
    // 26 and 52 Services with an EndpointSlice each; with autopath, 474 and 948 pods as well.
    expect(world.out().split('\n')).toEqual([
      'coredns-cluster/default/500  CoreDNS, 52 objects created in 1 s at least',
      'coredns-cluster/default/1000  CoreDNS, 104 objects created in 2 s at least',
      'coredns-cluster/autopath/500  CoreDNS, 526 objects created in 11 s at least',
      'coredns-cluster/autopath/1000  CoreDNS, 1,052 objects created in 21 s at least',
      expect.stringMatching(/^4 cases, 8 trials, about \d+ min( \d+ s)?$/),
      '',
    ]);
    expect(world.err()).toContain('Note: --starts is now --trials.');
    expect(world.err()).toContain(
      'Note: --config default,autopath is now --configurations default,autopath.',
    );
  });

  it('on a cluster: services and endpoints are varied apart, a hundred addresses in an EndpointSlice', async () => {
    const shares = [
      '--objects',
      '1000',
      '--service-share',
      '0.01',
      '--endpoints-per-pod',
      '0,1,10',
      '--dry-run',
    ];
    expect(await world.bench('capacity', 'memory', '--target', 'kubernetes', ...shares)).toBe(0);
    const created = [...world.out().matchAll(/([\d,]+) objects created/g)].map(([, count]) => count);
    expect(created).toEqual(['20', '20', '110']);
  });

  it('a dry run says what would be measured, and starts nothing', async () => {
    expect(await world.bench('capacity', 'memory', '--dry-run', '--starts', '3')).toBe(0);
    expect(world.out()).toMatch(
      /autopath\/158200 {2}CoreDNS, 8,200 services, 150,000 pods, 150,000 endpoints/,
    );
    expect(world.out()).toMatch(/8 cases, 24 trials, up to \d+ side by side, about \d+ min/);
    expect(world.started).toEqual([]);
  });
});
