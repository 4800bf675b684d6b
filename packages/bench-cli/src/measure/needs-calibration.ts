/** Whether load generators are tried before the first trial. Pure. */
import type { RunConfiguration } from '../config/configuration.ts';
import type { Plan } from '../plan/plan.ts';
import { findServer } from '../servers/registry.ts';
import type { Server } from '../servers/server.ts';
import type { BenchWorkload } from '../workload/workload.ts';

/** On this machine, where servers have limits that bench sets and the load has none. */
export function needsCalibration(
  { calibrate, kubernetes, objective, answers }: RunConfiguration,
  plan: Plan,
  workloads: readonly BenchWorkload[],
): boolean {
  return (
    calibrate &&
    kubernetes.target === 'local' &&
    objective === 'throughput' &&
    answers === 'zones' &&
    plan.cases.some(({ ratePerSecond }) => ratePerSecond === null) &&
    workloads.every(({ builtin }) => builtin === undefined)
  );
}

/** What the generators are measured against. */
export function echoOf(configuration: RunConfiguration): Server {
  return findServer('echo', configuration);
}
