/** Tables of lookup reports. */
import { type Block, type Cell, table } from '../../../report/document/document.ts';
import { formatCount, formatP, formatShort, formatTime } from '../../../report/numbers.ts';
import { percentileOf } from '../distribution.ts';
import type { LookupComparison, LookupRecord, LookupResult } from '../record.ts';
import { exitText } from '../sampling/exit-codes.ts';
import { PHASES } from '../sampling/sample.ts';
import {
  PHASE_TITLES,
  perThousand,
  perThousandRange,
  predictionText,
  signedTime,
  timeRange,
} from './words.ts';

const SHOWN = [50, 90, 99] as const;
const NONE = '–';

/** Lookup and connect of every subject, side by side. */
export function timesTable({ results }: LookupRecord): Block {
  const cells = ({ subject, phases }: LookupResult) => [
    subject,
    ...(['lookup', 'connect'] as const).flatMap((phase) =>
      SHOWN.map((percentile) =>
        phases === null ? NONE : formatTime(percentileOf(phases[phase], percentile)),
      ),
    ),
  ];
  const columns = (['lookup', 'connect'] as const).flatMap((phase) =>
    SHOWN.map((percentile) => ({ title: `${PHASE_TITLES[phase]} p${percentile}`, isNumber: true })),
  );
  return table('Lookup and connect times', [{ title: 'measured' }, ...columns], results.map(cells));
}

/** First samples of pods that had asked nothing before. */
export function firstTable({ results }: LookupRecord): Block {
  const rows = results.flatMap(({ subject, first }) =>
    first === null
      ? []
      : [
          [
            subject,
            formatCount(first.lookup.n),
            ...[first.lookup, first.connect].flatMap((phase) =>
              [percentileOf(phase, 50), phase.max].map(formatTime),
            ),
          ],
        ],
  );
  const columns = ['pods', ...['lookup', 'connect'].flatMap((phase) => [`${phase} p50`, `${phase} max`])];
  return table(
    'First sample of each pod',
    [{ title: 'measured' }, ...columns.map((title) => ({ title, isNumber: true }))],
    rows,
  );
}

/** All phases with their extremes. */
export function phasesTable({ results }: LookupRecord): Block {
  const rows = results.flatMap(({ subject, phases }) =>
    phases === null
      ? []
      : PHASES.map((phase) => {
          const { min, mean, max } = phases[phase];
          const shown = [50, 75, 90, 99, 99.9].map((percentile) => percentileOf(phases[phase], percentile));
          return [subject, PHASE_TITLES[phase], ...[min, mean, ...shown, max].map(formatTime)];
        }),
  );
  const figures = ['min', 'mean', 'p50', 'p75', 'p90', 'p99', 'p99.9', 'max'];
  return table(
    'Every phase of the samples',
    [{ title: 'measured' }, { title: 'phase' }, ...figures.map((title) => ({ title, isNumber: true }))],
    rows,
  );
}

function failuresText({ samples: { failed } }: LookupResult): string {
  return failed.map(({ exitCode, count }) => `${count} × ${exitText(exitCode)}`).join(', ') || NONE;
}

/** Samples, failures, pace, queries and families. */
export function samplesTable({ results }: LookupRecord): Block {
  const rows = results.map((result) => [
    result.subject,
    formatCount(result.samples.taken),
    formatCount(result.samplesPerMinute),
    failuresText(result),
    result.queriesPerLookup === null ? NONE : formatShort(result.queriesPerLookup),
    `${formatCount(result.families.ipv4)} / ${formatCount(result.families.ipv6)}`,
    `${result.failedTrials} of ${result.trials + result.failedTrials}`,
  ]);
  const titles = ['samples', 'a minute', 'failed', 'queries a lookup', 'IPv4 / IPv6', 'failed trials'];
  return table(
    'Samples',
    [{ title: 'measured' }, ...titles.map((title) => ({ title, isNumber: true }))],
    rows,
  );
}

function kernelCell(agrees: boolean | null): Cell | string {
  if (agrees === null) return NONE;
  return agrees ? { text: 'agrees', tone: 'good' } : { text: 'differs', tone: 'warn' };
}

/** Repeated SYN and SYN-ACK packets, by our rule and by tiger-bench's, and the kernel's word. */
export function duplicatesTable({ results }: LookupRecord): Block {
  const rows = results.flatMap(({ subject, duplicates }) => {
    if (duplicates === null) return [];
    const { share, tigerRule } = duplicates;
    return [
      [
        subject,
        formatCount(duplicates.connections),
        formatCount(duplicates.duplicateSyn),
        formatCount(duplicates.duplicateSynAck),
        `${tigerRule.duplicateSyn} / ${tigerRule.duplicateSynAck}`,
        share === null ? NONE : `${perThousand(share.value)} (${perThousandRange(share.low, share.high)})`,
        kernelCell(duplicates.kernelAgrees),
      ],
    ];
  });
  const numbers = ['connections', 'SYN', 'SYN-ACK', "tiger-bench's rule", 'per 1,000 (95 % interval)'];
  return table(
    'Repeated SYN and SYN-ACK packets',
    [{ title: 'measured' }, ...numbers.map((title) => ({ title, isNumber: true })), { title: 'kernel' }],
    rows,
  );
}

/** What a simulation made, and what was measured of it. */
export function agreementTable({ results, subjects }: LookupRecord): Block {
  const rows = results.flatMap(({ subject, agreement, duplicates }) => {
    const own = subjects.find(({ key }) => key === subject);
    if (agreement === null || own === undefined) return [];
    const { timesAgree, duplicatesAgree, lookupSeconds, connectSeconds } = agreement;
    const agrees = timesAgree && duplicatesAgree !== false;
    return [
      [
        subject,
        predictionText(own),
        signedTime(lookupSeconds),
        signedTime(connectSeconds),
        duplicates === null ? NONE : `${duplicates.duplicateSyn} / ${duplicates.connections}`,
        agrees ? ({ text: 'yes', tone: 'good' } as const) : ({ text: 'no', tone: 'warn' } as const),
      ],
    ];
  });
  const number = (title: string) => ({ title, isNumber: true });
  return table(
    'Programmed and measured',
    [
      { title: 'measured' },
      { title: 'added to each sample' },
      ...['lookup', 'connect', 'repeated SYN / connections'].map(number),
      { title: 'as programmed' },
    ],
    rows,
  );
}

function differenceText({ metric, difference }: LookupComparison): string {
  if (difference === null) return NONE;
  const { estimate, low, high } = difference;
  if (metric === 'duplicates') return `${perThousand(estimate)} per 1,000`;
  return low === null || high === null
    ? signedTime(estimate)
    : `${signedTime(estimate)} (${timeRange(low, high)})`;
}

export function comparisonsTable({ comparisons, baseline }: LookupRecord): Block {
  const rows = comparisons.map((comparison) => [
    comparison.subject,
    comparison.metric,
    differenceText(comparison),
    comparison.adjustedPValue === null ? NONE : formatP(comparison.adjustedPValue),
    { text: comparison.verdict, tone: 'even' } as const,
  ]);
  return table(
    `Differences from ${baseline}`,
    [
      { title: 'measured' },
      { title: 'of' },
      { title: `difference from ${baseline} (95 % interval)`, isNumber: true },
      { title: 'p', isNumber: true },
      { title: 'verdict' },
    ],
    rows,
  );
}
