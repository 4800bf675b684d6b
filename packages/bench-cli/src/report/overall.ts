/**
 * What was shown about a server over all points of the matrix, in one or two sentences per figure. Never stronger than
 * the intervals: "at all" means that every single interval excludes zero, and each span is given with the intervals of
 * its ends.
 */
import type { CaseRecord, Delta, RunRecord } from '../results/record.ts';
import { isLowerBound, NOT_COMPARED, shownOf } from '../stats/decisive.ts';
import { type ComparedMetric, DIRECTIONS, METRIC_TITLES } from '../stats/metrics.ts';
import { listed } from '../text.ts';
import { groupCases, inSentence, serverTitle } from './cases.ts';
import { bothInWords } from './delta-texts.ts';
import { SIZE_WORDS, type SizeWords, sizeText } from './size.ts';

interface Words extends SizeWords {
  /** `answered` in "DinoDNS answered more queries per second than CoreDNS". */
  readonly verb: string;
  readonly noun: string;
}

const WORDS: Readonly<Record<ComparedMetric, Words>> = {
  qps: { ...SIZE_WORDS.qps, verb: 'answered', noun: METRIC_TITLES.qps },
  latencySeconds: { ...SIZE_WORDS.latencySeconds, verb: 'had a', noun: 'average latency' },
  cpuSecondsPerQuery: {
    ...SIZE_WORDS.cpuSecondsPerQuery,
    verb: 'spent',
    noun: METRIC_TITLES.cpuSecondsPerQuery,
  },
  memoryBytes: { ...SIZE_WORDS.memoryBytes, verb: 'used', noun: METRIC_TITLES.memoryBytes },
};

interface Point {
  readonly title: string;
  readonly item: CaseRecord;
  readonly delta: Delta & { readonly low: number; readonly high: number };
  /** Of two pairs, whose interval would say nothing; null for any other number. */
  readonly both: string | null;
}

function pointsOf(record: RunRecord, server: string, metric: ComparedMetric): Point[] {
  return groupCases(record).flatMap(({ title, cases }) =>
    cases.flatMap((item) => {
      const shown = item.server === server ? shownOf(item, record, metric) : null;
      // Bounds are told beside the figures, not as spans.
      if (shown === null || shown.verdict === NOT_COMPARED || shown.isAtLeast) return [];
      const { delta } = shown;
      if (delta.low === null || delta.high === null) return [];
      const both = bothInWords(record, item, metric, WORDS[metric]);
      return [{ title, item, delta: { ...delta, low: delta.low, high: delta.high }, both }];
    }),
  );
}

/** `32 % more (95 % interval 25–53 %)`, or a multiple. */
function sizeOf({ delta, both }: Point, words: Words): { size: string; interval: string } {
  const { size, interval } = sizeText(delta, words);
  return { size, interval: both ?? `95 % interval ${interval}` };
}

/** Of the only point: `DinoDNS answered 3.0 × as many queries per second as CoreDNS (95 % interval 2.9–3.1)`. */
function onlySentence(subject: string, baseline: string, point: Point, words: Words): string {
  const { size, interval } = sizeOf(point, words);
  const than = size.includes('×') ? 'as' : 'than';
  return `${subject} ${size} ${words.noun} ${than} ${baseline} (${interval}).`;
}

function numberOf(points: readonly Point[]): string {
  return points.length === 2 ? 'both points' : `all ${points.length} points`;
}

/** `32 % more (…) at tier 1, single`, of several the least and the most. */
function spanOf(points: readonly Point[], words: Words): string {
  const sorted = points.toSorted((a, b) => Math.abs(a.delta.relative) - Math.abs(b.delta.relative));
  const ends = points.length === 1 ? sorted : [sorted[0], sorted.at(-1)];
  const told = ends.flatMap((point) => {
    if (point === undefined) return [];
    const { size, interval } = sizeOf(point, words);
    return `${size} (${interval}) at ${inSentence(point.title)}`;
  });
  return told.length === 1 ? (told[0] ?? '') : `from ${told.join(' to ')}`;
}

function titlesOf(points: readonly Point[]): string {
  return points.map(({ title }) => inSentence(title)).join('; ');
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
  const words = WORDS[metric];
  const name = serverTitle(record, server);
  const baseline = serverTitle(record, record.baseline);
  const above = points.filter(({ delta }) => delta.verdict === higher);
  const below = points.filter(({ delta }) => delta.verdict === lower);
  const open = points.filter(({ delta }) => delta.verdict !== higher && delta.verdict !== lower);
  const subject = `${name} ${words.verb}`;
  const [only] = points;
  if (points.length === 1 && only !== undefined && open.length === 0)
    return onlySentence(subject, baseline, only, words);
  const whole = (adjective: string) =>
    `${subject} ${adjective} ${words.noun} than ${baseline} at ${numberOf(points)} compared`;
  if (above.length === points.length) return `${whole(words.higher)}: ${spanOf(points, words)}.`;
  if (below.length === points.length) return `${whole(words.lower)}: ${spanOf(points, words)}.`;
  if (open.length === points.length) {
    const where = points.length === 1 ? '' : ` at any of ${points.length} points`;
    return `No difference in ${words.noun} was shown between ${name} and ${baseline}${where}.`;
  }
  const sides = [
    ...(above.length > 0 ? [{ adjective: words.higher, side: above }] : []),
    ...(below.length > 0 ? [{ adjective: words.lower, side: below }] : []),
  ].map(
    ({ adjective, side }) =>
      `${adjective} ${words.noun} than ${baseline} at ${side.length} of ${points.length} points, ${spanOf(side, words)}`,
  );
  const rest = open.length === 0 ? '' : `; no difference was shown at ${titlesOf(open)}`;
  return `${subject} ${sides.join(', and ')}${rest}.`;
}

/** The servers that are compared with the baseline, in the order of the run. */
export function comparedServers(record: RunRecord): string[] {
  return [...new Set(record.cases.map(({ server }) => server))].filter(
    (server) => server !== record.baseline,
  );
}

/** Why figures do not describe the servers alone, in sentences: what matters most comes first. */
export function reservations(record: RunRecord): string[] {
  const isBound = (item: CaseRecord) => item.summary !== null && isLowerBound(item);
  const groups = groupCases(record);
  const contended = groups.filter(({ cases }) =>
    cases.some((item) => item.contended && item.summary !== null),
  );
  const limited = groups.filter(({ cases }) => cases.some(isBound));
  const noisy = groups.filter(({ cases }) =>
    cases.some(
      ({ comparison }) =>
        comparison?.qps.belowNoiseFloor === true && comparison.qps.verdict !== 'no difference shown',
    ),
  );
  const where = (some: typeof groups) =>
    some.length === groups.length ? '' : ` at ${some.map(({ title }) => inSentence(title)).join('; ')}`;
  const bounded = limited.flatMap(({ cases }) =>
    cases.filter(isBound).map(({ server }) => serverTitle(record, server)),
  );
  return [
    ...(limited.length > 0
      ? [
          `${listed([...new Set(bounded)])} may answer more queries per second than shown (†)${where(limited)}: something else was the limit.`,
        ]
      : []),
    ...(contended.length > 0
      ? [`The machine had fewer cores than servers and load generators need (‡)${where(contended)}.`]
      : []),
    ...(noisy.length > 0
      ? [`A difference is no larger than that between two equal servers${where(noisy)}.`]
      : []),
  ];
}
