/** A plot as a complete SVG: as part of a page, or as a separate image with title, caption and legend. */

import { type ChartServer, FONT, type Look } from './chart.ts';
import { type DrawnPlot, escapeXml } from './render.ts';
import { linesWithin, shortened, textWidth } from './text-width.ts';
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
    const title = shortened(server.title, width - 18, fontSize);
    const size = 18 + textWidth(title, fontSize);
    if (x > 0 && x + size > width) {
      x = 0;
      y += fontSize * 1.7;
    }
    const item =
      `<g transform="translate(${(x + 6).toFixed(1)},${(y + fontSize * 0.6).toFixed(1)})">${legendSign(server, 5.5)}` +
      `<text x="12" y="${(fontSize * 0.36).toFixed(1)}" font-size="${fontSize}" fill="${INK.light}">${escapeXml(title)}</text></g>`;
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
  // Bold letters are wider.
  const titleLines = linesWithin(title, inner, titleSize * 1.1);
  const lines = linesWithin(caption, inner, captionSize);
  const titleBottom = PADDING + titleSize * (1 + 1.2 * (titleLines.length - 1));
  const captionTop = titleBottom + captionSize * 1.5;
  const legendTop = captionTop + (lines.length - 1) * captionSize * 1.4 + 18;
  const shown = servers.filter(({ name }) => drawn.series.has(name));
  const signs = legend(shown, look, inner);
  const plotTop = Math.round(legendTop + signs.height + 16);
  const height = plotTop + plot.height + PADDING - 6;
  const heading = titleLines.map(
    (line, index) =>
      `<text x="${PADDING}" y="${PADDING + titleSize * (0.8 + 1.2 * index)}" font-size="${titleSize}" font-weight="600" fill="${INK.light}">${escapeXml(line)}</text>`,
  );
  const captionLines = lines.map(
    (line, index) =>
      `<text x="${PADDING}" y="${(captionTop + index * captionSize * 1.4).toFixed(1)}" font-size="${captionSize}" fill="${MUTED.light}">${escapeXml(line)}</text>`,
  );
  return [
    openTag(drawn, width, height, ` width="${width}" height="${height}"`),
    `<style>@media (prefers-color-scheme: dark) {\n${darkRules(servers.length)}\n}</style>`,
    `<rect width="${width}" height="${height}" rx="8" fill="${SURFACE.light}"/>`,
    ...heading,
    ...captionLines,
    `<g transform="translate(${PADDING},${legendTop.toFixed(1)})">${signs.body}</g>`,
    `<svg x="${PADDING}" y="${plotTop}" width="${plot.width}" height="${plot.height}" viewBox="0 0 ${plot.width} ${plot.height}">${leanSvg(plot.body)}</svg>`,
    '</svg>\n',
  ].join('\n');
}

/** Numbers with three decimals or more, which Vega computed. */
const LONG_NUMBER = /-?\d*\.\d{3,}/g;

/** Marks of Vega that draw nothing: empty texts and groups, and paths without a colour. */
const UNSEEN = /<path(?: (?!fill|stroke)[\w-]+="[^"]*")*\/>|<text\b[^>]*\/>|<g\b[^>]*?(?:\/>|><\/g>)/g;

/** What elements have anyway. */
const DEFAULTS =
  / (?:opacity="1"|stroke-width="1"|stroke-dasharray="1,0"|font-weight="normal"|transform="translate\(0,0\)"|[xy]2="0")/g;

function withoutUnseen(svg: string): string {
  const slimmer = svg.replaceAll(UNSEEN, '');
  return slimmer === svg ? svg : withoutUnseen(slimmer);
}

/** Without groups that say nothing of what is in them. */
function withoutPlainGroups(svg: string): string {
  const open: boolean[] = [];
  return svg.replaceAll(/<g\b[^>]*>|<\/g>/g, (tag) => {
    const isPlain = tag === '</g>' ? open.pop() === true : tag === '<g>';
    if (tag !== '</g>') open.push(isPlain);
    return isPlain ? '' : tag;
  });
}

const LOOKS = / (?:text-anchor|font-size|font-weight|fill|stroke|stroke-width)="[^"]*"/g;

/** With what neighbours have in common said once, in a group of their own. */
function withSharedLooks(svg: string): string {
  return svg.replaceAll(
    /(?:<(?:line|path)\b[^>]*\/>){3,}|(?:<text\b[^>]*>(?:[^<]|<\/?tspan\b[^>]*>)*<\/text>){3,}/g,
    (marks) => {
      const tags = marks.match(/<(?:line|path|text)\b[^>]*>/g) ?? [];
      const looks = (tags[0]?.match(LOOKS) ?? []).filter((look) => tags.every((tag) => tag.includes(look)));
      const bare = looks.reduce((text, look) => text.replaceAll(look, ''), marks);
      return looks.length === 0 ? marks : `<g${looks.join('')}>${bare}</g>`;
    },
  );
}

/**
 * The same picture without what nobody sees of a file in an `img`, and with tenths of a pixel: half as large. Texts are
 * as they were.
 */
export function slimSvg(svg: string): string {
  const slim = leanSvg(svg)
    .replaceAll(/<desc>.*?<\/desc>/gs, '')
    .replaceAll(/ (?:aria-(?!label)[a-z]+|role|stroke-miterlimit)="[^"]*"/g, '')
    .replaceAll(/(<(?:g|path|text|line|rect)\b[^>]*?) aria-label="[^"]*"/g, '$1')
    .replaceAll(/ (?:d|transform|[xy][12]?|width|height)="[^"]*"/g, (attribute) =>
      attribute.replaceAll(LONG_NUMBER, (number) => String(Math.round(Number(number) * 10) / 10)),
    )
    .replaceAll(/<(?:g|path|text|line)\b[^>]*>/g, (tag) => tag.replaceAll(DEFAULTS, ''));
  const seen = withoutUnseen(slim).replaceAll(/<text\b[^>]* opacity="0"[^>]*>[^<]*<\/text>/g, '');
  const isUsed = (rule: string) => seen.includes(` ${rule.slice(1, rule.indexOf(']'))}`);
  const styled = seen.replaceAll(/\[(?:fill|stroke)="[^"]*"\]\{[^}]*\}/g, (rule) =>
    isUsed(rule) ? rule : '',
  );
  return withSharedLooks(withoutPlainGroups(styled));
}
