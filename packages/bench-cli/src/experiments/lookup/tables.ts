/** Tables of lookup reports, and their chart. Pure. */
import { type Block, type Cell, type LineChart, numbers, table } from '../../report/document/document.ts';
import { formatCount, formatFixed, formatShort, formatTime } from '../../report/numbers.ts';
import { median } from '../../stats/intervals.ts';
import { counted, unbroken } from '../../text.ts';
import { percentileOf, tellingPercentile } from './distribution.ts';
import type { Distribution } from './evidence.ts';
import type { Overall } from './overall.ts';
import type { Prediction } from './policy/modes.ts';
import { exitText, PHASES, type Phase } from './sampling/sample.ts';

const PHASE_TITLES: Readonly<Record<Phase, string>> = {
  lookup: 'lookup',
  connect: 'connect',
  firstByte: 'first byte',
  total: 'total',
};
const NONE = '–';
const MEASURED = 'Measured';

/** First samples of pods that had asked nothing before. */
export function firstTable(overalls: readonly Overall[]): Block {
  const rows = overalls.flatMap(({ title, first }) =>
    first === null
      ? []
      : [
          [
            title,
            formatCount(first.lookup.n),
            ...[first.lookup, first.connect].flatMap((phase) =>
              [percentileOf(phase, 50), phase.max].map((value) => formatTime(value)),
            ),
          ],
        ],
  );
  const columns = ['Pods', ...['Lookup', 'Connect'].flatMap((phase) => [`${phase} p50`, `${phase} max`])];
  return table('First sample of each pod', [MEASURED, ...numbers(...columns)], rows);
}

/** The median of those of the trials that tell it; null if none does. */
function percentileOver({ evidence }: Overall, phase: Phase, percentile: number): number | null {
  const values = evidence.flatMap(({ phases }) => tellingPercentile(phases[phase], percentile) ?? []);
  return values.length === 0 ? null : median(values);
}

/** All phases with their extremes. */
export function phasesTable(overalls: readonly Overall[]): Block {
  const rows = overalls.flatMap((overall) => {
    const { title, phases } = overall;
    if (phases === null) return [];
    return PHASES.map((phase) => {
      const { min, mean, max } = phases[phase];
      const shown = [50, 75, 90, 99].map((percentile) => percentileOver(overall, phase, percentile));
      const times = [min, mean, ...shown, max].map((value) => (value === null ? NONE : formatTime(value)));
      return [title, PHASE_TITLES[phase], ...times];
    });
  });
  const figures = ['Min', 'Mean', 'p50', 'p75', 'p90', 'p99', 'Max'];
  return table('Every phase of the samples', [MEASURED, 'Phase', ...numbers(...figures)], rows);
}

function failuresText({ samples: { failed } }: Overall): string {
  return failed.map(({ exitCode, count }) => `${count} × ${exitText(exitCode)}`).join(', ') || NONE;
}

/** Samples, failures, pace, queries and families. */
export function samplesTable(overalls: readonly Overall[]): Block {
  const rows = overalls.map((overall) => [
    overall.title,
    formatCount(overall.samples.taken),
    formatCount(overall.samplesPerMinute),
    failuresText(overall),
    overall.queriesPerLookup === null ? NONE : formatShort(overall.queriesPerLookup),
    `${formatCount(overall.families.ipv4)} / ${formatCount(overall.families.ipv6)}`,
    `${overall.trials.failed} of ${overall.trials.ok + overall.trials.failed}`,
  ]);
  const titles = ['Samples', 'Per minute', 'Failed', 'Queries per lookup', 'IPv4 / IPv6', 'Failed trials'];
  return table('Samples', [MEASURED, ...numbers(...titles)], rows);
}

function kernelCell(agrees: boolean | null): Cell | string {
  if (agrees === null) return NONE;
  return agrees ? { text: 'agrees', tone: 'good' } : { text: 'differs', tone: 'warn' };
}

