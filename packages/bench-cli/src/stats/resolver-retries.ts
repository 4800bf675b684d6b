/**
 * What applications see of lost queries and errors: their resolver asks again. Computed, with one name server, as the Service of a
 * cluster's DNS is one. Pure.
 */

/** Both attempts of a resolver, and its patience. */
interface Resolver {
  readonly title: string;
  /** Until it asks again without an answer. */
  readonly againAfterSeconds: number;
  /** Whether an error lets it ask again at once, also an ICMP error, from a new socket; if not, it goes on waiting. */
  readonly againOnError: boolean;
  /** Whether it asks again from the same socket after its time-out: behind a Service that leads to the same pod. */
  readonly keepsSocket: boolean;
  /** An answer to its last attempt that comes after this time is no use. */
  readonly patienceSeconds: number;
}

/** Answers to a first attempt that take longer come too late for all of them. */
const FIRST_ANSWER_SECONDS = 5;

export const RESOLVERS = {
  /** resolv.conf(5): `timeout:5`, `attempts:2`; `res_send.c`: after an error it closes its socket, and the next attempt comes at once. */
  glibc: { title: 'glibc', againAfterSeconds: 5, againOnError: true, keepsSocket: true, patienceSeconds: 5 },
  /**
   * `src/network/res_msend.c`: 5 s in all and two attempts, so that it asks again after half of that. It ignores errors, after
   * up to two more queries at once for SERVFAIL, which are not counted here.
   */
  musl: {
    title: 'musl',
    againAfterSeconds: 2.5,
    againOnError: false,
    keepsSocket: true,
    patienceSeconds: 2.5,
  },
  /** `net/dnsconfig_unix.go`: 5 s for each of two attempts; `dnsclient_unix.go`: after an error the next one at once; each dials. */
  go: { title: 'Go', againAfterSeconds: 5, againOnError: true, keepsSocket: false, patienceSeconds: 5 },
} as const satisfies Record<string, Resolver>;
export type ResolverName = keyof typeof RESOLVERS;
export const RESOLVER_NAMES = Object.keys(RESOLVERS) as readonly ResolverName[];

export interface LossTimeline {
  /** Queries lost, by the time at which they were sent. */
  readonly lost: readonly number[];
  /** ICMP errors to these, which come at once; default: none. */
  readonly refused?: readonly number[];
  /** Queries answered with an error, by the time of the answer. */
  readonly errors: readonly number[];
  /** Of each entry. */
  readonly seconds: number;
  /** Queries sent in each. */
  readonly sent: number;
}

/** Of the whole load: what tells whether the timeline says which attempts of a resolver fail. */
export interface AnswerTimes {
  readonly lost: number;
  /** ICMP errors to queries, which are lost as well. Default: none. */
  readonly refused?: number;
  readonly errors: number;
  /** How long a query was waited for before it was lost. */
  readonly timeoutSeconds: number;
  /** Answers that took longer than 1, 2 and 5 seconds. */
  readonly late: readonly number[];
  /** Whether all was as before when the load ended: only then would attempts after it have succeeded. */
  readonly isRecovered: boolean;
}

/** From this share of the lost queries on, ICMP errors account for all. */
const ALL_REFUSED = 0.95;

/**
 * False if some attempts fail, and answers may have been too late for it or in time for it, as the timeline has not their times, or
 * later attempts might have failed as well.
 */
export function canTellFailed(
  {
    lost,
    refused = 0,
    errors,
    timeoutSeconds,
    late: [over1 = 0, over2 = 0, over5 = 0],
    isRecovered,
  }: AnswerTimes,
  resolver: ResolverName,
): boolean {
  if (over5 > 0) return false;
  if (lost + errors === 0) return true;
  if (!isRecovered) return false;
  // Of some that were lost, it is not known whether an ICMP error told so at once: several are heard of as one.
  if (RESOLVERS[resolver].againOnError && refused > 0 && refused < ALL_REFUSED * lost) return false;
  if (lost > 0 && timeoutSeconds < FIRST_ANSWER_SECONDS) return false;
  // Errors are known by the time at which they came, which must be about that at which they were asked for.
  if (errors > 0 && over1 > 0) return false;
  return RESOLVERS[resolver].patienceSeconds >= FIRST_ANSWER_SECONDS || over2 === 0;
}

/** Lookups of which it is not known whether they fail, as a share of those that may: the timeline counts no closer. */
const MAX_DOUBT = 0.05;

/**
 * How many of the lookups fail, if each query of the load began one: both attempts are lost, or answered with an error. Each fails
 * with the share of those of its time; after the load, none does. A repeat at once meets what its first attempt met: at the edge of an
 * outage, the share of the fuller tenth of a second beside it. With `rotate` or several search domains there are more queries.
 *
 * Attempts from different sockets are taken as independent. From the same one they may not be: null where the answer depends on that,
 * since a part of the queries, neither none nor all, failed at both times.
 */
export function failedLookups(
  { lost, refused = [], errors, seconds, sent }: LossTimeline,
  resolver: ResolverName,
): number | null {
  if (sent === 0) return 0;
  const { againAfterSeconds, againOnError, keepsSocket } = RESOLVERS[resolver];
  const later = Math.round(againAfterSeconds / seconds);
  const lostAt = (index: number) => Math.min(1, (lost[index] ?? 0) / sent);
  const errorAt = (index: number) => Math.min(1 - lostAt(index), (errors[index] ?? 0) / sent);
  const failsAt = (index: number) => lostAt(index) + errorAt(index);
  // Known at once, as an error is.
  const toldAt = (index: number) => errorAt(index) + Math.min(lostAt(index), (refused[index] ?? 0) / sent);
  const besideAt = (index: number) => Math.max(...[index - 1, index, index + 1].map(failsAt));
  let [failed, least, most] = [0, 0, 0];
  for (let index = 0; index < Math.max(lost.length, errors.length); index += 1) {
    const told = againOnError ? toldAt(index) : 0;
    const waits = failsAt(index) - told;
    const again = failsAt(index + later);
    const atOnce = told * besideAt(index);
    failed += waits * again + atOnce;
    least += Math.max(0, waits + again - 1) + atOnce;
    most += Math.min(waits, again) + atOnce;
  }
  // A tenth of a second may be the edge of two outages.
  if (keepsSocket && most - least > Math.max(1, MAX_DOUBT * most)) return null;
  return failed * sent;
}
