/** The lines that a plan rests on, as a chart shows them: memory of one replica against the number of objects. Pure. */
import type { LineChart, Series } from '../../report/document/document.ts';
import { formatCount, MEBIBYTE } from '../../report/numbers.ts';
import { BYTES_PER_MEGABYTE, memoryText } from './figures.ts';
import { EXTRAPOLATION, type MemoryBasis, objectsOf, publishedBasis, type Size } from './memory-basis.ts';
import { ASSUMED_PEAK_RATIO, configurationText, sizeOf } from './plan.ts';
import type { CapacityPlan, Curve } from './plan-record.ts';
import { CACHE_MEGABYTES, LOAD_MEGABYTES, PUBLISHED_POINTS } from './published.ts';

const PUBLISHED_SIZE: Size = { services: 820, pods: 15_000, endpoints: 15_000 };

/** The same cluster with another number of objects: in the proportions of the plan, else in the published ones. */
function scaled(size: Size, objects: number): Size {
  const whole = objectsOf(size) === 0 ? PUBLISHED_SIZE : size;
  const factor = objects / objectsOf(whole);
  return {
    services: whole.services * factor,
    pods: whole.pods * factor,
    endpoints: whole.endpoints * factor,
  };
}

/** Wide enough for the plan and what was measured, but no further than the lines may be used. */
function reachOf({ objects }: CapacityPlan, { maxObjects }: MemoryBasis): number {
  return Math.max(
    objects * 1.5,
    Math.min(maxObjects, objects * 4),
    Math.min(maxObjects * EXTRAPOLATION.times, 1000),
  );
}

type Line = readonly [title: string, at: (size: Size) => number | null];

function linesOf(plan: CapacityPlan, basis: MemoryBasis): Line[] {
  const published = publishedBasis(plan.configuration);
  const formula: Line = ['published formula', (size) => published.steady(size).value];
  if (basis.kind === 'published') {
    return [formula, ['peak, assumed', (size) => published.steady(size).value * ASSUMED_PEAK_RATIO]];
  }
  return [
    formula,
    ['steady, measured', (size) => basis.steady(size).value],
    ['cold start peak, measured', (size) => basis.coldStartPeak(size)?.value ?? null],
    ['relist peak, measured', (size) => basis.relistPeak(size)?.value ?? null],
  ];
}

/** Each line by its ends, with the plan's own size between them; and the published measurements. */
export function curvesOf(plan: CapacityPlan, basis: MemoryBasis): Curve[] {
  const size = sizeOf(plan.demand);
  const reach = reachOf(plan, basis);
  const drawn = linesOf(plan, basis).map(([title, at]) => ({
    title,
    points: [...new Set([0, plan.objects, reach])].flatMap((objects) => {
      const megabytes = at(scaled(size, objects));
      return megabytes === null ? [] : [{ objects, megabytes }];
    }),
  }));
  const data = PUBLISHED_POINTS[plan.configuration]
    .filter(([objects]) => objects <= reach)
    .map(([objects, megabytes]) => ({ objects, megabytes: megabytes + CACHE_MEGABYTES + LOAD_MEGABYTES }));
  return [...drawn.filter(({ points }) => points.length > 0), { title: 'published data', points: data }];
}

export const seriesOf = (curves: readonly Curve[]): Series[] =>
  curves.map(({ title }) => ({ name: title, title }));

const mebibytesOf = (megabytes: number) => (megabytes * BYTES_PER_MEGABYTE) / MEBIBYTE;

export function planChart(
  {
    objects,
    demand,
    memoryLimitMegabytes,
    configuration,
  }: Pick<CapacityPlan, 'objects' | 'demand' | 'memoryLimitMegabytes' | 'configuration'>,
  curves: readonly Curve[],
  source: string,
): LineChart {
  const today = demand.memoryLimitBytes;
  const marks = [
    { y: mebibytesOf(memoryLimitMegabytes), label: 'recommended limit' },
    ...(today === null ? [] : [{ y: today / MEBIBYTE, label: "today's limit" }]),
  ];
  const width = Math.max(...curves.flatMap(({ points }) => points.map((point) => point.objects)));
  return {
    type: 'lines',
    name: 'memory',
    title: 'Memory of one replica by pods and services',
    caption: `MiB with a full cache, under queries, ${configurationText({ configuration, demand })}. Shaded: the ${formatCount(objects)} objects of the plan. Basis: ${source}. Published data include ${memoryText(CACHE_MEGABYTES + LOAD_MEGABYTES)} for cache and load.`,
    xAxis: 'pods and services',
    yAxis: 'MiB',
    panels: [
      {
        title: '',
        lines: curves.map(({ title, points }) => ({
          series: title,
          points: points.map((point) => ({
            x: point.objects,
            y: mebibytesOf(point.megabytes),
            tip: `${title}, ${formatCount(point.objects)} objects: ${memoryText(point.megabytes)}`,
          })),
        })),
        bands: [{ from: Math.max(0, objects - width / 250), to: objects + width / 250 }],
        marks,
      },
    ],
  };
}
