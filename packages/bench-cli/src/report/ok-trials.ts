/** The trials of a run that have figures. */
import type { CaseRecord, OkTrial, RunRecord } from '../results/record.ts';

export function okTrials({ trials }: RunRecord): OkTrial[] {
  return trials.filter((trial): trial is OkTrial => trial.status === 'ok');
}

/** Used by every sentence about a case, so kept as long as the record. */
const kept = new WeakMap<RunRecord, ReadonlyMap<string, readonly OkTrial[]>>();

export function okTrialsOf(record: RunRecord, { key }: Pick<CaseRecord, 'key'>): readonly OkTrial[] {
  const byCase = kept.get(record) ?? Map.groupBy(okTrials(record), ({ caseKey }) => caseKey);
  kept.set(record, byCase);
  return byCase.get(key) ?? [];
}
