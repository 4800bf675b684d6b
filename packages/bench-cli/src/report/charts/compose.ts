/** A plot as a complete SVG: as part of a page, or as a separate image with title, caption and legend. */

import { type ChartServer, FONT, type Look } from './chart.ts';
import { type DrawnPlot, escapeXml } from './render.ts';
import { linesWithin, textWidth } from './text-width.ts';
import { darkRules, INK, MUTED, SURFACE } from './theme.ts';

const PADDING = 22;

/** Outlines of Vega's point shapes with a radius of about one. */
const OUTLINES: Readonly<Record<string, string>> = {
  circle: 'M-1,0a1,1 0 1,0 2,0a1,1 0 1,0 -2,0Z',
  square: 'M-.9,-.9h1.8v1.8h-1.8Z',
  'triangle-up': 'M-1,.9L0,-1L1,.9Z',
  diamond: 'M0,-1.2L.9,0L0,1.2L-.9,0Z',
  cross: 'M-.35,-1h.7v.65h.65v.7h-.65v.65h-.7v-.65h-.65v-.7h.65Z',
  'triangle-down': 'M-1,-.9L0,1L1,-.9Z',
  'triangle-right': 'M-.9,-1L1,0L-.9,1Z',
  'triangle-left': 'M.9,-1L-1,0L.9,1Z',
};

/** The sign of a server in a legend, `radius` pixels in size, centred on the origin. */
export function legendSign({ color, shape }: ChartServer, radius: number): string {
  return `<path d="${OUTLINES[shape] ?? OUTLINES.circle}" fill="${color}" transform="scale(${radius})"/>`;
}

function legend(
  servers: readonly ChartServer[],
  look: Look,
  width: number,
): { body: string; height: number } {
  const { fontSize } = look;
  let x = 0;
  let y = 0;
  const items = servers.map((server) => {
    const size = 18 + textWidth(server.title, fontSize);
    if (x > 0 && x + size > width) {
      x = 0;
      y += fontSize * 1.7;
    }
    const item =
      `<g transform="translate(${(x + 6).toFixed(1)},${(y + fontSize * 0.6).toFixed(1)})">${legendSign(server, 5.5)}` +
      `<text x="12" y="${(fontSize * 0.36).toFixed(1)}" font-size="${fontSize}" fill="${INK.light}">${escapeXml(server.title)}</text></g>`;
    x += size + 20;
    return item;
  });
  return { body: items.join(''), height: y + fontSize * 1.2 };
}

function openTag({ title, caption }: DrawnPlot, width: number, height: number, more: string): string {
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}"${more} role="img" ` +
    `aria-label="${escapeXml(title)}" font-family="${escapeXml(FONT)}"><desc>${escapeXml(caption)}</desc>`
  );
}

/** For a page, which has rules for colours, a heading and a legend: only the plot, as wide as its container. */
export function embeddedSvg(drawn: DrawnPlot): string {
  const { plot } = drawn;
  return `${openTag(drawn, plot.width, plot.height, '')}${plot.body}</svg>`;
}

/** Without what Vega writes into each element though a file has it once, or has no use for it. */
function leanSvg(svg: string): string {
  return svg
    .replaceAll(/ (?:class|pointer-events)="[^"]*"/g, '')
    .replaceAll(/(<(?:g|path|text|line|rect)\b[^>]*?) font-family="[^"]*"/g, '$1');
}

/** A file that adapts to light and dark surroundings: background and foreground change together. */
export function standaloneSvg(drawn: DrawnPlot, servers: readonly ChartServer[], look: Look): string {
  const { plot, title, caption } = drawn;
  const { fontSize } = look;
  const width = plot.width + 2 * PADDING;
  const inner = plot.width;
  const titleSize = fontSize + 6;
  const captionSize = fontSize - 1;
  const lines = linesWithin(caption, inner, captionSize);
  const captionTop = PADDING + titleSize + captionSize * 1.5;
  const legendTop = captionTop + (lines.length - 1) * captionSize * 1.4 + 18;
  const shown = servers.filter(({ server }) => drawn.series.has(server));
  const signs = legend(shown, look, inner);
  const plotTop = Math.round(legendTop + signs.height + 16);
  const height = plotTop + plot.height + PADDING - 6;
  const captionLines = lines.map(
    (line, index) =>
      `<text x="${PADDING}" y="${(captionTop + index * captionSize * 1.4).toFixed(1)}" font-size="${captionSize}" fill="${MUTED.light}">${escapeXml(line)}</text>`,
  );
  return [
    openTag(drawn, width, height, ` width="${width}" height="${height}"`),
    `<style>@media (prefers-color-scheme: dark) {\n${darkRules(servers.length)}\n}</style>`,
    `<rect width="${width}" height="${height}" rx="8" fill="${SURFACE.light}"/>`,
    `<text x="${PADDING}" y="${PADDING + titleSize * 0.8}" font-size="${titleSize}" font-weight="600" fill="${INK.light}">${escapeXml(title)}</text>`,
    ...captionLines,
    `<g transform="translate(${PADDING},${legendTop.toFixed(1)})">${signs.body}</g>`,
    `<svg x="${PADDING}" y="${plotTop}" width="${plot.width}" height="${plot.height}" viewBox="0 0 ${plot.width} ${plot.height}">${leanSvg(plot.body)}</svg>`,
    '</svg>\n',
  ].join('\n');
}

/** Numbers with three decimals or more, which Vega computed. */
const LONG_NUMBER = /-?\d*\.\d{3,}/g;

/**
 * The same file without what only a browser's accessibility tree reads, which a picture in an `img` has no use for, and
 * with tenths of a pixel: half as large. Texts are as they were.
 */
export function slimSvg(svg: string): string {
  return leanSvg(svg)
    .replaceAll(/ (?:aria-(?!label)[a-z]+|role|stroke-miterlimit)="[^"]*"/g, '')
    .replaceAll(/(<(?:g|path|text|line|rect)\b[^>]*?) aria-label="[^"]*"/g, '$1')
    .replaceAll(/ (?:d|transform|[xy][12]?|width|height)="[^"]*"/g, (attribute) =>
      attribute.replaceAll(LONG_NUMBER, (number) => String(Math.round(Number(number) * 10) / 10)),
    );
}
