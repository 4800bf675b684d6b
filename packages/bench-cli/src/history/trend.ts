/** A figure over time: one line per case and machine, with the points where its level changed. */

import type { EstimandFacts } from '../report/estimand.ts';
import { type ChangePoint, changePoints } from '../stats/change-points.ts';
import { placeKey } from './axes.ts';
import { NOT_RECORDED } from './differences.ts';
import type { ListedCase, ListedFigure, RunRow } from './listing.ts';

/** The figure of one case of one run. */
export interface FigureRow {
  readonly run: Pick<
    RunRow,
    'id' | 'path' | 'experiment' | 'status' | 'startedAt' | 'machine' | 'settings' | 'commit'
  >;
  readonly item: ListedCase;
  /** As the run has it: experiments may use a name for figures of different units. */
  readonly estimand: EstimandFacts;
  readonly figure: ListedFigure;
}

export interface TrendPoint extends ListedFigure {
  readonly runId: string;
  readonly at: string;
  /** Of the run. */
  readonly status: string;
  readonly commit: string | null;
}

export interface TrendLine extends Pick<ListedCase, 'subject' | 'point'> {
  readonly experiment: string;
  /** Figures of different units are not on the same line. */
  readonly estimand: EstimandFacts;
  /** Figures of different machines are not on the same line. */
  readonly machine: string;
  /** Neither are those of different settings. These tell the line from others of the same case and machine. */
  readonly settings: RunRow['settings'];
  readonly points: readonly TrendPoint[];
  readonly changes: readonly ChangePoint[];
}

/** The figures of that name, the oldest first. */
export function figureRows(runs: readonly RunRow[], name: string): FigureRow[] {
  return runs.toReversed().flatMap((run) => {
    const estimand = run.estimands.find((each) => each.name === name);
    if (estimand === undefined) return [];
    return run.cases.flatMap((item) => {
      const figure = item.figures[name];
      return figure === undefined ? [] : [{ run, item, estimand, figure }];
    });
  });
}

/** A change is told only between levels of which nothing is a bound: how far a bounded figure really is, nobody knows. */
function toldChanges(points: readonly TrendPoint[], seed: string): ChangePoint[] {
  const medians = points.map(({ median }) => median);
  // The level of a figure of zero has no logarithm.
  if (!medians.every((value) => value > 0)) return [];
  const changes = changePoints(medians, seed);
  return changes.filter((_change, index) => {
    const from = changes[index - 1]?.position ?? 0;
    const to = changes[index + 1]?.position ?? points.length;
    return points.slice(from, to).every(({ isBound, isForeign }) => !isBound && !isForeign);
  });
}

/** Those that are not the same in all lines of a case. One that only some record counts, because it may be a difference. */
function tellingSettings(own: RunRow['settings'], others: readonly FigureRow[]): RunRow['settings'] {
  const names = new Set(others.flatMap(({ run }) => Object.keys(run.settings)));
  const telling = [...names].filter((name) => others.some(({ run }) => run.settings[name] !== own[name]));
  return Object.fromEntries(telling.map((name) => [name, own[name] ?? NOT_RECORDED]));
}

const settingsKey = ({ run }: FigureRow) =>
  JSON.stringify(Object.entries(run.settings).toSorted(([a], [b]) => (a < b ? -1 : 1)));

/**
 * Lines from figures in order of time. Change points need at least six runs and are found on the medians; the intervals
 * show how certain each median is.
 */
export function trendLines(figures: readonly FigureRow[], seed: string): TrendLine[] {
  const keyOf = ({ run, item, estimand }: FigureRow) =>
    JSON.stringify([run.experiment, placeKey(item), run.machine, estimand.unit]);
  return [...Map.groupBy(figures, keyOf)].flatMap(([key, all]) => {
    const groups = Map.groupBy(all, settingsKey);
    return [...groups.values()].flatMap((rows) => lineOf(rows, all, `${seed}${key}`));
  });
}

function lineOf(rows: readonly FigureRow[], ofCase: readonly FigureRow[], seed: string): TrendLine[] {
  const [first] = rows;
  if (first === undefined) return [];
  const points = rows.map(({ run, figure }) => ({
    runId: run.id,
    at: run.startedAt,
    status: run.status,
    commit: run.commit,
    ...figure,
  }));
  const {
    item: { subject, point },
    run: { experiment, machine },
    estimand,
  } = first;
  const settings = tellingSettings(first.run.settings, ofCase);
  const changes = toldChanges(points, seed);
  return [{ experiment, subject, point, estimand, machine, settings, points, changes }];
}
