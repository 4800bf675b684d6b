/** `bench trend`: a figure over time, and where its level changed. */

import { BenchError } from '../errors.ts';
import { axesOf, fits, type Selector } from '../history/axes.ts';
import { normalized, yardstickOf } from '../history/compare.ts';
import { trendDocument } from '../history/documents/trend.ts';
import type { RunIndex } from '../history/resolve.ts';
import { checkAxes } from '../history/select.ts';
import { type FigureRow, figureRows, trendLines } from '../history/trend.ts';
import type { EstimandFacts } from '../report/estimand.ts';
import { summarize } from '../stats/summarize.ts';
import type { World } from '../world.ts';
import { answering, type FigureOptions, findEstimand, knownRuns } from './history-options.ts';

export interface TrendOptions extends FigureOptions {
  readonly select: Selector;
}

/** The same figures relative to `subject` of the same run; runs without it are omitted. */
async function relativeTo(
  { read }: RunIndex,
  rows: readonly FigureRow[],
  name: string,
  subject: string,
): Promise<FigureRow[]> {
  const relative: FigureRow[] = [];
  for (const row of rows) {
    const entry = await read(row.run.path);
    const item = entry.cases.find(({ key }) => key === row.item.key);
    const ratios = item === undefined ? [] : normalized(entry, item, name, subject);
    const yardstick = item === undefined ? undefined : yardstickOf(entry, item, subject);
    const isForeign =
      row.figure.isForeign || [...(yardstick?.bounds ?? []), ...(yardstick?.foreign ?? [])].includes(name);
    if (ratios.length > 0)
      relative.push({ ...row, figure: { ...summarize(ratios), isBound: row.figure.isBound, isForeign } });
  }
  return relative;
}

/** Asked for, or the one that decides in the newest run that has any. */
function estimandFrom(metric: string | undefined, { runs }: RunIndex): EstimandFacts | undefined {
  if (metric?.includes(',') === true) {
    throw new BenchError('E_USAGE', '--metric: a trend shows one figure', {
      fix: 'Run it once for each.',
    });
  }
  const all = new Map(runs.flatMap(({ estimands }) => estimands.map((each) => [each.name, each] as const)));
  const estimands = [...all.values()];
  if (metric !== undefined && estimands.length > 0) return findEstimand(metric, estimands, '--metric');
  return all.get('qps') ?? estimands[0];
}

export async function trendCommand(world: World, options: TrendOptions): Promise<number> {
  const answer = answering(world, options.format);
  const known = await knownRuns(world, options.out);
  const estimand = estimandFrom(options.metric, known);
  const all = estimand === undefined ? [] : figureRows(known.runs, estimand.name);
  if (estimand === undefined || all.length === 0) {
    throw new BenchError(
      'E_RECORD_UNREADABLE',
      `there are no such figures in ${known.resultsDirectory} yet`,
      {
        fix: 'Make a run with `bench run`, or give another directory with --out.',
      },
    );
  }
  checkAxes(options.select, axesOf(all.map(({ item }) => item)));
  const meant = all.filter(({ item }) => fits(item, options.select));
  if (meant.length === 0) throw nothingMeant(options, all);
  const { normalize = null } = options;
  const rows = normalize === null ? meant : await relativeTo(known, meant, estimand.name, normalize);
  if (rows.length === 0) {
    throw new BenchError('E_USAGE', `--normalize: no run also measured ${normalize}`, {
      fix: 'Choose a server that the runs have in common.',
    });
  }
  const lines = trendLines(rows, estimand.name);
  answer({ metric: estimand.name, normalizedBy: normalize, lines }, trendDocument(lines, normalize));
  return 0;
}

function nothingMeant({ select }: TrendOptions, all: readonly FigureRow[]): BenchError {
  const asked = Object.entries(select).map(([axis, value]) => `--${axis} ${value}`);
  return new BenchError('E_USAGE', `no run with ${asked.join(' ')} has that figure`, {
    fix: 'Choose from these values.',
    evidence: [...new Set(all.map(({ item }) => item.key))].slice(0, 12),
  });
}
