/**
 * `node --conditions @dinodns-bench/source packages/bench-cli/scripts/aa-series.ts --group 3 results/<run>/run.json …`
 *
 * What the comparisons of equal servers show: divides the rounds of runs with `--aa` into groups, compares the baseline with
 * its twin in each of them as `bench run` would, and prints how often they are told apart, and how wide the intervals are.
 * docs/method.md has the figures and the commands.
 */
import { parseArgs } from 'node:util';
import { median } from '../src/stats/intervals.ts';
import { COMPARED_METRICS } from '../src/stats/metrics.ts';
import { comparePairs } from '../src/stats/summarize.ts';
import { groupsOf, readRecords, twinPairs } from './aa-pairs.ts';

const { values, positionals } = parseArgs({
  options: { group: { type: 'string', default: '6' } },
  allowPositionals: true,
});
const records = await readRecords(positionals);
for (const metric of COMPARED_METRICS) {
  const groups = records.flatMap((record) => groupsOf(twinPairs(record, metric), Number(values.group)));
  const deltas = groups.flatMap((pairs) => comparePairs(pairs) ?? []);
  const widths = deltas.flatMap(({ low, high }) => (low === null || high === null ? [] : [(high - low) / 2]));
  const told = deltas.filter(({ low, high }) => (low ?? -1) > 0 || (high ?? 1) < 0);
  if (widths.length === 0) continue;
  process.stdout.write(
    `${metric.padEnd(19)} ${deltas.length} comparisons of ${values.group} rounds: ${told.length} told apart ` +
      `(${((100 * told.length) / deltas.length).toFixed(1)} %), median interval ±${(100 * median(widths)).toFixed(1)} %\n`,
  );
}
