/** What the tables of a comparison have in common: cells without a figure, figures with their ends, tones. Pure. */
import type { CaseRecord, OkTrial, RunRecord, SummaryStatistic } from '../../results/record.ts';
import { NOT_COMPARED } from '../../stats/decisive.ts';
import { type Block, type Cell, table } from '../document/document.ts';
import { okTrialsOf } from '../ok-trials.ts';

export const NOTHING = '–';

type Row = readonly (Cell | string)[];

/** Of numbers, except the first column and those that `words` names. */
export function numberTable(
  title: string,
  titles: readonly string[],
  rows: readonly Row[],
  words: readonly string[] = [],
): Block {
  return table(
    title,
    titles.map((name, index) => ({ title: name, isNumber: index > 0 && !words.includes(name) })),
    rows,
  );
}

/** What the trials of a case measured, in the order of the rounds. */
function measured(record: RunRecord, item: CaseRecord, pick: (trial: OkTrial) => number | null): number[] {
  return okTrialsOf(record, item)
    .toSorted((a, b) => a.round - b.round)
    .flatMap((trial) => pick(trial) ?? []);
}

/** `40,112`, `42,960` as the ends of a figure's interval; both values of two trials, whose interval would say nothing. */
export function endsOf(
  record: RunRecord,
  item: CaseRecord,
  { low, high, n }: SummaryStatistic,
  pick: (trial: OkTrial) => number | null,
): { readonly ends: readonly [number, number]; readonly isInterval: boolean } | null {
  const [first, second] = measured(record, item, pick);
  if (n === 2 && first !== undefined && second !== undefined)
    return { ends: [first, second], isInterval: false };
  return low === null || high === null ? null : { ends: [low, high], isInterval: true };
}

/** `41,536 [40,112, 42,960]`; of two trials `41,000 and 42,072`. */
export function statisticText(
  record: RunRecord,
  item: CaseRecord,
  statistic: SummaryStatistic | null,
  pick: (trial: OkTrial) => number | null,
  format: (value: number) => string,
): string {
  if (statistic === null) return NOTHING;
  const found = endsOf(record, item, statistic, pick);
  if (found === null) return format(statistic.median);
  const [low, high] = found.ends.map(format);
  return found.isInterval ? `${format(statistic.median)} [${low}, ${high}]` : `${low} and ${high}`;
}

const TONES = {
  faster: 'good',
  slower: 'bad',
  less: 'good',
  more: 'bad',
  'no difference shown': 'even',
  [NOT_COMPARED]: 'even',
} as const;

/** How a reader should feel about a verdict. */
export function toneOf(verdict: keyof typeof TONES): (typeof TONES)[keyof typeof TONES] {
  return TONES[verdict];
}