/** Connections with repeated SYNs for each thousand: `0`, `1.25`, `1,000`. */
function perThousand(share: number): string {
  const value = share * 1000;
  return Number.isInteger(value) ? formatFixed(value, 0) : formatShort(value);
}

/** The ends of an interval per thousand, rounded outwards to two decimals. */
function perThousandRange(low: number, high: number): string {
  const text = (value: number) => formatFixed(value, value >= 100 ? 0 : 2);
  return `${text(Math.floor(low * 1e5) / 100)} … ${text(Math.ceil(high * 1e5) / 100)}`;
}

/** Repeated SYN and SYN-ACK packets, by our rule and by tiger-bench's, and the kernel's word. */
export function repeatedTable(overalls: readonly Overall[]): Block {
  const rows = overalls.flatMap(({ title, repeated }) => {
    if (repeated === null) return [];
    const { share, tigerRule } = repeated;
    return [
      [
        title,
        formatCount(repeated.connections),
        formatCount(repeated.duplicateSyn),
        formatCount(repeated.duplicateSynAck),
        `${tigerRule.duplicateSyn} / ${tigerRule.duplicateSynAck}`,
        share === null ? NONE : `${perThousand(share.value)} (${perThousandRange(share.low, share.high)})`,
        kernelCell(repeated.kernelAgrees),
      ],
    ];
  });
  const counts = ['Connections', 'SYN', 'SYN-ACK', "tiger-bench's rule", 'Per 1,000 (95 % interval)'];
  return table('Repeated SYN and SYN-ACK packets', [MEASURED, ...numbers(...counts), 'Kernel'], rows);
}

/** `+1.20 ms`, `-85.1 µs`, `0 s`, also for what is left where floating point should give zero: below a nanosecond. */
function signedTime(difference: number): string {
  const seconds = Math.abs(difference) < 1e-9 ? 0 : difference;
  const sign = seconds < 0 ? '-' : seconds > 0 ? '+' : '';
  return `${sign}${formatTime(Math.abs(seconds))}`;
}

/** `connect +1.00 s, 1 repeated SYN`; `nothing`. */
function predictionText({ lookupSeconds, connectSeconds, duplicateSyn }: Prediction): string {
  const parts = [
    ...(lookupSeconds === 0 ? [] : [`lookup +${formatTime(lookupSeconds)}`]),
    ...(connectSeconds === 0 ? [] : [`connect +${formatTime(connectSeconds)}`]),
    ...(duplicateSyn === 0 ? [] : [counted(duplicateSyn, 'repeated SYN')]),
  ];
  return parts.join(', ') || 'nothing';
}

/** Tolerances of the ground truth: 2 ms, or 5 % of the prediction if that is more. */
const TOLERANCE_SECONDS = 0.002;
const TOLERANCE_RATIO = 0.05;

function within(measured: number, predicted: number): boolean {
  return Math.abs(measured - predicted) <= Math.max(TOLERANCE_SECONDS, predicted * TOLERANCE_RATIO);
}

const predictionOf = ({ evidence: [first] }: Overall) => first?.prediction ?? null;

/** How the measured times compare with the prediction of a simulation; null where there is none. */
export function agreementOf(overall: Overall, all: readonly Overall[]) {
  const { phases, repeated, subject } = overall;
  const prediction = predictionOf(overall);
  if (prediction === null || phases === null) return null;
  const untouched = all.find((other) => {
    const { lookupSeconds = 1, connectSeconds = 1 } = predictionOf(other) ?? {};
    const { resolver, client } = other.subject;
    const isSame = resolver === subject.resolver && client === subject.client;
    return isSame && lookupSeconds === 0 && connectSeconds === 0;
  });
  const added = (phase: 'lookup' | 'connect') => {
    const base = untouched?.phases?.[phase];
    return percentileOf(phases[phase], 50) - (base === undefined ? 0 : percentileOf(base, 50));
  };
  const [lookupSeconds, connectSeconds] = [added('lookup'), added('connect')];
  return {
    prediction,
    // Differences of the medians from the subject of the same resolver and client without added time, or from zero.
    ...{ lookupSeconds, connectSeconds },
    timesAgree:
      within(lookupSeconds, prediction.lookupSeconds) && within(connectSeconds, prediction.connectSeconds),
    /** Exactly as many repeated SYNs as the simulation must have made; null without a capture. */
    repeatedAgree:
      repeated === null ? null : repeated.duplicateSyn === repeated.connections * prediction.duplicateSyn,
  };
}

