/** What `bench disrupt` makes of the intervals that the load generator tells. */
import { describe, expect, it } from 'vitest';
import { documentOf } from '../src/engine/document.ts';
import { engineKind } from '../src/engine/record.ts';
import { disruptDocument } from '../src/experiments/disrupt/document.ts';
import { disruptEvidenceSchema } from '../src/experiments/disrupt/evidence.ts';
import { pointsOf } from '../src/experiments/disrupt/pictures.ts';
import type { DisruptSettings } from '../src/experiments/disrupt/settings.ts';
import type { DetailedInterval } from '../src/loaders/loader.ts';
import { clientLosses, type DisturbedLoad } from '../src/measure/client-losses.ts';
import type { LoadResult } from '../src/results/record.ts';
import {
  canTellFailed,
  failedLookups,
  RESOLVER_NAMES,
  type ResolverName,
} from '../src/stats/resolver-retries.ts';
import { referenceText } from './support/reference.ts';

const QUIET: DetailedInterval = {
  atSeconds: 0,
  sent: 0,
  answered: 0,
  lost: 0,
  codes: {},
  slowestSeconds: null,
  goodSeconds: null,
};

/** One good answer in the middle of an interval of 0.05 s. */
function answered(atSeconds: number, slowestSeconds = 0.001): DetailedInterval {
  const middle = atSeconds - 0.025;
  const goodSeconds = { first: middle, last: middle };
  return { ...QUIET, atSeconds, sent: 1, answered: 1, codes: { NOERROR: 1 }, slowestSeconds, goodSeconds };
}

const times = (from: number, to: number) =>
  Array.from({ length: Math.round((to - from) / 0.05) }, (_, index) => from + (index + 1) * 0.05);

/** Ten seconds, the fault from 2 to 5 s, queries lost after 1 s. */
function evidence(timeline: readonly DetailedInterval[], load: Partial<LoadResult> = {}) {
  const of: DisturbedLoad = {
    load: {
      queriesSent: 200,
      queriesLost: 0,
      responseCodes: { NOERROR: 200 },
      hdrHistogram: null,
      latencyPercentiles: null,
      ...load,
    } as LoadResult,
    timeline,
    sockets: [],
    fault: { begin: 2, end: 5 },
    expected: new Set(['NOERROR']),
    durationSeconds: 10,
    timeoutSeconds: 1,
  };
  return clientLosses(of);
}

describe('the evidence of a trial', () => {
  it('has no gap but that between two answers, and nothing to recover from, where all is answered', () => {
    const { longestGapSeconds, recoveredSeconds, errors, timeline } = evidence(
      times(0, 10).map((at) => answered(at)),
    );
    expect(longestGapSeconds).toBeCloseTo(0.05, 9);
    expect([recoveredSeconds, errors]).toEqual([0, 0]);
    expect(timeline).toEqual(times(0, 5).map(() => ({ answered: 2, errors: 0, lost: 0 })));
  });

  it('counts lost queries at the time at which they were sent, and the gap that they leave', () => {
    // What was sent from 2 to 5 s is given up from 3 to 6 s.
    const timeline = times(0, 10).map((at) => {
      const interval = at > 2.01 && at < 5.01 ? { ...QUIET, atSeconds: at } : answered(at);
      return { ...interval, lost: at > 3.01 && at < 6.01 ? 1 : 0 };
    });
    const found = evidence(timeline);
    expect(found.longestGapSeconds).toBeCloseTo(3.05, 9);
    expect(found.recoveredSeconds).toBeCloseTo(3, 9);
    expect(found.timeline.map(({ lost }) => lost)).toEqual([
      ...Array(20).fill(0),
      ...Array(30).fill(2),
      ...Array(50).fill(0),
    ]);
  });

  it('does not take an answer with an error for an answer', () => {
    const failing = { codes: { SERVFAIL: 1 }, goodSeconds: null };
    const timeline = times(0, 10).map((at) => ({
      ...answered(at),
      ...(at > 2.01 && at < 4.01 ? failing : {}),
    }));
    const found = evidence(timeline, { responseCodes: { NOERROR: 160, SERVFAIL: 40 } });
    expect([found.errors, found.queriesLost]).toEqual([40, 0]);
    expect(found.longestGapSeconds).toBeCloseTo(2.05, 9);
    expect(found.recoveredSeconds).toBeCloseTo(2, 9);
    expect(found.timeline[25]).toEqual({ answered: 0, errors: 2, lost: 0 });
  });

  it('counts a gap at either end of the load, but none after it', () => {
    expect(evidence([]).longestGapSeconds).toBe(10);
    expect(evidence([answered(4)]).longestGapSeconds).toBeCloseTo(10 - 3.975, 9);
    expect(evidence([...times(0, 10).map((at) => answered(at)), answered(13)]).longestGapSeconds).toBeCloseTo(
      0.05,
      9,
    );
  });

  it('is not as before while queries wait, and does not say when it is if that is to the end', () => {
    const slowUntil = (end: number) =>
      evidence(times(0, 10).map((at) => answered(at, at > 3 && at < end ? 0.3 : 0.001))).recoveredSeconds;
    expect(slowUntil(7.01)).toBeCloseTo(5, 9);
    expect(slowUntil(11)).toBeNull();
  });
});

