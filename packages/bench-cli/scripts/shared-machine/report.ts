/**
 * `node --conditions @dinodns-bench/source packages/bench-cli/scripts/shared-machine/report.ts FILE…`
 *
 * What series of runs say (`series.ts`), as Markdown: how often equal servers were told apart and gates gave an alarm, how often the
 * planted slowdown was found, whether intervals contain what the runs without a neighbour found, how wide they are, and what explains
 * the scatter. Comparisons and gates are those of `bench compare` and `bench gate` of two servers of a run.
 */
import { reportOf } from './figures.ts';
import { readSeries } from './runs.ts';

const runs = (await Promise.all(process.argv.slice(2).map(readSeries))).flat();
process.stdout.write(reportOf(runs));
