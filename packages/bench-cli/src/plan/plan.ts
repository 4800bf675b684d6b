/**
 * What a run measures and in which order: the cases of the matrix, their trials interleaved, and the keys by
 * which an interrupted run resumes. Pure.
 */
import type { RunConfiguration } from '../config/configuration.ts';
import type { Mode } from '../results/record.ts';
import type { SummarizedCase } from '../stats/cases.ts';

/** `key` is `<server>/tier=<tier>/<mode>/<workload>/<transport>`. */
export interface PlannedCase extends SummarizedCase {
  /** CPU allowance of each instance, in cores; they add up to the tier. */
  readonly allowances: readonly number[];
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
  /** Warm-up, measured time and `OVERHEAD_SECONDS`. */
  readonly secondsPerTrial: number;
  /** Of all trials. */
  readonly estimatedSeconds: number;
}

/** Starting, checking and stopping a server, as measured with CoreDNS and DinoDNS on two cores. */
export const OVERHEAD_SECONDS = 1.5;

/** Pods for the server, the check and the loader, and a fresh reading of the kubelet's counters at both ends. */
export const CLUSTER_OVERHEAD_SECONDS = 15;

/** The longest attempt in the search for the highest rate; a trial's measurement may be longer. */
const MAX_ATTEMPT_SECONDS = 5;

/** Measured time of an attempt of `--objective max-rate`. */
export function attemptSeconds(durationSeconds: number): number {
  return Math.min(MAX_ATTEMPT_SECONDS, durationSeconds);
}

/** Attempts of a typical search, each with the start of its loader. */
const TYPICAL_ATTEMPTS = 12;

function overheadOf({ kubernetes }: RunConfiguration): number {
  return kubernetes.target === 'kubernetes' ? CLUSTER_OVERHEAD_SECONDS : OVERHEAD_SECONDS;
}

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

/** The servers of every point of the matrix; with `--aa`, the baseline's twin comes last. */
function contenders({ servers, baseline, aa }: RunConfiguration): { server: string; aa: boolean }[] {
  const all = servers.map((server) => ({ server, aa: false }));
  return aa ? [...all, { server: baseline, aa: true }] : all;
}

function planCases(configuration: RunConfiguration, availableCpus: number): PlannedCase[] {
  const { transport, workload, trials, threads } = configuration;
  const cases: PlannedCase[] = [];
  for (const tier of configuration.tiers) {
    for (const mode of configuration.modes) {
      const allowances = allowancesOf(tier, mode);
      for (const { server, aa } of contenders(configuration)) {
        cases.push({
          key: `${server}${aa ? '(aa)' : ''}/tier=${tier}/${mode}/${workload}/${transport}`,
          server,
          aa,
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

/** Cases of the same tier and mode, which are compared with each other. */
function blocksOf(cases: readonly PlannedCase[]): PlannedCase[][] {
  return [...Map.groupBy(cases, ({ tier, mode }) => `${tier} ${mode}`).values()];
}

/**
 * The order of a round. Every second round runs backwards (A B C, C B A), so that a slow drift of the machine
 * affects each case equally. From one such pair to the next, the cases of a block rotate by one (B C A, A C B), so
 * that no case always comes first or always follows the same other one.
 */
function orderOf(cases: readonly PlannedCase[], round: number): PlannedCase[] {
  const rotated = blocksOf(cases).flatMap((block) => {
    const start = Math.floor(round / 2) % block.length;
    return [...block.slice(start), ...block.slice(0, start)];
  });
  return round % 2 === 0 ? rotated : rotated.reverse();
}

/** The same plan with this many rounds: trials that it already holds keep their place. */
export function withRounds(plan: Plan, rounds: number): Plan {
  const cases = plan.cases.map((planned) => ({ ...planned, plannedTrials: rounds }));
  const trials: PlannedTrial[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const planned of orderOf(cases, round)) {
      trials.push({ key: `${planned.key}#${round}`, case: planned, round, order: trials.length });
    }
  }
  return { ...plan, cases, trials, estimatedSeconds: trials.length * plan.secondsPerTrial };
}

/** See `orderOf`. Cases of the same tier and mode are adjacent. */
export function planRun(configuration: RunConfiguration, availableCpus: number): Plan {
  const search =
    configuration.objective === 'max-rate'
      ? TYPICAL_ATTEMPTS * (attemptSeconds(configuration.durationSeconds) + 1)
      : 0;
  const secondsPerTrial =
    configuration.warmupSeconds + search + configuration.durationSeconds + overheadOf(configuration);
  const cases = planCases(configuration, availableCpus);
  return withRounds({ cases, trials: [], estimatedSeconds: 0, secondsPerTrial }, configuration.trials);
}
