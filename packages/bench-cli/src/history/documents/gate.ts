/** A gate's outcome as a document: what is judged, each figure, and what it rests on. Pure. */
import { percentText } from '../../config/value-schemas.ts';
import {
  answer,
  type Block,
  note,
  type ReportDocument,
  type Section,
  type Tone,
  table,
} from '../../report/document/document.ts';
import { formatFixed, formatOutwards, formatP } from '../../report/numbers.ts';
import { capitalized, counted } from '../../text.ts';
import { allowsForOthers, type ComparedRuns } from '../compare.ts';
import { isOfMachine } from '../differences.ts';
import type { Gate, GatedCase } from '../gate.ts';
import { differencesSection } from './compare.ts';

const TONES: Readonly<Record<GatedCase['outcome'], Tone>> = {
  passed: 'good',
  failed: 'bad',
  'not enough trials': 'warn',
  'cannot tell': 'warn',
};

const NOT_ITS_LIMIT = "cannot tell: not the server's limit";

/** `5.2 % worse`; of a reference of none, there is no share. */
function changeText({ regression }: GatedCase): string {
  if (regression === null) return '–';
  if (!Number.isFinite(regression)) return `${regression > 0 ? 'more' : 'less'} than none`;
  return `${formatFixed(Math.abs(regression) * 100, 1)} % ${regression >= 0 ? 'worse' : 'better'}`;
}

/** `3.4 to 7.1 % worse`, `1 % better to 7 % worse`; that of two trials would say nothing. */
function intervalText({ low, high, maxRegression, trials }: GatedCase): string {
  if (low === null || high === null || !Number.isFinite(high - low)) return '–';
  if (Math.min(...trials) === 2) return 'two trials';
  // An interval beyond the tolerance must look so.
  const ends = formatOutwards(low * 100, high * 100, maxRegression * 100);
  const [least, most] = [ends.low.replace('-', ''), ends.high.replace('-', '')];
  if (ends.high.startsWith('-')) return `${most} to ${least} % better`;
  return ends.low.startsWith('-') ? `${least} % better to ${most} % worse` : `${least} to ${most} % worse`;
}

function outcomeText({ outcome, adjustedPValue: p }: GatedCase): string {
  if (outcome === 'cannot tell') return NOT_ITS_LIMIT;
  return outcome === 'failed' && p !== null ? `${outcome}, p ${formatP(p)}` : outcome;
}

/** Why some have no interval. */
function missingNotes(judged: readonly GatedCase[]): Block[] {
  return [...Map.groupBy(judged, ({ missing }) => missing)].flatMap(([reason, without]) => {
    const whose =
      without.length === judged.length ? '' : ` of ${without.map(({ label }) => label).join('; ')}`;
    return reason === null ? [] : [note(`No interval${whose}: ${reason}.`)];
  });
}

/** A figure of all cases, with its tolerance. */
function figureSections({ cases, comparison: { estimands } }: Gate): Section[] {
  return estimands.map(({ name, title }) => {
    const judged = cases.filter(({ metric }) => metric === name);
    const tolerance = percentText(judged[0]?.maxRegression ?? 0);
    return {
      title: `${capitalized(title)}, at most ${tolerance} worse`,
      blocks: [
        table(
          title,
          ['', 'change', '95 % interval', 'trials', 'outcome'],
          judged.map((item) => [
            item.label,
            changeText(item),
            intervalText(item),
            item.trials.join(' / '),
            { text: outcomeText(item), tone: TONES[item.outcome] },
          ]),
        ),
        ...missingNotes(judged),
      ],
    };
  });
}

function advice(cases: readonly GatedCase[]): string[] {
  const has = (outcome: GatedCase['outcome']) => cases.some((item) => item.outcome === outcome);
  const needed = Math.max(0, ...cases.map(({ trialsNeeded }) => trialsNeeded ?? 0));
  const more =
    needed > 0
      ? `About ${needed} trials on either side would tell, if they scatter like these.`
      : 'Measure with more --trials on either side.';
  return [
    ...(has('not enough trials') ? [more] : []),
    ...(has('cannot tell')
      ? [
          "More trials do not help where a figure is not the server's limit: measure with --saturate or at a --rate, or judge --metric cpu.",
        ]
      : []),
  ];
}

/** Says no more than the intervals allow. */
function conclusion({ outcome, cases }: Gate): string {
  const of = (...wanted: readonly GatedCase['outcome'][]) =>
    cases.filter((item) => wanted.includes(item.outcome));
  if (outcome === 'passed') return 'No interval reaches beyond the tolerance.';
  if (outcome !== 'failed')
    return ['Nothing is shown to be worse than that, but it cannot be ruled out.', ...advice(cases)].join(
      ' ',
    );
  const failed = of('failed');
  const lost = failed.filter(({ low }) => low === null).length;
  const parts = [
    ...(lost < failed.length ? ['the whole interval is beyond the tolerance'] : []),
    ...(lost > 0 ? [`${lost} could not be measured, because every trial failed`] : []),
  ];
  const unknown = of('not enough trials', 'cannot tell');
  const also = unknown.length === 0 ? '' : `; ${unknown.length} more cannot be decided`;
  return `Of ${counted(cases.length, 'figure')}, ${failed.length} failed: ${parts.join('; ')}${also}.`;
}

/** What narrows down what the outcome says. */
function warningsOf({
  differences,
  cases,
  onlyReference,
  onlyCandidate,
  unfinished,
}: ComparedRuns): string[] {
  const machine = differences.filter(isOfMachine).map(({ name }) => name);
  const alone = [
    [onlyReference, 'reference'],
    [onlyCandidate, 'candidate'],
  ] as const;
  return [
    ...unfinished,
    ...(machine.length === 0
      ? []
      : [`The environments differ in ${machine.join(', ')}: that may be the reason.`]),
    ...alone.flatMap(([keys, which]) =>
      keys.length === 0 ? [] : [`Not judged, because only the ${which} has it: ${keys.join(', ')}.`],
    ),
    ...cases.flatMap(({ label, notes }) =>
      notes.map((text) => (cases.length === 1 ? text : `${label}: ${text}`)),
    ),
  ];
}

export function gateDocument(gate: Gate): ReportDocument {
  const { comparison, outcome } = gate;
  const { reference, candidate, paired, normalizedBy, differences } = comparison;
  // The labels of its cases name both servers.
  const runs = paired ? `run ${candidate}` : `run ${candidate} against run ${reference}`;
  const by = normalizedBy === null ? '' : `, relative to ${normalizedBy} of the same run`;
  const allowed = allowsForOthers(comparison) ? ', after allowing for what other programs took' : '';
  const opening = capitalized(outcome === 'cannot tell' ? `${NOT_ITS_LIMIT} in` : `${outcome}:`);
  return answer({
    kind: 'Gate',
    tone: TONES[outcome],
    title: `${opening} ${runs}${by}${allowed}`,
    headline: conclusion(gate),
    warnings: warningsOf(comparison),
    sections: [...figureSections(gate), differencesSection(differences, { isBrief: false })],
  });
}
