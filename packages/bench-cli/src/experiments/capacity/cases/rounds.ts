/** The order in which cases are measured, and what a resumed run still has to measure. Pure. */
import type { CaseTrial } from './cases-record.ts';
import type { RunnableCase } from './planned.ts';

/** Both trials of a case in a round: at saturation, and at half of it. */
export interface PlannedRound {
  readonly item: RunnableCase;
  /** From 0. */
  readonly round: number;
  /** Of its first trial in the run. */
  readonly order: number;
}

const roundKey = (key: string, round: number) => `${key}#${round}`;

/** Trials of a case and a round that were all measured. */
export function completeTrials(
  cases: readonly Pick<RunnableCase, 'facts' | 'atHalf'>[],
  trials: readonly CaseTrial[],
): CaseTrial[] {
  const wanted = new Map(cases.map(({ facts, atHalf }) => [facts.key, atHalf ? 2 : 1]));
  const measured = trials.filter(({ status }) => status === 'ok');
  const rounds = Map.groupBy(measured, (trial) => roundKey(trial.case, trial.round));
  return [...rounds.values()].flatMap((round) => {
    const [first] = round;
    return first !== undefined && round.length === wanted.get(first.case) ? round : [];
  });
}

/** Every second round runs backwards, so that a drift of the machine meets all cases alike. */
export function planRounds(
  cases: readonly RunnableCase[],
  rounds: number,
  done: readonly CaseTrial[],
): PlannedRound[] {
  const all = Array.from({ length: rounds }, (_, round) =>
    (round % 2 === 0 ? cases : cases.toReversed()).map((item) => ({ item, round })),
  ).flat();
  const complete = new Set(done.map((trial) => roundKey(trial.case, trial.round)));
  return all
    .map((planned, index) => ({ ...planned, order: 2 * index }))
    .filter(({ item, round }) => !complete.has(roundKey(item.facts.key, round)));
}
