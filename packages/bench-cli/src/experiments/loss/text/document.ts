/** The report of a loss record, without its form. Pure. */
import {
  chart,
  code,
  type Finding,
  facts,
  list,
  type ReportDocument,
  text,
} from '../../../report/document/document.ts';
import { adviceFor, placesText, placeText } from '../../../report/losses.ts';
import { formatCount, formatCpus, formatTime } from '../../../report/numbers.ts';
import type { Losses } from '../../../results/record.ts';
import { counted } from '../../../text.ts';
import type { LossRecord, LossResult } from '../record.ts';
import { lossCurves } from './curves.ts';
import {
  bandsTable,
  beyondTable,
  comparisonsTable,
  lossesTable,
  probeData,
  recoveryTable,
  titledResults,
} from './tables.ts';
import { bandTitle, caseTitle, rateWords, secondsText, shareText } from './words.ts';

/** More would not be read in one sentence. */
const MAX_NAMED = 4;

/** How the run ended, and the rates of the first band, in one sentence. */
export function headlineOf(record: LossRecord): string {
  const { repetitions, status } = record;
  const failed = repetitions.filter((each) => each.status === 'failed').length;
  const ended =
    failed > 0
      ? `${failed} of ${repetitions.length} repetitions failed`
      : counted(repetitions.length, 'repetition');
  const rates = titledResults(record).flatMap(({ title, result: { bands } }) =>
    bands[0]?.rate == null ? [] : [`${title} ${formatCount(bands[0].rate.median)}`],
  );
  const more = rates.length > MAX_NAMED ? ` and ${rates.length - MAX_NAMED} more` : '';
  const what = bandTitle(record.settings.bands[0] ?? 0).toLowerCase();
  const found =
    rates.length === 0
      ? ''
      : `; ${what} up to: ${rates.slice(0, MAX_NAMED).join(', ')}${more} queries per second`;
  return `${status === 'complete' ? '' : 'interrupted; '}${ended}${found}.`;
}

function stateOf({ status, repetitions }: LossRecord): ReportDocument['state'] {
  if (repetitions.some((each) => each.status === 'failed')) return 'failed-trials';
  return status === 'complete' ? 'complete' : 'interrupted';
}

/** What happens beyond the limit, in a sentence or two. */
function beyondText({ beyond, recovery }: LossResult): string {
  const last = beyond.at(-1);
  if (last === undefined || last.multiple <= 1)
    return 'The load generator could not send more than the limit.';
  const less = last.generatorLimited > 0 ? ' (less was sent: the load generator was at its own limit)' : '';
  const answered = `Offered ${last.multiple} × the limit${less}, it answers ${formatCount(last.goodput.median)} a second and loses ${shareText(last.lostRatio.median)}.`;
  return [answered, ...(recovery === null ? [] : [recoveryText(recovery)])].join(' ');
}

function recoveryText({
  seconds,
  lostRatioInFirstSecond: lost,
}: NonNullable<LossResult['recovery']>): string {
  if (seconds === null) return 'It does not recover within two seconds after that.';
  if (seconds.median === 0) return 'In the second after that it loses nothing.';
  const share = lost.median === 0 ? 'hardly any query' : shareText(lost.median);
  return `In the second after that it loses ${share}; it has recovered after ${formatTime(seconds.median)}.`;
}

/** The highest rates of the narrowest and of the widest band, which is the limit. */
function ratesText({ bands }: LossResult): string {
  const [first, last] = [bands[0], bands.at(-1)];
  const parts = [...new Set([first, last])].flatMap((band, index) =>
    band?.rate == null
      ? []
      : [
          `${index === 0 ? bandTitle(band.maxLostRatio) : bandTitle(band.maxLostRatio).toLowerCase()} up to ${rateWords(band.rate, band.generatorLimited)}`,
        ],
  );
  return parts.join(', ');
}

/** "all in the server's socket buffer", where it is one place. */
function whereText({ places }: Losses): string {
  const [only, ...others] = places;
  return only !== undefined && others.length === 0 ? `all ${placeText(only.place)}` : placesText(places);
}

function findingsOf(record: LossRecord): Finding[] {
  return titledResults(record).flatMap(({ title, result }): Finding[] => {
    const [band] = result.bands;
    if (band?.rate == null)
      return [
        { subject: title, badge: { text: 'failed', tone: 'bad' }, sentence: 'No repetition succeeded.' },
      ];
    const rate = `${band.generatorLimited > 0 ? '≥\u00a0' : ''}${formatCount(band.rate.median)}/s`;
    const { losses, queriesSent } = result;
    return [
      {
        subject: title,
        badge: { text: rate, tone: 'even' },
        sentence: `${ratesText(result)}. ${beyondText(result)}`,
      },
      ...(losses === null || losses.lost === 0
        ? []
        : [
            {
              subject: title,
              badge: { text: 'losses', tone: 'even' as const },
              sentence: `Of ${formatCount(queriesSent)} queries at all rates, ${formatCount(losses.lost)} were lost: ${whereText(losses)}.`,
            },
          ]),
    ];
  });
}

/** Answers that say that the server failed, by case. */
function unexpectedOf({ cases, repetitions }: LossRecord) {
  return cases.flatMap((item) => {
    const probes = repetitions.flatMap((each) =>
      each.case === item.key && each.status === 'ok' ? each.probes : [],
    );
    const answers = probes.reduce((sum, { unexpectedAnswers }) => sum + unexpectedAnswers, 0);
    return answers === 0 ? [] : [{ item, answers }];
  });
}

