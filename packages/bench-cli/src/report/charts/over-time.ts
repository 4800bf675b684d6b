/** Throughput within each trial, second by second: whether it was steady, and what disturbed it. */
import { wholeIntervals } from '../../stats/steady-state.ts';
import { formatFixed, formatQps } from '../numbers.ts';
import { type Chart, type ChartData, frame, nameOf, serverChannels, thinned } from './chart.ts';
import { panelFacet, panelGrid } from './panels.ts';

/** More lines than this of one case overlap; this many, evenly chosen, show the same. */
const MAX_TRIALS = 12;
/** With very many cases, fewer lines each. */
const MAX_LINES = 120;
/** Intervals of a long trial beyond this number are drawn as every n-th. */
const MAX_INTERVALS = 60;
/** With more points than this, lines are drawn without them. */
const MAX_MARKED = 800;

function drawnOf(data: ChartData): number {
  const cases = data.groups.reduce((sum, group) => sum + group.cases.length, 0);
  return Math.max(3, Math.min(MAX_TRIALS, Math.floor(MAX_LINES / Math.max(1, cases))));
}

function rowsOf(data: ChartData) {
  const trials = drawnOf(data);
  return data.groups.flatMap((group) =>
    group.cases.flatMap((item) =>
      thinned(data.trialsOf(item), trials).flatMap((trial) => {
        const intervals = wholeIntervals(trial.load.intervals);
        return intervals.length < 2
          ? []
          : thinned(intervals, MAX_INTERVALS).map(({ atSeconds, qps }) => ({
              panel: group.title,
              server: item.server,
              trial: trial.key,
              at: atSeconds,
              value: qps,
              tip: `${nameOf(data, item)}, trial ${trial.round + 1}, after ${formatFixed(atSeconds, 1)} s: ${formatQps(qps)} queries/s`,
            }));
      }),
    ),
  );
}

export const overTimeChart: Chart = {
  name: 'over-time',
  title: 'Throughput within the trials',
  draw(data, look) {
    const rows = rowsOf(data);
    if (rows.length === 0) return { missing: 'no trial has throughput by interval' };
    const groups = data.groups.filter(({ title }) => rows.some(({ panel }) => panel === title));
    const { columns, spacing, ...size } = panelGrid(groups, look);
    const { color, shape } = serverChannels(data);
    const most = Math.max(
      ...data.groups.flatMap(({ cases }) => cases.map((item) => data.trialsOf(item).length)),
    );
    const caption =
      'Queries per second in each second of the trials; each line is a trial.' +
      (most > drawnOf(data) ? ` Drawn are ${drawnOf(data)} trials of each case, evenly chosen.` : '');
    const x = {
      field: 'at',
      type: 'quantitative' as const,
      scale: { zero: true, nice: false },
      axis: { title: 'seconds since the trial began', tickCount: 6, format: '~r' },
    };
    const axis = { title: 'queries per second', format: ',~r', tickCount: 5 };
    const y = { field: 'value', type: 'quantitative' as const, scale: { zero: true, nice: true }, axis };
    const lines = {
      mark: { type: 'line' as const, strokeWidth: 1.4, opacity: 0.75, aria: false },
      encoding: { x, y, color, detail: { field: 'trial', type: 'nominal' as const } },
    };
    const points = {
      mark: { type: 'point' as const, filled: true, size: 10, opacity: 0.85 },
      encoding: { x, y, color, shape, description: { field: 'tip', type: 'nominal' as const } },
    };
    const spec = {
      ...frame(look),
      data: { values: rows },
      facet: panelFacet(groups),
      columns,
      spacing,
      spec: { ...size, layer: rows.length > MAX_MARKED ? [lines] : [lines, points] },
    };
    return { spec, caption };
  },
};
