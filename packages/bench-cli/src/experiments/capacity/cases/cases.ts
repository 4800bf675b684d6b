/** What throughput and caching share: where their trials come from, the figures, and names of points. */
import type { Estimand } from '../../../engine/estimand.ts';
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

type Facts = Omit<Estimand<CasesEvidence>, 'of'>;

/** Anything but the server's CPU kept the rate from being higher. */
const unlessBound = (figure: (load: LoadFigures) => number) => (evidence: CasesEvidence) => {
  const { saturation } = evidence;
  const value = figure(saturation);
  return saturation.limitedBy === 'server' ? value : { bound: value };
};

const saturated = (facts: Facts, figure: (load: LoadFigures) => number | null): Estimand<CasesEvidence> => ({
  ...facts,
  of: ({ saturation }) => figure(saturation),
});

const halved = (facts: Facts, figure: (load: LoadFigures) => number | null): Estimand<CasesEvidence> => ({
  ...facts,
  of: ({ half }) => (half === null ? null : figure(half)),
});

const LESS = { better: 'less', compared: 'no' } as const;

export const ESTIMANDS: readonly Estimand<CasesEvidence>[] = [
  {
    ...{ name: 'lookups', title: 'lookups per second', unit: 'lookups/s', better: 'more', compared: 'ratio' },
    of: unlessBound(({ lookupsPerSecond }) => lookupsPerSecond),
  },
  {
    ...{ name: 'queries', title: 'queries per second', unit: 'queries/s', better: 'more', compared: 'no' },
    of: unlessBound(({ queriesPerSecond }) => queriesPerSecond),
  },
  saturated(
    { name: 'cpu', title: 'CPU per lookup', unit: 'CPU seconds', better: 'less', compared: 'ratio' },
    ({ cpuCores, lookupsPerSecond }) => (cpuCores === null ? null : cpuCores / lookupsPerSecond),
  ),
  saturated(
    { name: 'memory', title: 'memory', unit: 'bytes', better: 'less', compared: 'ratio' },
    ({ memoryBytes }) => memoryBytes,
  ),
  saturated({ name: 'cores', title: 'CPUs used', unit: 'cores', ...LESS }, ({ cpuCores }) => cpuCores),
  saturated({ name: 'lost', title: 'lost', unit: 'ratio', ...LESS }, ({ lostRatio }) => lostRatio),
  halved(
    { name: 'halfLatency', title: 'mean at half load', unit: 'seconds', ...LESS },
    ({ lookupLatencySeconds }) => lookupLatencySeconds.mean,
  ),
  halved(
    { name: 'halfP99', title: 'p99 at half load', unit: 'seconds', ...LESS },
    ({ lookupLatencySeconds }) => lookupLatencySeconds.p99,
  ),
  saturated(
    { name: 'latency', title: 'mean at saturation', unit: 'seconds', ...LESS },
    ({ lookupLatencySeconds }) => lookupLatencySeconds.mean,
  ),
  saturated(
    { name: 'p99', title: 'p99 at saturation', unit: 'seconds', ...LESS },
    ({ lookupLatencySeconds }) => lookupLatencySeconds.p99,
  ),
];