function warningsOf(record: LossRecord): string[] {
  const failed = record.repetitions.flatMap((each) =>
    each.status === 'failed'
      ? [`${each.case}, repetition ${each.round + 1} failed: ${each.failure.message}`]
      : [],
  );
  const results = titledResults(record);
  const limited = results.filter(({ result }) =>
    result.bands.some(({ generatorLimited }) => generatorLimited > 0),
  );
  const unread = new Set(results.flatMap(({ result }) => result.losses?.unread ?? []));
  const advice = new Set(results.flatMap(({ result }) => adviceFor(result.losses?.places ?? []) ?? []));
  return [
    ...record.warnings,
    ...failed,
    ...limited.map(
      ({ title }) =>
        `${title}: the load generator was at its limit in some searches; its highest rates are lower bounds (≥). Use a smaller --tier, or more --threads.`,
    ),
    ...results
      .filter(({ result }) => result.recovery === null && result.repetitions > 0)
      .map(
        ({ title }) =>
          `${title}: the recovery is not known, because the load generator could not send the overload in time. Use a smaller --tier, more --threads or a smaller --overload.`,
      ),
    ...unexpectedOf(record).map(
      ({ item, answers }) =>
        `${caseTitle(record, item)}: ${formatCount(answers)} answers had response codes that the workload does not predict, such as SERVFAIL. They count as lost in the search, and not as answered.`,
    ),
    ...advice,
    ...[...unread].map((what) => `Not all losses could be explained: ${what}.`),
  ];
}

function methodOf({ settings }: LossRecord): string[] {
  const { bands, precision, probeSeconds, timeoutSeconds, repetitions, overload } = settings;
  return [
    `Each rate is offered for ${secondsText(probeSeconds)} in an open loop: queries are sent on schedule, whether or not answers come. A query without an answer after ${secondsText(timeoutSeconds)} is lost. Latency counts from when a query was due, over answered queries.`,
    `One search serves all shares of loss (${bands.map(shareText).join(', ')}): each rate that is tried narrows the bounds of all of them, until all are within ${shareText(precision)}. It assumes that a higher rate does not lose less. The server is started anew for each of the ${counted(repetitions, 'repetition')}, and each has a search of its own; the figures are their medians with 95 % intervals.`,
    `The limit is the highest rate of the widest band. Rates below it and up to ${overload} × it follow, then ${secondsText(probeSeconds)} of overload that falls to half of the limit without a pause. Recovered: from then on no twentieth of a second lost more than 1 %.`,
    'Where queries were lost follows from the counters of the kernel and of the load generator, read before and after each rate (docs/method.md).',
  ];
}

function conditions(record: LossRecord) {
  const { environment: host, serverRecords, loader, cpuLimits, cases } = record;
  return facts([
    ['host', `${host.os}, ${host.kernel}, ${host.architecture}`],
    ['CPU', `${host.cpuModel}, ${counted(host.availableCpus, 'core')} of ${host.cpuCores}`],
    ['CPU limits', cpuLimits],
    ['tiers', [...new Set(cases.map(({ tier }) => formatCpus(tier)))].join(', ')],
    ['workload', [...new Set(cases.map(({ workload }) => workload))].join(', ')],
    ['load generator', `${loader.kind} ${loader.version}`],
    ...serverRecords.map(({ title, version }) => [title, version] as const),
  ]);
}

function baselineTitle({ baseline, serverRecords }: LossRecord): string {
  return serverRecords.find(({ name }) => name === baseline)?.title ?? baseline;
}

const SPREAD =
  'Medians of the repetitions, with the longer side of the 95 % interval. Against the baseline: the interval of the ratio.';
const LIMIT =
  'The limit is the highest rate of the last column above. p99: of answered queries, in an interval of 95 %. CPUs, where they were observed: what the server used.';

export function lossDocument(record: LossRecord): ReportDocument {
  const { startedAt, environment, id, generator, command, cases, settings } = record;
  const date = startedAt.slice(0, 10);
  return {
    kind: 'Loss by load',
    title: `How much load until queries are lost: ${[...new Set(cases.map((item) => caseTitle(record, item)))].join(', ')}`,
    state: stateOf(record),
    headline: headlineOf(record),
    facts: [date, environment.hostname, counted(settings.repetitions, 'repetition'), id],
    findings: findingsOf(record),
    warnings: warningsOf(record),
    series: cases.map((item) => ({ name: item.key, title: caseTitle(record, item) })),
    sections: [
      { title: 'Highest rates, queries per second', blocks: [bandsTable(record), text(SPREAD)] },
      { title: `Against ${baselineTitle(record)}`, blocks: [comparisonsTable(record)] },
      { title: 'Curves', blocks: lossCurves(record).map(chart) },
      { title: 'Below and beyond the limit', blocks: [beyondTable(record), text(LIMIT)] },
      { title: 'After the overload', blocks: [recoveryTable(record)] },
      { title: 'Where queries were lost', blocks: [lossesTable(record)] },
      { title: 'Method', isBrief: false, blocks: [list(methodOf(record))] },
      { title: 'Conditions', isBrief: false, blocks: [conditions(record)] },
      { title: 'Again', isBrief: false, blocks: [text('The same run again:'), code(command)] },
    ],
    data: probeData(record),
    post: { slug: `loss-${id}`, description: headlineOf(record), tags: ['dns', 'overload'], date },
    version: generator.version,
  };
}
