/** A comparison as a document: a table for each case. Pure. */

import {
  answer,
  list,
  note,
  numbers,
  type ReportDocument,
  type Section,
  type Tone,
  table,
} from '../../report/document/document.ts';
import {
  bothText,
  boundsText,
  type EstimandFacts,
  isBetter,
  showFigure,
  signOfBound,
  sizeText,
} from '../../report/estimand.ts';
import { formatFixed, formatP } from '../../report/numbers.ts';
import { NOT_COMPARED } from '../../stats/decisive.ts';
import { sizeOf } from '../../stats/deltas.ts';
import { capitalized } from '../../text.ts';
import { allowsForOthers, type ComparedCase, type ComparedFigure, type ComparedRuns } from '../compare.ts';
import { type Difference, isOfMachine } from '../differences.ts';
import { SETTING_PREFIX } from '../entry.ts';

/** A figure in its unit, or as a ratio to another subject: `1.320 ×`. A bounded one with its sign. */
export function figureText(
  estimand: EstimandFacts,
  value: number | null,
  { isRatio, isBound }: { readonly isRatio: boolean; readonly isBound: boolean },
): string {
  if (value === null) return '–';
  const text = isRatio ? `${formatFixed(value, 3)} ×` : showFigure(estimand, value);
  return (isBound ? signOfBound(estimand) : '') + text;
}

/** The verdict of a comparison, or why it has none. */
function verdictText({ delta, trials, isBound }: ComparedFigure): string {
  if (delta === null) return trials.includes(0) ? 'not in both' : 'not comparable';
  switch (delta.undecided) {
    case null:
      return isBound[1] ? `at least this much ${delta.verdict}` : delta.verdict;
    case 'correction':
      return `not shown (p ${formatP(delta.adjustedPValue ?? 1)} of ${delta.comparisons})`;
    case 'too few trials':
      return delta.undecided;
    case 'not limited by the servers':
      return NOT_COMPARED;
    default:
      return 'not shown';
  }
}

/** The interval of two trials would say nothing: both differences if they are pairs. */
function differenceText(estimand: EstimandFacts, { delta, both, trials }: ComparedFigure): string {
  if (delta === null) return '';
  if (Math.min(...trials) !== 2) return boundsText(estimand, delta);
  return both === null
    ? `${sizeText(estimand, { ...delta, low: null, high: null })}, two trials`
    : bothText(estimand, both);
}

function toneOf({ delta }: ComparedFigure, estimand: EstimandFacts): Tone {
  if (delta === null || delta.undecided !== null) return 'even';
  return isBetter(estimand, sizeOf(delta)) ? 'good' : 'bad';
}

function caseSection(
  { label, figures, notes }: ComparedCase,
  { estimands, normalizedBy }: ComparedRuns,
): Section {
  const isRatio = normalizedBy !== null;
  const rows = estimands.flatMap((estimand) =>
    figures
      .filter(({ metric }) => metric === estimand.name)
      .map((figure) => {
        const { reference, candidate, delta, isBound } = figure;
        const sign = isBound[1] && delta?.undecided === null ? signOfBound(estimand) : '';
        return [
          capitalized(estimand.title),
          figureText(estimand, reference, { isRatio, isBound: isBound[0] }),
          figureText(estimand, candidate, { isRatio, isBound: isBound[1] }),
          sign + differenceText(estimand, figure),
          { text: verdictText(figure), tone: toneOf(figure, estimand) },
        ];
      }),
  );
  return {
    title: label,
    blocks: [
      table(label, ['', ...numbers('first', 'second', 'difference [95 %]'), 'verdict'], rows),
      ...notes.map(note),
    ],
  };
}

/** What else differs between the runs. What only one of them records is listed by its name. */
export function differencesSection(differences: readonly Difference[], more: Partial<Section> = {}): Section {
  const isMachine = differences.some(isOfMachine);
  const missing = (side: 0 | 1, which: string) => {
    const names = differences.filter(({ values }) => values[side] === null).map(({ name }) => name);
    return names.length === 0
      ? []
      : [`not recorded by the ${which}: ${names.map((name) => name.replace(SETTING_PREFIX, '')).join(', ')}`];
  };
  const both = differences.filter(({ values }) => !values.includes(null));
  return {
    title: isMachine
      ? 'The environments differ: any of this may be the reason'
      : 'Programs or settings differ',
    blocks: [
      list([
        ...both.map(({ name, values }) => `${name}: ${values.join(' → ')}`),
        ...missing(0, 'first'),
        ...missing(1, 'second'),
      ]),
    ],
    ...more,
  };
}

const ALLOWED = ' Differences allow for the CPU that other programs took during each trial.';

function methodText(result: ComparedRuns): string {
  const rounds = result.estimands.every(({ isPaired }) => isPaired === false)
    ? 'nothing pairs them'
    : 'paired by round';
  const how = result.paired
    ? `Trials of the same run: ${rounds}.${allowsForOthers(result) ? ALLOWED : ''}`
    : 'Different runs: their trials are not paired, and another day may differ by more than the intervals say.';
  const by =
    result.normalizedBy === null
      ? ''
      : ` Figures are ratios to ${result.normalizedBy} of the same run and round.`;
  return how + by + (result.pooled === null ? '' : ' Trials of pooled runs count like those of one run.');
}

/** Which side is the duet, and why its figures are not those of the other. */
function trialsWarning({ differentTrials }: ComparedRuns): string[] {
  if (differentTrials === null) return [];
  const [first, second] = differentTrials;
  return [
    `These are two different measurements, and a difference may come from that alone. First: ${first}; second: ` +
      `${second}. In a duet all servers of a round are up, and the load stays with each for a moment only. Measure again with ` +
      '--duet on or --duet off, so that both sides are of one kind.',
  ];
}

export function compareDocument(result: ComparedRuns): ReportDocument {
  const only = (keys: readonly string[], which: string) =>
    keys.length === 0 ? [] : [`Only in the ${which}: ${keys.join(', ')}`];
  return answer({
    kind: 'Comparison',
    title: `${result.reference} (first) and ${result.candidate} (second)`,
    headline: methodText(result),
    warnings: [...result.unfinished, ...trialsWarning(result), ...new Set(result.pooled)],
    sections: [
      ...result.cases.map((item) => caseSection(item, result)),
      {
        title: 'Without a counterpart',
        blocks: [list([...only(result.onlyReference, 'first'), ...only(result.onlyCandidate, 'second')])],
      },
      differencesSection(result.differences),
    ],
  });
}