/** What a simulation made, and what was measured of it. */
export function agreementTable(overalls: readonly Overall[]): Block {
  const rows = overalls.flatMap((overall) => {
    const agreement = agreementOf(overall, overalls);
    if (agreement === null) return [];
    const { prediction, timesAgree, repeatedAgree, lookupSeconds, connectSeconds } = agreement;
    const { repeated } = overall;
    const agrees = timesAgree && repeatedAgree !== false;
    return [
      [
        overall.title,
        predictionText(prediction),
        signedTime(lookupSeconds),
        signedTime(connectSeconds),
        repeated === null ? NONE : `${repeated.duplicateSyn} / ${repeated.connections}`,
        agrees ? ({ text: 'yes', tone: 'good' } as const) : ({ text: 'no', tone: 'warn' } as const),
      ],
    ];
  });
  return table(
    'Programmed and measured',
    [
      MEASURED,
      'Added to each sample',
      ...numbers('Lookup', 'Connect', 'Repeated SYN / connections'),
      'As programmed',
    ],
    rows,
  );
}

/** Queries for each name, of the first trial of each subject that has them. */
export function askedTable(overalls: readonly Overall[]): Block {
  const rows = overalls.flatMap(({ title, evidence }) => {
    const seen = evidence.find(({ packets }) => packets?.searches != null);
    return (seen?.packets?.searches?.questions ?? []).map(({ name, type, queries }) => [
      ...[title, name, type, formatCount(queries), formatCount(seen?.samples.taken ?? 0)],
    ]);
  });
  const columns = [MEASURED, 'Name', 'Type', ...numbers('Queries', 'Samples')];
  return table('What was asked', columns, rows);
}

/**
 * Share of the samples that took at most so long, at both ends of each bin: the curve rises within bins only, and one
 * that lies in a single bin is still seen.
 */
function steps({ histogram, n }: Distribution, name: string) {
  let total = 0;
  const point = (seconds: number) => {
    const share = (total / n) * 100;
    const tip = `${name}: ${formatFixed(share, 1)} % within ${unbroken(formatTime(seconds))}`;
    return { x: seconds * 1000, y: share, tip };
  };
  return histogram.flatMap(({ lowSeconds, highSeconds, count }) => {
    const low = point(lowSeconds);
    total += count;
    return [low, point(highSeconds)];
  });
}

/** The distributions of lookup and connect times, side by side. */
export function distributionChart(overalls: readonly Overall[], isSimulated: boolean): LineChart {
  return {
    type: 'lines',
    name: 'distributions',
    title: isSimulated ? 'SIMULATION: lookup and connect times' : 'Lookup and connect times',
    caption:
      'Share of samples that took no longer than the time shown, over the time in milliseconds on a logarithmic axis: further left is faster.',
    xAxis: 'milliseconds',
    yAxis: '% of samples',
    xScale: 'log',
    panels: (['lookup', 'connect'] as const).map((phase) => ({
      title: PHASE_TITLES[phase],
      lines: overalls.flatMap(({ subject: { name }, title, phases }) =>
        phases === null
          ? []
          : [{ series: name, isMarked: false, points: steps(phases[phase], `${title}, ${phase}`) }],
      ),
    })),
  };
}
