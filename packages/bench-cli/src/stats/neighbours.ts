/** How much of the scatter other programs and the hypervisor explain. Pure. */
import type { NeighbourSecond, Neighbours, OkTrial, Slice } from '../results/record.ts';
import { mean, sum } from './intervals.ts';

/** A share of the machine from which a second, or a slice of a duet, counts as disturbed. */
export const HEAVY_STEAL = 0.05;
export const HEAVY_OTHERS = 0.1;

/** Fewer measurements can be explained by anything. */
const MIN_POINTS = 10;

/** What others had of the machine. */
type Taken = Pick<Neighbours, 'stealCores' | 'otherCores'>;

const coresOf = ({ stealCores, otherCores }: Taken) => stealCores + otherCores;

export interface Disturbances {
  readonly unit: 'seconds' | 'slices';
  readonly moments: number;
  /** Those in which the hypervisor, or other programs, took a heavy share of the machine. */
  readonly heavySteal: number;
  readonly heavyOthers: number;
  /** Largest number of cores that others had meanwhile. */
  readonly largestCores: number;
  /** Times that a core slowed down because it was too hot; null where the machine does not tell. */
  readonly thermalEvents: number | null;
  /**
   * Share of the variance of the logarithm of throughput, within the cases, that what others had explains: between the trials of a
   * case, or between the slices of a duet. Null for too few measurements.
   */
  readonly explained: number | null;
}

interface Point {
  readonly group: string;
  /** Of the cause. */
  readonly amount: number;
  readonly log: number;
}

/** Deviations from the mean of the group, and how many of them are free. */
function within(points: readonly Point[]) {
  const groups = [...Map.groupBy(points, ({ group }) => group).values()];
  const deviations = groups.flatMap((members) => {
    const [amount, log] = [mean(members.map((item) => item.amount)), mean(members.map((item) => item.log))];
    return members.map((item) => ({ amount: item.amount - amount, log: item.log - log }));
  });
  return { deviations, free: points.length - groups.length };
}

/**
 * The adjusted coefficient of determination of a regression with a common slope and a level for each group: a cause without
 * an effect has 0 on average, however few the points are. 0 without scatter, never below.
 */
export function explainedShare(points: readonly Point[]): number {
  const { deviations, free } = within(points);
  const total = (pick: (item: { amount: number; log: number }) => number) => sum(deviations.map(pick));
  const [xx, yy, xy] = [
    total(({ amount }) => amount ** 2),
    total(({ log }) => log ** 2),
    total(({ amount, log }) => amount * log),
  ];
  if (xx === 0 || yy === 0 || free < 2) return 0;
  const left = Math.max(0, 1 - xy ** 2 / (xx * yy));
  return Math.max(0, 1 - (left * free) / (free - 1));
}

/** Throughput beside what others had meanwhile. */
function pointsOf(trial: OkTrial): Point[] {
  const { caseKey: group, metrics, duet } = trial;
  const alone = { qps: metrics.qps, neighbours: neighboursOf(trial) };
  const measured: readonly Pick<Slice, keyof typeof alone>[] = duet?.slices ?? [alone];
  return measured.flatMap(({ qps, neighbours }) =>
    neighbours === null || qps <= 0 ? [] : [{ group, amount: coresOf(neighbours), log: Math.log(qps) }],
  );
}

/** CPUs that the hypervisor and other programs took over these windows, on average; null for none. */
export function takenOver(windows: readonly (Taken & { readonly durationSeconds: number })[]): number | null {
  const seconds = sum(windows.map(({ durationSeconds }) => durationSeconds));
  const taken = windows.map((each) => coresOf(each) * each.durationSeconds);
  return seconds === 0 ? null : sum(taken) / seconds;
}

/** The seconds of a trial, or the slices of a duet, whose times are those since the round began, as far as they were watched. */
export function momentsOf({ neighbours = [], duet }: OkTrial): readonly NeighbourSecond[] {
  if (duet === undefined) return neighbours;
  return duet.slices.flatMap(({ atSeconds, durationSeconds, neighbours: beside }) =>
    beside === null ? [] : [{ atSeconds, durationSeconds, ...beside }],
  );
}

/** All of a trial in one: averages over its time, waits and thermal events added. Null where it was not watched. */
export function neighboursOf(trial: OkTrial): Neighbours | null {
  const moments = momentsOf(trial);
  if (moments.length === 0) return null;
  const seconds = sum(moments.map(({ durationSeconds }) => durationSeconds));
  const average = (pick: (moment: NeighbourSecond) => number) =>
    sum(moments.map((moment) => pick(moment) * moment.durationSeconds)) / seconds;
  const known = (pick: (moment: NeighbourSecond) => number | null) => {
    const values = moments.flatMap((moment) => pick(moment) ?? []);
    return values.length < moments.length ? null : values;
  };
  const [waits, clocks] = [known(({ waitSeconds }) => waitSeconds), known(({ hertz }) => hertz)];
  const thermal = known(({ thermalEvents }) => thermalEvents);
  return {
    stealCores: average(({ stealCores }) => stealCores),
    otherCores: average(({ otherCores }) => otherCores),
    waitSeconds: waits === null ? null : sum(waits),
    hertz: clocks === null ? null : mean(clocks),
    thermalEvents: thermal === null ? null : sum(thermal),
  };
}

/** Whether others had a heavy share of a machine of `cpus` CPUs. */
export function isHeavy({ stealCores, otherCores }: Taken, cpus: number): boolean {
  return stealCores >= HEAVY_STEAL * cpus || otherCores >= HEAVY_OTHERS * cpus;
}

/** What the trials say about the rest of the machine; null where that was not watched. */
export function examineNeighbours(trials: readonly OkTrial[], cpus: number): Disturbances | null {
  const moments = trials.flatMap(momentsOf);
  if (moments.length === 0) return null;
  const points = trials.flatMap(pointsOf);
  const thermal = moments.flatMap(({ thermalEvents }) => thermalEvents ?? []);
  return {
    unit: trials.some(({ duet }) => duet !== undefined) ? 'slices' : 'seconds',
    moments: moments.length,
    heavySteal: moments.filter(({ stealCores }) => stealCores >= HEAVY_STEAL * cpus).length,
    heavyOthers: moments.filter(({ otherCores }) => otherCores >= HEAVY_OTHERS * cpus).length,
    largestCores: Math.max(...moments.map(coresOf)),
    thermalEvents: thermal.length === 0 ? null : sum(thermal),
    explained: points.length < MIN_POINTS ? null : explainedShare(points),
  };
}
