/** What limited a case, in words: trial by trial where the trials disagree, since "unknown" would then say too little. */
import type { CaseRecord, LimitedBy, OkTrial } from '../results/record.ts';

const AGREED: Readonly<Record<LimitedBy, string>> = {
  server: 'the server used its CPU allowance',
  loader: 'the load generator was at its limit',
  rate: 'the requested fixed rate was held',
  unknown: 'neither the server nor the load generator used all of its CPU',
};

const OTHERS: Readonly<Record<Exclude<LimitedBy, 'server'>, string>> = {
  loader: 'load generator',
  rate: 'requested rate',
  unknown: 'unknown',
};

/** The word in tables for trials that disagree; the record has `unknown` for them. */
export const MIXED = 'mixed';

interface Limit {
  readonly limitedBy: LimitedBy;
  readonly trials: number;
}

/** How many trials had which limit, the most common first and unknown last. */
function limitsOf(trials: readonly OkTrial[]): Limit[] {
  const counts = [...Map.groupBy(trials, ({ limitedBy }) => limitedBy)].map(([limitedBy, members]) => ({
    limitedBy,
    trials: members.length,
  }));
  const isUnknown = ({ limitedBy }: Limit) => Number(limitedBy === 'unknown');
  return counts.sort((a, b) => isUnknown(a) - isUnknown(b) || b.trials - a.trials);
}

function hasOne(limits: readonly Limit[]): boolean {
  return limits.length < 2;
}

/** One word for tables: that of the record, or `mixed`. */
export function limitWord({ limitedBy }: CaseRecord, trials: readonly OkTrial[]): string {
  return hasOne(limitsOf(trials)) ? limitedBy : MIXED;
}

/** In how many the server was: "none of 6 trials (load generator in 4, unknown in 2)"; null where all trials agree. */
export function mixedLimit(trials: readonly OkTrial[]): string | null {
  const limits = limitsOf(trials);
  if (hasOne(limits)) return null;
  const servers = limits.find(({ limitedBy }) => limitedBy === 'server')?.trials ?? 'none';
  const others = limits.flatMap(({ limitedBy, trials: count }) =>
    limitedBy === 'server' ? [] : [`${OTHERS[limitedBy]} in ${count}`],
  );
  return `${servers} of ${trials.length} trials (${others.join(', ')})`;
}

/** Whether the server was the limit of some of the trials. */
export function isPartlyServer(trials: readonly OkTrial[]): boolean {
  return trials.some(({ limitedBy }) => limitedBy === 'server');
}

/** What limited a case, as a clause: "the load generator was at its limit". */
export function describeLimit({ limitedBy }: CaseRecord, trials: readonly OkTrial[]): string {
  const mixed = mixedLimit(trials);
  return mixed === null ? AGREED[limitedBy] : `the server was the limit in ${mixed}`;
}
