/** `bench capacity survive` without a server: the search, its settings, its plan, its document. */
import { defineCluster, startApiServer } from '@dinodns-bench/cluster-objects';
import { EXIT_STATUS } from '@dinodns-bench/program';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { summarizeCases } from '../src/engine/cases.ts';
import { documentOf } from '../src/engine/document.ts';
import { caseTitle, pointText } from '../src/engine/words.ts';
import { BenchError, LateError } from '../src/errors.ts';
import { apiControl, corednsMetrics } from '../src/experiments/capacity/api-control.ts';
import { readPhases } from '../src/experiments/capacity/beside/read-phases.ts';
import type { StartResult } from '../src/experiments/capacity/cluster/start-dns.ts';
import { limitToSet } from '../src/experiments/capacity/figures.ts';
import { demandPlainEnvironment } from '../src/experiments/capacity/machine.ts';
import { memoryKind } from '../src/experiments/capacity/memory/evidence.ts';
import { QUICK_PACE, type StartParts, untilRead } from '../src/experiments/capacity/memory/start.ts';
import { type MemoryBasis, publishedBasis } from '../src/experiments/capacity/memory-basis.ts';
import { planCapacity } from '../src/experiments/capacity/plan.ts';
import type { CapacityPlan } from '../src/experiments/capacity/plan-record.ts';
import { limitChart, surviveDocument } from '../src/experiments/capacity/survive/document.ts';
import {
  COUNTED,
  confirmedLimit,
  type SurviveEvidence,
  type SurviveRecord,
  surviveKind,
} from '../src/experiments/capacity/survive/evidence.ts';
import { findLimit } from '../src/experiments/capacity/survive/find-limit.ts';
import { startOf } from '../src/experiments/capacity/survive/on-cluster.ts';
import {
  enginePoint,
  environmentOf,
  pointsOf,
  sizesOf,
  subjectNameOf,
  subjectsOf,
} from '../src/experiments/capacity/survive/points.ts';
import {
  killedBound,
  type Next,
  nextLimit,
  type SearchOptions,
  STEP_BYTES,
  type Tried,
} from '../src/experiments/capacity/survive/search.ts';
import type { SurviveSettings } from '../src/experiments/capacity/survive/settings.ts';
import { underQueries } from '../src/experiments/capacity/survive/under-queries.ts';
import { survivedLimit } from '../src/experiments/capacity/survived-limit.ts';
import { publishedThroughput } from '../src/experiments/capacity/throughput-basis.ts';
import type { LoadOutcome } from '../src/loaders/loader.ts';
import { aloneAfter, oneAtATime } from '../src/one-at-a-time.ts';
import type { EstimandFacts } from '../src/report/estimand.ts';
import { MEBIBYTE } from '../src/report/numbers.ts';
import { parseRecordAs } from '../src/results/parse-record.ts';
import type { Delta } from '../src/results/record.ts';
import { createStore } from '../src/results/store.ts';
import type { Clock } from '../src/world.ts';
import { useCluster } from './support/api-server.ts';
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

  it('goes down and up in steps of its resolution where that is coarse', () => {
    const limits = (threshold: number) =>
      search((limit) => limit >= threshold, { resolution: 0.5, starts: 1, first: 48 * MEBIBYTE }).tried.map(
        ({ limitBytes }) => limitBytes / MEBIBYTE,
      );
    expect(limits(40)).toEqual([48, 32]);
    expect(limits(60)).toEqual([48, 72]);
  });

  it('rules out limits below what a start used, whatever survived there', () => {
    const start = (limit: number, peak: number, survived = true) => ({
      ...{ limitBytes: limit * MEBIBYTE, survived },
      peakBytes: survived ? peak * MEBIBYTE : null,
    });
    const lucky = [66, 70, 70, 70, 70, 70].map((limit) => start(limit, 60, limit > 66));
    expect(nextLimit(lucky, OPTIONS)).toMatchObject({ kind: 'found', limitBytes: 70 * MEBIBYTE });
    // Between 71 and 133, but never 70 again.
    expect(nextLimit([...lucky, start(133, 71)], OPTIONS)).toEqual({
      kind: 'try',
      limitBytes: 97 * MEBIBYTE,
    });
    const near = [start(133, 71), ...Array.from({ length: 5 }, () => start(75, 62))];
    expect(nextLimit(near, OPTIONS)).toEqual({ kind: 'try', limitBytes: 60 * MEBIBYTE });
    const found = { kind: 'found', limitBytes: 75 * MEBIBYTE, killedBytes: 60 * MEBIBYTE };
    expect(nextLimit([...near, start(60, 0, false)], OPTIONS)).toEqual(found);
  });

  it('ends where even the largest limit kills, and where the smallest one does not', () => {
    expect(search(() => false).next).toEqual({ kind: 'beyond' });
    // 286.1 MiB, which no multiple of a mebibyte reaches.
    expect(search(() => false, { most: 300e6 })).toMatchObject({ next: { kind: 'beyond' } });
    expect(search((limit) => limit >= 286, { most: 300e6 }).next).toMatchObject({
      limitBytes: 286 * MEBIBYTE,
    });
    expect(search(() => true).next).toEqual({ kind: 'found', limitBytes: 16 * MEBIBYTE, killedBytes: null });
  });

  it('bounds the chance of being killed by the number of starts', () => {
    expect(killedBound(5)).toBeCloseTo(0.451, 3);
    expect(killedBound(59)).toBeCloseTo(0.05, 2);
  });

  describe('of starts that fail for another reason than memory', () => {
    const parts: string[] = [];
    const warned: string[] = [];
    let saved: unknown;
    let deadlines: (number | undefined)[] = [];

    /** Every limit survives; the starts with these numbers fail so. */
    const searchWith = (
      failing: readonly number[],
      error: Error,
      { kept, stopAt }: { kept?: unknown; stopAt?: number } = {},
    ) => {
      const [point] = pointsOf(SETTINGS, sizesOf(SETTINGS));
      if (point === undefined) throw new Error('no point');
      return findLimit(
        {
          ...{
            point,
            key: point.key,
            settings: { resolution: 0.5, starts: 5, factors: {} },
            mostBytes: 100 * MEBIBYTE,
          },
          on: {
            ...{ part: (text) => parts.push(text), warning: (text) => warned.push(text), kept },
            keep: async (found) => {
              // As it comes back from a record.
              saved = JSON.parse(JSON.stringify(found));
            },
          },
        },
        async (limitBytes, number, usual) => {
          if (number === stopAt) throw new Error('Ctrl-C');
          if (failing.includes(number)) throw error;
          deadlines.push(usual['cold start']);
          return {
            result: { limitBytes, outcome: 'survived', peakBytes: 1, scenarios: [], during: null },
            ...{ streamed: ['services'], steps: { 'cold start': number } },
          };
        },
      );
    };
    const failed = new BenchError('E_LOADER_FAILED', 'the loader was killed', { fix: 'See its output.' });

    it('makes them again, says so, and counts them neither as survived nor as killed', async () => {
      const undisturbed = await searchWith([], failed);
      const { repeated, ...evidence } = await searchWith([1, 3], failed);
      expect({ ...evidence, repeated: [] }).toEqual(undisturbed);
      expect(repeated).toEqual([
        expect.stringMatching(/^start 1, .*: the loader was killed$/),
        expect.stringMatching(/^start 3, .*: the loader was killed$/),
      ]);
      expect(parts.join('\n')).toMatch(/start 3, .*: made again, because the loader was killed/);
      const silent = new BenchError('E_NO_ANSWER', 'the API server did not answer', { fix: 'Repeat it.' });
      expect((await searchWith([2], silent)).repeated).toEqual([expect.stringMatching(/^start 2, /)]);
    });

    it('goes on after an interruption from what was kept, between any two starts', async () => {
      const whole = await searchWith([2], failed);
      for (let stopAt = 2; stopAt <= whole.starts.length + 1; stopAt += 1) {
        await expect(searchWith([2], failed, { stopAt })).rejects.toThrow('Ctrl-C');
        deadlines = [];
        expect(await searchWith([2], failed, { kept: saved })).toEqual(whole);
        // The second was made again.
        expect(warned.at(-1)).toMatch(/: interrupted, and resumed after \d+ starts?$/);
        expect(warned.at(-1)).toContain(`after ${stopAt === 2 ? 1 : stopAt - 2} start`);
        // Those of the first start, which survived, and never none again.
        expect(new Set(deadlines)).toEqual(new Set([1]));
      }
      await expect(searchWith([2, 3], failed, { stopAt: 4 })).rejects.toThrow('Ctrl-C');
      await expect(searchWith([4], failed, { kept: saved })).rejects.toBe(failed);
    });

    it('ends with the third of them, and with one that would fail again', async () => {
      await expect(searchWith([1, 2, 3], failed)).rejects.toBe(failed);
      const died = new BenchError('E_SERVER_DIED', 'it ended', { fix: 'See the log.' });
      await expect(searchWith([1], died)).rejects.toBe(died);
    });
  });
});

