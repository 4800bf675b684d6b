/** `bench capacity survive` without a server: the search, its settings, its plan, its document. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { summarizeCases } from '../src/engine/cases.ts';
import { memoryKind } from '../src/experiments/capacity/memory/evidence.ts';
import { publishedBasis } from '../src/experiments/capacity/memory-basis.ts';
import { planCapacity } from '../src/experiments/capacity/plan.ts';
import { limitChart, surviveDocument } from '../src/experiments/capacity/survive/document.ts';
import { type SurviveRecord, surviveKind } from '../src/experiments/capacity/survive/evidence.ts';
import {
  enginePoint,
  pointsOf,
  sizesOf,
  subjectNameOf,
  subjectsOf,
} from '../src/experiments/capacity/survive/points.ts';
import {
  killedBound,
  MEBIBYTE,
  type Next,
  nextLimit,
  type SearchOptions,
  type Tried,
} from '../src/experiments/capacity/survive/search.ts';
import type { SurviveSettings } from '../src/experiments/capacity/survive/settings.ts';
import { survivedLimit } from '../src/experiments/capacity/survived-limit.ts';
import { publishedThroughput } from '../src/experiments/capacity/throughput-basis.ts';
import { parseRecordAs } from '../src/results/parse-record.ts';
import { referenceText } from './support/reference.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

const OPTIONS: SearchOptions = {
  first: 300 * MEBIBYTE,
  least: 16 * MEBIBYTE,
  most: 4096 * MEBIBYTE,
  resolution: 0.05,
  starts: 5,
};

/** Searches with starts that end as `survives` says. */
function search(survives: (limit: number) => boolean, options: Partial<SearchOptions> = {}) {
  const tried: Tried[] = [];
  for (;;) {
    const next: Next = nextLimit(tried, { ...OPTIONS, ...options });
    if (next.kind !== 'try') return { next, tried };
    const { limitBytes } = next;
    tried.push({ limitBytes, survived: survives(limitBytes / MEBIBYTE), peakBytes: null });
    if (tried.length > 300) throw new Error('the search does not end');
  }
}

