/** A comparison as text for a terminal. Pure. */
import type { Ansis } from 'ansis';
import { NOT_COMPARED } from '../../report/decisive.ts';
import { type EstimandFacts, showFigure } from '../../report/estimand.ts';
import { formatP, signed } from '../../report/numbers.ts';
import type { Delta, Difference } from '../../results/record.ts';
import { columnsOf, wrapText } from '../../text.ts';
import { allowsForOthers, type ComparedCase, type ComparedFigure, type ComparedRuns } from '../compare.ts';
import { isOfMachine } from '../differences.ts';
import { formatChange, formatFigure, formatRange } from './words.ts';

type Paint = InstanceType<typeof Ansis>;

const UNDECIDED = '≈';

/** The verdict of a comparison, or why it has none. */
export function verdictText({ delta, trials, isBound }: ComparedFigure): string {
  if (delta === null) return trials.includes(0) ? 'not in both' : 'not comparable';
  if (delta.undecided === 'correction') {
    return `not shown (p ${formatP(delta.adjustedPValue ?? 1)} of ${delta.comparisons})`;
  }
  if (delta.undecided === 'too few trials') return 'too few trials';
  if (delta.undecided === 'not limited by the servers') return NOT_COMPARED;
  if (delta.undecided !== null) return 'not shown';
  return isBound[1] ? `${delta.verdict}, at least` : delta.verdict;
}

/** `+3.9 %`, or `+12m` of a difference. */
function changeText(estimand: EstimandFacts, delta: Delta | Difference): string {
  return 'difference' in delta
    ? signed(showFigure(estimand, delta.difference))
    : formatChange(delta.relative);
}

function rangeText(estimand: EstimandFacts, delta: Delta | Difference): string {
  const { low, high } = delta;
  if (low === null || high === null) return '';
  if (!('difference' in delta)) return formatRange(low, high);
  return [low, high].map((end) => signed(showFigure(estimand, end))).join('…');
}

function figureRow(figure: ComparedFigure, estimand: EstimandFacts, isRatio: boolean): string[] {
  const { reference, candidate, delta } = figure;
  const cell = (value: number | null, at: 0 | 1) =>
    value === null ? '–' : formatFigure(estimand, value, { isRatio, isBound: figure.isBound[at] });
  const isOpen = delta?.verdict === 'no difference shown' && verdictText(figure) !== NOT_COMPARED;
  const mark = isOpen ? `${UNDECIDED} ` : '';
  return [
    `  ${estimand.name}`,
    cell(reference, 0),
    cell(candidate, 1),
    delta === null ? '' : mark + changeText(estimand, delta),
    delta === null ? '' : rangeText(estimand, delta),
    verdictText(figure),
  ];
}

function hanging(text: string, columns: number): string {
  return wrapText(text, columns - 2).join('\n  ');
}

function differenceLines(result: ComparedRuns, columns: number): string[] {
  const { differences } = result;
  if (differences.length === 0) return [];
  const ofMachine = differences.filter(isOfMachine).length;
  const heading =
    ofMachine > 0
      ? 'Warning: the environments differ, and any of these may be the reason:'
      : 'Programs or settings differ:';
  return [
    heading,
    ...differences.map(({ name, values }) =>
      hanging(`• ${name}: ${values[0] ?? 'not recorded'} → ${values[1] ?? 'not recorded'}`, columns),
    ),
  ];
}

function unmatchedLines({ onlyReference, onlyCandidate }: ComparedRuns, columns: number): string[] {
  const line = (keys: readonly string[], which: string) =>
    keys.length === 0 ? [] : [hanging(`• Only in the ${which}: ${keys.join(', ')}`, columns)];
  return [...line(onlyReference, 'first'), ...line(onlyCandidate, 'second')];
}

const ALLOWED = ' Differences allow for the CPU that other programs took during each trial.';

function methodLine(result: ComparedRuns): string {
  const how = result.paired
    ? `Trials of the same run: paired by round.${allowsForOthers(result) ? ALLOWED : ''}`
    : 'Different runs: their trials are not paired, and another day may differ by more than the intervals say.';
  const by =
    result.normalizedBy === null
      ? ''
      : ` Figures are ratios to ${result.normalizedBy} of the same run and round.`;
  const pool = result.pooled === null ? '' : ' Trials of pooled runs count like those of one run.';
  return how + pool + by;
}

/** Which side is the duet, and why its figures are not those of the other. */
function trialsWarning({ differentTrials }: ComparedRuns): string[] {
  if (differentTrials === null) return [];
  const [first, second] = differentTrials;
  return [
    `Warning: these are two different measurements, and a difference may come from that alone. First: ${first}; second: ` +
      `${second}. In a duet all servers of a round are up, and the load stays with each for a moment only. Measure again with ` +
      '--duet on or --duet off, so that both sides are of one kind.',
  ];
}

function caseLines(item: ComparedCase, rows: readonly string[], paint: Paint): string[] {
  return ['', paint.bold(item.label), ...rows];
}

/** One line per case and figure: reference, candidate, difference, its 95 % interval, verdict. */
export function renderComparison(result: ComparedRuns, columns: number, paint: Paint): string {
  const isRatio = result.normalizedBy !== null;
  const header = ['', 'first', 'second', 'difference', '95 % interval', 'verdict'];
  const estimandOf = new Map(result.estimands.map((estimand) => [estimand.name, estimand]));
  const all = result.cases.flatMap(({ figures }) =>
    figures.flatMap((figure) => {
      const estimand = estimandOf.get(figure.metric);
      return estimand === undefined ? [] : [figureRow(figure, estimand, isRatio)];
    }),
  );
  const lines = columnsOf([header, ...all], 2, [0, 5]);
  const [head = '', ...rest] = lines;
  let used = 0;
  const body = result.cases.flatMap((item) => {
    const rows = rest.slice(used, used + item.figures.length);
    used += item.figures.length;
    return caseLines(item, rows, paint);
  });
  const legend = result.estimands.map(({ name, title }) => `${name}: ${title}`).join('; ');
  return [
    ...wrapText(`${result.reference} (first) and ${result.candidate} (second)`, columns),
    ...wrapText(methodLine(result), columns),
    ...trialsWarning(result).flatMap((text) => wrapText(text, columns).map((line) => paint.yellow(line))),
    '',
    paint.dim(head),
    ...body,
    '',
    ...wrapText(`${legend}. ${UNDECIDED} no difference shown.`, columns).map((line) => paint.dim(line)),
    ...[...new Set(result.cases.flatMap(({ notes }) => notes))].map((note) => hanging(`• ${note}`, columns)),
    ...[...new Set(result.pooled ?? [])].map((note) => paint.yellow(hanging(`• ${note}`, columns))),
    ...unmatchedLines(result, columns),
    ...differenceLines(result, columns).map((line) => paint.yellow(line)),
    '',
  ].join('\n');
}
