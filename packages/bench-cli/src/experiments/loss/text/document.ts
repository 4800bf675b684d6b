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
import { adviceFor, placesText } from '../../../report/losses.ts';
import { formatCount, formatCpus, formatFixed, formatTime } from '../../../report/numbers.ts';
import { counted, formatDuration } from '../../../text.ts';
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
import { bandTitle, caseTitle, rateText, shareText } from './words.ts';

/** How the run ended, and the first rates, in one sentence. */
export function headlineOf(record: LossRecord): string {
  const { repetitions, status, results } = record;
  const failed = repetitions.filter((each) => each.status === 'failed').length;
  const ended =
    failed > 0
      ? `${failed} of ${repetitions.length} repetitions failed`
      : counted(repetitions.length, 'repetition');
  const [first] = titledResults(record);
  const [band] = results[0]?.bands ?? [];
  const rate =
    first === undefined || band?.rate == null
      ? ''
      : `; ${first.title}: ${formatCount(band.rate.median)} queries per second with ${bandTitle(band.maxLostRatio).toLowerCase()}`;
  return `${status === 'complete' ? '' : 'interrupted; '}${ended}${rate}.`;
}

function stateOf({ status, repetitions }: LossRecord): ReportDocument['state'] {
  if (repetitions.some((each) => each.status === 'failed')) return 'failed-trials';
  return status === 'complete' ? 'complete' : 'interrupted';
}

/** What happens beyond the limit, in words. */
function beyondSentence({ beyond, recovery }: LossResult): string {
  const last = beyond.at(-1);
  const answered =
    last === undefined || last.multiple <= 1
      ? 'the load generator could not send more than the limit'
      : `at ${formatFixed(last.multiple, last.multiple % 1 === 0 ? 0 : 2)} × its limit${last.generatorLimited > 0 ? ' (less was sent: the load generator was at its own)' : ''} it answers ${formatCount(last.goodput.median)} a second, ${formatFixed(last.share.median * 100, 0)} % of the limit`;
  if (recovery === null) return answered;
  const after =
    recovery.seconds === null
      ? 'and does not recover within two seconds afterwards'
      : recovery.lostRatioInFirstSecond.median === 0
        ? 'and loses nothing in the second afterwards'
        : `and loses ${shareText(recovery.lostRatioInFirstSecond.median)} in the second afterwards (recovered after ${formatTime(recovery.seconds.median)})`;
  return `${answered}, ${after}`;
}

function findingsOf(record: LossRecord): Finding[] {
  return titledResults(record).flatMap(({ title, result }): Finding[] => {
    const [band] = result.bands;
    if (band?.rate == null)
      return [
        { subject: title, badge: { text: 'failed', tone: 'bad' }, sentence: 'No repetition succeeded.' },
      ];
    const badge = {
      text: `${rateText(band.rate, band.generatorLimited).split('\u00a0[')[0]}/s`,
      tone: 'even' as const,
    };
    return [
      {
        subject: title,
        badge,
        sentence: `${bandTitle(band.maxLostRatio)} up to ${rateText(band.rate, band.generatorLimited)} queries per second; ${beyondSentence(result)}.`,
      },
      ...(result.losses === null
        ? []
        : [
            {
              subject: title,
              badge: { text: 'losses', tone: 'even' as const },
              sentence: `lost ${formatCount(result.losses.lost)} of ${formatCount(result.queriesSent)}: ${placesText(result.losses.places)}.`,
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
    `Each rate is offered for ${formatDuration(probeSeconds)} in an open loop: queries are sent on schedule, whether or not answers come. A query without an answer after ${formatDuration(timeoutSeconds)} is lost. Latency counts from when a query was due, over answered queries.`,
    `One search serves all shares of loss (${bands.map(shareText).join(', ')}): each rate that is tried narrows the bounds of all of them, until all are within ${shareText(precision)}. It assumes that a higher rate does not lose less. The server is started anew for each of the ${counted(repetitions, 'repetition')}, and each has a search of its own; the figures are their medians with 95 % intervals.`,
    `The limit is the highest rate of the widest band. Rates below it and up to ${overload} × it follow, then ${formatDuration(probeSeconds)} of overload that falls to half of the limit without a pause. Recovered: from then on no twentieth of a second lost more than 1 %.`,
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
      { title: 'Highest rates, queries per second', blocks: [bandsTable(record)] },
      { title: `Against ${baselineTitle(record)}`, blocks: [comparisonsTable(record)] },
      { title: 'Curves', blocks: lossCurves(record).map(chart) },
      { title: 'Below and beyond the limit', blocks: [beyondTable(record)] },
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
