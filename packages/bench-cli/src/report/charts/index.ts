/** The parts of every chart: looks, signs, colours, and how a plot becomes a file or a part of a page. */
export type { ChartServer } from './chart.ts';
export { embeddedSvg, legendSign, slimSvg, standaloneSvg } from './compose.ts';
export { pngOf } from './png.ts';
export { darkened, darkRules } from './theme.ts';