describe('lookups of applications', () => {
  /** A hundred queries a second for 12 s, all lost from 2 s on. */
  const lostFor = (seconds: number) =>
    Array.from({ length: 120 }, (_, index) => (index >= 20 && index < 20 + seconds * 10 ? 10 : 0));
  const failing = (seconds: number, resolver: ResolverName) =>
    failedLookups({ lost: lostFor(seconds), errors: [], seconds: 0.1, sent: 10 }, resolver);

  it('succeed if the loss is over when their resolver asks again, and fail if it is not', () => {
    expect(failing(2, 'musl')).toBe(0);
    // Those of the first second are asked again after 2.5 s, while all is lost.
    expect(failing(3.5, 'musl')).toBeCloseTo(100, 9);
    expect(failing(3.5, 'glibc')).toBe(0);
    expect([failing(6, 'glibc'), failing(6, 'go')].map(Math.round)).toEqual([100, 100]);
  });

  it('fail by chance where each query may be lost', () => {
    const lost = Array.from({ length: 200 }, () => 1);
    // A tenth, and again a tenth; the last five seconds are asked again after the load.
    expect(failedLookups({ lost, errors: [], seconds: 0.1, sent: 10 }, 'glibc')).toBeCloseTo(15, 9);
  });

  it('fail if the second attempt is answered with an error as well, which comes at once in glibc and Go', () => {
    const errors = lostFor(3);
    const failing = (resolver: ResolverName) =>
      failedLookups({ lost: [], errors, seconds: 0.1, sent: 10 }, resolver);
    expect(RESOLVER_NAMES.map((name) => Math.round(failing(name)))).toEqual([300, 50, 300]);
    // A quarter fails by chance.
    const half = errors.map((count) => count / 2);
    expect(failedLookups({ lost: [], errors: half, seconds: 0.1, sent: 10 }, 'go')).toBeCloseTo(75, 9);
  });

  it.each([
    ['all is answered in time', { late: [9, 9, 0], timeoutSeconds: 1 }, [true, true, true]],
    ['answers come after 5 s', { late: [9, 9, 1] }, [false, false, false]],
    ['the loss is known', { lost: 5, late: [9, 0, 0] }, [true, true, true]],
    ['what is lost may have come later', { lost: 5, timeoutSeconds: 2 }, [false, false, false]],
    ['musl may not have waited for the second answer', { lost: 5, late: [9, 1, 0] }, [true, false, true]],
    ['errors come at once', { errors: 5 }, [true, true, true]],
    ['errors may be late', { errors: 5, late: [1, 0, 0] }, [false, false, false]],
  ])('have a figure or none where %s', (_, times, known) => {
    const answers = { lost: 0, errors: 0, late: [0, 0, 0], timeoutSeconds: 10, ...times };
    expect(RESOLVER_NAMES.map((name) => canTellFailed(answers, name))).toEqual(known);
  });
});

describe('the chart of several trials', () => {
  it('is aligned at the fault of each', () => {
    const trial = (begin: number) => {
      const timeline = Array.from({ length: 40 }, (_, index) => ({
        answered: 10,
        errors: 0,
        lost: index >= begin * 10 && index < begin * 10 + 5 ? 10 : 0,
      }));
      return { ...evidence([]), fault: { begin, end: begin + 1 }, timeline };
    };
    const points = pointsOf([2, 2.3, 2.5].map(trial), 'lost', 'x');
    expect(points[0]?.x).toBe(-1.95);
    // Between the ends of a level stretch, no points are needed.
    expect(points.slice(1, -1).map(({ x, y }) => [x, y])).toEqual([
      [-0.05, 0],
      [0.05, 100],
      [0.45, 100],
      [0.55, 0],
    ]);
  });
});

const { schema } = engineKind<typeof disruptEvidenceSchema, DisruptSettings>(
  'disrupt',
  disruptEvidenceSchema,
);
const ONE = { median: 1, low: null, high: null, n: 1 };
const recordOf = (name: string) => schema.parse(JSON.parse(referenceText(name)));

