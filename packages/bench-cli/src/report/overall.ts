/**
 * What a server was shown to be over all points of the matrix, in a sentence or two per figure. Never stronger than
 * the intervals: "at all" means that every single interval leaves out zero, and each span is told with the intervals
 * of its ends.
 */
import type { CaseRecord, Delta, RunRecord } from '../results/record.ts';
import { type ComparedMetric, DIRECTIONS } from '../stats/metrics.ts';
import { groupCases, serverTitle } from './cases.ts';
import { formatFixed, formatOutwards } from './numbers.ts';

interface Words {
  /** `answered` in "DinoDNS answered 32 % more queries per second than CoreDNS". */
  readonly verb: string;
  readonly more: string;
  readonly less: string;
  /** `queries per second`, after the adjective. */
  readonly noun: string;
}

const WORDS: Readonly<Record<ComparedMetric, Words>> = {
  qps: { verb: 'answered', more: 'more', less: 'fewer', noun: 'queries per second' },
  latencySeconds: { verb: 'had', more: 'a longer', less: 'a shorter', noun: 'average latency' },
  cpuSecondsPerQuery: { verb: 'spent', more: 'more', less: 'less', noun: 'CPU time per query' },
  memoryBytes: { verb: 'used', more: 'more', less: 'less', noun: 'memory' },
};

interface Point {
  readonly title: string;
  readonly item: CaseRecord;
  readonly delta: Delta & { readonly low: number; readonly high: number };
}

function pointsOf(record: RunRecord, server: string, metric: ComparedMetric): Point[] {
  return groupCases(record).flatMap(({ title, cases }) =>
    cases.flatMap((item) => {
      const delta = item.server === server ? item.comparison?.[metric] : undefined;
      if (delta === undefined || delta === null || delta.low === null || delta.high === null) return [];
      return [{ title, item, delta: { ...delta, low: delta.low, high: delta.high } }];
    }),
  );
}

/** `32 % (25–53 %)`, or from half as many again `1.9 × (1.7–2.2)`; sizes only, the direction is in the words. */
function sizeOf({ delta }: Point): string {
  const { relative, low, high } = delta;
  if (relative >= 0.5) {
    const ends = formatOutwards(1 + low, 1 + high, 1);
    return `${formatFixed(1 + relative, ends.digits)} × (95 % interval ${ends.low}–${ends.high})`;
  }
  const [near, far] = relative >= 0 ? [low, high] : [-high, -low];
  const ends = formatOutwards(near * 100, far * 100, 0);
  return `${formatFixed(Math.abs(relative) * 100, ends.digits)} % (95 % interval ${ends.low}–${ends.high} %)`;
}

function inSentence(title: string): string {
  return title.charAt(0).toLowerCase() + title.slice(1);
}

function counted(count: number, word: string): string {
  return count === 1 ? `one ${word}` : `${count} ${word}s`;
}

function atAll(points: readonly Point[], start: string): string {
  const [only] = points;
  const sorted = points.toSorted((a, b) => Math.abs(a.delta.relative) - Math.abs(b.delta.relative));
  const [least, most] = [sorted[0], sorted.at(-1)];
  if (only === undefined || least === undefined || most === undefined) return '';
  if (points.length === 1) return `${start} at ${inSentence(only.title)}: ${sizeOf(only)}.`;
  const span = `${sizeOf(least)} at ${inSentence(least.title)} to ${sizeOf(most)} at ${inSentence(most.title)}`;
  return `${start} at all ${points.length} points measured: from ${span}.`;
}

/**
 * The sentence for `server` and `metric`; null where there is nothing to say because nothing was compared with an
 * interval. Ends with a full stop.
 */
export function overallSentence(record: RunRecord, server: string, metric: ComparedMetric): string | null {
  const points = pointsOf(record, server, metric);
  if (points.length === 0) return null;
  const { better, worse, goal } = DIRECTIONS[metric];
  const [higher, lower] = goal === 'higher' ? [better, worse] : [worse, better];
  const { verb, more, less, noun } = WORDS[metric];
  const name = serverTitle(record, server);
  const baseline = serverTitle(record, record.baseline);
  const above = points.filter(({ delta }) => delta.verdict === higher);
  const below = points.filter(({ delta }) => delta.verdict === lower);
  const start = (adjective: string) => `${name} ${verb} ${adjective} ${noun} than ${baseline}`;
  if (above.length === points.length) return atAll(points, start(more));
  if (below.length === points.length) return atAll(points, start(less));
  if (above.length + below.length === 0) {
    const where =
      points.length === 1 ? `at ${inSentence(points[0]?.title ?? '')}` : `at any of ${points.length} points`;
    return `No difference in ${noun} was shown between ${name} and ${baseline} ${where}.`;
  }
  const parts = [
    ...(above.length > 0
      ? [
          `${more} at ${counted(above.length, 'point')} (${above.map(({ title }) => inSentence(title)).join('; ')})`,
        ]
      : []),
    ...(below.length > 0
      ? [
          `${less} at ${counted(below.length, 'point')} (${below.map(({ title }) => inSentence(title)).join('; ')})`,
        ]
      : []),
  ];
  const open = points.length - above.length - below.length;
  const rest = open === 0 ? '' : `; at ${counted(open, 'other point')} no difference was shown`;
  return `Against ${baseline}, ${name} ${verb} ${parts.join(', and ')} ${noun}${rest}.`;
}

/** The servers that are compared with the baseline, in the order of the run. */
export function comparedServers(record: RunRecord): string[] {
  return [...new Set(record.cases.map(({ server }) => server))].filter(
    (server) => server !== record.baseline,
  );
}

/** Points at which the figures are not the servers' own, as a sentence; null if there is none. */
export function reservation(record: RunRecord): string | null {
  const groups = groupCases(record);
  const contended = groups.filter(({ cases }) =>
    cases.some((item) => item.contended && item.summary !== null),
  );
  const limited = groups.filter(({ cases }) =>
    cases.some((item) => item.limitedBy !== 'server' && item.summary !== null),
  );
  const where = (some: typeof groups) =>
    some.length === groups.length
      ? 'throughout'
      : `at ${some.map(({ title }) => inSentence(title)).join('; ')}`;
  const parts = [
    ...(limited.length > 0
      ? [`something else than the server limited a throughput ${where(limited)} (†)`]
      : []),
    ...(contended.length > 0
      ? [`the machine had fewer cores than servers and load generators need ${where(contended)} (‡)`]
      : []),
  ];
  return parts.length === 0 ? null : `With a reservation: ${parts.join(', and ')}.`;
}