describe('side by side', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const { signal } = new AbortController();
  const sleep = (seconds: number) => new Promise<void>((resolve) => setTimeout(resolve, seconds * 1000));
  const clock = { monotonicSeconds: () => Date.now() / 1000, sleep } as Clock;

  it('sends on while the answers of the load before are given up', async () => {
    const began: number[] = [];
    const begin = clock.monotonicSeconds();
    const sending = underQueries(
      {
        ...{ clock, firstSeconds: 3, signal },
        load: async ({ seconds, onStarted }) => {
          await sleep(0.25);
          began.push(clock.monotonicSeconds() - begin);
          onStarted();
          // The time-out of its last query.
          await sleep(seconds + 2);
          return {
            result: { queriesSent: 10 * seconds, queriesLost: seconds, responseCodes: { SERVFAIL: 1 } },
          } as unknown as LoadOutcome;
        },
      },
      async () => {
        await sleep(5.5);
        return 'done';
      },
    );
    await vi.advanceTimersByTimeAsync(9000);
    expect(await sending).toEqual({ done: 'done', counts: { sent: 60, lost: 6, servfail: 4 } });
    expect(began).toEqual([0.25, 3.25, 4.25, 5.25]);
  });

  it('ends with the reason of a load that failed', async () => {
    const sending = underQueries(
      { clock, firstSeconds: 1, signal, load: () => Promise.reject(new Error('no socket')) },
      () => sleep(2),
    );
    const failed = expect(sending).rejects.toThrow('no socket');
    await vi.advanceTimersByTimeAsync(3000);
    await failed;
  });

  it('begins no other start from the end of an outage until all is read, however long others have waited', async () => {
    const alone = oneAtATime();
    const order: string[] = [];
    const note = (text: string) => order.push(`${text} at ${Math.round((Date.now() - begin) / 100) / 10}`);
    const begin = Date.now();
    const outage = aloneAfter(2, { alone, clock, signal }, async () => {
      await sleep(5);
      note('read again');
    });
    const active = async () => {
      note('another begins');
      await sleep(1.5);
    };
    const others = Promise.all([
      alone(active),
      alone(active),
      sleep(1).then(() => alone(active)),
      sleep(2.5).then(() => alone(active)),
    ]);
    await vi.advanceTimersByTimeAsync(10_000);
    await Promise.all([outage, others]);
    expect(order).toEqual([
      'another begins at 0',
      'another begins at 1.5',
      'read again at 5',
      'another begins at 5',
      'another begins at 6.5',
    ]);
  });

  it('tells a CoreDNS that is late from an API server of ours that does not answer', async () => {
    const readWith = (status: () => Promise<unknown>) =>
      untilRead(
        {
          ...{ world: { clock }, signal, pace: QUICK_PACE },
          point: { key: 'case', configuration: 'default', objects: 1000, cluster: { endpoints: 0 } },
          running: { api: { status }, died: new Promise<never>(() => undefined) },
        } as unknown as StartParts,
        {},
      ).catch((error: unknown) => error);
    const late = readWith(() => Promise.resolve({ reads: {}, openWatches: 0 }));
    await vi.advanceTimersByTimeAsync(130_000);
    expect(await late).toBeInstanceOf(LateError);
    const silent = new BenchError('E_NO_ANSWER', 'the API server does not answer', { fix: '' });
    expect(await readWith(() => Promise.reject(silent))).toBe(silent);
    expect(silent).not.toBeInstanceOf(LateError);
  });
});

it('this machine is refused where CoreDNS would inherit what changes its memory', () => {
  demandPlainEnvironment({ env: { GOPATH: '/go', GOGC: undefined } });
  const tuned = { GOMEMLIMIT: '50MiB', KUBE_FEATURE_WatchListClient: 'true' };
  expect(() => demandPlainEnvironment({ env: tuned })).toThrow(
    'GOMEMLIMIT is set in the environment, and CoreDNS would have it as well',
  );
});