/** The same numbers for the same seed, from 0 to 1. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

describe('the search', () => {
  it.each([17, 40, 99, 170, 171, 250, 299, 300, 301, 512, 777, 2000, 4095])(
    'finds a threshold of %i MiB to its resolution, and n starts survive it',
    (threshold) => {
      const { next, tried } = search((limit) => limit >= threshold);
      if (next.kind !== 'found') throw new Error(next.kind);
      const found = next.limitBytes / MEBIBYTE;
      const killed = (next.killedBytes ?? 0) / MEBIBYTE;
      expect(found).toBeGreaterThanOrEqual(threshold);
      expect(killed).toBeLessThan(threshold);
      expect(found - killed).toBeLessThanOrEqual(Math.max(4, killed * 0.05) + 1e-9);
      const at = tried.filter(({ limitBytes }) => limitBytes === next.limitBytes);
      expect(at).toHaveLength(5);
      // Many starts only where it ends: the others are one each.
      expect(tried.length).toBeLessThan(25);
    },
  );

  it.each(Array.from({ length: 40 }, (_, seed) => [seed]))(
    'with thresholds that vary from start to start, never names a limit at or below one that killed (seed %i)',
    (seed) => {
      const random = randomOf(seed);
      const { next, tried } = search((limit) => limit >= 150 + 60 * random());
      if (next.kind !== 'found') throw new Error(next.kind);
      const killed = tried.filter(({ survived }) => !survived).map(({ limitBytes }) => limitBytes);
      expect(next.limitBytes).toBeGreaterThan(Math.max(...killed));
      expect(next.killedBytes).toBe(Math.max(...killed));
      const at = tried.filter(({ limitBytes }) => limitBytes === next.limitBytes);
      expect(at.map(({ survived }) => survived)).toEqual(Array(5).fill(true));
      // A limit that kills every other start is survived five times in a row only seldom.
      expect(next.limitBytes / MEBIBYTE).toBeGreaterThan(160);
      expect(next.limitBytes / MEBIBYTE).toBeLessThan(225);
    },
  );

  it('goes near the peak of a start that used much less', () => {
    const tried = [{ limitBytes: 300 * MEBIBYTE, survived: true, peakBytes: 80 * MEBIBYTE }];
    expect(nextLimit(tried, OPTIONS)).toEqual({ kind: 'try', limitBytes: 84 * MEBIBYTE });
  });

  it('ends where even the largest limit kills, and where the smallest one does not', () => {
    expect(search(() => false).next).toEqual({ kind: 'beyond' });
    expect(search(() => true).next).toEqual({ kind: 'found', limitBytes: 16 * MEBIBYTE, killedBytes: null });
  });

  it('bounds the chance of being killed by the number of starts', () => {
    expect(killedBound(5)).toBeCloseTo(0.451, 3);
    expect(killedBound(59)).toBeCloseTo(0.05, 2);
  });
});

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
afterEach(() => world.remove());

const survive = (...words: string[]) => world.bench('capacity', 'survive', ...words);

describe('the plan', () => {
  it('has a case for each version, setting and size', async () => {
    const servers = 'coredns-cluster@1.11.3,coredns-cluster@1.15.0';
    const given = ['--servers', servers, '--objects', '1000,5000', '--services', '100,500'];
    const varied = 'lists=paged,streamed;gomemlimit=none,80%;config=default,autopath';
    expect(await survive(...given, '--factors', varied, '--dry-run'), world.err()).toBe(0);
    const plan = world.out();
    expect(plan).toContain('96 trials');
    expect(plan).toContain('CoreDNS 1.11.3, paged lists, no GOMEMLIMIT');
    expect(plan).toContain('CoreDNS 1.15.0, streamed lists, GOMEMLIMIT 80\u00a0%');
  });

  it.each([
    [['--objects', '1000', '--size', '100-nodes'], '--size and --objects both say how large the cluster is'],
    [['--services', '10'], '--services and --endpoints need --objects'],
    [['--objects', '1000,2000', '--services', '10'], '--services has 1 entries, and --objects has 2'],
    [['--objects', '1000', '--services', '1000'], '--services: 1000 of 1000 objects leave 0 pods'],
    [['--size', '7-nodes'], 'must be one of 100-nodes, 1000-nodes, 5000-nodes'],
    [['--factors', 'gomemlimit=7%'], 'gomemlimit (none and percentages of the limit from 10% to 100%)'],
    [['--target', 'kubernetes'], 'must be local: in a cluster'],
    [['--servers', 'nsd'], '--servers: "nsd" is not coredns-cluster'],
    [['--outage', '0s'], 'must be a duration from 1 second to 1 hour'],
    [['--objects', '900000', '--factors', 'config=autopath', '--memory', '1Gi'], '--memory allows 1.1 GB'],
  ])('is refused before anything starts: %j', async (words, message) => {
    expect(await survive(...words)).toBe(2);
    expect(world.err()).toContain(message);
    expect(world.started).toEqual([]);
  });
});

const SETTINGS = {
  objects: [5000, 20_000],
  services: [500, 2000],
  servers: ['coredns-cluster@1.11.3', 'coredns-cluster@1.15.0'],
  factors: { lists: ['streamed'], gomemlimit: ['none', '80%'], config: ['default'] },
  ...{ starts: 5, resolution: 0.05, outage: 120, rate: 1000, trials: 3, loader: 'auto', provision: true },
  target: 'local',
} as unknown as SurviveSettings;

/** Three searches of each case: 1.11.3 needs 60 MiB and 10 for each thousand objects, the others less. */
function searched(): SurviveRecord<SurviveSettings> {
  const { environment, startedAt, endedAt, ...head } = parseRecordAs(
    memoryKind,
    referenceText('capacity-memory'),
    'run.json',
  );
  const points = pointsOf(SETTINGS, sizesOf(SETTINGS));
  const planned = points.map((point) => ({
    key: point.key,
    subject: subjectNameOf(point),
    point: enginePoint(point),
    ...{ aa: false, expectedSeconds: 1 },
  }));
  const trials = points.flatMap(({ key, server, gomemlimit, objects }) =>
    [0, 1, 2].map((round) => {
      const factor = (server.endsWith('1.15.0') ? 0.8 : 1) * (gomemlimit === 'none' ? 1 : 0.7);
      const limitBytes = Math.round((60 + objects / 100) * factor + round) * MEBIBYTE;
      const start = (bytes: number, outcome: 'survived' | 'killed') => ({
        ...{ limitBytes: bytes, outcome, peakBytes: null, scenarios: [] },
        during: outcome === 'killed' ? ('relist' as const) : null,
      });
      const killedBytes = limitBytes - 4 * MEBIBYTE;
      return {
        ...{ key: `${key}#${round}`, case: key, round, order: round, startedAt, endedAt: startedAt },
        status: 'ok' as const,
        figures: { limit: limitBytes },
        bounds: [],
        evidence: {
          ...{ limitBytes, killedBytes, streamed: server.endsWith('1.15.0') ? ['services'] : [] },
          starts: [
            start(killedBytes, 'killed'),
            ...Array.from({ length: 5 }, () => start(limitBytes, 'survived')),
          ],
        },
      };
    }),
  );
  const subjects = subjectsOf(SETTINGS);
  const estimands = [
    { name: 'limit', title: 'memory limit needed', unit: 'bytes', better: 'less', compared: 'ratio' },
  ] as const;
  const record = {
    ...{ ...head, environment, startedAt, endedAt, experiment: surviveKind.experiment, settings: SETTINGS },
    ...{ subjects, baseline: subjects[0]?.name ?? null, estimands: [...estimands], trials, conditions: {} },
  };
  return { ...record, cases: summarizeCases(planned, 3, record) };
}

