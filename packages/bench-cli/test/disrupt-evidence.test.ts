/** What `bench disrupt` makes of the intervals that the load generator tells. */
import { describe, expect, it } from 'vitest';
import { summarizeCases, untilView } from '../src/engine/cases.ts';
import { documentOf } from '../src/engine/document.ts';
import { engineKind } from '../src/engine/record.ts';
import { disruptDocument } from '../src/experiments/disrupt/document.ts';
import { type DisruptEvidence, disruptEvidenceSchema } from '../src/experiments/disrupt/evidence.ts';
import { estimandsOf } from '../src/experiments/disrupt/figures.ts';
import { pointsOf } from '../src/experiments/disrupt/pictures.ts';
import type { DisruptSettings } from '../src/experiments/disrupt/settings.ts';
import type { DetailedInterval } from '../src/loaders/loader.ts';
import { clientLosses, type DisturbedLoad } from '../src/measure/client-losses.ts';
import { summaryOfFigure } from '../src/report/estimand.ts';
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
  refused: 0,
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
function evidence(timeline: readonly DetailedInterval[], load: Partial<LoadResult> = {}, faultEnd = 5) {
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
    fault: { begin: 2, end: faultEnd },
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

  it('does not say that all is as before where the fault lasted longer than the load', () => {
    const after = (end: number) =>
      evidence(
        times(0, 10).map((at) => answered(at)),
        {},
        end,
      ).recoveredSeconds;
    expect([after(9.9), after(10)]).toEqual([0, null]);
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
    expect([failing(6, 'glibc'), failing(6, 'go')]).toEqual(
      [100, 100].map((count) => expect.closeTo(count, 9)),
    );
  });

  it('fail at once in glibc and Go where nothing listens, as an ICMP error tells them', () => {
    const lost = lostFor(3);
    const refusing = (resolver: ResolverName) =>
      failedLookups({ lost, refused: lost, errors: [], seconds: 0.1, sent: 10 }, resolver);
    expect(RESOLVER_NAMES.map(refusing)).toEqual([300, 50, 300].map((count) => expect.closeTo(count, 9)));
    const [bucket] = evidence([{ ...QUIET, atSeconds: 0.05, sent: 1, refused: 1 }]).timeline;
    expect(bucket).toEqual({ answered: 0, errors: 0, lost: 0, refused: 1 });
  });

  it('fail by chance where each query may be lost, if each attempt has a socket of its own', () => {
    const lost = Array.from({ length: 200 }, () => 1);
    const found = RESOLVER_NAMES.map((name) =>
      failedLookups({ lost, errors: [], seconds: 0.1, sent: 10 }, name),
    );
    // A tenth, and again a tenth; the last five seconds are asked again after the load.
    expect(found).toEqual([null, null, expect.closeTo(15, 9)]);
  });

  it('fail if the second attempt is answered with an error as well, which comes at once in glibc and Go', () => {
    const errors = lostFor(3);
    const failing = (resolver: ResolverName) =>
      failedLookups({ lost: [], errors, seconds: 0.1, sent: 10 }, resolver);
    expect(RESOLVER_NAMES.map(failing)).toEqual([300, 50, 300].map((count) => expect.closeTo(count, 9)));
    // A quarter fails by chance.
    const half = errors.map((count) => count / 2);
    expect(failedLookups({ lost: [], errors: half, seconds: 0.1, sent: 10 }, 'go')).toBeCloseTo(75, 9);
    // An outage of 0.2 s that begins and ends within a tenth of a second.
    const unaligned = [0, 4, 10, 6, 0];
    for (const name of ['glibc', 'go'] as const)
      expect(failedLookups({ lost: [], errors: unaligned, seconds: 0.1, sent: 10 }, name)).toBeCloseTo(20, 9);
  });

  it.each([
    ['all is answered in time', { late: [9, 9, 0], timeoutSeconds: 1 }, [true, true, true]],
    ['answers come after 5 s', { late: [9, 9, 1] }, [false, false, false]],
    ['the loss is known', { lost: 5, late: [9, 0, 0] }, [true, true, true]],
    ['what is lost may have come later', { lost: 5, timeoutSeconds: 2 }, [false, false, false]],
    ['musl may not have waited for the second answer', { lost: 5, late: [9, 1, 0] }, [true, false, true]],
    ['errors come at once', { errors: 5 }, [true, true, true]],
    ['all that was lost was refused', { lost: 100, refused: 96 }, [true, true, true]],
    ['some may have been refused', { lost: 100, refused: 90 }, [false, true, false]],
    ['errors may be late', { errors: 5, late: [1, 0, 0] }, [false, false, false]],
    ['later attempts may fail as well', { errors: 5, isRecovered: false }, [false, false, false]],
    ['nothing failed, and all was slow to the end', { isRecovered: false }, [true, true, true]],
  ])('have a figure or none where %s', (_, times, known) => {
    const answers = { lost: 0, errors: 0, late: [0, 0, 0], timeoutSeconds: 10, isRecovered: true, ...times };
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
const recordOf = (name: string) => schema.parse(JSON.parse(referenceText(name)));

describe('the report', () => {
  it('begins with the picture', () => {
    const record = recordOf('disrupt-rollout');
    const [first] = documentOf(record, disruptDocument(record)).sections;
    expect(first?.title).toBe('Over time');
    expect(first?.blocks.map((block) => block.kind)).toEqual(['chart', 'chart', 'chart']);
  });

  it('explains figures by socket where the record has some', () => {
    const record = recordOf('disrupt-rollout');
    const fresh = record.cases.filter(({ point }) => point.sockets === 'fresh');
    const told = (of: typeof record) => disruptDocument(of).method.join(' ').includes('figures by socket');
    expect([told(record), told({ ...record, cases: fresh })]).toEqual([true, false]);
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

describe('figures', () => {
  const figuresOf = (more: Partial<DisruptEvidence>) => {
    const found = { ...evidence(times(0, 10).map((at) => answered(at))), p99Seconds: 0.002, ...more };
    const estimands = estimandsOf({ target: 'local', rate: 20, duration: 10, timeout: 1, conntrack: false });
    return Object.fromEntries(estimands.map((each) => [each.name, each.of(found)]));
  };

  it('are bounds where they are times, and the load generator was late', () => {
    const gap = expect.closeTo(0.05, 9);
    expect(figuresOf({})).toMatchObject({ lost: 0, gap, p99: 0.002 });
    expect(figuresOf({ limited: true })).toMatchObject({
      lost: 0,
      gap: { bound: gap },
      p99: { bound: 0.002 },
    });
  });

  it('are no bounds where its latest query left so little late that it makes no difference', () => {
    const gap = expect.closeTo(0.05, 9);
    const late = (lateSeconds: number) => figuresOf({ limited: true, lateSeconds });
    expect(late(0.0004)).toMatchObject({ gap, p99: { bound: 0.002 } });
    expect(late(0.0006)).toMatchObject({ gap: { bound: gap }, p99: { bound: 0.002 } });
  });

  it('have no percentiles of answers and errors together', () => {
    expect(figuresOf({ errors: 1 })).toMatchObject({ p50: null, p99: null });
  });

  it('have no interval that says more than there were queries', () => {
    const facts = estimandsOf({ target: 'local', rate: 20, duration: 10, timeout: 1, conntrack: false });
    const most = (name: string, values: readonly number[]) => {
      const estimand = facts.find((each) => each.name === name);
      const trials = values.map((value, round) => ({ round, figures: { [name]: value } }));
      return estimand === undefined ? undefined : summaryOfFigure(estimand, trials)?.high;
    };
    expect(most('lost', [0, 20, 190])).toBe(200);
    expect(most('recovered', [0, 1, 9])).toBe(11);
    expect(most('memory-peak', [1, 20, 190])).toBeGreaterThan(200);
  });

  it('are compared also where the control has none, which --until waits for', () => {
    const facts = estimandsOf({ target: 'local', rate: 20, duration: 10, timeout: 1, conntrack: false });
    const estimands = facts.filter(({ name }) => ['lost', 'errors'].includes(name));
    const lost = { control: [0, 0, 0, 0, 0, 0, 0, 0], restart: [110, 112, 109, 111, 110, 113, 108, 110] };
    const trials = Object.entries(lost).flatMap(([subject, counts]) =>
      counts.map((count, round) => ({
        ...{ key: `${subject}${round}`, case: subject, round, order: round, status: 'ok', bounds: [] },
        figures: { lost: count, errors: 0 },
      })),
    );
    const planned = ['control', 'restart'].map((subject) => ({
      ...{ key: subject, subject, point: {}, aa: false, expectedSeconds: 1 },
    }));
    const parts = { id: 'x', baseline: 'control', estimands, trials: trials as never };
    const cases = summarizeCases(planned, 8, parts);
    expect(cases[1]?.comparison?.deltas.lost).toMatchObject({ difference: 110.25, verdict: 'more' });
    const { compared } = untilView({ cases, estimands });
    expect(compared).toMatchObject([{ metric: 'lost', isDecided: true, width: expect.closeTo(0.02, 1) }]);
  });
});

describe('what is told of a record', () => {
  const partsOf = (name: string) => disruptDocument(recordOf(name));
  const plain = (text?: string) => text?.replaceAll('\u00a0', ' ');

  it('is what clients saw in how many trials, and nothing that ranks faults or servers', () => {
    const [first, ...others] = partsOf('disrupt-rollout').findings ?? [];
    expect(plain(first?.badge.text)).toBe('89.4 % answered');
    expect(plain(first?.sentence)).toBe(
      'Lost 850 ±97 %, errors 0, over 1 s 0, longest gap ≤ 2.13 s ±97 %, recovered after 2.20 s ±96 % (3 trials).',
    );
    expect(others).toHaveLength(7);
    const { post } = partsOf('disrupt-upstream');
    expect(post?.title).toMatch(/^What does a failing upstream cost clients of CoreDNS .* and Unbound\?$/);
    expect(post?.excerpt).toBe(
      'In 80 trials with a fault, 0 to 1,406 of 4,000 queries lost, 0 to 1,501 answered with an error.',
    );
  });

  it('warns where a fault lasted longer than the load, and where a control lost something, too', () => {
    const record = recordOf('disrupt-rollout');
    expect(partsOf('disrupt-rollout').warnings).toEqual([]);
    const trials = record.trials.map((trial) =>
      trial.status === 'ok' && trial.case.startsWith('control/') && trial.order < 2
        ? { ...trial, evidence: { ...trial.evidence, queriesLost: 3 } }
        : trial,
    );
    const settings = { ...record.settings, duration: 9 };
    const estimands = estimandsOf(settings);
    const { warnings } = disruptDocument({ ...record, trials, settings, estimands: [...estimands] });
    expect(warnings?.map((text) => text.replace(/,.*/, ''))).toEqual([
      expect.stringMatching(/^In \d+ of 24 trials with a fault$/),
      expect.stringMatching(/^In [12] of 24 trials without a fault$/),
    ]);
  });
});
