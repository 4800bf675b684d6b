/** The figures of a trial, and how faults are compared with their control. Pure. */
import { type Estimand, lessOf, moreOf } from '../../engine/estimand.ts';
import { BUCKET_SECONDS, LATE_SECONDS } from '../../measure/client-losses.ts';
import { sum } from '../../stats/intervals.ts';
import {
  canTellFailed,
  failedLookups,
  RESOLVER_NAMES,
  RESOLVERS,
  type ResolverName,
} from '../../stats/resolver-retries.ts';
import type { DisruptEvidence } from './evidence.ts';
import type { DisruptSettings } from './settings.ts';

export const lookupsName = (resolver: ResolverName) => `failed-${resolver}`;

const figure = lessOf<DisruptEvidence>;

/** A time that queries that left late can have lengthened by less than this share is told as it is. */
const LENGTHENED_SHARE = 0.01;

/** A time that a load generator that was late may have lengthened: at most that. */
const time = (
  name: string,
  title: string,
  compared: 'ratio' | 'difference',
  of: (evidence: DisruptEvidence) => number | null | undefined,
) =>
  figure(name, title, 'seconds', compared, (evidence) => {
    const value = of(evidence);
    const { limited, lateSeconds = Number.POSITIVE_INFINITY } = evidence;
    return limited === true && value && lateSeconds > value * LENGTHENED_SHARE ? { bound: value } : value;
  });

/** An error often comes sooner than an answer, or later: percentiles of both are those of neither. */
const percentile = (name: 'p50' | 'p99') =>
  time(name, name, 'ratio', (evidence) => (evidence.errors > 0 ? null : evidence[`${name}Seconds`]));

/** Lookups that fail although their resolver asks again. Expected, so no whole number; null where it cannot be told. */
const lookups = (durationSeconds: number, timeoutSeconds: number) =>
  RESOLVER_NAMES.map((name) =>
    figure(lookupsName(name), `failed with ${RESOLVERS[name].title}`, 'count', 'no', (evidence) => {
      const { queriesLost: lost, errors, late, timeline, queriesSent, recoveredSeconds } = evidence;
      const isRecovered = recoveredSeconds !== null;
      const refused = timeline.map((bucket) => bucket.refused ?? 0);
      const answers = { lost, refused: sum(refused), errors, late, timeoutSeconds, isRecovered };
      if (!canTellFailed(answers, name)) return null;
      return failedLookups(
        {
          lost: timeline.map((bucket) => bucket.lost),
          refused,
          errors: timeline.map((bucket) => bucket.errors),
          seconds: BUCKET_SECONDS,
          sent: (queriesSent / durationSeconds) * BUCKET_SECONDS,
        },
        name,
      );
    }),
  );

/** Times that do not end with the load, and entries that other clients of the cluster's own DNS make as well. */
const UNLIMITED = ['gone', 'back', 'stale-until', 'stale-entries'];

/** What a run is about. */
const AWAITED = ['answered', 'lost', 'errors', 'gap'];

export function estimandsOf({
  target,
  rate,
  duration,
  timeout,
  conntrack,
}: Pick<
  DisruptSettings,
  'target' | 'rate' | 'duration' | 'timeout' | 'conntrack'
>): readonly Estimand<DisruptEvidence>[] {
  // Every query can be lost, and waited for from the first one to the time-out of the last.
  const most: Partial<Record<Estimand<DisruptEvidence>['unit'], number>> = {
    count: Math.ceil(rate * duration),
    seconds: duration + timeout,
  };
  return [
    moreOf<DisruptEvidence>(
      'answered',
      'answered',
      'ratio',
      'ratio',
      ({ queriesSent, queriesLost, errors }) =>
        queriesSent === 0 ? null : Math.max(0, (queriesSent - queriesLost - errors) / queriesSent),
    ),
    // The control has mostly none of these, so that no ratio says how many more they are.
    figure('lost', 'lost', 'count', 'difference', ({ queriesLost }) => queriesLost),
    figure('errors', 'errors', 'count', 'difference', ({ errors }) => errors),
    figure('stale', 'stale', 'count', 'no', ({ stale }) => stale),
    ...LATE_SECONDS.map((limit, index) =>
      figure(
        `over${limit}s`,
        `over ${limit}\u00a0s`,
        'count',
        index === 0 ? 'difference' : 'no',
        ({ late }) => late[index] ?? 0,
      ),
    ),
    time('gap', 'longest gap', 'difference', ({ longestGapSeconds }) => longestGapSeconds),
    figure('recovered', 'recovered after', 'seconds', 'no', ({ recoveredSeconds }) => recoveredSeconds),
    percentile('p50'),
    percentile('p99'),
    // Of sockets that are used again and again.
    figure('losing', 'sockets that lost a query', 'count', 'no', ({ sockets }) => sockets?.losing),
    time('socket-gap', 'longest gap of a socket', 'difference', ({ sockets }) => sockets?.longestGapSeconds),
    ...lookups(duration, timeout),
    ...(['before', 'peak', 'after'] as const).map((when) =>
      figure(`memory-${when}`, `memory, ${when}`, 'bytes', 'no', ({ memory }) => memory?.[when]),
    ),
    ...(target === 'kubernetes'
      ? [
          figure('gone', 'endpoint gone after', 'seconds', 'no', ({ endpoints }) => endpoints?.goneSeconds),
          figure('back', 'endpoints back after', 'seconds', 'no', ({ endpoints }) => endpoints?.backSeconds),
        ]
      : []),
    // Nothing is known where no entry of the Service was seen: not every network plugin has them.
    ...(conntrack
      ? [
          figure('stale-entries', 'entries to the old pod', 'count', 'no', ({ conntrack: read }) =>
            read === undefined || read.used === 0 ? null : read.stale,
          ),
          figure('stale-until', 'used until', 'seconds', 'no', ({ conntrack: read }) => read?.lastSeconds),
        ]
      : []),
  ].map((estimand) => ({
    ...estimand,
    most: UNLIMITED.includes(estimand.name) ? undefined : most[estimand.unit],
    awaited: AWAITED.includes(estimand.name),
  }));
}
