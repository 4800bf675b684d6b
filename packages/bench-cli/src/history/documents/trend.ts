/** A figure over time as a document: a row for each run, on a terminal with its interval drawn as a whisker. Pure. */
import {
  answer,
  type Finding,
  numbers,
  only,
  type ReportDocument,
  type Section,
  table,
} from '../../report/document/document.ts';
import { isBetter } from '../../report/estimand.ts';
import { formatFixed, formatP, signed } from '../../report/numbers.ts';
import { compareKind } from '../../results/compare-kind.ts';
import { capitalized, counted, formatTimestamp, unbroken } from '../../text.ts';
import { placeText } from '../axes.ts';
import { unfinishedNote } from '../compare.ts';
import { NOT_RECORDED } from '../differences.ts';
import type { TrendLine, TrendPoint } from '../trend.ts';
import { figureText } from './compare.ts';

/** In columns: with the longest figures, a line has 80. */
const PLOT_WIDTH = 32;

/** `├──●──┤` between the ends of the scale. */
function whisker(point: TrendPoint, low: number, high: number): string {
  const last = PLOT_WIDTH - 1;
  const place = (value: number) =>
    Math.round(high === low ? last / 2 : ((value - low) / (high - low)) * last);
  const [left, middle, right] = [point.low, point.median, point.high].map((end) =>
    place(end ?? point.median),
  );
  const drawn = Array.from({ length: PLOT_WIDTH }, (_, column) => {
    if (column === middle) return '●';
    if (column === left) return '├';
    if (column === right) return '┤';
    return column > (left ?? 0) && column < (right ?? 0) ? '─' : ' ';
  });
  return unbroken(drawn.join('').trimEnd());
}

/** `coredns, tier 1, single, half, udp on HOST`; of experiments other than the comparison, with their name. */
function headingOf(line: TrendLine): string {
  const name = line.experiment === compareKind.experiment ? '' : `${line.experiment}: `;
  const settings = Object.entries(line.settings);
  const told = settings.filter(([, value]) => value !== NOT_RECORDED).map((setting) => setting.join(' '));
  const untold = settings.length - told.length;
  const parts = [
    line.machine,
    ...told,
    ...(untold === 0 ? [] : [`${counted(untold, 'setting')} not recorded`]),
  ];
  return `${name}${placeText(line, 'unknown server')} on ${parts.join(', ')}`;
}

function findingsOf(line: TrendLine): Finding[] {
  return line.changes.flatMap(({ position, relativeChange, pValue }) => {
    const at = line.points[position];
    if (at === undefined) return [];
    const size = `${formatFixed(Math.abs(relativeChange) * 100, 1)} %`;
    const tone = isBetter(line.estimand, relativeChange) ? 'good' : 'bad';
    return {
      subject: placeText(line, 'unknown server'),
      group: headingOf(line),
      badge: { text: `${signed(formatFixed(relativeChange * 100, 1))} %`, tone },
      sentence: `${capitalized(line.estimand.title)} ${relativeChange < 0 ? 'fell' : 'rose'} by ${size} with the run of ${formatTimestamp(at.at)} (p ${formatP(pValue)}).`,
    };
  });
}

function sectionOf(line: TrendLine, isRatio: boolean): Section {
  const { points, changes, estimand } = line;
  const ends = points.flatMap(({ low, high, median }) => [low ?? median, high ?? median]);
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const figure = (value: number, isBound = false) => figureText(estimand, value, { isRatio, isBound });
  const tableOf = (title: string, drawn: (point: TrendPoint) => string) =>
    table(
      estimand.title,
      ['run', '', ...numbers('median'), title],
      points.map((point, index) => [
        formatTimestamp(point.at),
        point.commit?.slice(0, 8) ?? '',
        {
          text: figure(point.median, point.isBound),
          ...(changes.some(({ position }) => position === index) ? { tone: 'warn', below: 'new level' } : {}),
        },
        drawn(point),
      ]),
    );
  return {
    title: headingOf(line),
    blocks: [
      ...only(
        ['terminal'],
        tableOf('95 % interval', (point) => whisker(point, low, high)),
      ),
      ...only(
        ['markdown'],
        tableOf('95 % interval', (point) =>
          point.low === null || point.high === null ? '–' : `${figure(point.low)} to ${figure(point.high)}`,
        ),
      ),
    ],
  };
}

/** All lines of the trend, one below the other. */
export function trendDocument(lines: readonly TrendLine[], normalize: string | null): ReportDocument {
  const titles = [...new Set(lines.map(({ estimand }) => estimand.title))].join(' or ');
  const hasChanges = lines.some(({ changes }) => changes.length > 0);
  const few = lines.every(({ points }) => points.length < 6);
  return answer({
    kind: 'Trend',
    title: `${capitalized(titles)}${normalize === null ? '' : ` relative to ${normalize}`} of each run, the oldest first`,
    headline: few
      ? 'Change points need at least six runs.'
      : hasChanges
        ? 'A change point separates earlier from later runs better than 95 % of random orders would.'
        : 'No change point was found.',
    findings: lines.flatMap(findingsOf),
    warnings: [
      ...new Set(
        lines.flatMap(({ points }) =>
          points.flatMap(({ runId, status }) => unfinishedNote({ id: runId, status })),
        ),
      ),
    ],
    sections: lines.map((line) => sectionOf(line, normalize !== null)),
  });
}
