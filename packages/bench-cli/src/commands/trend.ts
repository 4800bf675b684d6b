/** `bench trend`: a figure over time, and where its level changed. */
import { resolve } from 'node:path';
import { AXES, type CaseFilter, fitsFilter } from '../config/case-filter.ts';
import { BenchError } from '../errors.ts';
import { normalized } from '../history/compare.ts';
import type { FigureRow, HistoryDatabase } from '../history/database.ts';
import { openHistory } from '../history/history.ts';
import { readEntry } from '../history/read-entry.ts';
import { renderTrend } from '../history/text/render-trend.ts';
import { trendLines } from '../history/trend.ts';
import { median, medianInterval } from '../stats/intervals.ts';
import type { ComparedMetric } from '../stats/metrics.ts';
import type { World } from '../world.ts';
import { DEFAULT_COLUMNS, metricsFrom, paintFor, printJson } from './history-options.ts';

export interface TrendOptions {
  readonly out: string;
  readonly json: boolean;
  readonly server: string | undefined;
  readonly metric: string | undefined;
  readonly tier: string | undefined;
  readonly mode: string | undefined;
  readonly workload: string | undefined;
  readonly transport: string | undefined;
  readonly rate: string | undefined;
  readonly normalize: string | undefined;
}

/** The values of the axes that were asked for. */
function filterOf(options: TrendOptions): CaseFilter {
  return Object.fromEntries(
    AXES.flatMap((axis) => (options[axis] === undefined ? [] : [[axis, options[axis]]])),
  );
}

/** The same figures relative to `server` of the same run; runs without it are omitted. */
async function relativeTo(
  world: World,
  database: HistoryDatabase,
  rows: readonly FigureRow[],
  metric: ComparedMetric,
  server: string,
): Promise<FigureRow[]> {
  const paths = new Map(database.runs().map(({ id, path }) => [id, path]));
  const relative: FigureRow[] = [];
  for (const row of rows) {
    const path = paths.get(row.runId);
    const entry = path === undefined ? undefined : await readEntry(world, path);
    const item = entry?.cases.find(({ key }) => key === row.caseKey);
    const ratios = entry === undefined || item === undefined ? [] : normalized(entry, item, metric, server);
    if (ratios.length === 0) continue;
    const interval = medianInterval(ratios);
    relative.push({
      ...row,
      median: median(ratios),
      low: interval?.low ?? null,
      high: interval?.high ?? null,
      n: ratios.length,
    });
  }
  return relative;
}

export async function trendCommand(world: World, options: TrendOptions): Promise<number> {
  const [metric = 'qps', ...more] = metricsFrom(options.metric, ['qps']);
  if (more.length > 0) {
    throw new BenchError('E_USAGE', '--metric: a trend shows one figure', {
      fix: 'Run it once for each.',
    });
  }
  const directory = resolve(world.cwd, options.out);
  const { database, notice } = await openHistory(world, directory);
  try {
    if (notice !== null) world.stderr.write(`Note: ${notice}\n`);
    const all = database.figures(metric);
    const filter = filterOf(options);
    const meant = all.filter((row) => fitsFilter(row, filter));
    if (meant.length === 0) throw nothingMeant(options, all, directory);
    const { normalize } = options;
    const rows =
      normalize === undefined ? meant : await relativeTo(world, database, meant, metric, normalize);
    if (rows.length === 0) {
      throw new BenchError('E_USAGE', `--normalize: no run also measured ${normalize}`, {
        fix: 'Choose a server that the runs have in common.',
      });
    }
    const lines = trendLines(rows, metric);
    if (options.json) printJson(world, { metric, normalizedBy: normalize ?? null, lines });
    else {
      const columns = world.stdout.columns ?? DEFAULT_COLUMNS;
      world.stdout.write(renderTrend(lines, metric, normalize ?? null, columns, paintFor(world)));
    }
    return 0;
  } finally {
    database.close();
  }
}

function nothingMeant(options: TrendOptions, all: readonly FigureRow[], directory: string): BenchError {
  if (all.length === 0) {
    return new BenchError('E_RECORD_UNREADABLE', `there are no such figures in ${directory} yet`, {
      fix: 'Make a run with `bench run`, or give another directory with --out.',
    });
  }
  const asked = Object.entries(filterOf(options)).map(([axis, value]) => `--${axis} ${value}`);
  return new BenchError('E_USAGE', `no run with ${asked.join(' ')} has that figure`, {
    fix: 'Choose from these values.',
    evidence: [...new Set(all.map(({ caseKey }) => caseKey))].slice(0, 12),
  });
}
