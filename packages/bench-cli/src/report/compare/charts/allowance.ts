/** How the figure that decides depends on what other programs took: the picture of `stats/allowance.ts`. Pure. */
import type { CaseRecord, Delta, RunRecord } from '../../../results/record.ts';
import { takenDuring } from '../../../stats/comparisons.ts';
import { type DecisiveMetric, decisiveOf } from '../../../stats/decisive.ts';
import { mean } from '../../../stats/intervals.ts';
import { METRIC_TITLES } from '../../../stats/metrics.ts';
import type { LineChart } from '../../document/document.ts';
import { formatFixed } from '../../numbers.ts';
import { figureOf } from './bars.ts';
import { type Data, nameOf } from './data.ts';

type Allowance = NonNullable<Delta['allowance']>;

const STEPS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];
const MOST_TICKS = 6;

/** Round numbers of CPUs; the axis would otherwise say 200m for a fifth. */
function ticksTo(most: number): NonNullable<LineChart['xTicks']> {
  const step = STEPS.find((each) => most / each <= MOST_TICKS) ?? most;
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, index) => {
    const at = Number((index * step).toFixed(2));
    return { at, label: String(at) };
  });
}

/** Of the comparisons of a group, the first that allows for others. */
function allowanceIn(cases: readonly CaseRecord[], record: RunRecord) {
  for (const item of cases) {
    const decisive = decisiveOf(item, record);
    const allowance = decisive?.delta.allowance;
    if (decisive != null && allowance != null) return { metric: decisive.metric, allowance };
  }
  return null;
}

/** The trials of a case, and the line along which they are brought to the calmest trial. */
function linesOf(
  { record, trialsOf }: Data,
  item: CaseRecord,
  metric: DecisiveMetric,
  { slope, referenceCores }: Allowance,
  { size, show }: ReturnType<typeof figureOf>,
): LineChart['panels'][number]['lines'] {
  const seen = trialsOf(item).flatMap((trial) => {
    const [x, value] = [takenDuring(trial), trial.metrics[metric]];
    return x === undefined || value === null || value <= 0 ? [] : [{ x, value, round: trial.round }];
  });
  if (seen.length < 2) return [];
  const level = mean(seen.map(({ x, value }) => Math.log(value) - slope * x));
  const along = (x: number) => Math.exp(level + slope * x);
  const dots = seen.map(({ x, value, round }) => ({
    x,
    y: value / size,
    tip: `${nameOf(record, item)}, trial ${round + 1}: ${show(value)} while others took ${formatFixed(x, 2)} CPUs`,
  }));
  const ends = [referenceCores, Math.max(...seen.map(({ x }) => x))].map((x) => ({
    x,
    y: along(x) / size,
    tip: `${nameOf(record, item)}: about ${show(along(x))} if others take ${formatFixed(x, 2)} CPUs`,
  }));
  return [
    { series: item.server, isJoined: false, points: dots },
    { series: item.server, isMarked: false, points: ends },
  ];
}

/** Null where no comparison allows for what others took. */
export function allowanceChart(data: Data): LineChart | null {
  const { record, groups, trialsOf } = data;
  const found = groups.flatMap(({ title, cases }) => {
    const own = allowanceIn(cases, record);
    return own === null ? [] : [{ title, cases, ...own }];
  });
  const [first] = found;
  if (first === undefined) return null;
  const { metric } = first;
  const trials = first.cases.flatMap(trialsOf);
  const figure = figureOf(metric, Math.max(...trials.map(({ metrics }) => metrics[metric] ?? 0)));
  return {
    type: 'lines',
    name: 'allowance',
    title: `${figure.title} against CPU used by other programs`,
    xAxis: 'CPUs that others took during a trial',
    xFromZero: true,
    xTicks: ticksTo(Math.max(0, ...trials.map((trial) => takenDuring(trial) ?? 0))),
    yAxis: figure.axis,
    yScale: 'log',
    fromZero: false,
    caption:
      `Each dot is a trial. The lines show how much ${METRIC_TITLES[metric]} changes with each CPU that others take; ` +
      'servers are compared at the left end of the lines, as if others had taken as little in every trial as in the calmest one.',
    panels: found
      .filter((each) => each.metric === metric)
      .map(({ title, cases, allowance }) => ({
        title,
        lines: cases
          .filter(({ aa }) => !aa)
          .flatMap((item) => linesOf(data, item, metric, allowance, figure)),
      })),
  };
}
