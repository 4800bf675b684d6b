/**
 * `node --conditions @dinodns-bench/source packages/bench-cli/scripts/aa-series.ts --group 3 results/<run>/run.json …`
 *
 * What the comparisons of equal servers show: divides the rounds of runs with `--aa` into groups, compares the baseline with
 * its twin in each of them as `bench run` would, and prints how often they are told apart, and how wide the intervals are.
 * docs/method.md has the figures and the commands.
 */
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { type OkTrial, type RunRecord, recordSchema } from '../src/results/record.ts';
import { pairsOf } from '../src/stats/comparisons.ts';
import { median } from '../src/stats/intervals.ts';
import { comparePairs, type Pair } from '../src/stats/summarize.ts';

const METRICS = ['qps', 'latencySeconds', 'cpuSecondsPerQuery', 'memoryBytes'] as const;

/** Pairs of the baseline's twin and the baseline, in the order of the rounds. */
function twinPairs({ trials, cases }: RunRecord, metric: (typeof METRICS)[number]): Pair[] {
  const ok = trials.filter((trial): trial is OkTrial => trial.status === 'ok');
  return cases
    .filter(({ aa }) => aa)
    .flatMap(({ key }) =>
      pairsOf(
        ok.filter(({ caseKey }) => caseKey === key),
        ok.filter(({ caseKey }) => caseKey === key.replace('(aa)', '')),
        metric,
      ),
    );
}

function groupsOf(pairs: readonly Pair[], size: number): Pair[][] {
  return Array.from({ length: Math.floor(pairs.length / size) }, (_, index) =>
    pairs.slice(index * size, (index + 1) * size),
  );
}

const { values, positionals } = parseArgs({
  options: { group: { type: 'string', default: '6' } },
  allowPositionals: true,
});
const records = await Promise.all(
  positionals.map(async (path) => recordSchema.parse(JSON.parse(await readFile(path, 'utf8')))),
);
for (const metric of METRICS) {
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
