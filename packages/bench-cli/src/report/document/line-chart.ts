/** Lines over time or over a size, with shaded stretches and horizontal limits, in one panel or several. */
import { type ChartServer, FILE_LOOK, type Look, serverChannels } from '../charts/chart.ts';
import { CUT_NOTE, reachOf } from '../charts/cut.ts';
import { linesWithin, textWidth } from '../charts/text-width.ts';
import { INK, MUTED, NOISE, SURFACE } from '../charts/theme.ts';
import type { LineChart } from './document.ts';
import { MARK_PLACES, markPlaces, type PlotSize } from './mark-places.ts';

/** With more points than this, lines are drawn without them. */
const MAX_MARKED = 800;

/** What all layers read, told apart by `layer`: the panels of a facet share one list of data. */
function rowsOf(chart: LineChart, size: PlotSize, fontSize: number) {
  const reach = reachOfAll(chart);
  const isShared = !hasFlatPanel(chart);
  return chart.panels.flatMap((own) => {
    const { title: panel, lines, bands = [], marks = [] } = own;
    const places = markPlaces(chart, own, isShared ? chart.panels : [own], size, fontSize);
    return [
      ...bands.map(({ from, to, series = '', label = '' }) => ({
        layer: series === '' ? 'grey band' : 'band',
        panel,
        server: series,
        x: from,
        x2: to,
        label,
      })),
      ...marks.map(({ y, label }, index) => ({
        layer: 'mark',
        panel,
        server: '',
        y,
        label,
        place: places[index],
      })),
      ...lines.flatMap(({ series, isMarked = true, isDashed = false, isJoined = true, points }, line) =>
        points.map(({ x, y, low, high, isRinged = false, tip }) => ({
          layer: 'point',
          panel,
          server: series,
          line: `${panel} ${line}`,
          isMarked,
          isDashed,
          isJoined,
          isRinged,
          x,
          y,
          low: low ?? y,
          high: Math.min(high ?? y, reach),
          isCut: (high ?? y) > reach,
          tip,
        })),
      ),
    ];
  });
}

/** Of all panels: a whisker ends there in an arrow. */
function reachOfAll({ panels, yScale }: LineChart): number {
  const all = panels.flatMap(({ lines }) => lines.flatMap(({ points }) => points.map(({ y }) => y)));
  // On a logarithmic axis, long whiskers dwarf nothing.
  return yScale === 'log' ? Number.POSITIVE_INFINITY : reachOf(all);
}

/** A panel whose lines would be flat beside those of another: less than a fifth as high, though not zero. */
const FLAT = 0.2;

function hasFlatPanel({ panels }: LineChart): boolean {
  const heights = panels
    .map(({ lines }) =>
      lines.reduce((most, { points }) => points.reduce((top, { y }) => Math.max(top, y), most), 0),
    )
    .filter((height) => height > 0);
  return Math.min(...heights) < FLAT * Math.max(...heights);
}

/** 1, 2 and 5 of every decade between the ends, or only the powers of ten where they would be too many. */
function logTicks(low: number, high: number): number[] {
  const first = Math.floor(Math.log10(low));
  const decades = Array.from(
    { length: Math.ceil(Math.log10(high)) - first + 1 },
    (_, index) => first + index,
  );
  const ticks = (steps: readonly number[]) =>
    decades
      .flatMap((decade) => steps.map((step) => step * 10 ** decade))
      .filter((tick) => tick >= low && tick <= high);
  const fine = ticks([1, 2, 5]);
  return fine.length <= 8 ? fine : ticks([1]);
}

/** Titles of axes are broken to fit a panel, beside which others have theirs. */
interface PanelSize extends PlotSize {
  readonly titleSize: number;
}

