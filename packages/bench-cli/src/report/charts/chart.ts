/** What all charts share: the look, the scales of the series, the labels of groups. */
import type { Config } from 'vega-lite';
import { GRID, INK, MUTED, serverStyle } from './theme.ts';

/** Sizes in pixels; height and width are those of the plot with its axes. */
export interface Look {
  readonly width: number;
  readonly height: number;
  readonly fontSize: number;
  /** False where the page around it has the title and the legend. */
  readonly standalone: boolean;
}

/** For files: as wide as a column of text in a blog. */
export const FILE_LOOK: Look = { width: 840, height: 460, fontSize: 14, standalone: true };
/** For a page: still legible on a phone, where it is about 350 pixels wide. */
export const PAGE_LOOK: Look = { width: 480, height: 330, fontSize: 13, standalone: false };

/** For a file that may be shown as small as on a phone. */
export const CARD_LOOK: Look = { ...PAGE_LOOK, standalone: true };

export interface ChartServer {
  readonly name: string;
  readonly title: string;
  readonly color: string;
  readonly shape: string;
}

/** The sign of each: colour and shape, in their order. */
export function seriesFrom(named: readonly Pick<ChartServer, 'name' | 'title'>[]): ChartServer[] {
  return named.map(({ name, title }, index) => {
    const { light, shape } = serverStyle(index);
    return { name, title, color: light, shape };
  });
}

/**
 * A Vega expression that turns `datum.value` 0, 1, 2, … into labels of several lines. The text is part of the
 * expression, so that it is written as JSON, whose strings are the expression language's too.
 */
export function labelExpression(labels: readonly (readonly string[])[]): string {
  return `${JSON.stringify(labels)}[datum.value]`;
}

/** Colour and shape by server. The legend is not Vega's: a page has its own, a file gets one from `compose.ts`. */
export function serverChannels({ servers }: { readonly servers: readonly ChartServer[] }) {
  const channel = (range: readonly string[]) => ({
    field: 'server',
    type: 'nominal' as const,
    scale: { domain: servers.map(({ name }) => name), range: [...range] },
    legend: null,
  });
  return {
    color: channel(servers.map(({ color }) => color)),
    shape: channel(servers.map(({ shape }) => shape)),
  };
}

export const FONT = 'Inter, system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

function config(look: Look): Config {
  const { fontSize } = look;
  return {
    font: FONT,
    view: { stroke: null },
    axis: {
      labelFontSize: fontSize - 1,
      titleFontSize: fontSize - 1,
      titleFontWeight: 'normal',
      labelColor: MUTED.light,
      titleColor: MUTED.light,
      domainColor: MUTED.light,
      tickColor: MUTED.light,
      gridColor: GRID.light,
      titlePadding: 8,
      labelLineHeight: fontSize + 3,
      aria: false,
    },
    axisY: { domain: false, ticks: false, labelPadding: 6 },
    axisX: { grid: false },
    axisQuantitative: { labelLimit: 0 },
    header: {
      labelFontSize: fontSize,
      labelFontWeight: 600,
      labelColor: INK.light,
      title: null,
    },
  };
}

/** What every specification begins with. */
export function frame(look: Look): { $schema: string; background: string; padding: number; config: Config } {
  return {
    $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
    background: 'transparent',
    padding: 2,
    config: config(look),
  };
}

/** Position of the `index`-th server's bar in the middle of a group that is one unit wide. */
export function dodge(index: number, servers: number) {
  const width = 0.84 / servers;
  const left = (index - servers / 2) * width;
  return { left: left + width * 0.08, middle: left + width / 2, right: left + width * 0.92 };
}
