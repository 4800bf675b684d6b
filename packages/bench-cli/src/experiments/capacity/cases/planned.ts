/** A case of this experiment as the comparison's trials know cases. Pure. */
import type { PlannedTrial } from '../../../plan/plan.ts';
import type { Server } from '../../../servers/server.ts';
import type { CapacityCase, LoadName } from './cases-record.ts';

/** A case with what runs and what is asked. */
export interface RunnableCase {
  readonly facts: CapacityCase;
  readonly server: Server;
  /** The name of its workload in the trial context. */
  readonly workload: string;
  /** Where its metrics are; null for a server without any. */
  readonly metricsPort: number | null;
  /** Whether it is also measured at half of its saturation. */
  readonly atHalf: boolean;
}

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
