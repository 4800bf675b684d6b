/** Whether a run is a duet: see `measure/duet.ts`. Pure. */
import type { RunConfiguration } from '../config/configuration.ts';
import { BenchError } from '../errors.ts';
import { asDuet, type Plan, planRun } from './plan.ts';

/**
 * Each slice begins the workload anew: of one with more distinct queries than a slow server answers in a slice, the rest
 * would never be asked.
 */
const MAX_QUERIES = 10_000;

/** What decides whether a workload can be cut into slices. */
interface SlicedWorkload {
  readonly name: string;
  /** Distinct queries. */
  readonly size: number;
  readonly builtin?: { readonly isTimed?: boolean } | undefined;
}

/** Why trials or slices of a few seconds would not ask all that the workloads have; null if they do. */
export function whyNotShort(workloads: readonly SlicedWorkload[]): string | null {
  const timed = workloads.find(({ builtin }) => builtin?.isTimed === true);
  if (timed !== undefined) return `the workload "${timed.name}" is a capture with its own timing`;
  const large = workloads.find(({ size }) => size > MAX_QUERIES);
  return large === undefined
    ? null
    : `the workload "${large.name}" has more than 10,000 queries, too many for a few seconds`;
}

/** Why these settings allow no duet; null if they do. */
function obstacleTo(
  { kubernetes, objective, answers, loaders }: RunConfiguration,
  workloads: readonly SlicedWorkload[],
): string | null {
  if (kubernetes.target === 'kubernetes' && loaders > 1)
    return `on a cluster, one Job sends all slices, and --loaders asks for ${loaders}`;
  if (objective === 'max-rate') return '--objective max-rate searches with one server at a time';
  if (answers === 'stable') return '--answers stable compares the answers of one server at a time';
  return whyNotShort(workloads);
}

/**
 * `auto`: wherever it is possible on this machine and there is something to compare. On a cluster, where it has not been shown
 * to be better than trials, only if asked for.
 * @throws BenchError `E_CONFIG` where it is asked for and not possible.
 */
export function usesDuet(
  configuration: RunConfiguration,
  plan: Plan,
  workloads: readonly SlicedWorkload[],
): boolean {
  const { duet, kubernetes } = configuration;
  if (duet === 'off' || (duet === 'auto' && kubernetes.target === 'kubernetes')) return false;
  const obstacle = obstacleTo(configuration, workloads);
  if (duet === 'on' && obstacle !== null) {
    throw new BenchError('E_CONFIG', `--duet is not possible: ${obstacle}`, { fix: 'Omit --duet.' });
  }
  return obstacle === null && new Set(plan.cases.map(({ server, aa }) => `${server}${aa}`)).size > 1;
}

/** The plan of a run, as a duet where it is one. `availableCpus`: those that servers and loaders share. */
export function planWithDuet(
  configuration: RunConfiguration,
  availableCpus: number,
  workloads: readonly SlicedWorkload[],
): Plan {
  const plan = planRun(configuration, availableCpus);
  return usesDuet(configuration, plan, workloads) ? asDuet(plan, configuration) : plan;
}
