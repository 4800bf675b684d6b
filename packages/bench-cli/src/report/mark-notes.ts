/** The marks as notes, for reports without room for one at each figure. */
import type { RunRecord } from '../results/record.ts';
import { serverTitle } from './cases.ts';
import { marksOfCase } from './marks.ts';
import { formatCpus } from './numbers.ts';
import { okTrialsOf } from './ok-trials.ts';

/** Every mark of every case as a sentence that names its cases, for notes. */
export function explainCaseMarks(record: RunRecord): string[] {
  const marked = record.cases
    .filter(({ aa }) => !aa)
    .flatMap((item) =>
      marksOfCase(record, item, okTrialsOf(record, item)).map((mark) => ({
        mark,
        where: `${serverTitle(record, item.server)}, tier ${formatCpus(item.tier)} ${item.mode}`,
      })),
    );
  return [...Map.groupBy(marked, ({ mark }) => mark.explanation)].map(([explanation, members]) => {
    const symbol = members[0]?.mark.symbol ?? null;
    return `${symbol === null ? '' : `${symbol} `}${members.map(({ where }) => where).join('; ')}: ${explanation}`;
  });
}
