/** The charts of a document, in the look of all reports. */
import type { TopLevelSpec } from 'vega-lite';
import { type ChartServer, frame, type Look, seriesFrom } from '../charts/chart.ts';
import { type DrawnPlot, renderPlot } from '../charts/render.ts';
import { differenceSpec } from './difference-chart.ts';
import { chartsOf, type DocumentChart, type ReportDocument } from './document.ts';
import { intervalSpec } from './interval-chart.ts';
import { lineSpec } from './line-chart.ts';

function drawn(chart: DocumentChart, series: readonly ChartServer[], look: Look) {
  switch (chart.type) {
    case 'intervals':
      return intervalSpec(chart, series, look);
    case 'differences':
      return differenceSpec(chart, series, look);
    case 'lines':
      return lineSpec(chart, series, look);
  }
}

function drawnSeries(chart: DocumentChart): Set<string> {
  switch (chart.type) {
    case 'intervals':
      return new Set(
        chart.groups.flatMap(({ points }) =>
          points.filter(({ value }) => value !== null).map(({ series }) => series),
        ),
      );
    case 'differences':
      return new Set(chart.rows.map(({ series }) => series));
    case 'lines':
      return new Set(
        chart.panels.flatMap(({ lines, bands = [] }) => [
          ...lines.filter(({ points }) => points.length > 0).map((line) => line.series),
          ...bands.flatMap((band) => band.series ?? []),
        ]),
      );
  }
}

/** One chart. */
export async function drawChart(
  chart: DocumentChart,
  series: readonly ChartServer[],
  look: Look,
): Promise<DrawnPlot> {
  const { name, title, caption } = chart;
  const { spec, note } = drawn(chart, series, look);
  const whole: TopLevelSpec = { ...frame(look), ...spec };
  const plot = await renderPlot(whole);
  return { name, title, caption: caption + note, series: drawnSeries(chart), plot };
}

/** Several formats use the same charts, so they are kept as long as the document. */
const kept = new WeakMap<ReportDocument, Map<Look, Promise<DrawnPlot[]>>>();

async function drawAll(document: ReportDocument, look: Look): Promise<DrawnPlot[]> {
  const series = seriesFrom(document.series);
  const drawn: DrawnPlot[] = [];
  for (const chart of chartsOf(document)) {
    drawn.push(await drawChart(chart, series, look));
  }
  return drawn;
}

/** Every chart of the document, in its order. */
export function drawCharts(document: ReportDocument, look: Look): Promise<DrawnPlot[]> {
  const byLook = kept.get(document) ?? new Map<Look, Promise<DrawnPlot[]>>();
  kept.set(document, byLook);
  const plots = byLook.get(look) ?? drawAll(document, look);
  byLook.set(look, plots);
  return plots;
}