describe('the report', () => {
  it('begins with the picture', () => {
    const record = recordOf('disrupt-rollout');
    const [first] = documentOf(record, disruptDocument(record)).sections;
    expect(first?.title).toBe('Over time');
    expect(first?.blocks.map((block) => block.kind)).toEqual(['chart', 'chart']);
  });

  it('explains figures by socket where the record has some', () => {
    const record = recordOf('disrupt-rollout');
    const cases = record.cases.map((item) => ({ ...item, summary: { ...item.summary, losing: ONE } }));
    const told = (of: typeof record) => disruptDocument(of).method.join(' ').includes('figures by socket');
    expect([told(record), told({ ...record, cases })]).toEqual([false, true]);
  });

  it('says that names are asked again where the cache is varied', () => {
    const record = recordOf('disrupt-upstream');
    const cached = { ...record, settings: { ...record.settings, factors: { cache: [1, 30] } } };
    const told = (of: typeof record) =>
      ['asked once', 'asked again and again'].map((words) =>
        disruptDocument(of).method.join(' ').includes(words),
      );
    expect(told(record)).toEqual([true, false]);
    expect(told(cached)).toEqual([false, true]);
  });
});

describe('the post', () => {
  const postOf = (name: string) => disruptDocument(recordOf(name)).post;
  const plain = (text?: string) => text?.replaceAll('\u00a0', ' ');

  it('begins with the factor that decides, then the worst and the best case, in words', () => {
    const { excerpt, caveats } = postOf('disrupt-rollout') ?? {};
    expect(plain(excerpt)).toBe(
      'A rolling update cost 90 to 114 of 2,000 queries with no lameduck and at most 24 with lameduck 5 s. Most were lost with no lameduck, 1 pod and fresh sockets (longest gap 1.10 s), fewest with lameduck 5 s and fresh sockets.',
    );
    expect(caveats?.[0]).toContain('one trial of each');
    expect(plain(postOf('disrupt-rollout-lameduck30')?.excerpt)).toBe(
      'A rolling update with lameduck 30 s cost none of 4,500 queries.',
    );
  });

  it('begins with the server that cost most and when, then tells what each kind of fault cost', () => {
    expect(plain(postOf('disrupt-upstream')?.excerpt)?.split('. ')).toEqual([
      'Clients lost most with Unbound when the upstream was slow or silent; they lost as many with every server when the upstream answered SERVFAIL or REFUSED',
      'A slow upstream cost 1,356 of 4,000 queries with Unbound (longest gap 3.11 s), and none with CoreDNS 1.11.3, CoreDNS 1.13.1 and CoreDNS 1.15.0; up to 1,500 answers took longer than 1 s',
      'A silent upstream cost 1,404 of 4,000 queries with Unbound (longest gap 3.21 s), 1,000 with CoreDNS 1.15.0, and 501 with CoreDNS 1.11.3 and CoreDNS 1.13.1; up to 1,000 answers took longer than 1 s',
      'An upstream that answered SERVFAIL or REFUSED cost 1,501 of 4,000 queries with every server (longest gap 3.00 s).',
    ]);
    expect(postOf('disrupt-upstream')?.title).toMatch(
      /^What does a failing upstream cost clients of CoreDNS .* and Unbound\?$/,
    );
  });

  it('names no factor that decides where the ranges of its values overlap, and no worst server where none is', () => {
    const record = recordOf('disrupt-rollout');
    const lost = (item: (typeof record.cases)[number], median: number) => ({
      ...item,
      summary: { ...item.summary, lost: { ...ONE, median }, errors: { ...ONE, median: 0 } },
    });
    const overlapping = record.cases.map((item, index) => lost(item, [30, 80, 50][index % 3] ?? 0));
    expect(disruptDocument({ ...record, cases: overlapping }).post?.excerpt).toMatch(
      /^A rolling update cost 80 of 2,000 /,
    );
    const upstream = recordOf('disrupt-upstream');
    const alike = upstream.cases.map((item) => lost(item, 1000));
    expect(disruptDocument({ ...upstream, cases: alike }).post?.excerpt).toMatch(
      /^A slow upstream cost 1,000 of 4,000 queries with every server/,
    );
  });

  it('has badges that say what the share is of', () => {
    const badges = disruptDocument(recordOf('disrupt-rollout')).findings?.map(({ badge }) =>
      plain(badge.text),
    );
    expect(badges?.slice(3, 6)).toEqual(['95.5 % answered', '99 % answered', '100 % answered']);
  });

  it('tells when clients recovered, and that nothing was interrupted where they did at once', () => {
    const findings = (name: string) =>
      disruptDocument(schema.parse(JSON.parse(referenceText(name)))).findings?.map(
        ({ sentence }) => sentence,
      );
    const [interrupted, ...others] = findings('disrupt-rollout') ?? [];
    expect(interrupted).toMatch(/Clients recovered [1-9].* after the fault began\.$/);
    expect(others.filter((sentence) => sentence.startsWith('0 queries lost, 0 ')).length).toBe(2);
    for (const sentence of [...others, ...(findings('disrupt-rollout-lameduck30') ?? [])])
      expect(sentence.endsWith('No interruption.'), sentence).toBe(sentence.startsWith('0 queries lost, 0 '));
  });
});
