/** The curves of loss, latency and answers over the offered load. Pure. */
import { okTrials } from '../../engine/record.ts';
import { caseTitle, pointText } from '../../engine/words.ts';
import type { LineChart } from '../../report/document/document.ts';
import { formatCount, formatPercent, formatTime } from '../../report/numbers.ts';
import { median } from '../../stats/intervals.ts';
import type { LossRecord, Probe } from './evidence.ts';

/** Rates that are this close are one point of a curve: the median of their figures. */
const BIN = 1.08;

interface Point {
  readonly rate: number;
  readonly probes: readonly Probe[];
}

/** The rates that were tried, in bins of equal ratio. Those that the load generator could not send are left out. */
function pointsOf(record: LossRecord, key: string): Point[] {
  const probes = okTrials(record, key)
    .flatMap(({ evidence }) => evidence.probes)
    .filter(({ generatorLimited }) => !generatorLimited);
  const bins = Map.groupBy(probes, ({ rate }) => Math.round(Math.log(rate) / Math.log(BIN)));
  return [...bins.values()]
    .map((bin) => ({ rate: median(bin.map(({ rate }) => rate)), probes: bin }))
    .toSorted((a, b) => a.rate - b.rate);
}

interface Curve {
  readonly name: string;
  readonly title: string;
  readonly yAxis: string;
  /** What belongs in the caption besides. Default: nothing. */
  readonly note?: string;
  /** Null for a probe without the figure. */
  value(probe: Probe): number | null;
  show(value: number): string;
}

const CURVES: readonly Curve[] = [
  {
    name: 'loss',
    title: 'Lost queries by offered load',
    yAxis: 'lost, %',
    value: ({ lostRatio }) => lostRatio * 100,
    show: (value) => formatPercent(value / 100),
  },
  {
    name: 'p99',
    title: '99th percentile of latency by offered load',
    yAxis: 'p99, ms',
    note: 'Of answered queries, from when they were due; those that were lost are not in it.',
    value: ({ p99Seconds }) => (p99Seconds === null ? null : p99Seconds * 1000),
    show: (value) => formatTime(value / 1000),
  },
  {
    name: 'goodput',
    title: 'Answered queries by offered load',
    yAxis: 'answered queries per second',
    value: ({ goodput }) => goodput,
    show: (value) => `${formatCount(value)}/s`,
  },
];

function lineOf(record: LossRecord, key: string, title: string, curve: Curve) {
  const points = pointsOf(record, key).flatMap(({ rate, probes }) => {
    const values = probes.flatMap((probe) => curve.value(probe) ?? []);
    if (values.length === 0) return [];
    const y = median(values);
    return [
      {
        x: rate,
        y,
        low: Math.min(...values),
        high: Math.max(...values),
        tip: `${title}: ${formatCount(rate)} queries per second, ${curve.show(y)}`,
      },
    ];
  });
  return { series: key, points };
}

/** One chart for each curve, with a panel for each tier, mode and workload. */
export function lossCurves(record: LossRecord): LineChart[] {
  const panels = [...Map.groupBy(record.cases, (item) => pointText(record, item, true))];
  return CURVES.map((curve) => ({
    type: 'lines',
    name: curve.name,
    title: curve.title,
    caption: [
      'Each point is the median over rates within 8 %, of all trials; the bars are their range. Rates that the load generator could not send are left out.',
      ...(curve.note === undefined ? [] : [curve.note]),
    ].join(' '),
    // From half of the slowest server's limit to several times that of the fastest.
    xScale: 'log',
    xAxis: 'offered queries per second',
    yAxis: curve.yAxis,
    panels: panels.map(([point, cases]) => ({
      title: panels.length === 1 ? '' : point,
      lines: cases.map((item) => lineOf(record, item.key, caseTitle(record, item), curve)),
    })),
  }));
}