/** The horizontal axis, with the labels of the chart where it has some. */
function horizontal(
  { panels, xAxis, xScale = 'linear', xTicks, xFromZero = false }: LineChart,
  { width, titleSize }: PanelSize,
) {
  const title = linesWithin(xAxis, width, titleSize);
  const scale = { type: xScale, zero: xFromZero, nice: false };
  if (xTicks === undefined) {
    const format = xScale === 'log' ? ',~g' : '~s';
    // In thousands, D3 writes zero as 0k.
    return {
      scale,
      axis: { title, tickCount: 6, format, labelExpr: "datum.value === 0 ? '0' : datum.label" },
    };
  }
  const at = panels.flatMap(({ lines }) => lines.flatMap(({ points }) => points.map(({ x }) => x)));
  const [from, to] = [Math.min(...at) - 1e-9, Math.max(...at) + 1e-9];
  const values = xTicks.filter((tick) => tick.at >= from && tick.at <= to);
  const labels = JSON.stringify(Object.fromEntries(values.map((tick) => [tick.at.toFixed(4), tick.label])));
  return {
    scale,
    axis: {
      title,
      values: values.map((tick) => tick.at),
      labelExpr: `${labels}[format(datum.value, '.4f')]`,
      labelOverlap: true,
      grid: !xFromZero,
    },
  };
}

function vertical(
  { panels, yAxis, yScale = 'linear', fromZero = true }: LineChart,
  { height, titleSize }: PanelSize,
) {
  const title = linesWithin(yAxis, height, titleSize);
  if (yScale === 'linear')
    return { scale: { zero: fromZero, nice: true }, axis: { title, format: ',~r', tickCount: 5 } };
  const all = panels.flatMap(({ lines }) =>
    lines.flatMap(({ points }) => points.flatMap(({ y, low = y, high = y }) => [low, high])),
  );
  const domain = [Math.min(...all) * 0.85, Math.max(...all) * 1.15] as const;
  return {
    scale: { type: yScale, nice: false, domain: [...domain] },
    axis: { title, format: '~r', values: logTicks(...domain) },
  };
}

const only = (layer: string, more = 'true') => [
  { filter: `datum.layer === ${JSON.stringify(layer)} && ${more}` },
];

/** Above the lines, each with an edge that keeps it legible where a line crosses it nevertheless. */
function markLabels<Y>(y: Y, { fontSize }: Look) {
  const edges = [{ stroke: SURFACE.light, strokeWidth: 4 }, {}] as const;
  return MARK_PLACES.flatMap(({ align, isAbove }, place) =>
    edges.map((edge) => ({
      transform: only('mark', `datum.place === ${place}`),
      mark: {
        type: 'text' as const,
        align,
        baseline: isAbove ? ('bottom' as const) : ('top' as const),
        dx: align === 'left' ? 4 : -4,
        dy: isAbove ? -3 : 4,
        fontSize: fontSize - 2,
        color: INK.light,
        aria: false,
        ...edge,
      },
      encoding: {
        x: align === 'left' ? { value: 0 } : { value: 'width' as const },
        y,
        text: { field: 'label', type: 'nominal' as const },
      },
    })),
  );
}

function layers(
  chart: LineChart,
  servers: readonly ChartServer[],
  look: Look,
  size: PlotSize,
  isMarked: boolean,
) {
  const panel = { ...size, titleSize: look.fontSize - 1 };
  const { color, shape } = serverChannels({ servers });
  const x = { field: 'x', type: 'quantitative' as const, ...horizontal(chart, panel) };
  const y = { field: 'y', type: 'quantitative' as const, ...vertical(chart, panel) };
  const aria = { aria: false };
  const stretch = { x, x2: { field: 'x2' } };
  return [
    {
      transform: only('grey band'),
      mark: { type: 'rect' as const, color: NOISE.light, opacity: 0.5, ...aria },
      encoding: stretch,
    },
    {
      transform: only('band'),
      mark: { type: 'rect' as const, opacity: 0.13, ...aria },
      encoding: { ...stretch, color },
    },
    // A border, because neighbours may have the same colour.
    {
      transform: only('band'),
      mark: { type: 'rule' as const, color: MUTED.light, strokeWidth: 1, opacity: 0.6, ...aria },
      encoding: { x },
    },
    {
      transform: only('band'),
      mark: {
        type: 'text' as const,
        align: 'left' as const,
        baseline: 'top' as const,
        dx: 4,
        dy: 4,
        fontSize: look.fontSize - 2,
        color: INK.light,
        ...aria,
      },
      encoding: { x, y: { value: 0 }, text: { field: 'label', type: 'nominal' as const } },
    },
    {
      transform: only('mark'),
      mark: { type: 'rule' as const, color: MUTED.light, strokeDash: [5, 4], ...aria },
      encoding: { y },
    },
    {
      transform: only('point', 'datum.high > datum.low'),
      mark: { type: 'rule' as const, strokeWidth: 1.6, opacity: 0.8, ...aria },
      encoding: { x, y: { ...y, field: 'low' }, y2: { field: 'high' }, color },
    },
    ...([false, true] as const).map((isDashed) => ({
      transform: only('point', `datum.isJoined && datum.isDashed === ${isDashed}`),
      mark: {
        type: 'line' as const,
        strokeWidth: isDashed ? 1.4 : 1.8,
        strokeDash: isDashed ? [5, 4] : [1, 0],
        ...aria,
      },
      encoding: { x, y, color, detail: { field: 'line', type: 'nominal' as const } },
    })),
    {
      transform: only('point', 'datum.isCut'),
      mark: { type: 'text' as const, text: '▲', dy: 3, fontSize: look.fontSize - 2, ...aria },
      encoding: { x, y: { ...y, field: 'high' }, color },
    },
    {
      transform: only('point', 'datum.isRinged'),
      mark: { type: 'point' as const, filled: false, size: 70, strokeWidth: 1.2, ...aria },
      encoding: { x, y, color },
    },
    {
      transform: only('point', isMarked ? 'datum.isMarked' : 'false'),
      mark: { type: 'point' as const, filled: true, size: 26, opacity: 0.9 },
      encoding: { x, y, color, shape, description: { field: 'tip', type: 'nominal' as const } },
    },
    ...markLabels(y, look),
  ];
}

