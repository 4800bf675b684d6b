/**
 * What a run measures and in which order: the cases of the matrix, their trials interleaved, and the keys by
 * which an interrupted run resumes. Pure.
 */
import { caseFilterText, fitsFilter } from '../config/case-filter.ts';
import type { RunConfiguration } from '../config/configuration.ts';
import { subjectNames } from '../config/paths.ts';
import { BenchError } from '../errors.ts';
import type { Mode } from '../results/record.ts';
import { pointKey, type SummarizedCase } from '../stats/cases.ts';
import type { World } from '../world.ts';

/** `key`: see `keyOf`. */
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

/** How the load of a round is divided; see `measure/duet.ts`. */
export interface DuetPlan {
  /** Of each server, in a round. */
  readonly slices: number;
  readonly sliceSeconds: number;
  /** Load at the beginning of each slice that does not count. */
  readonly settleSeconds: number;
}

export interface Plan {
  /** Null: trials follow each other, each with one server up. */
  readonly duet: DuetPlan | null;
  readonly cases: readonly PlannedCase[];
  readonly trials: readonly PlannedTrial[];
  /** Warm-up, measured time and `OVERHEAD_SECONDS`. */
  readonly secondsPerTrial: number;
  /** Of all trials. */
  readonly estimatedSeconds: number;
}

/**
 * Starting, checking and stopping a server, on two cores: 0.3 s for CoreDNS, 0.6 s on average of the three servers of the
 * default run, alone and in a duet.
 */
export const OVERHEAD_SECONDS = 0.6;

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
function contenders({
  servers,
  baseline,
  aa,
  kubernetes,
}: RunConfiguration): { server: string; aa: boolean }[] {
  const all = subjectNames(servers, kubernetes.path).map((server) => ({ server, aa: false }));
  return aa ? [...all, { server: baseline, aa: true }] : all;
}

/** A point of the matrix: everything but the server. */
type Point = Pick<PlannedCase, 'tier' | 'mode' | 'workload' | 'ratePerSecond' | 'transport'>;

/** The points of the matrix: the product of the axes. */
function pointsOf({ tiers, modes, workloads, ratesPerSecond, transports }: RunConfiguration): Point[] {
  return tiers.flatMap((tier) =>
    modes.flatMap((mode) =>
      workloads.flatMap((workload) =>
        transports.flatMap((transport) =>
          ratesPerSecond.map((ratePerSecond) => ({ tier, mode, workload, transport, ratePerSecond })),
        ),
      ),
    ),
  );
}

/** `<server>/tier=<tier>/<mode>/<workload>/<transport>`, and `/rate=<rate>` where one is asked for. */
function keyOf(server: string, { tier, mode, workload, transport, ratePerSecond }: Point): string {
  const rate = ratePerSecond === null ? '' : `/rate=${ratePerSecond}`;
  return `${server}/tier=${tier}/${mode}/${workload}/${transport}${rate}`;
}

/** More cases than this are a mistake: with the shortest trials they would take a working day. */
export const MAX_CASES = 1000;

/** Checked before anything is made: a product of long lists would fill the memory. */
function demandSize(configuration: RunConfiguration): void {
  const { tiers, modes, workloads, ratesPerSecond, transports } = configuration;
  const axes = {
    servers: contenders(configuration).length,
    tiers: tiers.length,
    modes: modes.length,
    workloads: workloads.length,
    transports: transports.length,
    rates: ratesPerSecond.length,
  };
  const cases = Object.values(axes).reduce((product, length) => product * length, 1);
  if (cases <= MAX_CASES) return;
  const factors = Object.entries(axes).filter(([, length]) => length > 1);
  throw new BenchError(
    'E_CONFIG',
    `${cases.toLocaleString('en')} cases are too many: ${factors.map(([name, length]) => `${length} ${name}`).join(' × ')}`,
    {
      fix: `Measure at most ${MAX_CASES.toLocaleString('en')} cases in a run: shorten a list, or make several runs.`,
    },
  );
}

/** @throws BenchError `E_CONFIG` if a filter fits no case, or if they leave none. */
function withoutExcluded(cases: readonly PlannedCase[], { exclude }: RunConfiguration): PlannedCase[] {
  const idle = exclude.find((filter) => !cases.some((item) => fitsFilter(item, filter)));
  if (idle !== undefined) {
    throw new BenchError('E_CONFIG', `--exclude: no case has ${caseFilterText(idle)}`, {
      fix: 'Omit it, or see the cases with --dry-run.',
    });
  }
  const rest = cases.filter((item) => !exclude.some((filter) => fitsFilter(item, filter)));
  if (rest.length === 0)
    throw new BenchError('E_CONFIG', '--exclude leaves no case to measure', { fix: 'Exclude fewer.' });
  return rest;
}

