/** A document in short: its first chart, and everything that it says above its sections. */
import { CARD_LOOK } from '../charts/chart.ts';
import { slimSvg, standaloneSvg } from '../charts/index.ts';
import type { Brief, Picture } from '../renderer.ts';
import { chartsOf, type DocumentChart, type ReportDocument } from './document.ts';
import { drawChart, seriesOf } from './draw.ts';

/** What a chart shows, as a table. */
function figuresOf(chart: DocumentChart): Pick<Picture, 'columns' | 'rows'> {
  return chart.type === 'intervals'
    ? {
        columns: ['group', 'series', 'value', 'low', 'high'],
        rows: chart.groups.flatMap(({ label, points }) =>
          points.map(({ series, value, low, high }) => [label, series, value, low, high]),
        ),
      }
    : {
        columns: ['panel', 'series', 'x', 'y', 'low', 'high'],
        rows: chart.panels.flatMap(({ title, lines }) =>
          lines.flatMap(({ series, points }) =>
            points.map(({ x, y, low = null, high = null }) => [title, series, x, y, low, high]),
          ),
        ),
      };
}

/** One chart with its figures. */
export async function pictureOf(
  chart: DocumentChart,
  document: Pick<ReportDocument, 'series'>,
): Promise<Picture> {
  const series = seriesOf(document);
  const plot = await drawChart(chart, series, CARD_LOOK);
  const svg = slimSvg(standaloneSvg(plot, series, CARD_LOOK));
  return { title: chart.title, caption: chart.caption, svg, ...figuresOf(chart) };
}

export async function documentBrief(document: ReportDocument): Promise<Brief> {
  const { kind, title, headline, state, facts, findings, warnings } = document;
  const [first] = chartsOf(document);
  const picture = first === undefined ? null : await pictureOf(first, document);
  return { question: kind, title, lead: '', bars: null, headline, state, facts, findings, warnings, picture };
}
