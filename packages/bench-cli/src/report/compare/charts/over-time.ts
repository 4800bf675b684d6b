/** What happened during the trials, and beside them. Pure. */
import type { CaseRecord, NeighbourSecond, OkTrial } from '../../../results/record.ts';
import { isHeavy, momentsOf, neighboursOf } from '../../../stats/neighbours.ts';
import { wholeIntervals } from '../../../stats/steady-state.ts';
import type { LineChart } from '../../document/document.ts';
import { isShared } from '../../neighbours.ts';
import { formatFixed, formatQps } from '../../numbers.ts';
import { type Data, type Draw, nameOf, thinned } from './data.ts';

/** More lines than this of one case overlap; this many, evenly chosen, show the same. */
const MAX_TRIALS = 12;
/** With very many cases, fewer lines each. */
const MAX_LINES = 120;
/** Intervals of a long trial beyond this number are drawn as every n-th. */
const MAX_INTERVALS = 60;

/** The second of the trial in which an interval ended. */
function secondAt(seconds: readonly NeighbourSecond[], at: number): NeighbourSecond | undefined {
  return seconds.find(
    ({ atSeconds, durationSeconds }) => at <= atSeconds && at > atSeconds - durationSeconds,
  );
}

/** Throughput within each trial, second by second: whether it was steady, and what disturbed it. */
export const overTime: Draw = ({ record, groups, trialsOf }) => {
  const cases = groups.flatMap((group) => group.cases);
  const cpus = record.environment.cpuCores;
  const drawn = Math.max(3, Math.min(MAX_TRIALS, Math.floor(MAX_LINES / Math.max(1, cases.length))));
  const most = Math.max(0, ...cases.map((item) => trialsOf(item).length));
  const lineOf = (item: CaseRecord, trial: OkTrial) => {
    const intervals = wholeIntervals(trial.load.intervals);
    if (intervals.length < 2) return [];
    const points = thinned(intervals, MAX_INTERVALS).map(({ atSeconds, qps }) => {
      const beside = secondAt(trial.neighbours ?? [], atSeconds);
      const isRinged = beside !== undefined && isHeavy(beside, cpus);
      const others = isRinged
        ? `; others had ${(beside.stealCores + beside.otherCores).toFixed(1)} CPUs`
        : '';
      return {
        x: atSeconds,
        y: qps,
        isRinged,
        tip: `${nameOf(record, item)}, trial ${trial.round + 1}, after ${formatFixed(atSeconds, 1)} s: ${formatQps(qps)} queries/s${others}`,
      };
    });
    return [{ series: item.server, points }];
  };
  const panels = groups
    .map(({ title, cases: members }) => ({
      title,
      lines: members.flatMap((item) =>
        thinned(trialsOf(item), drawn).flatMap((trial) => lineOf(item, trial)),
      ),
    }))
    .filter(({ lines }) => lines.length > 0);
  if (panels.length === 0) return 'no trial has throughput by interval';
  const hasRings = panels.some(({ lines }) =>
    lines.some(({ points }) => points.some(({ isRinged }) => isRinged)),
  );
  return {
    type: 'lines',
    name: 'over-time',
    title: 'Throughput within the trials',
    xAxis: 'seconds since the trial began',
    yAxis: 'queries per second',
    xFromZero: true,
    caption:
      'Queries per second over the time of the trials; each line is a trial.' +
      (hasRings ? ' Rings: others had a large share of the machine then.' : '') +
      (most > drawn ? ` Drawn are ${drawn} trials of each case, evenly chosen.` : ''),
    panels,
  };
};

/** What the rest of the machine took during each trial; null where that was little. */
export function othersChart({ record, groups, trialsOf }: Data): LineChart | null {
  if (!isShared(record)) return null;
  const cases = groups.flatMap((group) => group.cases);
  const lines = cases.map((item) => ({
    series: item.server,
    isJoined: false,
    points: thinned(trialsOf(item), MAX_LINES).flatMap((trial) => {
      const beside = neighboursOf(trial);
      if (beside === null) return [];
      const moments = momentsOf(trial).map(({ stealCores, otherCores }) => stealCores + otherCores);
      const mean = beside.stealCores + beside.otherCores;
      return [
        {
          x: trial.order + 1,
          y: mean,
          low: mean,
          high: Math.max(mean, ...moments),
          tip: `${nameOf(record, item)}, trial ${trial.round + 1}: others had ${formatFixed(mean, 2)} CPUs on average, ${formatFixed(beside.stealCores, 2)} of them taken by the hypervisor`,
        },
      ];
    }),
  }));
  return {
    type: 'lines',
    name: 'others',
    title: 'CPU used by other programs',
    xAxis: 'trial, in the order of the run',
    xFromZero: true,
    yAxis: `CPUs, of ${record.environment.cpuCores}`,
    caption:
      'CPUs that other programs and the hypervisor took during each trial: the mean, and up to its highest second.',
    panels: [{ title: '', lines }],
  };
}
