/** From a specification to SVG, without a browser: Vega needs none. */
import type { TopLevelSpec } from 'vega-lite';
import { textWidth } from './text-width.ts';

/** Exported by Vega, and missing in its types. */
declare module 'vega' {
  export const textMetrics: { width(item: { fontSize?: number }, text: unknown): number };
}

/** Vega is much to load, and few commands draw anything. */
async function loadVega() {
  const [vega, { compile }] = await Promise.all([import('vega'), import('vega-lite')]);
  // Vega's own hook for text widths where there is no canvas to measure them on.
  vega.textMetrics.width = (item, text) =>
    text === null || text === undefined ? 0 : textWidth(String(text), item.fontSize ?? 11);
  return { ...vega, compile };
}

/** Characters that XML 1.0 forbids (section 2.2); a viewer would refuse the whole picture for one of them. */
function withoutForbidden(svg: string): string {
  return svg.replaceAll(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '\ufffd');
}

export function escapeXml(text: string): string {
  return withoutForbidden(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** A plot: what is inside the `svg` element, and its size. */
export interface Plot {
  readonly body: string;
  readonly width: number;
  readonly height: number;
}

/** A plot with its texts. */
export interface DrawnPlot {
  readonly name: string;
  readonly title: string;
  readonly caption: string;
  /** Names of the series of which it shows something: its legend has no others. */
  readonly series: ReadonlySet<string>;
  readonly plot: Plot;
}

export async function renderPlot(spec: TopLevelSpec): Promise<Plot> {
  const { compile, Error: ERROR_LEVEL, logger, parse, View } = await loadVega();
  const compiled = compile(spec, { logger: logger(ERROR_LEVEL) });
  const view = new View(parse(compiled.spec), { renderer: 'none', logLevel: ERROR_LEVEL });
  const svg = await view.toSVG();
  view.finalize();
  const [open = '', width, height] = /^<svg[^>]* width="([\d.]+)" height="([\d.]+)"[^>]*>/.exec(svg) ?? [];
  const body = svg.slice(open.length, svg.lastIndexOf('</svg>'));
  return { body: withoutForbidden(body), width: Math.ceil(Number(width)), height: Math.ceil(Number(height)) };
}
