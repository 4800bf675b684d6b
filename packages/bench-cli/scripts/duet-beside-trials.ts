/**
 * `node --conditions @dinodns-bench/source packages/bench-cli/scripts/duet-beside-trials.ts results/<run>/run.json …`
 *
 * Do duets measure what ordinary trials measure, and how wide are the intervals of either? Of runs of one server with `--aa`,
 * some as duets and some not, in trials of one length or several (the records say which), prints as Markdown:
 *
 * - each figure by way (median of all trials, twin included), and the difference of the duets from the others with its 95 %
 *   interval, as `bench compare` has it for different runs;
 * - of the runs' comparisons of the server with itself: the median half-width of their 95 % intervals, how many told the two
 *   apart, and the standard deviation of the logarithm of the ratio of a round.
 *
 * docs/method.md has the figures and the commands.
 */
import { formatBytes, formatCount, formatFixed, formatShort, formatTime } from '../src/report/numbers.ts';
import type { OkTrial, RunRecord } from '../src/results/record.ts';
import { median } from '../src/stats/intervals.ts';
import { COMPARED_METRICS, type ComparedMetric, METRIC_TITLES } from '../src/stats/metrics.ts';
import { testUnpaired } from '../src/stats/sample-test.ts';
import { comparePairs } from '../src/stats/summarize.ts';
import { okTrialsOf, readRecords, twinPairs } from './aa-pairs.ts';

interface Figure {
  readonly title: string;
  value(trial: OkTrial): number | null;
  show(value: number): string;
}

const percentile =
  (wanted: number) =>
  ({ load }: OkTrial) =>
    load.latencyPercentiles?.find((each) => each.percentile === wanted)?.seconds ?? null;

const FIGURES: readonly Figure[] = [
  { title: 'queries per second', value: ({ metrics }) => metrics.qps, show: formatCount },
  { title: 'mean latency', value: ({ metrics }) => metrics.latencySeconds, show: formatTime },
  { title: 'latency, p50', value: percentile(50), show: formatTime },
  { title: 'latency, p99', value: percentile(99), show: formatTime },
  { title: 'CPU time per query', value: ({ metrics }) => metrics.cpuSecondsPerQuery, show: formatTime },
  { title: 'memory', value: ({ metrics }) => metrics.memoryBytes, show: formatBytes },
];

/** Runs that measure in one way: `duet, slices of 0.5 s`, `trials of 3 s`. */
interface Way {
  readonly title: string;
  readonly isDuet: boolean;
  readonly records: readonly RunRecord[];
}

const isDuet = (record: RunRecord) => okTrialsOf(record).some(({ duet }) => duet !== undefined);

function titleOf(record: RunRecord): string {
  const { duration, slice } = record.configuration;
  return isDuet(record) ? `duet, slices of ${slice} s` : `trials of ${duration} s`;
}

function waysOf(records: readonly RunRecord[]): Way[] {
  return [...Map.groupBy(records, titleOf)]
    .map(([title, own]) => ({ title, isDuet: own.some(isDuet), records: own }))
    .toSorted((a, b) => Number(a.isDuet) - Number(b.isDuet) || a.title.localeCompare(b.title));
}

/** From the beginning of the first trial to the end of the last. */
function secondsOf({ trials }: RunRecord): number {
  const begin = Math.min(...trials.map(({ startedAt }) => Date.parse(startedAt)));
  return (Math.max(...trials.map(({ endedAt }) => Date.parse(endedAt))) - begin) / 1000;
}

function row(cells: readonly string[]): void {
  process.stdout.write(`| ${cells.join(' | ')} |\n`);
}

function heading(cells: readonly string[]): void {
  row(cells);
  row(cells.map(() => '---'));
}

const percent = (share: number) => `${share < 0 ? '−' : '+'}${formatFixed(Math.abs(share) * 100, 1)} %`;

function valuesOf({ records }: Way, { value }: Figure): number[] {
  return records.flatMap(okTrialsOf).flatMap((trial) => value(trial) ?? []);
}

/** `+1.3 % (+0.4 % to +2.2 %)`: of the first from the second. */
function differenceText(values: readonly number[], others: readonly number[]): string {
  const test = testUnpaired(values, others);
  if (test === null) return '–';
  return `${percent(test.ratio - 1)} (${percent(test.low - 1)} to ${percent(test.high - 1)})`;
}

function levelRow(ways: readonly Way[], figure: Figure): void {
  const measured = ways.map((way) => valuesOf(way, figure));
  if (measured.some(({ length }) => length === 0)) return;
  const duets = ways.flatMap((way, index) => (way.isDuet ? [measured[index] ?? []] : []));
  const others = ways.flatMap((way, index) => (way.isDuet ? [] : [measured[index] ?? []]));
  row([
    figure.title,
    ...measured.map((values) => figure.show(median(values))),
    ...duets.flatMap((values) => others.map((other) => differenceText(values, other))),
  ]);
}

function scatterOf(logs: readonly number[]): number {
  const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length;
  return Math.sqrt(logs.reduce((sum, log) => sum + (log - mean) ** 2, 0) / (logs.length - 1));
}

/** `±3.4 %; 1 of 4; 2.1 %` */
function twinText({ records }: Way, metric: ComparedMetric): string {
  const runs = records.map((record) => twinPairs(record, metric));
  const deltas = runs.flatMap((pairs) => comparePairs(pairs) ?? []);
  const widths = deltas.flatMap(({ low, high }) => (low === null || high === null ? [] : [(high - low) / 2]));
  if (widths.length === 0) return '–';
  const told = deltas.filter(({ low, high }) => (low ?? -1) > 0 || (high ?? 1) < 0).length;
  const logs = runs.flat().map(({ value, baseline }) => Math.log(value / baseline));
  return `±${formatFixed(median(widths) * 100, 1)} %; ${told} of ${deltas.length}; ${formatFixed(scatterOf(logs) * 100, 1)} %`;
}

const ways = waysOf(await readRecords(process.argv.slice(2)));
for (const { title, records } of ways)
  process.stdout.write(
    `${title}: ${records.length} runs of ${records[0]?.configuration.trials} rounds, ${formatFixed(median(records.map(secondsOf)), 0)} s each\n`,
  );
process.stdout.write('\n');
const duets = ways.filter((way) => way.isDuet);
const others = ways.filter((way) => !way.isDuet);
heading([
  'figure',
  ...ways.map(({ title }) => title),
  ...duets.flatMap(() => others.map(({ title }) => `duet against ${title}`)),
]);
for (const figure of FIGURES) levelRow(ways, figure);
const idle = duets.flatMap(({ records }) =>
  records.flatMap(okTrialsOf).flatMap(({ duet }) => duet?.idleCores ?? []),
);
if (idle.length > 0)
  process.stdout.write(
    `\nServers that waited used ${formatShort(median(idle) * 100)} % of a CPU, ${formatShort(Math.max(...idle) * 100)} % at most.\n`,
  );
process.stdout.write('\nHalf-width of the interval; told apart; scatter of the ratio of a round:\n\n');
heading(['figure', ...ways.map(({ title }) => title)]);
for (const metric of COMPARED_METRICS)
  row([METRIC_TITLES[metric], ...ways.map((way) => twinText(way, metric))]);
