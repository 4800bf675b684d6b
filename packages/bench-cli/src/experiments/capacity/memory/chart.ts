/** The charts of a measurement of memory: mebibytes over objects, with the published lines. Pure. */
import { linePoint } from '../../../engine/chart.ts';
import type { LineChart, Series } from '../../../report/document/document.ts';
import { formatBytes, formatCount, MEBIBYTE } from '../../../report/numbers.ts';
import { publishedAs, watchesPods } from '../configurations.ts';
import { BYTES_PER_MEGABYTE, serverWords } from '../figures.ts';
import { formulaBytes, PUBLISHED_POINTS } from '../published.ts';
import { FIGURES, type MemoryFigure, type MemoryRecord } from './evidence.ts';
import { seriesOf } from './lines.ts';
import type { Counts, MemoryCase } from './points.ts';

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
        title: `${title}, ${FIGURES[figure].title}`,
      })),
    ),
    { name: PUBLISHED_FORMULA, title: 'published formula' },
    { name: PUBLISHED_DATA, title: 'published data' },
  ];
}

function measuredLine(points: readonly MemoryCase[], figure: MemoryFigure, by: keyof Counts): Line {
  const { title } = FIGURES[figure];
  return {
    series: seriesName(points[0]?.server ?? '', figure),
    points: points.flatMap(({ summary, server, [by]: count }) =>
      linePoint(
        summary[figure],
        1 / MEBIBYTE,
        count,
        (median) => `${serverWords(server)}, ${formatCount(count)} ${by}, ${title}: ${formatBytes(median)}`,
      ),
    ),
  };
}

function publishedLines(points: readonly MemoryCase[]): Line[] {
  const configuration = publishedAs(points[0]?.configuration ?? 'default');
  const pointAt = (what: string, objects: number, bytes: number, note = '') => {
    const tip = `${what}, ${formatCount(objects)} objects: ${formatBytes(bytes)}${note}`;
    return { x: objects, y: bytes / MEBIBYTE, tip };
  };
  return [
    {
      series: PUBLISHED_FORMULA,
      isMarked: false,
      points: [...new Set(points.map(({ objects }) => objects))].map((objects) =>
        pointAt('published formula', objects, formulaBytes(configuration, objects)),
      ),
    },
    {
      series: PUBLISHED_DATA,
      points: PUBLISHED_POINTS[configuration].map(([objects, megabytes]) =>
        pointAt('published data', objects, megabytes * BYTES_PER_MEGABYTE, ' without cache and load'),
      ),
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
        ...own.flatMap((points) => DRAWN.map((figure) => measuredLine(points, figure, by))),
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
    return lines.length === 0 ? [] : [chartBy(by, lines, { what: by, caption: captionOf(record) })];
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
  return chartBy('objects', all, { what: 'pods and services', caption }, (points) =>
    publishedLines(points.toSorted((a, b) => a.objects - b.objects)),
  );
}
