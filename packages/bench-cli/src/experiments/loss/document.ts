/** What only a loss run can say. Pure. */
import type { DocumentParts } from '../../engine/document.ts';
import { caseTitle } from '../../engine/words.ts';
import { chart, type Finding } from '../../report/document/document.ts';
import { adviceFor, placesText, placeText } from '../../report/losses.ts';
import { formatCount, formatPercent, formatTime } from '../../report/numbers.ts';
import type { Losses } from '../../results/record.ts';
import { capitalized, listed } from '../../text.ts';
import { type LossResult, lossResults } from './beyond.ts';
import { lossCurves } from './curves.ts';
import type { LossRecord } from './evidence.ts';
import { beyondBlocks, lossesTable, probeData, recoveryTable } from './tables.ts';
import { rateWords, secondsText } from './words.ts';

/** More would not be read in one sentence. */
const MAX_NAMED = 4;

/** The rates of the first band, in a clause. */
function resultText({ estimands }: LossRecord, results: readonly LossResult[]): string | undefined {
  const [first] = estimands;
  if (first === undefined) return undefined;
  const rates = results.flatMap(({ title, item }) => {
    const rate = item.summary[first.name];
    return rate == null || item.aa ? [] : [`${title} ${formatCount(rate.median)}`];
  });
  if (rates.length === 0) return undefined;
  const more = rates.length > MAX_NAMED ? ` and ${rates.length - MAX_NAMED} more` : '';
  return `${first.title} up to: ${rates.slice(0, MAX_NAMED).join(', ')}${more} queries per second`;
}

/** The beginning of a post. */
function verdictOf({ estimands }: LossRecord, results: readonly LossResult[]): string {
  const [first] = estimands;
  const parts = results.flatMap(({ title, item }) => {
    const rate = first === undefined || item.aa ? null : item.summary[first.name];
    return first === undefined || rate == null
      ? []
      : [`${title} up to ${rateWords(rate, item.bounds[first.name] ?? 0)}`];
  });
  return first === undefined || parts.length === 0 ? '' : `${capitalized(first.title)}: ${listed(parts)}.`;
}

/** What happens beyond the limit, in a sentence or two. */
function beyondText({ beyond, recovery }: LossResult): string {
  const last = beyond.at(-1);
  if (last === undefined || last.multiple <= 1)
    return 'The load generator could not send more than the limit.';
  const less = last.generatorLimited > 0 ? ' (less was sent: the load generator was at its own limit)' : '';
  const answered = `Offered ${last.multiple} × the limit${less}, it answers ${formatCount(last.goodput.median)} a second and loses ${formatPercent(last.lostRatio.median)}.`;
  return [answered, ...(recovery === null ? [] : [recoveryText(recovery)])].join(' ');
}

function recoveryText(recovery: NonNullable<LossResult['recovery']>): string {
  const { seconds, recovered, n, lostRatioInFirstSecond: lost, lostRatioWithout } = recovery;
  if (seconds?.median === 0 && recovered === n && lost.median === 0)
    return 'In the second after that it loses nothing.';
  const share = lost.median === 0 ? 'hardly any query' : formatPercent(lost.median);
  const after = `In the second after that it loses ${share}`;
  const when = seconds?.median === 0 ? 'at once' : `after ${formatTime(seconds?.median ?? 0)}`;
  return [
    recovered === 0
      ? 'It does not recover within two seconds after that.'
      : recovered < n
        ? `${after}. It recovers in ${recovered} of ${n} trials.`
        : `${after}; it has recovered ${when}.`,
    // Then it is not only the overload that it has to recover from.
    ...(lostRatioWithout > 0
      ? [`At this rate it loses up to ${formatPercent(lostRatioWithout)} without an overload, too.`]
      : []),
  ].join(' ');
}

/** The highest rates of the narrowest and of the widest band, which is the limit. */
function ratesText({ estimands }: LossRecord, { item }: LossResult): string {
  const parts = [...new Set([estimands[0], estimands.at(-1)])].flatMap((band) => {
    const rate = band === undefined ? null : item.summary[band.name];
    return band === undefined || rate == null
      ? []
      : [`${band.title} up to ${rateWords(rate, item.bounds[band.name] ?? 0)}`];
  });
  const sentence = parts.join(', ');
  return capitalized(sentence);
}

