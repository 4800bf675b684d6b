/** What the CPUs counted for each query, in sentences. Pure. */
import type { CaseRecord, Counters, OkTrial, RunRecord } from '../results/record.ts';
import { median, medianInterval } from '../stats/intervals.ts';
import { furtherPoint, serverTitle } from './cases.ts';
import { formatCount, formatCpus, formatFixed } from './numbers.ts';
import { okTrialsOf } from './ok-trials.ts';

type Counted = OkTrial & { readonly counters: Counters };

/** "41,200 instructions (±0.3 %, 62 % in the kernel)" */
function eventText(trials: readonly Counted[], name: keyof Counters, words: string): string {
  const total = ({ counters }: Counted) => counters[name].user + counters[name].kernel;
  const perQuery = trials.map((trial) => total(trial) / trial.load.queriesCompleted);
  const middle = median(perQuery);
  const interval = medianInterval(perQuery);
  const half = interval === null || middle === 0 ? null : (interval.high - interval.low) / 2 / middle;
  const kernel = median(trials.map((trial) => trial.counters[name].kernel / Math.max(1, total(trial))));
  return (
    `${middle < 100 ? formatFixed(middle, 1) : formatCount(Math.round(middle))} ${words} ` +
    `(${half === null ? '' : `±${formatFixed(half * 100, 1)} %, `}${formatFixed(kernel * 100, 0)} % in the kernel)`
  );
}

function sentence(record: RunRecord, item: CaseRecord, trials: readonly Counted[]): string {
  const several = new Set(record.cases.map(({ tier, mode }) => `${tier} ${mode}`)).size > 1;
  const point = [
    ...(several ? [`tier ${formatCpus(item.tier)} ${item.mode}`] : []),
    ...furtherPoint(record, item),
  ];
  const where = point.length === 0 ? '' : ` at ${point.join(', ')}`;
  return (
    `The CPUs counted for each query of ${serverTitle(record, item.server)}${where}: ` +
    `${eventText(trials, 'instructions', 'instructions')}, ${eventText(trials, 'cycles', 'cycles')}, ` +
    `${eventText(trials, 'cacheMisses', 'cache misses')}.`
  );
}

/** A sentence for each case; none where the machine has no counters. */
export function counterNotes(record: RunRecord): string[] {
  return record.cases.flatMap((item) => {
    const trials = okTrialsOf(record, item).filter((trial): trial is Counted => trial.counters !== undefined);
    return item.aa || trials.length === 0 ? [] : [sentence(record, item, trials)];
  });
}
