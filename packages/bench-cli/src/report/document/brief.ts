/** A document in short: its first chart, and everything that it says above its sections. */
import { CARD_LOOK, seriesFrom } from '../charts/chart.ts';
import { slimSvg, standaloneSvg } from '../charts/index.ts';
import type { Brief, Picture } from '../renderer.ts';
import { chartsOf, type DocumentChart, type ReportDocument } from './document.ts';
import { drawChart } from './draw.ts';

/** What a chart shows, as a table. */
function figuresOf(chart: DocumentChart): Pick<Picture, 'columns' | 'rows'> {
  switch (chart.type) {
    case 'intervals':
      return {
        columns: ['group', 'series', 'value', 'low', 'high'],
        rows: chart.groups.flatMap(({ label, points }) =>
          points.map(({ series, value, low, high }) => [
            label.replaceAll('\n', ', '),
            series,
            value,
            low,
            high,
          ]),
        ),
      };
    case 'differences':
      return {
        columns: ['label', 'series', 'value', 'low', 'high'],
        rows: chart.rows.map(({ label, series, value, low, high }) => [
          label.join(', '),
          series,
          value,
          low,
          high,
        ]),
      };
    case 'lines':
      return {
        columns: ['panel', 'series', 'x', 'y', 'low', 'high'],
        rows: chart.panels.flatMap(({ title, lines }) =>
          lines.flatMap(({ series, points }) =>
            points.map(({ x, y, low = null, high = null }) => [title, series, x, y, low, high]),
          ),
        ),
      };
  }
}

/** More than any clock tells. */
const DIGITS = 9;

/** One chart with its figures. */
export async function pictureOf(
  chart: DocumentChart,
  document: Pick<ReportDocument, 'series'>,
): Promise<Picture> {
  const series = seriesFrom(document.series);
  const plot = await drawChart(chart, series, CARD_LOOK);
  const svg = slimSvg(standaloneSvg(plot, series, CARD_LOOK));
  const { columns, rows } = figuresOf(chart);
  const exact = rows.map((row) =>
    row.map((cell) => (typeof cell === 'number' ? Number(cell.toPrecision(DIGITS)) : cell)),
  );
  return { title: chart.title, caption: chart.caption, svg, columns, rows: exact };
}

export async function documentBrief(document: ReportDocument): Promise<Brief> {
  const { kind, title, headline, state, facts, warnings, lead = null } = document;
  const hasGroups = new Set(document.findings.map(({ group }) => group)).size > 1;
  const findings = document.findings.map((finding) => ({
    ...finding,
    subject: [finding.subject, ...(hasGroups ? [finding.group ?? ''] : [])].join(', '),
  }));
  const [first] = chartsOf(document);
  const picture = first === undefined ? null : await pictureOf(first, document);
  const sentence = lead?.text ?? document.post.description;
  return { question: kind, title, lead, sentence, headline, state, facts, findings, warnings, picture };
}