it('a CoreDNS that does not answer is late, and an API server of ours that does not is not', async () => {
  const { signal } = new AbortController();
  // Nothing listens there.
  await expect(corednsMetrics(1, signal)).rejects.toBeInstanceOf(LateError);
  const silent = await apiControl(1, signal)
    .status()
    .catch((error: unknown) => error);
  expect(silent).toBeInstanceOf(BenchError);
  expect(silent).not.toBeInstanceOf(LateError);
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
    const varied = 'lists=default,paged;gomemlimit=none,80%;config=default,autopath';
    expect(await survive(...given, '--factors', varied, '--dry-run'), world.err()).toBe(0);
    const plan = world.out();
    expect(plan).toContain('96 trials');
    expect(plan).toContain('CoreDNS 1.11.3, paged lists, no GOMEMLIMIT');
    expect(plan).toContain('CoreDNS 1.15.0, default lists, GOMEMLIMIT 80\u00a0%');
  });

  it('says how long a run takes', async () => {
    const servers = 'coredns-cluster@1.13.1,coredns-cluster@1.15.0';
    const given = ['--size', '100-nodes', '--servers', servers, '--outage', '10s'];
    expect(await survive(...given, '--trials', '1', '--side-by-side', '2', '--dry-run'), world.err()).toBe(0);
    // Two searches side by side took 15 min 50 s and 18 min 4 s, on two CPUs with nothing else to do.
    expect(world.out()).toMatch(/about 1[678] min/);
  });

  it.each([[[]], [['--target', 'kubernetes']]])(
    'with %j warns of fewer starts than a plan takes',
    async (more) => {
      const warning =
        'still kill with a chance of up to 63 % (95 % confidence), and `bench capacity plan` does';
      expect(await survive(...more, '--starts', '3', '--dry-run'), world.err()).toBe(0);
      expect(world.out()).toContain(warning);
      expect(surviveDocument(searched({ starts: 3 })).warnings?.[0]).toContain(warning);
      const before = world.out().length;
      expect(await survive(...more, '--dry-run'), world.err()).toBe(0);
      expect(world.out().slice(before)).not.toContain('still kill');
    },
  );

  it('says what is different on a cluster, and how long it takes there', async () => {
    const factors = ['--factors', 'config=default,autopath;gomemlimit=none,80%'];
    expect(await survive('--target', 'kubernetes', ...factors, '--dry-run'), world.err()).toBe(0);
    const plan = world.out();
    expect(plan).toContain('the API server itself is not restarted');
    expect(plan).toContain('Endpoints of synthetic Services are replaced with at most 50 changes a second');
    expect(plan).toContain('Pods are not replaced with their endpoints.');
    expect(plan).toContain('/3160/160/1500');
    // Three searches at each of four points, one start at a time, each with an outage of two minutes.
    expect(plan).toMatch(/about 1\d h/);
    expect(await survive('--target', 'kubernetes', '--objects', '0', '--dry-run'), world.err()).toBe(0);
    const own = world.out().slice(plan.length);
    expect(own).toContain('With 0 objects, no endpoints are replaced');
    expect(own).not.toContain('synthetic Services');
    // The largest limit of a pod, and no memory of this machine: nothing runs here.
    expect(await survive('--target', 'kubernetes', '--memory', '300Mi', '--dry-run'), world.err()).toBe(0);
  });

  it('counts the objects of a cluster', async () => {
    const server = await startApiServer({
      cluster: defineCluster({ pods: 800, services: 90, endpoints: 700 }),
    });
    try {
      await useCluster(world, server.url);
      expect(await survive('--from-cluster', '--context', 'test', '--dry-run'), world.err()).toBe(0);
      expect(world.out()).toMatch(
        /^counted: cluster of the context test: 800 pods, 9[01] services; 70[01] addresses\n/,
      );
      expect(world.out()).toMatch(/\/89[01]\/9[01]\/70[01] +CoreDNS/);
      expect(await survive('--from-cluster', '--context', 'other', '--dry-run')).not.toBe(0);
      expect(world.err()).toContain('other');
    } finally {
      await server.close();
    }
  });

  it.each([
    [
      ['--from-cluster', '--size', '100-nodes'],
      '--from-cluster and --size both say how large the cluster is',
    ],
    [['--context', 'test'], '--context: has no effect without --from-cluster; add that, or omit it'],
    [['--objects', '1000', '--size', '100-nodes'], '--size and --objects both say how large the cluster is'],
    [['--services', '10'], '--services and --endpoints need --objects'],
    [['--objects', '1000,2000', '--services', '10'], '--services has 1 entries, and --objects has 2'],
    [['--objects', '1000', '--services', '1000'], '--services: 1000 of 1000 objects leave 0 pods'],
    [['--size', '7-nodes'], 'must be one of 100-nodes, 1000-nodes, 5000-nodes'],
    [['--factors', 'gomemlimit=7%'], 'gomemlimit (none and percentages of the limit from 10% to 100%)'],
    [['--target', 'kubernetes', '--size', '1000-nodes'], '31,600 objects are more than --max-objects allows'],
    [['--target', 'kubernetes', '--from-cluster'], '--from-cluster: has no effect without --target local'],
    [
      ['--target', 'kubernetes', '--factors', 'config=nocache'],
      'the configuration "nocache" is measured on one machine only',
    ],
    [['--target', 'kubernetes', '--rate', '5000'], '--rate: 5,000 queries a second are more than a cluster'],
    [['--objects', '0'], '--services: 0 of 0 objects leave 0 pods'],
    [['--servers', 'nsd'], '--servers: "nsd" is not coredns-cluster'],
    [['--outage', '0s'], 'must be a duration of at least 1 second'],
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
  factors: { gomemlimit: ['none', '80%'], config: ['default'] },
  ...{ starts: 5, resolution: 0.05, outage: 120, rate: 1000, trials: 3, provision: true },
  ...{ target: 'local', fromCluster: false },
} as unknown as SurviveSettings;

/** Three searches of each case: 1.11.3 needs 60 MiB and 10 for each thousand objects, the others less. */
function searched(changes: Partial<SurviveSettings> = {}): SurviveRecord<SurviveSettings> {
  const settings = { ...SETTINGS, ...changes };
  const { environment, startedAt, endedAt, ...head } = parseRecordAs(
    memoryKind,
    referenceText('capacity-memory'),
    'run.json',
  );
  const points = pointsOf(settings, sizesOf(settings));
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
        figures: { limit: limitBytes, lost: round * 1.5 },
        bounds: [],
        evidence: {
          ...{ limitBytes, killedBytes, repeated: [] },
          ...{ streamed: server.endsWith('1.15.0') ? ['services'] : [] },
          starts: [
            start(killedBytes, 'killed'),
            ...Array.from({ length: 5 }, () => start(limitBytes, 'survived')),
          ],
        },
      };
    }),
  );
  const subjects = subjectsOf(settings);
  const estimands: readonly EstimandFacts[] = [
    {
      ...{ name: 'limit', title: 'memory limit needed', unit: 'bytes', better: 'less', compared: 'ratio' },
      ...{ isPaired: false, resolution: { share: settings.resolution, least: STEP_BYTES } },
    },
    { name: 'lost', title: 'lost', unit: 'seconds', better: 'less', compared: 'no' },
  ];
  const record = {
    ...{ ...head, environment, startedAt, endedAt, experiment: surviveKind.experiment, settings },
    ...{ subjects, baseline: subjects[0]?.name ?? null, estimands: [...estimands], trials },
    conditions: { [COUNTED]: 'anonymous memory, and the pages of the program, as in a container' },
  };
  return { ...record, cases: summarizeCases(planned, 3, record) };
}

/** The evidence of a search that found a limit as much larger. */
function moved(evidence: SurviveEvidence, bytes: number): SurviveEvidence {
  const { limitBytes, killedBytes, starts } = evidence;
  return {
    ...evidence,
    limitBytes: limitBytes + bytes,
    killedBytes: (killedBytes ?? 0) + bytes,
    starts: starts.map((start) => ({ ...start, limitBytes: start.limitBytes + bytes })),
  };
}

