/**
 * What a run measures and in which order: the cases of the matrix, their trials interleaved, and the keys by
 * which an interrupted run resumes. Pure.
 */
import type { RunConfiguration } from '../config/configuration.ts';
import type { Mode, Transport } from '../results/record.ts';

export interface PlannedCase {
  /** `<server>/tier=<tier>/<mode>/<workload>/<transport>`. */
  readonly key: string;
  readonly server: string;
  /** vCPUs in total. */
  readonly tier: number;
  readonly mode: Mode;
  readonly workload: string;
  readonly transport: Transport;
  readonly instances: number;
  /** CPU allowance of each instance, in cores; they add up to the tier. */
  readonly allowances: readonly number[];
  readonly contended: boolean;
  readonly plannedTrials: number;
}

export interface PlannedTrial {
  readonly key: string;
  readonly case: PlannedCase;
  readonly round: number;
  readonly order: number;
}

export interface Plan {
  readonly cases: readonly PlannedCase[];
  readonly trials: readonly PlannedTrial[];
  /** Warm-up, measured time and `OVERHEAD_SECONDS` for every trial. */
  readonly estimatedSeconds: number;
}

/** Starting, checking and stopping a server, as measured with CoreDNS and DinoDNS on two cores. */
export const OVERHEAD_SECONDS = 1.5;

/**
 * CPU allowance of each instance. `multi`: one instance with the whole tier. `single`: as many instances as
 * the tier has vCPUs, with equal shares, so that a fraction above one (1.5) is two instances of 0.75.
 */
export function allowancesOf(tier: number, mode: Mode): number[] {
  const instances = mode === 'single' ? Math.ceil(tier) : 1;
  return Array.from({ length: instances }, () => tier / instances);
}

/** True if servers and loaders together need more cores than this process may use. */
export function isContended(tier: number, loaderThreads: number, availableCpus: number): boolean {
  return tier + loaderThreads > availableCpus;
}

function planCases(configuration: RunConfiguration, availableCpus: number): PlannedCase[] {
  const { transport, workload, trials, threads } = configuration;
  const cases: PlannedCase[] = [];
  for (const tier of configuration.tiers) {
    for (const mode of configuration.modes) {
      const allowances = allowancesOf(tier, mode);
      for (const server of configuration.servers) {
        cases.push({
          key: `${server}/tier=${tier}/${mode}/${workload}/${transport}`,
          server,
          tier,
          mode,
          workload,
          transport,
          instances: allowances.length,
          allowances,
          contended: isContended(tier, threads * allowances.length, availableCpus),
          plannedTrials: trials,
        });
      }
    }
  }
  return cases;
}

/**
 * Cases of the same tier and mode stand next to each other and every second round runs backwards (A B C,
 * C B A, …), so that a slow drift of the machine adds the same to each of them.
 */
export function planRun(configuration: RunConfiguration, availableCpus: number): Plan {
  const cases = planCases(configuration, availableCpus);
  const trials: PlannedTrial[] = [];
  for (let round = 0; round < configuration.trials; round += 1) {
    const ordered = round % 2 === 0 ? cases : [...cases].reverse();
    for (const planned of ordered) {
      trials.push({ key: `${planned.key}#${round}`, case: planned, round, order: trials.length });
    }
  }
  const perTrial = configuration.warmupSeconds + configuration.durationSeconds + OVERHEAD_SECONDS;
  return { cases, trials, estimatedSeconds: trials.length * perTrial };
}
