/** The chart of a measurement of memory: megabytes over objects, with the published lines. Pure. */
import type { LineChart, Series } from '../../../report/document/document.ts';
import { formatCount } from '../../../report/numbers.ts';
import { BYTES_PER_MEGABYTE, megabytes } from '../figures.ts';
import { PUBLISHED_POINTS } from '../published.ts';
import type { MemoryFigure, MemoryRecord } from './evidence.ts';
import { seriesOf } from './lines.ts';
import type { MemoryCase } from './points.ts';
import { formulaBytes, publishedConfiguration } from './published-side.ts';
import { FIGURE_TITLES } from './tables.ts';

const DRAWN = ['steady', 'relistPeak'] as const satisfies readonly MemoryFigure[];

const PUBLISHED_FORMULA = 'published formula';
const PUBLISHED_DATA = 'published data, without cache and load';

const seriesName = (server: string, figure: MemoryFigure) => `${server} ${figure}`;

type Line = LineChart['panels'][number]['lines'][number];

export function memorySeries({ subjects }: Pick<MemoryRecord, 'subjects'>): Series[] {
  return [
    ...subjects.flatMap(({ name, title }) =>
      DRAWN.map((figure) => ({
        name: seriesName(name, figure),
        title: `${title}, ${FIGURE_TITLES[figure]}`,
      })),
    ),
    { name: PUBLISHED_FORMULA, title: 'published formula' },
    { name: PUBLISHED_DATA, title: 'published data' },
  ];
}

function measuredLine(record: MemoryRecord, points: readonly MemoryCase[], figure: MemoryFigure): Line {
  return {
    series: seriesName(points[0]?.server ?? '', figure),
    points: points.flatMap(({ key, server, objects }) => {
      const summary = record.cases.find((item) => item.key === key)?.summary[figure];
      if (summary == null) return [];
      const { median, low, high } = summary;
      const tip = `${server}, ${formatCount(objects)} objects, ${FIGURE_TITLES[figure]}: ${megabytes(median)} MB`;
      return [
        {
          ...{ x: objects, y: median / BYTES_PER_MEGABYTE, tip },
          ...(low === null || high === null
            ? {}
            : { low: low / BYTES_PER_MEGABYTE, high: high / BYTES_PER_MEGABYTE }),
        },
      ];
    }),
  };
}

function publishedLines(points: readonly MemoryCase[]): Line[] {
  const [first] = points;
  const configuration = first === undefined ? 'default' : publishedConfiguration(first);
  const sizes = [...new Set(points.map(({ objects }) => objects))];
  return [
    {
      series: PUBLISHED_FORMULA,
      isMarked: false,
      points: sizes.map((objects) => {
        const bytes = formulaBytes(configuration, objects);
        const tip = `published formula, ${formatCount(objects)} objects: ${megabytes(bytes)} MB`;
        return { x: objects, y: bytes / BYTES_PER_MEGABYTE, tip };
      }),
    },
    {
      series: PUBLISHED_DATA,
      points: PUBLISHED_POINTS[configuration].map(([objects, y]) => {
        const tip = `published data, ${formatCount(objects)} objects: ${y} MB without cache and load`;
        return { x: objects, y, tip };
      }),
    },
  ];
}

/** Null for a single size, which makes no line. */
export function memoryChart(record: MemoryRecord): LineChart | null {
  // Points of other proportions would make a line jump.
  const all = seriesOf(record).map((points) =>
    points.filter(({ isPlain }) => isPlain).toSorted((a, b) => a.objects - b.objects),
  );
  if (new Set(all.flat().map(({ objects }) => objects)).size < 2) return null;
  const byConfiguration = Map.groupBy(all, ([first]) => first?.configuration ?? '');
  return {
    type: 'lines',
    name: 'memory',
    title: 'Memory of CoreDNS by pods and services',
    caption:
      'Anonymous memory under load with a full cache, and its peak while all objects are read again; medians with 95 % intervals. The published formula includes cache and load; the published data do not.',
    xAxis: 'pods and services',
    yAxis: 'MB',
    panels: [...byConfiguration].map(([configuration, own]) => ({
      title: configuration,
      lines: [
        ...own.flatMap((points) => DRAWN.map((figure) => measuredLine(record, points, figure))),
        ...publishedLines(own.flat().toSorted((a, b) => a.objects - b.objects)),
      ],
    })),
  };
}
