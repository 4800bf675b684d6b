/** Throughput within each trial, second by second: whether it was steady, and what disturbed it. */
import type { NeighbourSecond } from '../../results/record.ts';
import { isHeavy } from '../../stats/neighbours.ts';
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

/** The second of the trial in which an interval ended. */
function secondAt(seconds: readonly NeighbourSecond[], at: number): NeighbourSecond | undefined {
  return seconds.find(
    ({ atSeconds, durationSeconds }) => at <= atSeconds && at > atSeconds - durationSeconds,
  );
}

function rowsOf(data: ChartData) {
  const trials = drawnOf(data);
  const cpus = data.record.environment.availableCpus;
  return data.groups.flatMap((group) =>
    group.cases.flatMap((item) =>
      thinned(data.trialsOf(item), trials).flatMap((trial) => {
        const intervals = wholeIntervals(trial.load.intervals);
        return intervals.length < 2
          ? []
          : thinned(intervals, MAX_INTERVALS).map(({ atSeconds, qps }) => {
              const beside = secondAt(trial.neighbours ?? [], atSeconds);
              const shared = beside !== undefined && isHeavy(beside, cpus);
              const others = shared ? (beside.stealCores + beside.otherCores).toFixed(1) : null;
              return {
                panel: group.title,
                server: item.server,
                trial: trial.key,
                at: atSeconds,
                value: qps,
                shared,
                tip:
                  `${nameOf(data, item)}, trial ${trial.round + 1}, after ${formatFixed(atSeconds, 1)} s: ${formatQps(qps)} queries/s` +
                  (others === null ? '' : `; others had ${others} CPUs`),
              };
            });
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
      'Queries per second over the time of the trials; each line is a trial.' +
      (rows.some(({ shared }) => shared) ? ' Rings: others had a large share of the machine then.' : '') +
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
    const rings = {
      transform: [{ filter: 'datum.shared' }],
      mark: { type: 'point' as const, filled: false, size: 70, strokeWidth: 1.2, aria: false },
      encoding: { x, y, color },
    };
    const marked = rows.some(({ shared }) => shared) ? [rings] : [];
    const spec = {
      ...frame(look),
      data: { values: rows },
      facet: panelFacet(groups),
      columns,
      spacing,
      spec: { ...size, layer: [lines, ...(rows.length > MAX_MARKED ? [] : [points]), ...marked] },
    };
    return { spec, caption };
  },
};
