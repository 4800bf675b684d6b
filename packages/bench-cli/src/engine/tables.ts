/** The tables that every experiment has: figures, and differences from the baseline. Pure. */
import { type Block, type Section, table, text } from '../report/document/document.ts';
import { boundsText, type EstimandFacts, nounOf, showFigure, valuesOf } from '../report/estimand.ts';
import { formatFixed } from '../report/numbers.ts';
import { capitalized, unbroken } from '../text.ts';
import { claimsOf, type EngineCase, type EngineRecord, type OkTrial, okTrials } from './record.ts';
import { boundSign, caseTitle, deltaText, figureText, subjectTitle } from './words.ts';

type AnyRecord = EngineRecord<unknown, unknown>;

/** Estimands that one table shows. */
export interface FigureTable {
  readonly title: string;
  /** Names, in the order of the columns. */
  readonly estimands: readonly string[];
  /** Of several trials, the largest figure instead of the median. Default: false. */
  readonly isLargest?: boolean;
  /** Titles of the columns, where the table's own says the rest. Default: those of the estimands. */
  readonly columns?: readonly string[];
}

export function figureTables(record: AnyRecord, tables: readonly FigureTable[], subject: string): Section[] {
  const claims = claimsOf(record);
  return tables.flatMap(({ title, estimands: names, isLargest = false, columns: titles }) => {
    const estimands = names.flatMap((name) => record.estimands.find((each) => each.name === name) ?? []);
    // A record from before they existed.
    if (estimands.length === 0) return [];
    const [first] = estimands;
    const noun =
      first !== undefined && estimands.every(({ unit }) => unit === first.unit) ? nounOf(first) : '';
    const columns = estimands.map((estimand) => ({
      title: titles?.[names.indexOf(estimand.name)] ?? capitalized(estimand.title),
      isNumber: true,
    }));
    const rows = claims.map((item) => [
      caseTitle(record, item),
      ...estimands.map((estimand) =>
        (isLargest ? largestText : figureText)(estimand, item, okTrials(record, item.key)),
      ),
    ]);
    return {
      title: noun === '' ? title : `${title}, ${noun}`,
      blocks: [
        table(title, [{ title: subject }, ...columns], rows),
        text(isLargest ? largestNote(claims) : spreadNote(claims)),
      ],
    };
  });
}

function largestText(estimand: EstimandFacts, item: EngineCase, trials: readonly OkTrial<unknown>[]): string {
  const values = valuesOf(trials, estimand.name);
  return values.length === 0
    ? '–'
    : `${boundSign(estimand, item)}${unbroken(showFigure(estimand, Math.max(...values)))}`;
}

const largestNote = (cases: readonly EngineCase[]) =>
  cases.every(({ trials }) => trials.ok === 1) ? spreadNote(cases) : 'The largest figure of all trials.';

function spreadNote(cases: readonly EngineCase[]): string {
  const counts = new Set(cases.map(({ trials }) => trials.ok));
  const isOnly = (count: number) => counts.size === 1 && counts.has(count);
  if (isOnly(1)) return 'One trial of each.';
  if (isOnly(2)) return 'Both trials, in their order.';
  return `Medians of the trials, with the longer side of the 95 % interval.${counts.has(2) ? ' Of two trials, both are shown.' : ''}`;
}

/** How the differences came about. */
function comparisonNote({ estimands }: AnyRecord, compared: readonly EngineCase[]): string {
  const hasInterval = compared.some(({ comparison }) =>
    Object.values(comparison?.deltas ?? {}).some(
      (delta) => delta !== null && delta.low !== null && delta.n > 2,
    ),
  );
  if (!hasInterval) return 'Verdicts are corrected for the number of comparisons.';
  const isUsed = (how: string) => estimands.some(({ compared }) => compared === how);
  const of = [
    ...(isUsed('ratio') ? ['the ratio'] : []),
    ...(isUsed('difference') ? ['the difference'] : []),
  ].join(' or ');
  const isPaired = estimands.some((each) => each.compared !== 'no' && each.isPaired !== false);
  const isOpen = compared.some(({ comparison }) =>
    Object.values(comparison?.deltas ?? {}).some((delta) => delta?.undecided === 'correction'),
  );
  return `The interval is that of ${of} of ${isPaired ? 'paired trials' : 'trials that nothing pairs'}; verdicts are corrected for the number of comparisons${isOpen ? ', so that an interval without zero may have none' : ''}.`;
}