/** The grid of panels. On a page and on a card, which may be as narrow as a phone, few panels stand one below the other. */
function panelGrid(groups: readonly unknown[], look: Look) {
  const narrow = groups.length <= 3 ? 1 : 2;
  const most = look.standalone && look.width >= FILE_LOOK.width ? 3 : narrow;
  // Four panels in a row of three and one would leave two empty places, each with an axis.
  const columns = Math.max(1, groups.length === 4 ? Math.min(2, most) : Math.min(groups.length, most));
  // Beside the panels: the axis of the left one and the space between them.
  const outside = 4 + look.fontSize * 5.6 + (columns - 1) * 22;
  return {
    columns,
    width: Math.floor((look.width - outside) / columns),
    height: Math.round(columns === 1 ? look.height * 0.66 : look.height * 0.5),
    spacing: { row: 26, column: 22 },
  };
}

/** Labels of different widths move panels sideways: none would stand above a horizontal axis of all. */
const OWN_AXES = { scale: { y: 'independent' }, axis: { x: 'independent' } } as const;

/** Titles are bold, and other fonts wider than Inter: by up to a tenth each. */
const TITLE_ROOM = 1.2;

/** What cannot stand in a text of an expression: Vega-Lite replaces the first, the others end a line. */
const NO_TEXT = /datum|[\p{Zl}\p{Zp}\p{Cc}]/u;

/** Titles of panels, in lines where one of them is wider than its panel. */
function panelHeader(titles: readonly string[], panelWidth: number, { fontSize }: Look) {
  const width = panelWidth / TITLE_ROOM;
  if (titles.every((title) => textWidth(title, fontSize) <= width)) return {};
  if (titles.some((title) => NO_TEXT.test(title))) return {};
  const lines = titles.map((title) => linesWithin(title, width, fontSize));
  const labelExpr = `${JSON.stringify(lines)}[indexof(${JSON.stringify(titles)}, datum.value)]`;
  return { header: { labelExpr, labelLineHeight: fontSize + 3 } };
}

export function lineSpec(chart: LineChart, servers: readonly ChartServer[], look: Look) {
  const { columns, spacing, ...size } = panelGrid(chart.panels, look);
  const rows = rowsOf(chart, size, look.fontSize - 2);
  const points = rows.filter(({ layer }) => layer === 'point').length;
  const titles = chart.panels.map(({ title }) => title);
  const spec = {
    data: { values: rows },
    facet: {
      ...{ field: 'panel', type: 'nominal' as const, sort: titles, title: null },
      ...panelHeader(titles, size.width, look),
    },
    columns,
    spacing,
    ...(hasFlatPanel(chart) ? { resolve: OWN_AXES } : {}),
    spec: { ...size, layer: layers(chart, servers, look, size, points <= MAX_MARKED) },
  };
  return { spec, note: rows.some((row) => 'isCut' in row && row.isCut) ? CUT_NOTE : '' };
}
