/** What throughput and caching share: where their trials come from, the figures, and names of points. */
import { type Estimand, lessOf, moreOf } from '../../../engine/estimand.ts';
import type { DecidedTarget, ExperimentPlan } from '../../../engine/experiment.ts';
import type { CasesEvidence, LoadFigures } from './evidence.ts';

/** What is decided: servers of a target, or pods of a cluster. */
export type CasesPlan = ExperimentPlan<DecidedTarget<unknown, CasesEvidence>>;

/** A trial's two loads with what surrounds them, besides `duration` twice: starting, checking, stopping. */
const OVERHEAD_SECONDS = 4;

export const secondsPerTrial = ({ duration, warmup }: Record<'duration' | 'warmup', number>) =>
  2 * duration + warmup + OVERHEAD_SECONDS;

/** Anything but the server's CPU kept the rate from being higher. */
const unlessBound =
  (figure: (load: LoadFigures) => number) =>
  ({ saturation }: CasesEvidence) => {
    const value = figure(saturation);
    return saturation.limitedBy === 'server' ? value : { bound: value };
  };

const less = lessOf<CasesEvidence>;
const lookups = unlessBound(({ lookupsPerSecond }) => lookupsPerSecond);
const queries = unlessBound(({ queriesPerSecond }) => queriesPerSecond);

export const ESTIMANDS: readonly Estimand<CasesEvidence>[] = [
  moreOf('lookups', 'lookups per second', 'lookups/s', 'ratio', lookups),
  moreOf('queries', 'queries per second', 'queries/s', 'no', queries),
  // Both over the time of the load.
  less('cpu', 'CPU per lookup', 'CPU seconds', 'ratio', ({ saturation: { cpuCores, lookupsPerSecond } }) =>
    cpuCores === null ? null : cpuCores / lookupsPerSecond,
  ),
  less('memory', 'memory', 'bytes', 'ratio', ({ saturation }) => saturation.memoryBytes),
  less('cores', 'CPUs used', 'cores', 'no', ({ saturation }) => saturation.cpuCores),
  less('lost', 'lost', 'ratio', 'no', ({ saturation }) => saturation.lostRatio),
  less('halfLatency', 'mean at half load', 'seconds', 'no', ({ half }) => half?.lookupLatencySeconds.mean),
  less('halfP99', 'p99 at half load', 'seconds', 'no', ({ half }) => half?.lookupLatencySeconds.p99),
  less('latency', 'mean at saturation', 'seconds', 'no', (each) => each.saturation.lookupLatencySeconds.mean),
  less('p99', 'p99 at saturation', 'seconds', 'no', ({ saturation }) => saturation.lookupLatencySeconds.p99),
];