/** Which differences allow for what others took, and what they are without; nothing where none does. */
function allowanceNotes(record: AnyRecord, cases: readonly EngineCase[]): string[] {
  const allowed = cases.flatMap((item) =>
    record.estimands.flatMap((estimand) => {
      const delta = item.comparison?.deltas[estimand.name];
      const allowance = delta == null || !('allowance' in delta) ? null : delta.allowance;
      if (allowance === null) return [];
      const text = `${caseTitle(record, item)}, ${estimand.title} ${boundsText(estimand, allowance.plain)}`;
      return [{ text, cores: allowance.referenceCores }];
    }),
  );
  if (allowed.length === 0) return [];
  const most = formatFixed(Math.max(...allowed.map(({ cores }) => cores)), 2);
  return [
    `After allowing for what other programs and the hypervisor took: some of these differences are those of the calmest trial (at most ${most} CPUs taken). Without that: ${allowed.map(({ text }) => text).join('; ')}.`,
  ];
}

/** With so many figures, the only comparison is a column and not a row. */
const MAX_COLUMNS = 4;

/** Those of which something may be said; what holds for many is said once, below. */
function comparisonTable(
  record: AnyRecord,
  cases: readonly EngineCase[],
  title: string,
  subject: string,
  notes: readonly string[],
): Block[] {
  const estimands = record.estimands.filter(({ compared }) => compared !== 'no');
  const deltasOf = ({ comparison }: EngineCase) =>
    Object.values(comparison?.deltas ?? {}).filter((delta) => delta !== null);
  const compared = cases.filter((item) => deltasOf(item).length > 0);
  if (compared.length === 0) return [];
  const deltas = compared.flatMap(deltasOf);
  const open = deltas.filter(({ verdict, low }) => verdict === 'no difference shown' && low !== null);
  const isSaid = open.length > 1;
  const said =
    open.length === deltas.length
      ? 'No difference is shown in any of these figures.'
      : 'Where no verdict is given, no difference is shown.';
  const textOf = (estimand: EstimandFacts, item: EngineCase) => deltaText(record, estimand, item, isSaid);
  const [only] = compared;
  const drawn =
    only !== undefined && compared.length === 1 && estimands.length > MAX_COLUMNS
      ? table(
          title,
          [{ title: 'Figure' }, { title: caseTitle(record, only) }],
          estimands.map((estimand) => [capitalized(estimand.title), textOf(estimand, only)]),
        )
      : table(
          title,
          [{ title: subject }, ...estimands.map((each) => ({ title: capitalized(each.title) }))],
          compared.map((item) => [
            caseTitle(record, item),
            ...estimands.map((estimand) => textOf(estimand, item)),
          ]),
        );
  return [drawn, ...[...(isSaid ? [said] : []), ...notes].map(text)];
}

export function comparisonSections(record: AnyRecord, subject: string): Section[] {
  const { baseline, cases } = record;
  const title = `Against ${subjectTitle(record, baseline ?? '')}`;
  const compared = claimsOf(record);
  const twins = cases.filter(({ aa }) => aa);
  return [
    {
      title,
      blocks: comparisonTable(record, compared, title, subject, [
        comparisonNote(record, compared),
        ...allowanceNotes(record, compared),
      ]),
    },
    {
      title: 'A/A: the baseline against itself',
      blocks: comparisonTable(record, twins, 'A/A', subject, [
        'A difference of this size can come from the machine alone.',
        ...allowanceNotes(record, twins),
      ]),
    },
  ];
}
