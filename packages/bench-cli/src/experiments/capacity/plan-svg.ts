/** The chart of a plan that is not kept as a run. */
import { FILE_LOOK, frame, seriesFrom } from '../../report/charts/chart.ts';
import { standaloneSvg } from '../../report/charts/index.ts';
import { renderPlot } from '../../report/charts/render.ts';
import { lineSpec } from '../../report/document/line-chart.ts';
import type { MemoryBasis } from './memory-basis.ts';
import { curvesOf, planChart, seriesOf } from './plan-curves.ts';
import type { CapacityPlan } from './plan-record.ts';

/** As a file that adapts to light and dark surroundings. */
export async function planSvg(plan: CapacityPlan, basis: MemoryBasis): Promise<string> {
  const curves = curvesOf(plan, basis);
  const chart = planChart(plan, curves, basis.source);
  const series = seriesFrom(seriesOf(curves).map(({ name, title }) => ({ server: name, title })));
  const plot = await renderPlot({ ...frame(FILE_LOOK), ...lineSpec(chart, series, FILE_LOOK).spec });
  return standaloneSvg({ ...chart, plot }, series, FILE_LOOK);
}
