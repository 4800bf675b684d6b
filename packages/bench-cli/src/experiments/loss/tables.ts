/** The tables of a loss run besides its rates. Pure. */
import { interval, plusMinus } from '../../engine/words.ts';
import { type Block, numbers, table, text } from '../../report/document/document.ts';
import { placeText } from '../../report/losses.ts';
import { formatCount, formatFixed, formatPercent, formatTime } from '../../report/numbers.ts';
import { LOSS_PLACES } from '../../results/record.ts';
import { unbroken } from '../../text.ts';
import type { LossResult } from './beyond.ts';
import type { LossRecord } from './evidence.ts';
import { millisecondsText } from './words.ts';

const percent = (ratio: number) => formatPercent(Math.round(ratio * 1e5) / 1e5);

export function beyondBlocks(results: readonly LossResult[]): Block[] {
  const hasCpus = results.some(({ beyond }) => beyond.some(({ cpuCores }) => cpuCores !== null));
  const beyond = table(
    'Below and beyond the limit',
    [
      'Server',
      ...numbers('Load ÷ limit', 'Answered/s', 'Lost', ...(hasCpus ? ['CPUs'] : []), unbroken('p99, ms')),
    ],
    results.flatMap(({ title, beyond }) =>
      beyond.map(({ multiple, goodput, lostRatio, p99Seconds, cpuCores, generatorLimited }) => [
        title,
        `${generatorLimited > 0 ? '≤\u00a0' : ''}${formatFixed(multiple, 2)}`,
        plusMinus(goodput, formatCount),
        unbroken(percent(lostRatio.median)),
        ...(hasCpus ? [cpuCores === null ? '–' : formatFixed(cpuCores.median, 2)] : []),
        millisecondsText(p99Seconds),
      ]),
    ),
  );
  const limit =
    'The limit is the highest rate of the last column above. p99: of answered queries, in an interval of 95 %.';
  const cpus = ' CPUs: those that the server used, where they were observed.';
  return [beyond, text(`${limit}${hasCpus ? cpus : ''}`)];
}

export function recoveryTable(results: readonly LossResult[]): Block {
  return table(
    'After the overload',
    ['Server', ...numbers('Lost in the first second', 'Recovered after', 'Recovered')],
    results.map(({ title, recovery }) =>
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
export function lossesTable(results: readonly LossResult[]): Block {
  return table(
    'Where queries were lost',
    ['Server', 'Where', ...numbers('Queries', 'Of those lost')],
    results.flatMap(({ title, losses }) =>
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
export function probeData({ cases, trials }: LossRecord) {
  const columns = [
    ...['case', 'server', 'tier', 'mode', 'workload', 'round', 'probe', 'rate', 'sent_rate'],
    ...['queries_sent', 'queries_lost', 'lost_ratio', 'unexpected_answers', 'goodput'],
    ...['p50_seconds', 'p99_seconds', 'cpu_cores', 'generator_limited'],
    ...LOSS_PLACES.map((place) => `lost_${place.replace('-', '_')}`),
  ];
  const caseOf = new Map(cases.map((item) => [item.key, item]));
  const rows = trials.flatMap((trial) => {
    if (trial.status === 'failed') return [];
    const item = caseOf.get(trial.case);
    const { tier = null, mode = null, workload = null } = item?.point ?? {};
    return trial.evidence.probes.map((probe, index) => [
      ...[trial.case, item?.subject ?? null, tier, mode, workload, trial.round, index],
      ...[probe.rate, probe.sentRate, probe.queriesSent, probe.queriesLost, probe.lostRatio],
      ...[probe.unexpectedAnswers, probe.goodput, probe.p50Seconds, probe.p99Seconds],
      ...[probe.cpuCores, probe.generatorLimited],
      ...LOSS_PLACES.map((place) => {
        const { losses } = probe;
        if (losses === null) return probe.queriesLost === 0 ? 0 : null;
        return losses.places.find((found) => found.place === place)?.queries ?? 0;
      }),
    ]);
  });
  return { columns, rows };
}
