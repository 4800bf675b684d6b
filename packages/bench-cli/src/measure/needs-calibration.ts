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

/** With the two generators on two cores: 10 s with three servers and the echo. */
const SECONDS_EACH = 2.5;

/** About how long it takes; longer where tiers are lowered. */
export function calibrationSeconds(servers: readonly Server[]): number {
  return SECONDS_EACH * (servers.filter(({ existing }) => existing === undefined).length + 1);
}

/** What the generators are measured against. */
export function echoOf(configuration: RunConfiguration): Server {
  return findServer('echo', configuration);
}