function planCases(configuration: RunConfiguration, availableCpus: number): PlannedCase[] {
  demandSize(configuration);
  const { trials, threads, loaders } = configuration;
  const cases = pointsOf(configuration).flatMap((point): PlannedCase[] => {
    const allowances = allowancesOf(point.tier, point.mode);
    return contenders(configuration).map(({ server, aa }) => ({
      key: keyOf(`${server}${aa ? '(aa)' : ''}`, point),
      server,
      aa,
      ...point,
      instances: allowances.length,
      allowances,
      contended: isContended(point.tier, loaders * threads * allowances.length, availableCpus),
      plannedTrials: trials,
    }));
  });
  return withoutExcluded(cases, configuration);
}

/**
 * Every second turn runs backwards (A B C, C B A), so that a slow drift of the machine affects each item equally. From one
 * such pair to the next, the items rotate by one (B C A, A C B), so that none always comes first or always follows the
 * same other one.
 */
export function balancedOrder<T>(items: readonly T[], turn: number): T[] {
  const start = Math.floor(turn / 2) % items.length;
  const rotated = [...items.slice(start), ...items.slice(0, start)];
  return turn % 2 === 0 ? rotated : rotated.reverse();
}

/** The trials of each round and point, which are compared with each other, in the order of the plan. */
export function blocksOf<C, T extends { readonly case: C; readonly round: number }>(
  trials: readonly T[],
  pointOf: (item: C) => string,
): T[][] {
  return [...Map.groupBy(trials, (trial) => `${trial.round}\n${pointOf(trial.case)}`).values()];
}

/**
 * Rounds of trials. Cases of the same point are adjacent, in the order of the round; the points, too, run backwards every second
 * time. Trials keep their place if there are more rounds.
 */
export function interleaved<C extends { readonly key: string }>(
  cases: readonly C[],
  rounds: number,
  pointOf: (item: C) => string,
  order: (items: readonly C[], round: number) => readonly C[] = balancedOrder,
) {
  const points = [...Map.groupBy(cases, pointOf).values()];
  const trials: { key: string; case: C; round: number; order: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const ordered = points.map((point) => order(point, round));
    for (const item of (round % 2 === 0 ? ordered : ordered.reverse()).flat())
      trials.push({ key: `${item.key}#${round}`, case: item, round, order: trials.length });
  }
  return trials;
}

/** The trials of each round that are compared with each other, in the order of the plan. */
export function blocksOfTrials(trials: readonly PlannedTrial[]): PlannedTrial[][] {
  return blocksOf(trials, pointKey);
}

/** The same plan with this many rounds. */
export function withRounds(plan: Plan, rounds: number): Plan {
  const cases = plan.cases.map((planned) => ({ ...planned, plannedTrials: rounds }));
  const trials = interleaved(cases, rounds, pointKey);
  return { ...plan, cases, trials, estimatedSeconds: trials.length * plan.secondsPerTrial };
}

/** What a slice needs besides its measured time and that in which it settles: the starts of two loads, on two cores. */
const SLICE_OVERHEAD_SECONDS = 0.11;

/**
 * Enough for caches, branch predictors and the queue of the server to be its own again: in series of 0.1 s after a
 * change of servers, only the first differs from the rest.
 */
const SETTLE_SECONDS = 0.2;

/** The same plan as a duet. The measured time of a trial is divided into slices of about `sliceSeconds`. */
export function asDuet(plan: Plan, { durationSeconds, sliceSeconds }: RunConfiguration): Plan {
  const slices = Math.max(1, Math.round(durationSeconds / sliceSeconds));
  const duet = { slices, sliceSeconds: durationSeconds / slices, settleSeconds: SETTLE_SECONDS };
  const secondsPerTrial = plan.secondsPerTrial + slices * (SETTLE_SECONDS + SLICE_OVERHEAD_SECONDS);
  return {
    ...plan,
    duet,
    secondsPerTrial,
    estimatedSeconds: plan.trials.length * secondsPerTrial,
  };
}

/**
 * See `interleaved`.
 * @throws BenchError `E_CONFIG` for more than `MAX_CASES`, and for `--exclude` without effect or without a rest.
 */
export function planRun(configuration: RunConfiguration, availableCpus: number): Plan {
  const search =
    configuration.objective === 'max-rate'
      ? TYPICAL_ATTEMPTS * (attemptSeconds(configuration.durationSeconds) + 1)
      : 0;
  const secondsPerTrial =
    configuration.warmupSeconds + search + configuration.durationSeconds + overheadOf(configuration);
  const cases = planCases(configuration, availableCpus);
  return withRounds(
    { duet: null, cases, trials: [], estimatedSeconds: 0, secondsPerTrial },
    configuration.trials,
  );
}

/** The cases of a configuration where they will run. */
export function planOn({ machine }: Pick<World, 'machine'>, configuration: RunConfiguration): Plan {
  // The cluster's nodes are only known once it is asked; this machine's CPUs say nothing about them.
  const onCluster = configuration.kubernetes.target === 'kubernetes';
  return planRun(configuration, onCluster ? Number.POSITIVE_INFINITY : machine.availableCpus);
}
