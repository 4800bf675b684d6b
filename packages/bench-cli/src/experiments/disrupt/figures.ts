/** The figures of a trial, and how faults are compared with their control. Pure. */
import { type Estimand, lessOf } from '../../engine/estimand.ts';
import { BUCKET_SECONDS, LATE_SECONDS } from '../../measure/client-losses.ts';
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

/** Lookups that fail although their resolver asks again. Expected, so no whole number; null where it cannot be told. */
const lookups = (rate: number, timeoutSeconds: number) =>
  RESOLVER_NAMES.map((name) =>
    figure(lookupsName(name), `failed with ${RESOLVERS[name].title}`, 'count', 'no', (evidence) => {
      const { queriesLost: lost, errors, late, timeline } = evidence;
      if (!canTellFailed({ lost, errors, late, timeoutSeconds }, name)) return null;
      return failedLookups(
        {
          lost: timeline.map((bucket) => bucket.lost),
          errors: timeline.map((bucket) => bucket.errors),
          seconds: BUCKET_SECONDS,
          sent: rate * BUCKET_SECONDS,
        },
        name,
      );
    }),
  );

export function estimandsOf({
  target,
  rate,
  timeout,
  conntrack,
}: Pick<DisruptSettings, 'target' | 'rate' | 'timeout' | 'conntrack'>): readonly Estimand<DisruptEvidence>[] {
  return [
    {
      name: 'answered',
      title: 'answered',
      unit: 'ratio',
      better: 'more',
      compared: 'ratio',
      of: ({ queriesSent, queriesLost, errors }) =>
        queriesSent === 0 ? null : Math.max(0, (queriesSent - queriesLost - errors) / queriesSent),
    },
    figure('lost', 'lost', 'count', 'no', ({ queriesLost }) => queriesLost),
    figure('errors', 'errors', 'count', 'no', ({ errors }) => errors),
    figure('stale', 'stale', 'count', 'no', ({ stale }) => stale),
    ...LATE_SECONDS.map((limit, index) =>
      figure(`over${limit}s`, `over ${limit}\u00a0s`, 'count', 'no', ({ late }) => late[index] ?? 0),
    ),
    figure('gap', 'longest gap', 'seconds', 'ratio', ({ longestGapSeconds }) => longestGapSeconds),
    figure('recovered', 'recovered after', 'seconds', 'no', ({ recoveredSeconds }) => recoveredSeconds),
    figure('p50', 'p50', 'seconds', 'ratio', ({ p50Seconds }) => p50Seconds),
    figure('p99', 'p99', 'seconds', 'ratio', ({ p99Seconds }) => p99Seconds),
    // Of sockets that are used again and again.
    figure('losing', 'sockets that lost a query', 'count', 'no', ({ sockets }) => sockets?.losing),
    figure(
      'socket-gap',
      'longest gap of a socket',
      'seconds',
      'ratio',
      ({ sockets }) => sockets?.longestGapSeconds,
    ),
    ...lookups(rate, timeout),
    // Of all servers together, except the peak, which is that of one process.
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
          figure('stale-entries', 'entries to a pod that is gone', 'count', 'no', ({ conntrack: read }) =>
            read === undefined || read.used === 0 ? null : read.stale,
          ),
          figure('stale-until', 'used until', 'seconds', 'no', ({ conntrack: read }) => read?.lastSeconds),
        ]
      : []),
  ];
}
