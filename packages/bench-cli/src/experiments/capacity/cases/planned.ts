/** A case of this experiment as the comparison's trials know cases. Pure. */
import type { PlannedTrial } from '../../../plan/plan.ts';
import type { LoadName } from './cases-record.ts';
import type { RunnableCase } from './trial.ts';

export function completeCase(
  { facts, server, workload }: RunnableCase,
  round: number,
  load: LoadName,
  ratePerSecond: number | null,
  order: number,
  tier: number,
): PlannedTrial {
  const key = `${facts.key}/${load}`;
  return {
    key: `${key}#${round}`,
    round,
    order,
    case: {
      key,
      server: server.name,
      aa: false,
      tier,
      mode: 'multi',
      workload,
      transport: 'udp',
      ratePerSecond,
      instances: 1,
      allowances: [tier],
      contended: true,
      plannedTrials: round + 1,
    },
  };
}
