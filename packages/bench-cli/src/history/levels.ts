/** Figures of alike cases side by side, as a chart: over versions, or without several, over time. Pure. */
import { parseServerName } from '../config/server-name.ts';
import { type IntervalChart, intervalOf } from '../report/document/document.ts';
import { axisUnit, type EstimandFacts, showFigure } from '../report/estimand.ts';
import { capitalized } from '../text.ts';
import { serverOf } from './entry.ts';
import type { FigureRow } from './trend.ts';

interface Level extends FigureRow {
  /** Of the server, in words. */
  readonly name: string;
}

/** So many groups are still legible. */
const MAX_DRAWN = 12;

const versionOf = ({ item }: FigureRow) => parseServerName(serverOf(item) ?? '')?.version ?? null;

export const versionsIn = (rows: readonly FigureRow[]) =>
  new Set(rows.flatMap((row) => versionOf(row) ?? [])).size;

/** Versions from the oldest on, each with its newest figure; without several, the newest runs. `levels`: the oldest first. */
function drawnOf(levels: readonly Level[]) {
  if (versionsIn(levels) < 2)
    return levels.map((level) => ({
      level,
      label: level.run.startedAt.slice(0, 10),
      group: level.run.id,
      series: level.name,
    }));
  const newest = [...new Map(levels.map((level) => [level.name, level])).values()];
  const drawn = newest.flatMap((level) => {
    const label = versionOf(level);
    return label === null
      ? []
      : [{ level, label, group: label, series: level.name.replace(` ${label}`, '') }];
  });
  return drawn.toSorted((a, b) => a.label.localeCompare(b.label, 'en', { numeric: true }));
}

/** `place`: what is equal in all of them. */
export function levelsChart(levels: readonly Level[], estimand: EstimandFacts, place: string) {
  const { name, scale } = axisUnit(estimand);
  const drawn = drawnOf(levels).slice(-MAX_DRAWN);
  const groups = [...Map.groupBy(drawn, ({ group }) => group).values()].map((members) => ({
    label: members[0]?.label ?? '',
    points: members.map(({ level: { figure, ...level }, series }) => ({
      series,
      ...intervalOf(figure, scale),
      samples: (figure.both ?? []).map((value) => value * scale),
      tip: `${level.name}: ${showFigure(estimand, figure.median)}`,
    })),
  }));
  const chart: IntervalChart = {
    type: 'intervals',
    name: 'figures',
    title: capitalized(estimand.title),
    caption: `Medians of the trials of each run with their 95 % intervals: ${place}. Only those of the same run are a comparison.`,
    axis: estimand.title + name,
    groups,
  };
  return {
    chart,
    series: [...new Set(drawn.map(({ series }) => series))].map((title) => ({ name: title, title })),
  };
}
