/** The chart of a plan that is not kept as a run. */
import { FILE_LOOK, seriesFrom } from '../../report/charts/chart.ts';
import { standaloneSvg } from '../../report/charts/index.ts';
import { drawChart } from '../../report/document/draw.ts';
import type { MemoryBasis } from './memory-basis.ts';
import { curvesOf, planChart, seriesOf } from './plan-curves.ts';
import type { CapacityPlan } from './plan-record.ts';

/** As a file that adapts to light and dark surroundings. */
export async function planSvg(plan: CapacityPlan, basis: MemoryBasis): Promise<string> {
  const curves = curvesOf(plan, basis);
  const chart = planChart(plan, curves, basis.source);
  const series = seriesFrom(seriesOf(curves));
  return standaloneSvg(await drawChart(chart, series, FILE_LOOK), series, FILE_LOOK);
}