/** "all in the server's socket buffer", where it is one place. */
function whereText({ places }: Losses): string {
  const [only, ...others] = places;
  return only !== undefined && others.length === 0 ? `all ${placeText(only.place)}` : placesText(places);
}

function findingsOf(record: LossRecord, results: readonly LossResult[]): Finding[] {
  return results.flatMap((result): Finding[] => {
    const { title: subject, item, losses, queriesSent } = result;
    const first = record.estimands[0]?.name ?? '';
    const rate = item.summary[first];
    if (rate == null)
      return [{ subject, badge: { text: 'failed', tone: 'bad' }, sentence: 'No trial succeeded.' }];
    const sign = (item.bounds[first] ?? 0) > 0 ? '≥\u00a0' : '';
    return [
      {
        subject,
        badge: { text: `${sign}${formatCount(rate.median)}/s`, tone: 'even' },
        sentence: `${ratesText(record, result)}. ${beyondText(result)}`,
      },
      ...(losses === null || losses.lost === 0
        ? []
        : [
            {
              subject,
              badge: { text: 'losses', tone: 'even' as const },
              sentence: `Of ${formatCount(queriesSent)} queries at all rates, ${formatCount(losses.lost)} were lost: ${whereText(losses)}.`,
            },
          ]),
    ];
  });
}

function warningsOf(results: readonly LossResult[]): string[] {
  const advice = new Set(results.flatMap(({ losses }) => adviceFor(losses?.places ?? []) ?? []));
  const unread = new Set(results.flatMap(({ losses }) => losses?.unread ?? []));
  return [
    ...(results.some(({ item }) => Object.values(item.bounds).some((count) => count > 0))
      ? ['The load generator was at its limit in some searches. Use a smaller --tier, or more --threads.']
      : []),
    ...results
      .filter(({ recovery, item }) => recovery === null && item.trials.ok > 0)
      .map(
        ({ title }) =>
          `${title}: the recovery is not known, because the load generator could not send the overload in time. Use a smaller --tier, more --threads or a smaller --overload.`,
      ),
    ...results
      .filter(({ unexpectedAnswers }) => unexpectedAnswers > 0)
      .map(
        ({ title, unexpectedAnswers }) =>
          `${title}: ${formatCount(unexpectedAnswers)} answers had response codes that the workload does not predict, such as SERVFAIL. They count as lost in the search, and not as answered.`,
      ),
    ...advice,
    ...[...unread].map((what) => `Not all losses could be explained: ${what}.`),
  ];
}

function methodOf({ settings }: LossRecord): string[] {
  const { bands, precision, duration, timeout, overload } = settings;
  return [
    `Each rate is offered for ${secondsText(duration)} in an open loop: queries are sent on schedule, whether or not answers come. A query without an answer after ${secondsText(timeout)} is lost. Latency counts from when a query was due, over answered queries.`,
    `One search serves all shares of loss (${bands.map(formatPercent).join(', ')}): each rate that is tried narrows the bounds of all of them, until all are within ${formatPercent(precision)}. It assumes that a higher rate does not lose less. Each trial has a search of its own, with the server started anew, unless it was already running.`,
    `The limit is the highest rate of the widest band. Rates below it and up to ${overload} × it follow, then ${secondsText(duration)} of overload that falls to half of the limit without a pause. Recovered: from then on no twentieth of a second lost more than 1 %.`,
    'Where queries were lost follows from the counters of the kernel and of the load generator, read before and after each rate (docs/method.md).',
  ];
}

export function lossDocument(record: LossRecord): DocumentParts {
  const titleOf = (item: LossRecord['cases'][number]) => caseTitle(record, item);
  const results = lossResults(record, titleOf);
  return {
    kind: 'Loss by load',
    title: `How much load until queries are lost: ${results.map(({ title }) => title).join(', ')}`,
    result: resultText(record, results),
    findings: findingsOf(record, results),
    tables: [{ title: 'Highest rates', estimands: record.estimands.map(({ name }) => name) }],
    warnings: warningsOf(results),
    sections: [
      { title: 'Curves', blocks: lossCurves(record).map(chart) },
      { title: 'Below and beyond the limit', blocks: beyondBlocks(results) },
      { title: 'After the overload', blocks: [recoveryTable(results)] },
      { title: 'Where queries were lost', blocks: [lossesTable(results)] },
    ],
    method: methodOf(record),
    post: { excerpt: verdictOf(record, results) },
    data: probeData(record),
    tags: ['overload'],
  };
}
