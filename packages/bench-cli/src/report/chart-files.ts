/** The charts as files: SVG that suits light and dark by itself, and PNG in both, which cannot. */
import type { RunRecord } from '../results/record.ts';
import { chartData, darkened, drawPlots, FILE_LOOK, pngOf, standaloneSvg } from './charts/index.ts';
import type { RenderOptions, ReportFile } from './renderer.ts';

interface NamedSvg {
  readonly name: string;
  readonly svg: string;
  readonly servers: number;
}

async function svgs(record: RunRecord, options: RenderOptions): Promise<NamedSvg[]> {
  const data = chartData(record, options.delta);
  const { drawn } = await drawPlots(data, FILE_LOOK);
  return drawn.map((plot) => ({
    name: plot.name,
    svg: standaloneSvg(plot, data.servers, FILE_LOOK),
    servers: data.servers.length,
  }));
}

export async function svgFiles(record: RunRecord, options: RenderOptions): Promise<ReportFile[]> {
  return (await svgs(record, options)).map(({ name, svg }) => ({ path: `charts/${name}.svg`, content: svg }));
}

export async function pngFiles(record: RunRecord, options: RenderOptions): Promise<ReportFile[]> {
  return (await svgs(record, options)).flatMap(({ name, svg, servers }) => [
    { path: `charts/${name}.png`, content: pngOf(svg) },
    { path: `charts/${name}-dark.png`, content: pngOf(darkened(svg, servers)) },
  ]);
}