/** The same, but the first search of its first case ended as a failure. */
function withFailure(record: SurviveRecord<SurviveSettings>): SurviveRecord<SurviveSettings> {
  const [first, ...others] = record.trials;
  if (first?.status !== 'ok') throw new Error('no trial');
  const { figures: _f, bounds: _b, evidence: _e, ...rest } = first;
  const failure = {
    code: 'E_NO_ANSWER',
    message: 'no limit was survived by 5 starts',
    fix: '',
    evidence: [],
  };
  const cases = record.cases.map((item) =>
    item.key === first.case ? { ...item, trials: { planned: 3, ok: 2, failed: 1 } } : item,
  );
  return { ...record, cases, trials: [{ ...rest, status: 'failed', failure }, ...others] };
}

it.each([
  ['default', 'kubernetes', {}],
  ['streamed', 'kubernetes', { KUBE_FEATURE_WatchListClient: 'true' }],
  ['paged', 'kubernetes', { KUBE_FEATURE_WatchListClient: 'false' }],
  ['streamed', 'local', { KUBE_FEATURE_WatchListClient: 'true' }],
  // Our API server offers none.
  ['paged', 'local', {}],
] as const)('CoreDNS is told to read %s lists (%s) in its environment', (lists, target, streams) => {
  const variant = { server: 'coredns-cluster@1.15.0', lists, gomemlimit: '80%' };
  expect(environmentOf(variant, 100, target)).toEqual({ ...streams, GOMEMLIMIT: '80B' });
});

describe('a start on a cluster', () => {
  const PHASES = ['cold-start', 'cache', 'load', 'relist', 'replace', 'outage'] as const;

  /** The first phases are over; then its container ended so. */
  function startWith(count: number, reason: string, changes: Partial<StartResult> = {}) {
    const phases = PHASES.slice(0, count).map((phase, index) => ({
      ...{ phase, seconds: index + 1, rightSeconds: index / 10, peakBytes: 40e6 + index },
      queries: { sent: 100, answered: 98, lost: 2, wrong: 1, servfail: 1 },
    }));
    const container = {
      pod: 'start-1-abcde',
      reason,
      exitCode: reason === 'Completed' ? 0 : 137,
      restarts: 0,
    };
    const result = { phases, queries: null, death: null, late: null, streamed: ['services'], container };
    return startOf(64 * MEBIBYTE, PHASES, { ...result, ...changes } as unknown as StartResult);
  }

  it('was killed where the kubelet says OOMKilled, whatever the program beside it says', () => {
    const death = 'CoreDNS ended by itself';
    for (const late of [null, 'relist'] as const)
      expect(startWith(3, 'OOMKilled', { death, late }).result).toMatchObject({
        ...{ limitBytes: 64 * MEBIBYTE, outcome: 'killed', during: 'relist', peakBytes: null },
        scenarios: [{ name: 'cold start', rightSeconds: 0, queries: null }],
        container: { pod: 'start-1-abcde', reason: 'OOMKilled', exitCode: 137, restarts: 0 },
      });
    expect(startWith(0, 'OOMKilled', { death }).result.during).toBe('cold start');
    expect(startWith(1, 'OOMKilled', { death }).result.during).toBe('relist');
    expect(startWith(5, 'OOMKilled', { death }).result.during).toBe('API server outage');
    expect(startWith(6, 'OOMKilled', { death }).result.during).toBe('API server outage');
  });

  it('was stuck, or survived, where the program says so', () => {
    const stuck = startWith(3, 'Error', { death: 'CoreDNS ended by itself', late: 'relist' });
    expect(stuck.result).toMatchObject({
      outcome: 'stuck',
      during: 'relist',
      container: { reason: 'Error' },
    });
    expect(stuck.steps).toEqual({ 'cold start': 1, 'full cache': 2 });
    const { result, streamed, steps } = startWith(6, 'Completed');
    expect(result).toMatchObject({ outcome: 'survived', during: null, peakBytes: 40e6 + 5 });
    expect(result.scenarios.map(({ name }) => name)).toEqual([
      'cold start',
      'relist',
      'replaced endpoints',
      'API server outage',
    ]);
    expect(result.scenarios[1]).toEqual({
      ...{ name: 'relist', rightSeconds: 0.3, queries: { sent: 100, lost: 2, servfail: 1 } },
    });
    expect(streamed).toEqual(['services']);
    expect(steps).toMatchObject({ 'full cache': 2, 'API server outage': 6 });
  });

  it('was killed as well where that came after its last phase', () => {
    expect(startWith(6, 'OOMKilled').result).toMatchObject({
      ...{ outcome: 'killed', during: 'API server outage', peakBytes: null },
    });
  });

  it('fails where CoreDNS ended for another reason', () => {
    const death = 'CoreDNS ended by itself';
    expect(() => startWith(3, 'Error', { death })).toThrow('not for its memory: CoreDNS ended by itself');
    expect(() => startWith(3, 'Error', { death, container: null })).toThrow('not for its memory');
  });

  it('is told by lines of JSON: what took too long, and that the API server got slow', () => {
    const reader = readPhases();
    reader.onLine('{"late":"relist"}');
    expect(reader.late).toBe('relist');
    reader.demandSound();
    reader.onLine('{"slow":"99 % took up to 2.00 s"}');
    expect(() => reader.demandSound()).toThrow('the API server got slow: 99 % took up to 2.00 s');
  });
});

