/**
 * The comparisons of a run with their baselines: a family of tests for each metric, corrected for their number
 * (see `holm.ts`), and what the baseline shows against itself.
 */
import type { CaseRecord, Comparison, Delta, NoiseFloor, OkTrial } from '../results/record.ts';
import { type Allowance, allowanceOf } from './allowance.ts';
import { holmByItem } from './holm.ts';
import { byMetric, type ComparedMetric, DIRECTIONS } from './metrics.ts';
import { momentsOf, takenOver } from './neighbours.ts';
import type { TestOptions } from './sample-test.ts';
import {
  comparePairs,
  type Direction,
  decide,
  exposedPair,
  type Pair,
  pairTrials,
  type UndecidedDelta,
} from './summarize.ts';

/** Two sets of trials to compare. */
export interface ComparedTrials {
  readonly caseKey: string;
  readonly baselineKey: string;
  readonly trials: readonly OkTrial[];
  readonly baselineTrials: readonly OkTrial[];
}

/** Trials of the same round that both have the metric. */
export function pairsOf(
  trials: readonly OkTrial[],
  baseline: readonly OkTrial[],
  metric: ComparedMetric,
): Pair[] {
  // What others take slows servers down; it does not make them larger.
  const taken = metric === 'memoryBytes' ? () => undefined : takenDuring;
  return pairTrials(trials, baseline, (trial) => ({ value: trial.metrics[metric], taken: taken(trial) }));
}

/**
 * CPUs that the hypervisor and other programs took during a trial; undefined where nobody watched, and in a duet, whose servers had
 * the same neighbours.
 */
export function takenDuring(trial: OkTrial): number | undefined {
  if (trial.duet !== undefined) return undefined;
  return takenOver(momentsOf(trial)) ?? undefined;
}

/** One comparison in a family. */
export interface FamilyMember {
  /** Of either side; where the trials are paired, pairs. */
  readonly trials: number;
  /** Names it for resampling. */
  readonly seed: string;
}

/**
 * The differences of a family of comparisons, corrected for their number; null where `compare` says nothing.
 * @param compare one member, without a verdict
 */
export function decideFamily<M extends FamilyMember, D extends Parameters<typeof decide>[0]>(
  members: readonly M[],
  direction: Direction,
  options: TestOptions,
  compare: (member: M, options: TestOptions) => D | null,
): (ReturnType<typeof decide<D>> | null)[] {
  const comparisons = members.filter(({ trials }) => trials > 1).length;
  const deltas = members.map((member) => compare(member, { ...options, comparisons, seed: member.seed }));
  const adjustedOf = holmByItem(deltas, (delta) => delta?.pValue ?? null, options.level);
  return deltas.map((delta) =>
    delta === null ? null : decide(delta, direction, adjustedOf.get(delta) ?? null, comparisons),
  );
}

/** One that is compared by ratios. */
export interface RatioMember extends Omit<FamilyMember, 'trials'> {
  readonly pairs: readonly Pair[];
  /** Names the figures of the baseline: members with the same one depend alike on what others take. */
  readonly baseline: string;
  /** As in `TestOptions`. */
  readonly resolution?: number;
}

/** By baseline: cases with the same one are measured in turns. Its own trials, which all their pairs have, count once. */
function allowancesOf(members: readonly RatioMember[]) {
  const points = Map.groupBy(members, ({ baseline }) => baseline);
  return new Map(
    [...points].map(([baseline, group]): [string, Allowance | null] => {
      const exposed = group.map(({ pairs }) => pairs.flatMap(exposedPair));
      const [longest = []] = exposed.toSorted((a, b) => b.length - a.length);
      const own = exposed.map((pairs) => pairs.map((pair) => pair.own));
      return [baseline, allowanceOf([...own, longest.map((pair) => pair.baseline)])];
    }),
  );
}

/**
 * `decideFamily` by ratios, allowing for what others took where the pairs say it.
 * @param mayBeSaid whether something may be said of a member; default: always
 */
export function decideRatios<M extends RatioMember>(
  members: readonly M[],
  direction: Direction,
  options: TestOptions,
  mayBeSaid: (member: M, delta: UndecidedDelta) => boolean = () => true,
): (Delta | null)[] {
  const allowances = allowancesOf(members);
  const family = members.map((member) => ({ member, trials: member.pairs.length, seed: member.seed }));
  return decideFamily(family, direction, options, ({ member }, each) => {
    const options = { ...each, resolution: member.resolution ?? 0 };
    const delta = comparePairs(member.pairs, options, allowances.get(member.baseline) ?? null);
    return delta !== null && mayBeSaid(member, delta) ? delta : null;
  });
}

/** The deltas of one metric, in the order of `compared`; null where there is nothing to compare. */
function familyOf(
  compared: readonly ComparedTrials[],
  metric: ComparedMetric,
  options: TestOptions,
): (Delta | null)[] {
  const members = compared.map(({ caseKey, baselineKey, trials, baselineTrials }) => ({
    baseline: baselineKey,
    pairs: pairsOf(trials, baselineTrials, metric),
    seed: `${options.seed ?? ''}/${caseKey}/${metric}`,
  }));
  return decideRatios(members, DIRECTIONS[metric], options);
}

/** One comparison for each of `compared`, all of them one family for each metric. */
export function compareFamily(
  compared: readonly ComparedTrials[],
  options: TestOptions,
): (Comparison | null)[] {
  const families = byMetric((metric) => familyOf(compared, metric, options));
  return compared.map(({ baselineKey }, index) => {
    const { qps, ...others } = byMetric((metric) => families[metric][index] ?? null);
    return qps === null ? null : { baseline: baselineKey, qps, ...others };
  });
}

/** The end of the interval that is farther from zero; without an interval, the difference itself. */
function floorOf(delta: Delta | null): number | null {
  if (delta === null) return null;
  return Math.max(Math.abs(delta.low ?? delta.relative), Math.abs(delta.high ?? delta.relative));
}

/**
 * The baseline's twin against the baseline. Each pair stands alone, because none of them is a claim. The floor is the
 * interval's end that is farther from zero: a difference that two equal servers can show here.
 */
export function noiseFloorsOf(twins: readonly ComparedTrials[], options: TestOptions): NoiseFloor[] {
  return twins.flatMap((twin) => {
    const [comparison] = compareFamily([twin], options);
    if (comparison == null) return [];
    const floor = byMetric((metric) => floorOf(comparison[metric]));
    return [{ caseKey: twin.caseKey, comparison, floor }];
  });
}

/** `item` with every delta marked that is within the noise floor. */
export function markBelowFloor(item: CaseRecord, floors: readonly NoiseFloor[]): CaseRecord {
  const { comparison } = item;
  const floor = floors.find((candidate) => candidate.comparison.baseline === comparison?.baseline);
  if (comparison === null || floor === undefined) return item;
  const marked = <T extends Delta | null>(delta: T, metric: ComparedMetric): T => {
    const limit = floor.floor[metric];
    return delta === null || limit === null
      ? delta
      : { ...delta, belowNoiseFloor: Math.abs(delta.relative) <= limit };
  };
  return {
    ...item,
    comparison: {
      ...comparison,
      qps: marked(comparison.qps, 'qps'),
      latencySeconds: marked(comparison.latencySeconds, 'latencySeconds'),
      cpuSecondsPerQuery: marked(comparison.cpuSecondsPerQuery, 'cpuSecondsPerQuery'),
      memoryBytes: marked(comparison.memoryBytes, 'memoryBytes'),
    },
  };
}
