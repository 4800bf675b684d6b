/** Every chart, in the order of reports. To add one, add a file in this folder and a line here. */
import type { RunRecord } from '../../results/record.ts';
import type { Chart, ChartData, Look } from './chart.ts';
import { differenceChart } from './difference.ts';
import { cpuChart, latencyChart, memoryChart, throughputChart } from './metrics.ts';
import { overTimeChart } from './over-time.ts';
import { percentileChart } from './percentiles.ts';
import { type DrawnPlot, renderPlot } from './render.ts';
import { scalingChart } from './scaling.ts';

export const CHARTS: readonly Chart[] = [
  differenceChart,
  throughputChart,
  latencyChart,
  percentileChart,
  cpuChart,
  memoryChart,
  scalingChart,
  overTimeChart,
];

export interface DrawnPlots {
  readonly drawn: readonly DrawnPlot[];
  /** Charts that the record has no data for, and why. */
  readonly missing: readonly { readonly name: string; readonly title: string; readonly reason: string }[];
}

/** Several formats use the same charts, so they are kept as long as the record. */
const kept = new WeakMap<RunRecord, Map<string, Promise<DrawnPlots>>>();

/** One chart; null where `data` has no figures for it. */
export async function drawPlot(chart: Chart, data: ChartData, look: Look): Promise<DrawnPlot | null> {
  const drawing = chart.draw(data, look);
  if ('missing' in drawing) return null;
  const { name, title } = chart;
  return { name, title, caption: drawing.caption, plot: await renderPlot(drawing.spec) };
}

/** Draws every chart that `data` has figures for. */
export function drawPlots(data: ChartData, look: Look): Promise<DrawnPlots> {
  const byLook = kept.get(data.record) ?? new Map<string, Promise<DrawnPlots>>();
  kept.set(data.record, byLook);
  const key = JSON.stringify([data.delta, look]);
  const plots = byLook.get(key) ?? drawAll(data, look);
  byLook.set(key, plots);
  return plots;
}

async function drawAll(data: ChartData, look: Look): Promise<DrawnPlots> {
  const drawn: DrawnPlot[] = [];
  const missing: DrawnPlots['missing'][number][] = [];
  for (const chart of CHARTS) {
    const { name, title } = chart;
    const drawing = chart.draw(data, look);
    if ('missing' in drawing) missing.push({ name, title, reason: drawing.missing });
    else drawn.push({ name, title, caption: drawing.caption, plot: await renderPlot(drawing.spec) });
  }
  return { drawn, missing };
}

export { CARD_LOOK, type ChartData, type ChartServer, chartData, FILE_LOOK, PAGE_LOOK } from './chart.ts';
export { embeddedSvg, legendSign, slimSvg, standaloneSvg } from './compose.ts';
export { pngOf } from './png.ts';
export { darkened, darkRules } from './theme.ts';