describe('a record', () => {
  it('is of its schema, and draws a line for each version and setting beside the limits of today', () => {
    const record = searched();
    expect(surviveKind.schema.safeParse(record).error).toBeUndefined();
    const drawn = limitChart(record);
    expect(drawn?.panels).toHaveLength(1);
    expect(drawn?.panels[0]?.lines).toHaveLength(4);
    expect(drawn?.panels[0]?.marks?.map(({ y }) => y)).toEqual([170, 340]);
    expect(drawn?.panels[0]?.lines[0]?.points.map(({ x, y }) => [x, y])).toEqual([
      [5000, 111],
      [20_000, 261],
    ]);
    const { sections = [], warnings = [], result } = surviveDocument(record);
    expect(result).toBe('limits from 63.0 MiB to 261 MiB survive');
    expect(JSON.stringify(sections)).toContain('5 of 5');
    expect(JSON.stringify(sections)).toContain('relist 3');
    expect(warnings.join()).toContain('CoreDNS 1.11.3');
    expect(warnings.join()).not.toContain('CoreDNS 1.15.0');
  });

  it('gives a plan the largest limit found without GOMEMLIMIT, of the next larger cluster and the version', () => {
    const of = (pods: number, services: number, version: string | null) =>
      survivedLimit(
        searched(),
        { pods, services, endpoints: pods },
        { configuration: 'default', version, origin: 'here' },
      );
    expect(of(4000, 400, '1.11.3')?.megabytes).toBe((112 * MEBIBYTE) / 1e6);
    expect(of(15_000, 1500, null)?.source).toMatch(
      /^survived by 5 of 5 starts: here, run \S+ \(CoreDNS 1\.15\.0, default, 20,000/,
    );
    // Smaller than half of what was measured, larger than all of it, another version.
    expect(of(1000, 100, null)).toBeNull();
    expect(of(50_000, 100, null)).toBeNull();
    expect(of(4000, 400, '1.13.1')).toBeNull();
  });

  it('is the limit of a plan, which says so', () => {
    const demand = {
      ...{
        pods: 15_000,
        services: 820,
        endpoints: null,
        source: 'given',
        internalLookups: 0,
        externalLookups: 0,
      },
      ...{
        autopath: false,
        families: 1 as const,
        searchDomains: 4,
        memoryLimitBytes: null,
        replicas: null,
        nodes: null,
      },
    } as const;
    const limitOf = (survived: { megabytes: number; source: string } | null) =>
      planCapacity(demand, publishedBasis('default'), publishedThroughput('default'), survived).figures.find(
        ({ name }) => name === 'memory limit',
      );
    expect(limitOf({ megabytes: 200, source: 'survived by 5 of 5 starts: here' })).toMatchObject({
      value: 200,
      basis: 'survived by 5 of 5 starts: here',
    });
    expect(limitOf(null)?.basis).toMatch(/^1.25 ×/);
    // Never less than what is requested.
    expect(limitOf({ megabytes: 10, source: '' })?.value).toBe(69.82);
  });
});
