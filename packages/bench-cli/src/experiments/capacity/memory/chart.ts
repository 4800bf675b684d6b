/** The charts of a measurement of memory: mebibytes over objects, with the published lines. Pure. */
import type { LineChart, Series } from '../../../report/document/document.ts';
import { formatBytes, formatCount } from '../../../report/numbers.ts';
import { publishedConfiguration, watchesPods } from '../configurations.ts';
import { BYTES_PER_MEGABYTE, serverWords } from '../figures.ts';
import { formulaBytes, PUBLISHED_POINTS } from '../published.ts';
import type { MemoryFigure, MemoryRecord } from './evidence.ts';
import { seriesOf } from './lines.ts';
import type { Counts, MemoryCase } from './points.ts';
import { FIGURE_TITLES } from './tables.ts';

const MEBIBYTE = 2 ** 20;

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

function measuredLine(
  record: MemoryRecord,
  points: readonly MemoryCase[],
  figure: MemoryFigure,
  by: keyof Counts,
): Line {
  return {
    series: seriesName(points[0]?.server ?? '', figure),
    points: points.flatMap(({ key, server, [by]: count }) => {
      const summary = record.cases.find((item) => item.key === key)?.summary[figure];
      if (summary == null) return [];
      const { median, low, high, n } = summary;
      const tip = `${serverWords(server)}, ${formatCount(count)} ${by}, ${FIGURE_TITLES[figure]}: ${formatBytes(median)}`;
      return [
        {
          ...{ x: count, y: median / MEBIBYTE, tip },
          // The interval of two starts is many times as wide as they are apart.
          ...(low === null || high === null || n < 3 ? {} : { low: low / MEBIBYTE, high: high / MEBIBYTE }),
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
        const tip = `published formula, ${formatCount(objects)} objects: ${formatBytes(bytes)}`;
        return { x: objects, y: bytes / MEBIBYTE, tip };
      }),
    },
    {
      series: PUBLISHED_DATA,
      points: PUBLISHED_POINTS[configuration].map(([objects, y]) => {
        const bytes = y * BYTES_PER_MEGABYTE;
        const tip = `published data, ${formatCount(objects)} objects: ${formatBytes(bytes)} without cache and load`;
        return { x: objects, y: bytes / MEBIBYTE, tip };
      }),
    },
  ];
}

function captionOf({ cases }: MemoryRecord): string {
  const intervals = cases.some(({ trials }) => trials.ok > 2) ? ' with 95 % intervals' : '';
  return `Anonymous memory under load with a full cache, and its peak while all objects are read again; medians${intervals}.`;
}

/** Points of one server and configuration that differ in this count alone: as many as there are, and the largest of these. */
function apart(points: readonly MemoryCase[], by: 'services' | 'endpoints'): MemoryCase[] {
  const rest = ({ services, pods, endpoints, configuration }: MemoryCase) =>
    JSON.stringify([by === 'services' ? endpoints : services, watchesPods(configuration) ? pods : 0]);
  const sizeOf = (group: readonly MemoryCase[]) => new Set(group.map(({ [by]: count }) => count)).size;
  const [most = []] = [...Map.groupBy(points, rest).values()].toSorted(
    (a, b) =>
      sizeOf(b) - sizeOf(a) ||
      Math.max(...b.map(({ objects }) => objects)) - Math.max(...a.map(({ objects }) => objects)),
  );
  // Two sizes with the same count would make the line jump.
  return sizeOf(most) < 2
    ? []
    : most
        .toSorted((a, b) => a[by] - b[by] || a.objects - b.objects)
        .filter((point, at, all) => point[by] !== all[at - 1]?.[by]);
}

/** A panel for each configuration; `more` are its other lines. */
function chartBy(
  record: MemoryRecord,
  by: keyof Counts,
  all: readonly (readonly MemoryCase[])[],
  { what, caption }: { readonly what: string; readonly caption: string },
  more: (points: readonly MemoryCase[]) => readonly Line[] = () => [],
): LineChart {
  return {
    type: 'lines',
    name: by === 'objects' ? 'memory' : `memory-${by}`,
    title: `Memory of CoreDNS by ${what}`,
    caption,
    xAxis: what,
    yAxis: 'MiB',
    panels: [...Map.groupBy(all, ([first]) => first?.configuration ?? '')].map(([title, own]) => ({
      title,
      lines: [
        ...own.flatMap((points) => DRAWN.map((figure) => measuredLine(record, points, figure, by))),
        ...more(own.flat()),
      ],
    })),
  };
}

/** As published for CoreDNS and kube-dns: by services, and by endpoints, where the run tells them apart. */
export function countCharts(record: MemoryRecord): LineChart[] {
  const all = seriesOf(record);
  if (all.flat().every(({ isPlain }) => isPlain)) return [];
  return (['services', 'endpoints'] as const).flatMap((by) => {
    const lines = all.map((points) => apart(points, by)).filter((points) => points.length > 0);
    return lines.length === 0 ? [] : [chartBy(record, by, lines, { what: by, caption: captionOf(record) })];
  });
}

/** Null for a single size, which makes no line. */
export function memoryChart(record: MemoryRecord): LineChart | null {
  // Points of other proportions would make a line jump.
  const all = seriesOf(record).map((points) =>
    points.filter(({ isPlain }) => isPlain).toSorted((a, b) => a.objects - b.objects),
  );
  if (new Set(all.flat().map(({ objects }) => objects)).size < 2) return null;
  const caption = `${captionOf(record)} The published formula includes cache and load; the published data do not.`;
  return chartBy(record, 'objects', all, { what: 'pods and services', caption }, (points) =>
    publishedLines(points.toSorted((a, b) => a.objects - b.objects)),
  );
}