describe('a record', () => {
  it('of one search each names both limits, as there is no interval', () => {
    const stored = parseRecordAs(surviveKind, referenceText('capacity-survive'), 'run.json');
    const record = { ...stored, settings: stored.settings as SurviveSettings };
    const [first] = documentOf(record, surviveDocument(record)).findings;
    expect(first?.sentence.replaceAll('\u00a0', ' ')).toBe(
      'Memory limit needed: 43.0 MiB, against 40.0 MiB with CoreDNS 1.13.1 (+7.5 %; one trial of each, so no interval).',
    );
  });

  it('is of its schema, and draws a line for each version and setting beside the limits of today', () => {
    const record = searched();
    expect(surviveKind.schema.safeParse(record).error).toBeUndefined();
    const drawn = limitChart(record);
    expect(drawn?.panels).toHaveLength(1);
    expect(drawn?.panels[0]?.lines).toHaveLength(4);
    expect(drawn?.panels[0]?.marks?.map(({ y }) => y)).toEqual([170, 340]);
    expect(drawn?.panels[0]?.lines[0]?.points.map(({ x, y }) => [x, y])).toEqual([
      [5000, 112],
      [20_000, 262],
    ]);
    const { sections = [], warnings = [], result } = surviveDocument(record);
    // The largest that the three searches found, not their median: 111 MiB were survived in one and killed in another.
    expect(result).toBe('limits from 64.0 MiB to 262 MiB survive');
    expect(JSON.stringify(sections)).toContain('"112 MiB","5","≤\u00a045\u00a0%","108 MiB (relist\u00a03)"');
    expect(warnings).toEqual([]);
    expect(JSON.stringify(sections)).toContain(
      '340Mi: kops for its test with 5,000 nodes (https://github.com/kubernetes/kops/pull/18361)',
    );
  });

  it('compares all searches of a version with all of the other, and no limit more closely than they know it', () => {
    const record = searched({ factors: {} });
    const limitOf = (name: string) => record.cases.find(({ key }) => key.includes(name));
    const item = limitOf('1.15.0/default/none/default/5000');
    const { low, high, ...others } = (item?.comparison?.deltas.limit ?? {}) as Delta;
    expect(others).toMatchObject({ verdict: 'less', method: 'welch-t', n: 3 });
    expect([low, high]).toEqual([expect.closeTo(-0.24, 2), expect.closeTo(-0.15, 2)]);
    const median = 89 * MEBIBYTE;
    expect(item?.summary.limit?.median).toBe(median);
    // Three searches a mebibyte apart do not know it more closely than their last step, of 5 %.
    expect(item?.summary.limit?.low).toBeLessThan(median / 1.05);
    expect(item?.summary.limit?.high).toBeGreaterThan(median * 1.05);
    const text = JSON.stringify(documentOf(record, surviveDocument(record)).sections);
    expect(text).toContain('of the ratio of trials that nothing pairs');
    expect(text).toContain('"3.00\u00a0s"');
    expect(text).toContain('The largest figure of all trials.');
    expect(surviveDocument(record).post?.excerpt).toContain(
      'CoreDNS survived in every search was 112 MiB for',
    );
  });

  it('names a case by its objects, from which the other counts follow', () => {
    const record = searched({ factors: { config: ['default', 'autopath'] } });
    const [first, second] = record.cases;
    if (first === undefined || second === undefined) throw new Error('no case');
    expect(caseTitle(record, first)).toBe('CoreDNS 1.11.3, default, 5,000 objects');
    const more = { ...first, point: { ...first.point, endpoints: 1 } };
    expect(pointText({ cases: [first, more] }, more)).toBe('1 endpoint');
  });

  it('says which starts were made again, and why', () => {
    const record = searched();
    const [trial] = record.trials;
    if (trial?.status !== 'ok') throw new Error('no trial');
    const evidence = { ...trial.evidence, repeated: ['start 3, 60 MiB: the loader was killed'] };
    const { warnings } = surviveDocument({ ...record, trials: [{ ...trial, evidence }] });
    expect(warnings?.[0]).toMatch(/: 1 start made again \(start 3, 60 MiB: the loader was killed\)\.$/);
  });

  it('says how CoreDNS has read, and warns where it did not follow the variable', () => {
    const record = searched({ factors: { lists: ['streamed'] } });
    const { sections = [], warnings = [] } = surviveDocument(record);
    expect(JSON.stringify(sections)).toMatch(/"lists"\].*"streams"\]/);
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toMatch(
      /^CoreDNS 1\.11\.3, streamed lists.*though KUBE_FEATURE_WatchListClient asks/,
    );
    expect(warnings.join()).not.toContain('CoreDNS 1.15.0');
  });

  it('of a cluster says so, and how the kubelet says that each start ended', () => {
    const record = searched({ target: 'kubernetes' });
    const container = { pod: 'start-1-abcde', reason: 'OOMKilled', exitCode: 137, restarts: 0 };
    const trials = record.trials.map((trial) =>
      trial.status === 'ok'
        ? {
            ...trial,
            evidence: {
              ...trial.evidence,
              starts: trial.evidence.starts.map((start) => ({ ...start, container })),
            },
          }
        : trial,
    );
    expect(surviveKind.schema.safeParse({ ...record, trials }).error).toBeUndefined();
    const { method = [], data, post } = surviveDocument({ ...record, trials });
    expect(post?.caveats?.[1]).toContain('The API server was that of one cluster');
    expect(method.join(' ')).toContain('Killed: the kubelet says OOMKilled of its container.');
    expect(method.join(' ')).toContain('the API server itself is not restarted');
    expect(data?.columns.slice(-4)).toEqual(['pod', 'reason', 'exit_code', 'restarts']);
    expect(data?.rows[0]?.slice(-4)).toEqual(['start-1-abcde', 'OOMKilled', 137, 0]);
    const here = surviveDocument(searched());
    expect(here.post?.caveats?.[1]).toContain('The API server was a program of this project');
    expect(here.data?.columns).not.toContain('exit_code');
  });

  it('tells killed from not right in time', () => {
    const record = searched();
    const [first] = record.trials;
    if (first?.status !== 'ok') throw new Error('no trial');
    const starts = first.evidence.starts.map((start) =>
      start.outcome === 'killed' ? { ...start, outcome: 'stuck' as const } : start,
    );
    const trials = [{ ...first, evidence: { ...first.evidence, starts } }, ...record.trials.slice(1)];
    expect(JSON.stringify(surviveDocument({ ...record, trials }).sections)).toContain(
      '"108 MiB (relist\u00a02)","106 MiB (relist\u00a01)"',
    );
  });

  it('confirms no limit of a case in which a search found none', () => {
    const record = withFailure(searched());
    const { result, warnings = [], sections = [] } = surviveDocument(record);
    expect(result).toBe('limits from 64.0 MiB to 262 MiB survive; no limit is confirmed in 1 of 8 cases');
    expect(warnings.join()).toContain('no limit is confirmed: 1 of 3 searches found none');
    expect(JSON.stringify(sections)).toContain('not confirmed');
  });

  it('confirms no limit below what a start used under a larger one', () => {
    const record = searched({ factors: {} });
    const [item] = record.cases;
    if (item === undefined) throw new Error('no case');
    const start = { outcome: 'survived' as const, during: null, scenarios: [], limitBytes: 120 * MEBIBYTE };
    const trialsWith = (...peaks: readonly number[]) =>
      record.trials.map((trial) => {
        if (trial.status !== 'ok' || trial.key !== `${item.key}#0`) return trial;
        const more = peaks.map((peak) => ({ ...start, peakBytes: peak * MEBIBYTE }));
        return { ...trial, evidence: { ...trial.evidence, starts: [...trial.evidence.starts, ...more] } };
      });
    const { subjects } = record;
    const limitWith = (...peaks: readonly number[]) =>
      confirmedLimit({ subjects, trials: trialsWith(...peaks) }, item);
    expect(limitWith()).toEqual({ limitBytes: 112 * MEBIBYTE, starts: 5 });
    expect(limitWith(111)).toEqual({ limitBytes: 112 * MEBIBYTE, starts: 5 });
    expect(limitWith(113, 111, 110, 110, 110)).toEqual({ limitBytes: 120 * MEBIBYTE, starts: 5 });
    // One start under the next limit is no five of five.
    expect(limitWith(113)).toBeNull();
    // As in a search, none rules out the limit that it has survived.
    expect(limitWith(113, 121, 110, 110, 110)).toEqual({ limitBytes: 120 * MEBIBYTE, starts: 5 });
    expect(surviveDocument({ ...record, trials: trialsWith(113) }).warnings?.join()).toContain(
      'no limit is confirmed: a start used more than the limit that was found, and too few were made under a larger one.',
    );
    // With GOMEMLIMIT, Go uses the less, the smaller the limit is: peaks count for none where some have it.
    const restrained = [{ ...subjects[0], name: item.subject.replace(/none$/, '80%'), title: 'restrained' }];
    const trials = record.trials.map((trial) =>
      trial.status === 'ok' && trial.key === `${item.key}#0`
        ? {
            ...trial,
            evidence: {
              ...trial.evidence,
              starts: [...trial.evidence.starts, ...Array(5).fill({ ...start, peakBytes: 119 * MEBIBYTE })],
            },
          }
        : trial,
    );
    expect(confirmedLimit({ subjects, trials }, item)?.limitBytes).toBe(120 * MEBIBYTE);
    const both = { subjects: [...subjects, ...restrained], trials };
    expect(confirmedLimit(both, item)?.limitBytes).toBe(112 * MEBIBYTE);
  });

  it('counts the starts of a search that has not ended, and confirms nothing that they contradict', () => {
    const record = searched({ factors: {} });
    const [item] = record.cases;
    const ended = record.trials.filter(({ key }) => key !== `${item?.key}#2`);
    const with_ = (...starts: readonly object[]) => {
      const kept = { starts, repeated: [], streamed: [], usual: { relist: 2 } };
      const left = { ...record, trials: ended, unfinished: { [`${item?.key}#2`]: kept } };
      expect(surviveKind.schema.safeParse(left).error).toBeUndefined();
      if (item === undefined) throw new Error('no case');
      return { limit: confirmedLimit(left, item), ...surviveDocument(left) };
    };
    const start = (mebibytes: number, outcome: string, peak = 0) => ({
      ...{ limitBytes: mebibytes * MEBIBYTE, outcome, during: outcome === 'survived' ? null : 'relist' },
      ...{ peakBytes: outcome === 'survived' ? peak * MEBIBYTE : null, scenarios: [] },
    });
    const fine = with_(start(150, 'survived', 80), start(106, 'killed'));
    expect(fine.limit).toEqual({ limitBytes: 111 * MEBIBYTE, starts: 5 });
    expect(fine.warnings).toEqual([
      'CoreDNS 1.11.3, 5,000 objects: search 3 has not ended: 2 starts so far, from which --resume goes on.',
    ]);
    expect(fine.data?.rows).toHaveLength(6 * ended.length + 2);
    for (const starts of [[start(113, 'stuck')], [start(111, 'killed')], [start(150, 'survived', 112)]]) {
      const { limit, warnings, sections } = with_(...starts);
      expect(limit).toBeNull();
      expect(warnings?.[1]).toContain('a search that has not ended contradicts the limit that was found.');
      expect(JSON.stringify(sections)).toContain('not confirmed');
    }
  });

  it('says that a search that failed is not repeated', () => {
    expect(surviveDocument(withFailure(searched())).warnings?.join()).toContain(
      'no limit is confirmed: 1 of 3 searches found none, which is not repeated: measure the case in a new run.',
    );
  });

  const limitOf = (
    record: SurviveRecord<SurviveSettings>,
    version: string | null = null,
    pods = 4000,
    services = 400,
    endpoints = pods,
  ) =>
    survivedLimit(record, {
      size: { pods, services, endpoints },
      ...{ configuration: 'default', version, origin: 'here' },
    });

  it.each([
    ['few starts', searched({ starts: 1 }), '1.11.3', 'its limits took --starts 1: a plan needs at least 5'],
    [
      'a short outage',
      searched({ outage: 1 }),
      null,
      'its API server was away for only 1 s: a plan needs at least 10 s',
    ],
    ['a failed search', withFailure(searched()), '1.11.3', 'not all of its searches found a limit'],
    [
      'forced streams',
      searched({ factors: { lists: ['streamed'] } }),
      '1.11.3',
      'it has no limit for CoreDNS without GOMEMLIMIT and with lists=default or paged (or streamed, from 1.14.2 on)',
    ],
    [
      'another version',
      searched(),
      '1.13.1',
      'it has no limit for CoreDNS 1.13.1 in the configuration default',
    ],
    [
      'another configuration',
      searched({ factors: { config: ['autopath'] } }),
      null,
      'it has no limit for CoreDNS in the configuration default',
    ],
  ])('gives a plan no limit, but the reason: %s', (_, record, version, reason) => {
    expect(limitOf(record, version)).toBe(reason);
  });

  it.each([
    // Smaller than half of what was measured, and larger than all of it.
    [1000, 100, 1000],
    [50_000, 100, 50_000],
    // 6 % more addresses.
    [20_000, 2000, 19_080],
  ])('gives a plan no limit for another size, but says which it has', (pods, services, endpoints) => {
    const [given, wanted] = [services, endpoints].map((count) => count.toLocaleString('en'));
    const assumed = endpoints === pods ? ' (one for each pod, unless --endpoints is given)' : '';
    expect(limitOf(searched(), null, pods, services, endpoints)).toBe(
      `it has limits for 500 services with 4,500 addresses and 2,000 services with 18,000 addresses, and the plan is for ${given} services with ${wanted} addresses${assumed}`,
    );
  });

  it('adds the pages of the program to limits that were found without them', () => {
    const limit = limitOf({ ...searched(), conditions: {} }, null, 18_000, 2000, 18_000);
    expect(limit).toMatchObject({ megabytes: expect.closeTo((260 * MEBIBYTE) / 1e6, 3) });
    expect(JSON.stringify(limit)).toContain('50.0 MiB more than was measured, for the pages of the program');
  });

  it('gives a plan the limit of a cluster with fewer pods, unless CoreDNS reads them, or 5 % less of anything', () => {
    expect(limitOf(searched(), null, 60_000, 2000, 18_000)).toMatchObject({
      megabytes: expect.closeTo((210 * MEBIBYTE) / 1e6, 3),
      notes: [expect.stringContaining('up to 45\u00a0% of all starts may still be killed')],
    });
    expect(limitOf(searched(), null, 18_000, 2001, 18_001)).toMatchObject({
      notes: [
        expect.anything(),
        'The plan is for 2,001 services with 18,001 addresses, 1 % more than the limit was measured with (2,000 services with 18,000 addresses).',
      ],
    });
    const withPods = (pods: number) =>
      survivedLimit(searched({ factors: { config: ['autopath'] } }), {
        size: { pods, services: 2000, endpoints: 18_000 },
        ...{ configuration: 'autopath', version: null, origin: 'here' },
      });
    expect(withPods(18_000)).toMatchObject({ version: '1.15.0' });
    expect(withPods(19_000)).toMatch(
      /^it has limits for .* 18,000 addresses and 18,000 pods, and the plan is/,
    );
  });

  it('counts streams as planned where CoreDNS asks for them by itself, and takes the larger of both limits', () => {
    const both = searched({ factors: { lists: ['paged', 'streamed'] } });
    const larger = both.trials.map((trial) =>
      trial.status === 'ok' && trial.case.includes('/streamed/')
        ? { ...trial, evidence: moved(trial.evidence, 8 * MEBIBYTE) }
        : trial,
    );
    expect(limitOf({ ...both, trials: larger }, '1.15.0')).toMatchObject({
      source: expect.stringContaining('lists=streamed'),
      megabytes: expect.closeTo((98 * MEBIBYTE) / 1e6, 3),
      killedMegabytes: expect.closeTo((94 * MEBIBYTE) / 1e6, 3),
    });
    expect(limitOf({ ...both, trials: larger }, '1.11.3')).toMatchObject({
      source: expect.stringContaining('lists=paged'),
      megabytes: expect.closeTo((112 * MEBIBYTE) / 1e6, 3),
    });
  });

  it('says in a plan that its outage was a short one', () => {
    expect(limitOf(searched({ outage: 10 }))).toMatchObject({
      notes: [expect.anything(), expect.stringContaining('away for 10 s; the usual test is 2 min')],
    });
  });

  it('gives a plan the largest limit found without GOMEMLIMIT, of the next larger cluster and the version', () => {
    const of = (pods: number, services: number, version: string | null) =>
      limitOf(searched(), version, pods, services);
    expect(of(4000, 400, '1.11.3')).toMatchObject({
      megabytes: (112 * MEBIBYTE) / 1e6,
      killedMegabytes: (108 * MEBIBYTE) / 1e6,
      version: '1.11.3',
    });
    expect(JSON.stringify(of(15_000, 1500, null))).toMatch(
      /survived by 5 of 5 starts: here, run \S+ \(CoreDNS 1\.15\.0, default, 20,000/,
    );
  });

  /** A run of this machine. */
  const save = async (record: SurviveRecord<SurviveSettings>) => {
    const environment = { ...record.environment, hostname: world.machine.hostname };
    await createStore(world, 'results').saveAs(surviveKind, { ...record, environment });
  };
  const plan = (...words: string[]) => world.bench('capacity', 'plan', ...words);

  it('gives a plan the limit of what CoreDNS read on a cluster, not only of what the run created', () => {
    const record = searched({ target: 'kubernetes', objects: [0], services: [0] });
    const trials = (read: object) =>
      record.trials.map((trial) =>
        trial.status === 'ok' ? { ...trial, evidence: { ...trial.evidence, ...read } } : trial,
      );
    const limitWith = (read: object) =>
      survivedLimit(
        { ...record, conditions: {}, trials: trials(read) as typeof record.trials },
        {
          size: { pods: 900, services: 40, endpoints: 300 },
          ...{ configuration: 'default', version: '1.11.3', origin: 'here' },
        },
      );
    expect(limitWith({})).toMatch(/^it has limits for 0 services with 0 addresses, and the plan is for 40/);
    expect(limitWith({ read: { services: 41, pods: 2, endpoints: 300 } })).toMatchObject({
      version: '1.11.3',
    });
    expect(limitWith({ read: { services: 41, pods: 900, endpoints: 250 } })).toContain('250 addresses');
  });

  describe('of a run on a cluster', () => {
    const URL = 'https://c.example';
    const RUN = '20261127-120000-0001';
    const SIZE = ['--pods', '18000', '--services', '2000', '--endpoints', '18000'];

    const saveOn = (server: string | null, id: string, changes: Partial<SurviveSettings> = {}) => {
      const record = searched(changes);
      const cluster =
        server === null
          ? null
          : { version: 'v1.34.0', provider: null, server, cni: null, proxyMode: null, nodes: [] };
      const environment = { ...record.environment, hostname: world.machine.hostname, cluster };
      return createStore(world, 'results').saveAs(surviveKind, { ...record, id, environment });
    };
    const planned = async (...flags: readonly string[]) => {
      const before = world.out().length;
      expect(await world.bench('capacity', 'plan', ...SIZE, ...flags, '--json'), world.err()).toBe(0);
      const { figures, notes } = JSON.parse(world.out().slice(before)) as CapacityPlan;
      const basis = figures.find(({ name }) => name === 'memory limit')?.basis;
      return { basis, notes: notes.join(' ') };
    };

    it('a plan for that cluster uses it, before one of this machine, and says so', async () => {
      const server = await startApiServer({ cluster: defineCluster({ pods: 30, services: 3 }) });
      try {
        await useCluster(world, server.url);
        await saveOn(null, '20261127-130000-0002');
        expect((await planned('--from-cluster')).basis).toContain(
          "this machine's history, run 20261127-130000-0002",
        );
        await saveOn(server.url, RUN);
        const { basis, notes } = await planned('--from-cluster');
        expect(basis).toContain(`survived by 5 of 5 starts: this cluster's history, run ${RUN}`);
        expect(notes).not.toContain('was not used');
        expect((await planned()).basis).toContain("this machine's history");
        // Too few starts: said, and the next place is looked at.
        await saveOn(server.url, RUN, { starts: 1 });
        const next = await planned('--from-cluster');
        expect(next.basis).toContain("this machine's history");
        expect(next.notes).toContain(`Run ${RUN} was not used, because its limits took --starts 1`);
      } finally {
        await server.close();
      }
    });

    it('another plan does not, and says how to', async () => {
      await saveOn(URL, RUN);
      const { basis, notes } = await planned();
      expect(basis).toMatch(/^1\.25 ×/);
      expect(notes).toContain(
        `Run ${RUN} was not used, because it was made on the cluster at ${URL}: plan with --from-cluster for that cluster, or name the run with --basis.`,
      );
      expect((await planned('--basis', RUN)).basis).toContain(`starts: measured, run ${RUN}`);
      expect((await planned('--basis', 'published')).notes).not.toContain(RUN);
    });

    it('a plan says where its line of memory and its limit were measured in different places', async () => {
      const memory = parseRecordAs(memoryKind, referenceText('capacity-memory'), 'run.json');
      const environment = { ...memory.environment, hostname: world.machine.hostname };
      await createStore(world, 'results').saveAs(memoryKind, { ...memory, environment });
      await saveOn(null, '20261127-130000-0002');
      expect((await planned()).notes).not.toContain('but the limit was survived on');
      await saveOn(URL, RUN);
      expect((await planned('--basis', RUN)).notes).toContain(
        `The line of memory was measured on the machine ${world.machine.hostname}, but the limit was survived on the cluster at ${URL}.`,
      );
    });
  });

  it('of a cluster with fewer addresses than pods is taken where the plan says how many there are, else it says so', async () => {
    await save(searched());
    const size = ['--pods', '36000', '--services', '2000'];
    expect(await plan(...size), world.err()).toBe(0);
    const said = world.out().replaceAll(/\s+/g, ' ');
    expect(said).toContain('was not used, because it has limits for 500 services with 4,500 addresses and');
    expect(said).toContain(
      '2,000 services with 36,000 addresses (one for each pod, unless --endpoints is given).',
    );
    const before = world.out().length;
    expect(await plan(...size, '--endpoints', '18000', '--json'), world.err()).toBe(0);
    expect(world.out().slice(before)).toContain('which was survived by 5 of 5 starts');
    expect(world.out().slice(before)).toContain('and cannot count 18,000');
    // Neither the memory line nor a limit is for as many.
    expect(await plan(...size, '--endpoints', '30000')).toBe(2);
    expect(world.err()).toContain('and the plan is for 2,000 services with 30,000 addresses');
  });

  it('is verified with its own version', async () => {
    await save(searched({ servers: ['coredns-cluster@9.9.9'] }));
    const size = ['--pods', '18000', '--services', '2000'];
    expect(await plan(...size, '--verify')).toBe(EXIT_STATUS.environment);
    expect(world.err()).toContain('CoreDNS 9.9.9');
    const before = world.err().length;
    expect(await plan(...size, '--verify', '--coredns-version', '8.8.8')).toBe(EXIT_STATUS.environment);
    expect(world.err().slice(before)).toContain('CoreDNS 8.8.8');
  });

  it('of too few starts is not taken by a plan of this machine, which says why', async () => {
    const record = searched({ starts: 1 });
    await save(record);
    const size = ['--pods', '15000', '--services', '1500', '--json'];
    await save({ ...record, id: '20200101-000000-0000' });
    expect(await plan(...size), world.err()).toBe(0);
    expect(world.out().match(/was not used/g)).toHaveLength(1);
    expect(world.out()).not.toContain('survived by');
    expect(world.out()).toContain(
      'was not used, because its limits took --starts 1: a plan needs at least 5.',
    );
  });

  it('of another version than the memory line, gives a plan no limit, whichever of them was named', async () => {
    const store = createStore(world, 'results');
    const memory = parseRecordAs(memoryKind, referenceText('capacity-memory'), 'run.json');
    const environment = { ...memory.environment, hostname: world.machine.hostname };
    await store.saveAs(memoryKind, { ...memory, environment });
    const older = {
      ...searched({ servers: ['coredns-cluster@1.11.3'] }),
      environment,
      id: '20261123-000000-0000',
    };
    await store.saveAs(surviveKind, older);
    const limitWith = async (...flags: readonly string[]) => {
      const size = ['--pods', '15000', '--services', '1500', '--json'];
      const before = world.out().length;
      expect(await world.bench('capacity', 'plan', ...size, ...flags), world.err()).toBe(0);
      const { figures } = JSON.parse(world.out().slice(before)) as {
        figures: { name: string; basis: string }[];
      };
      return (name: string) => figures.find((figure) => figure.name === name)?.basis;
    };
    // The memory line is that of 1.15.0, the last of its run.
    expect((await limitWith())('memory limit')).toMatch(/^1\.25 ×/);
    for (const flags of [
      ['--coredns-version', '1.11.3'],
      ['--basis', older.id],
    ]) {
      const basisOf = await limitWith(...flags);
      expect(basisOf('steady memory')).toContain('CoreDNS 1.11.3');
      expect(basisOf('memory limit')).toMatch(
        /^the next size above 274\.73 MB, which was survived by 5 of 5 starts: .*CoreDNS 1\.11\.3/,
      );
    }
    expect(
      await world.bench(
        'capacity',
        'plan',
        '--pods',
        '15000',
        '--services',
        '1500',
        '--basis',
        `${memory.id}+${older.id}`,
      ),
    ).toBe(2);
    expect(world.err()).toContain('cannot be used: it has no limit for CoreDNS 1.15.0');
  });

  it('says what to set: the next of the sizes that people set, with room', () => {
    const set = (mebibytes: number) => limitToSet(mebibytes * MEBIBYTE) / MEBIBYTE;
    // The first four are those of docs/capacity-survive.md.
    expect([44, 43, 77, 73, 58, 59, 320, 385].map(set)).toEqual([64, 64, 96, 96, 64, 96, 352, 448]);
  });

  describe('is what the limit of a plan goes by', () => {
    const demand = {
      ...{ pods: 15_000, services: 820, endpoints: null, source: 'given' },
      ...{ internalLookups: 0, externalLookups: 0, autopath: false, families: 1 as const, searchDomains: 4 },
      ...{ memoryLimitBytes: null, replicas: null, nodes: null },
    } as const;
    const planned = (
      megabytes: number | null,
      memoryLimitBytes: number | null = null,
      basis: MemoryBasis = publishedBasis('default'),
    ) =>
      planCapacity(
        { ...demand, memoryLimitBytes },
        basis,
        publishedThroughput('default'),
        megabytes === null
          ? null
          : {
              ...{ megabytes, killedMegabytes: megabytes - 10, version: '' },
              ...{ source: 'survived by 5 of 5 starts: here', notes: ['Short.'] },
            },
      );

    it('which says so', () => {
      const figureOf = (megabytes: number | null) =>
        planned(megabytes).figures.find(({ name }) => name === 'memory limit');
      expect(planned(200).notes).toContain('Short.');
      // 191 MiB: 224 of them.
      expect(figureOf(200)).toMatchObject({
        value: 234.88,
        basis: 'the next size above 200 MB, which was survived by 5 of 5 starts: here',
      });
      expect(figureOf(null)?.basis).toMatch(/^1.25 ×/);
      // Never less than what is requested, and then it does not claim that this was tried.
      expect(figureOf(10)).toMatchObject({
        value: 70.25,
        basis: expect.stringMatching(
          /^steady memory, as the memory request: more than the next size above 10 MB, which was/,
        ),
      });
    });

    /** A peak of 100 MB: less than a start needed. */
    const low: MemoryBasis = {
      ...publishedBasis('default'),
      relistPeak: () => ({ value: 100, low: 95, high: 105 }),
    };

    it.each([
      [60e6, 'does not fit', /steady use/],
      [90e6, 'does not fit', /of the peak/],
      [180e6, 'cannot tell', /more than steady use, but a start did not survive 190 MB/],
      [210e6, 'fits', /above the peak of 100 MB, but below the recommended 234\.88 MB/],
      [224 * MEBIBYTE, 'fits', /at least the recommended/],
    ])('a limit of %d bytes today %s beside a lower measured peak', (limit, fit, because) => {
      const [memory] = planned(200, limit, low).verdicts;
      expect(memory).toMatchObject({ fit, because: expect.stringMatching(because) });
    });

    const high: MemoryBasis = { ...low, relistPeak: () => ({ value: 300, low: 280, high: 320 }) };

    it.each([
      ['an assumed peak', undefined],
      ['a higher measured peak', high],
    ])('a limit between what survived and what is recommended cannot be told beside %s', (_, basis) => {
      expect(planned(200, 210e6, basis).verdicts[0]).toMatchObject({
        fit: 'cannot tell',
        because: expect.stringMatching(/and only a few starts survived 200 MB$/),
      });
    });
  });
});
