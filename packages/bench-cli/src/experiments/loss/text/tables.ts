/** The tables of a loss run. Pure. */
import { type Block, table } from '../../../report/document/document.ts';
import { placeText } from '../../../report/losses.ts';
import { formatCount, formatFixed, formatTime } from '../../../report/numbers.ts';
import { LOSS_PLACES } from '../../../results/record.ts';
import type { LossRecord, LossResult } from '../record.ts';
import {
  bandTitle,
  caseTitle,
  deltaText,
  interval,
  millisecondsText,
  plusMinus,
  rateText,
  shareText,
  unbroken,
} from './words.ts';

const number = (title: string) => ({ title, isNumber: true });

/** Results with the titles of their cases, in the order of the cases. */
export function titledResults(record: LossRecord): { title: string; result: LossResult }[] {
  return record.cases.flatMap((item) => {
    const result = record.results.find((each) => each.case === item.key);
    return result === undefined ? [] : [{ title: caseTitle(record, item), result }];
  });
}

/** `No loss`, `≤ 0.1 % lost` */
function bandColumn(maxLostRatio: number): string {
  return maxLostRatio === 0 ? bandTitle(0) : `${unbroken(`≤ ${shareText(maxLostRatio)}`)} lost`;
}

export function bandsTable(record: LossRecord): Block {
  return table(
    'Highest rates by share of lost queries',
    [{ title: 'Server' }, ...record.settings.bands.map((band) => number(bandColumn(band)))],
    titledResults(record).map(({ title, result }) => [
      title,
      ...result.bands.map(({ rate, generatorLimited }) => rateText(rate, generatorLimited)),
    ]),
  );
}

/** Against the baseline, if there is anything to compare. */
export function comparisonsTable(record: LossRecord): Block {
  const rows = titledResults(record).flatMap(({ title, result }) =>
    result.bands.every(({ comparison }) => comparison === null)
      ? []
      : [
          [
            title,
            ...result.bands.map(({ comparison, generatorLimited }) =>
              comparison === null ? '–' : `${generatorLimited > 0 ? '≥\u00a0' : ''}${deltaText(comparison)}`,
            ),
          ],
        ],
  );
  return table(
    'Highest rates against the baseline',
    [{ title: 'Server' }, ...record.settings.bands.map((band) => ({ title: bandTitle(band) }))],
    rows,
  );
}

const percent = (ratio: number) => shareText(Math.round(ratio * 1e5) / 1e5);

export function beyondTable(record: LossRecord): Block {
  const results = titledResults(record);
  // Not in older records, nor where it could not be observed.
  const hasCpus = results.some(({ result }) => result.beyond.some(({ cpuCores }) => cpuCores != null));
  return table(
    'Below and beyond the limit',
    [
      { title: 'Server' },
      number('Load ÷ limit'),
      number('Answered/s'),
      number('Lost'),
      ...(hasCpus ? [number('CPUs')] : []),
      number(unbroken('p99, ms')),
    ],
    results.flatMap(({ title, result }) =>
      result.beyond.map(({ multiple, goodput, lostRatio, p99Seconds, cpuCores, generatorLimited }) => [
        title,
        `${generatorLimited > 0 ? '≤\u00a0' : ''}${formatFixed(multiple, 2)}`,
        plusMinus(goodput, formatCount),
        unbroken(percent(lostRatio.median)),
        ...(hasCpus ? [cpuCores == null ? '–' : formatFixed(cpuCores.median, 2)] : []),
        millisecondsText(p99Seconds),
      ]),
    ),
  );
}

export function recoveryTable(record: LossRecord): Block {
  return table(
    'After the overload',
    [{ title: 'Server' }, number('Lost in the first second'), number('Recovered after'), number('Recovered')],
    titledResults(record).map(({ title, result: { recovery } }) =>
      recovery === null
        ? [title, '–', '–', '–']
        : [
            title,
            interval(recovery.lostRatioInFirstSecond, percent),
            recovery.seconds === null ? 'not at all' : interval(recovery.seconds, formatTime),
            unbroken(`${recovery.recovered} of ${recovery.n}`),
          ],
    ),
  );
}

/** A row for each server and place that lost anything. */
export function lossesTable(record: LossRecord): Block {
  return table(
    'Where queries were lost',
    [{ title: 'Server' }, { title: 'Where' }, number('Queries'), number('Of those lost')],
    titledResults(record).flatMap(({ title, result: { losses } }) =>
      (losses?.places ?? []).map(({ place, queries }) => [
        title,
        placeText(place),
        formatCount(queries),
        percent(queries / Math.max(1, losses?.lost ?? 1)),
      ]),
    ),
  );
}

/** For spreadsheets: a line for each rate that was tried. */
export function probeData(record: LossRecord) {
  const columns = [
    ...['case', 'server', 'tier', 'mode', 'workload', 'round', 'probe', 'rate', 'sent_rate'],
    ...[
      'queries_sent',
      'queries_lost',
      'lost_ratio',
      'unexpected_answers',
      'goodput',
      'p50_seconds',
      'p99_seconds',
      'cpu_cores',
    ],
    'generator_limited',
    ...LOSS_PLACES.map((place) => `lost_${place.replace('-', '_')}`),
  ];
  const cases = new Map(record.cases.map((item) => [item.key, item]));
  const rows = record.repetitions.flatMap((each) => {
    if (each.status === 'failed') return [];
    const item = cases.get(each.case);
    return each.probes.map((probe, index) => [
      ...[each.case, item?.server ?? null, item?.tier ?? null, item?.mode ?? null, item?.workload ?? null],
      ...[
        each.round,
        index,
        probe.rate,
        probe.sentRate,
        probe.queriesSent,
        probe.queriesLost,
        probe.lostRatio,
        probe.unexpectedAnswers,
      ],
      ...[probe.goodput, probe.p50Seconds, probe.p99Seconds, probe.cpuCores, probe.generatorLimited],
      ...LOSS_PLACES.map((place) => {
        const { losses } = probe;
        if (losses === null) return probe.queriesLost === 0 ? 0 : null;
        return losses.places.find((found) => found.place === place)?.queries ?? 0;
      }),
    ]);
  });
  return { columns, rows };
}
