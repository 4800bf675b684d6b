/** Medians of the trials of each case, and ratios between cases. Pure. */

import type { SummaryStatistic } from '../../../results/record.ts';
import { median } from '../../../stats/intervals.ts';
import { summarize } from '../../../stats/summarize.ts';
import type { CapacityCase, CasesResult, LoadName, OkCaseTrial } from './cases-record.ts';

export function okTrials({ trials }: CasesResult, key: string, load: LoadName): OkCaseTrial[] {
  return trials.filter(
    (trial): trial is OkCaseTrial => trial.case === key && trial.load === load && trial.status === 'ok',
  );
}

export function summaryOf(
  result: CasesResult,
  item: CapacityCase,
  load: LoadName,
  value: (trial: OkCaseTrial) => number | null,
): SummaryStatistic | null {
  const values = okTrials(result, item.key, load).flatMap((trial) => value(trial) ?? []);
  return values.length === 0 ? null : summarize(values);
}

/** The median of a counter, over the trials that had it; null without any. */
export function counterOf(trials: readonly OkCaseTrial[], counter: string): number | null {
  const values = trials.flatMap(({ counters }) => counters[counter] ?? []);
  return values.length === 0 ? null : median(values);
}
