/** What throughput and caching share: where their trials come from, the figures, and names of points. */
import { type Estimand, lessOf } from '../../../engine/estimand.ts';
import type { DecidedTarget, ExperimentPlan } from '../../../engine/experiment.ts';
import type { CasesEvidence, LoadFigures } from './evidence.ts';

/** What is decided: servers of a target, or pods of a cluster. */
export type CasesPlan = ExperimentPlan<DecidedTarget<unknown, CasesEvidence>>;

/** A trial's two loads with what surrounds them, besides `duration` twice: starting, checking, stopping. */
const OVERHEAD_SECONDS = 4;

export function secondsPerTrial({
  duration,
  warmup,
}: {
  readonly duration: number;
  readonly warmup: number;
}) {
  return 2 * duration + warmup + OVERHEAD_SECONDS;
}

/** Anything but the server's CPU kept the rate from being higher. */
const unlessBound = (figure: (load: LoadFigures) => number) => (evidence: CasesEvidence) => {
  const { saturation } = evidence;
  const value = figure(saturation);
  return saturation.limitedBy === 'server' ? value : { bound: value };
};

const less = lessOf<CasesEvidence>;

export const ESTIMANDS: readonly Estimand<CasesEvidence>[] = [
  {
    ...{ name: 'lookups', title: 'lookups per second', unit: 'lookups/s', better: 'more', compared: 'ratio' },
    of: unlessBound(({ lookupsPerSecond }) => lookupsPerSecond),
  },
  {
    ...{ name: 'queries', title: 'queries per second', unit: 'queries/s', better: 'more', compared: 'no' },
    of: unlessBound(({ queriesPerSecond }) => queriesPerSecond),
  },
  // Both over the time of the load.
  less('cpu', 'CPU per lookup', 'CPU seconds', 'ratio', ({ saturation: { cpuCores, lookupsPerSecond } }) =>
    cpuCores === null ? null : cpuCores / lookupsPerSecond,
  ),
  less('memory', 'memory', 'bytes', 'ratio', ({ saturation }) => saturation.memoryBytes),
  less('cores', 'CPUs used', 'cores', 'no', ({ saturation }) => saturation.cpuCores),
  less('lost', 'lost', 'ratio', 'no', ({ saturation }) => saturation.lostRatio),
  less('halfLatency', 'mean at half load', 'seconds', 'no', ({ half }) => half?.lookupLatencySeconds.mean),
  less('halfP99', 'p99 at half load', 'seconds', 'no', ({ half }) => half?.lookupLatencySeconds.p99),
  less(
    'latency',
    'mean at saturation',
    'seconds',
    'no',
    ({ saturation }) => saturation.lookupLatencySeconds.mean,
  ),
  less('p99', 'p99 at saturation', 'seconds', 'no', ({ saturation }) => saturation.lookupLatencySeconds.p99),
];
