/** The chart of a measurement of memory: megabytes over objects, with the published lines. Pure. */
import type { LineChart, Series } from '../../../report/document/document.ts';
import { formatCount } from '../../../report/numbers.ts';
import { BYTES_PER_MEGABYTE, megabytes } from '../figures.ts';
import { PUBLISHED_POINTS } from '../published.ts';
import type { MemoryFigure, MemoryPointRecord } from './memory-record.ts';
import { formulaBytes, publishedConfiguration } from './published-side.ts';

const DRAWN: readonly (readonly [figure: MemoryFigure, title: string])[] = [
  ['steady', 'under load'],
  ['relistPeak', 'relist peak'],
];

const PUBLISHED_FORMULA = 'published formula';
const PUBLISHED_DATA = 'published data, without cache and load';

const seriesName = (server: string, figure: MemoryFigure) => `${server} ${figure}`;

export function memorySeries(points: readonly MemoryPointRecord[]): Series[] {
  const servers = [...new Set(points.map(({ server }) => server))];
  return [
    ...servers.flatMap((server) =>
      DRAWN.map(([figure, title]) => ({
        name: seriesName(server, figure),
        title: `${server.replace('coredns-cluster@', '')} ${title}`,
      })),
    ),
    { name: PUBLISHED_FORMULA, title: 'published formula' },
    { name: PUBLISHED_DATA, title: 'published data' },
  ];
}

type Line = LineChart['panels'][number]['lines'][number];

function measuredLine(
  points: readonly MemoryPointRecord[],
  server: string,
  figure: MemoryFigure,
  title: string,
): Line {
  const own = points.filter((point) => point.server === server).toSorted((a, b) => a.objects - b.objects);
  return {
    series: seriesName(server, figure),
    points: own.flatMap(({ objects, figures }) => {
      const summary = figures[figure];
      if (summary === null) return [];
      const { median, low, high } = summary;
      const interval =
        low === null || high === null
          ? {}
          : { low: low / BYTES_PER_MEGABYTE, high: high / BYTES_PER_MEGABYTE };
      const tip = `${server}, ${formatCount(objects)} objects, ${title}: ${megabytes(median)} MB`;
      return [{ x: objects, y: median / BYTES_PER_MEGABYTE, ...interval, tip }];
    }),
  };
}

function publishedFormula(points: readonly MemoryPointRecord[]): Line {
  const [first] = points;
  const configuration = first === undefined ? 'default' : publishedConfiguration(first);
  const sizes = [...new Set(points.map(({ objects }) => objects))].toSorted((a, b) => a - b);
  return {
    series: PUBLISHED_FORMULA,
    isMarked: false,
    points: sizes.map((objects) => {
      const bytes = formulaBytes(configuration, objects);
      return {
        x: objects,
        y: bytes / BYTES_PER_MEGABYTE,
        tip: `published formula, ${formatCount(objects)} objects: ${megabytes(bytes)} MB`,
      };
    }),
  };
}

function publishedData(points: readonly MemoryPointRecord[]): Line {
  const [first] = points;
  const configuration = first === undefined ? 'default' : publishedConfiguration(first);
  return {
    series: PUBLISHED_DATA,
    points: PUBLISHED_POINTS[configuration].map(([objects, y]) => ({
      x: objects,
      y,
      tip: `published data, ${formatCount(objects)} objects: ${y} MB without cache and load`,
    })),
  };
}

/** Null for a single size, which makes no line. */
export function memoryChart(points: readonly MemoryPointRecord[], rate: string): LineChart | null {
  if (new Set(points.map(({ objects }) => objects)).size < 2) return null;
  // Points of other proportions would make a line jump.
  const drawn = points.filter(({ key }) => key.split('/').length <= 3);
  const byConfiguration = Map.groupBy(drawn, ({ configuration }) => configuration);
  return {
    type: 'lines',
    name: 'memory',
    title: 'Memory of CoreDNS by pods and services',
    caption: `Anonymous memory under load with a full cache (${rate}), and its peak while all objects are read again; medians with 95 % intervals. The published formula includes cache and load; the published data do not.`,
    xAxis: 'pods and services',
    yAxis: 'MB',
    panels: [...byConfiguration].map(([configuration, own]) => {
      const servers = [...new Set(own.map(({ server }) => server))];
      return {
        title: configuration,
        lines: [
          ...servers.flatMap((server) =>
            DRAWN.map(([figure, title]) => measuredLine(own, server, figure, title)),
          ),
          publishedFormula(own),
          publishedData(own),
        ],
      };
    }),
  };
}
