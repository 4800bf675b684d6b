/** The charts as files: SVG that adapts to light and dark, and one PNG for each. */
import type { RunRecord } from '../results/record.ts';
import { chartData, darkened, drawPlots, FILE_LOOK, pngOf, standaloneSvg } from './charts/index.ts';
import type { RenderOptions, ReportFile } from './renderer.ts';

interface NamedSvg {
  readonly name: string;
  readonly svg: string;
  readonly servers: number;
}

async function* svgs(record: RunRecord, options: RenderOptions): AsyncGenerator<NamedSvg> {
  const data = chartData(record, options.delta);
  const { drawn } = await drawPlots(data, FILE_LOOK);
  for (const plot of drawn) {
    const svg = standaloneSvg(plot, data.servers, FILE_LOOK);
    yield { name: plot.name, svg, servers: data.servers.length };
  }
}

export async function* svgFiles(record: RunRecord, options: RenderOptions): AsyncGenerator<ReportFile> {
  for await (const { name, svg } of svgs(record, options)) {
    yield { path: `charts/${name}.svg`, content: svg };
  }
}

export async function* pngFiles(record: RunRecord, options: RenderOptions): AsyncGenerator<ReportFile> {
  for await (const { name, svg, servers } of svgs(record, options)) {
    yield { path: `charts/${name}.png`, content: await pngOf(svg) };
    yield { path: `charts/${name}-dark.png`, content: await pngOf(darkened(svg, servers)) };
  }
}
