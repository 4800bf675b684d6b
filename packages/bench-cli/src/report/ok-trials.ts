/** The trials of a run that have figures. */
import type { CaseRecord, OkTrial, RunRecord } from '../results/record.ts';

interface Kept {
  readonly all: readonly OkTrial[];
  readonly byCase: ReadonlyMap<string, readonly OkTrial[]>;
}

/** Used by every sentence about a case, so kept as long as the record. */
const kept = new WeakMap<RunRecord, Kept>();

function keptOf(record: RunRecord): Kept {
  const known = kept.get(record);
  if (known !== undefined) return known;
  const all = record.trials.filter((trial): trial is OkTrial => trial.status === 'ok');
  const found = { all, byCase: Map.groupBy(all, ({ caseKey }) => caseKey) };
  kept.set(record, found);
  return found;
}

export function okTrials(record: RunRecord): readonly OkTrial[] {
  return keptOf(record).all;
}

export function okTrialsOf(record: RunRecord, { key }: Pick<CaseRecord, 'key'>): readonly OkTrial[] {
  return keptOf(record).byCase.get(key) ?? [];
}
