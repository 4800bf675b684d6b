/** The interface of a chart, and what all charts share: the look, the servers' scales, the groups' labels. */
import type { Config, TopLevelSpec } from 'vega-lite';
import type { CaseRecord, OkTrial, RunRecord } from '../../results/record.ts';
import type { DeltaDefinition } from '../../stats/deltas.ts';
import { type CaseGroup, furtherPoint, groupCases, serverTitle } from '../cases.ts';
import { okTrialsByCase } from '../marks.ts';
import { formatCpus } from '../numbers.ts';
import { shortened } from './text-width.ts';
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
  readonly server: string;
  readonly title: string;
  readonly color: string;
  readonly shape: string;
}

/** The record as charts see it. */
export interface ChartData {
  readonly record: RunRecord;
  readonly delta: DeltaDefinition;
  readonly servers: readonly ChartServer[];
  /** Points of the matrix, cases of which are compared with each other. */
  readonly groups: readonly CaseGroup[];
  trialsOf(item: CaseRecord): readonly OkTrial[];
}

export interface Drawing {
  readonly spec: TopLevelSpec;
  /** What is drawn, in sentences: units, what whiskers and points are. */
  readonly caption: string;
}

/** Why a record has nothing to draw, as the end of a sentence: "the run has only one tier". */
export interface Missing {
  readonly missing: string;
}

export interface Chart {
  /** Name of its files. */
  readonly name: string;
  readonly title: string;
  draw(data: ChartData, look: Look): Drawing | Missing;
}

/** Longer names would leave no room for the figures. */
const MAX_TITLE_LENGTH = 32;

/** The sign of each: colour and shape, in their order. */
export function seriesFrom(named: readonly Pick<ChartServer, 'server' | 'title'>[]): ChartServer[] {
  return named.map(({ server, title }, index) => {
    const { light, shape } = serverStyle(index);
    return { server, title: shortened(title, MAX_TITLE_LENGTH), color: light, shape };
  });
}

export function chartData(record: RunRecord, delta: DeltaDefinition): ChartData {
  const trials = okTrialsByCase(record);
  // The baseline first, so that it is grey in every report.
  const kinds = [...new Set([record.baseline, ...record.cases.map(({ server }) => server)])];
  const present = kinds.filter((kind) => record.cases.some(({ server }) => server === kind));
  return {
    record,
    delta,
    servers: seriesFrom(present.map((server) => ({ server, title: serverTitle(record, server) }))),
    groups: groupCases(record),
    trialsOf: (item) => trials.get(item.key) ?? [],
  };
}

/** Lines of a group's label on an axis: `Tier 2`, `single`, and what else sets it apart. */
export function labelLines({ title }: CaseGroup): string[] {
  return title.split(', ').map((line) => shortened(line, MAX_TITLE_LENGTH));
}

/** `CoreDNS, tier 1, single`, as tooltips begin. */
export function nameOf({ record }: ChartData, item: CaseRecord): string {
  const point = [`tier ${formatCpus(item.tier)}`, item.mode, ...furtherPoint(record, item)];
  return [serverTitle(record, item.server), ...point].join(', ');
}

/**
 * A Vega expression that turns `datum.value` 0, 1, 2, … into labels of several lines. The text is part of the
 * expression, so that it is written as JSON, whose strings are the expression language's too.
 */
export function labelExpression(labels: readonly (readonly string[])[]): string {
  return `${JSON.stringify(labels)}[datum.value]`;
}

/** Colour and shape by server. The legend is not Vega's: a page has its own, a file gets one from `compose.ts`. */
export function serverChannels({ servers }: Pick<ChartData, 'servers'>) {
  const channel = (range: readonly string[]) => ({
    field: 'server',
    type: 'nominal' as const,
    scale: { domain: servers.map(({ server }) => server), range: [...range] },
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

interface Frame {
  readonly $schema: string;
  readonly background: string;
  readonly padding: number;
  readonly config: Config;
}

/** What every specification begins with. */
export function frame(look: Look): Frame {
  return {
    $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
    background: 'transparent',
    padding: 2,
    config: config(look),
  };
}

/** With more points than this in one chart, they hide each other and drawing takes seconds. */
const MAX_POINTS = 600;
/** Fewer points of a case would not show how its trials scatter. */
const MIN_PER_CASE = 12;

/** How many trials of each case are drawn: all of them, unless there are very many. */
export function drawnTrials({ groups, trialsOf }: ChartData): { most: number; isThinned: boolean } {
  const cases = groups.flatMap((group) => group.cases);
  const longest = Math.max(0, ...cases.map((item) => trialsOf(item).length));
  const most = Math.max(MIN_PER_CASE, Math.floor(MAX_POINTS / Math.max(1, cases.length)));
  return longest > most ? { most, isThinned: true } : { most: longest, isThinned: false };
}

/** At most `most` of `items`, evenly chosen, the first and the last always among them. */
export function thinned<T>(items: readonly T[], most: number): T[] {
  if (items.length <= most) return [...items];
  return Array.from({ length: most }, (_, index) =>
    Math.round((index * (items.length - 1)) / (most - 1)),
  ).flatMap((index) => items[index] ?? []);
}

/** Position of the `index`-th server's bar in the middle of a group that is one unit wide. */
export function dodge(index: number, servers: number): { left: number; middle: number; right: number } {
  const width = 0.84 / servers;
  const left = (index - servers / 2) * width;
  return { left: left + width * 0.08, middle: left + width / 2, right: left + width * 0.92 };
}
