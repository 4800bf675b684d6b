/** How much of the scatter of slices other programs and the hypervisor explain. Pure. */
import type { OkTrial, Slice } from '../results/record.ts';

/** A share of the machine from which a slice counts as disturbed. */
export const HEAVY_STEAL = 0.05;
export const HEAVY_OTHERS = 0.1;

/** Fewer slices can be explained by anything. */
const MIN_SLICES = 10;

export interface Disturbances {
  readonly slices: number;
  /** Slices in which the hypervisor, or other programs, took a heavy share of the machine, and their seconds. */
  readonly heavySteal: number;
  readonly heavyOthers: number;
  readonly heavySeconds: number;
  /** Largest number of cores that others had during a slice. */
  readonly largestCores: number;
  /** Share of the variance of log throughput, within the cases, that the cores taken explain; null for too few slices. */
  readonly explained: number | null;
}

interface Point {
  readonly group: string;
  /** Cores that others had. */
  readonly taken: number;
  readonly log: number;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Deviations from the mean of the group. */
function within(points: readonly Point[]): { taken: number; log: number }[] {
  return [...Map.groupBy(points, ({ group }) => group).values()].flatMap((members) => {
    const [taken, log] = [mean(members.map((item) => item.taken)), mean(members.map((item) => item.log))];
    return members.map((item) => ({ taken: item.taken - taken, log: item.log - log }));
  });
}

/** The coefficient of determination of a regression with a common slope and a level for each group; 0 without scatter. */
export function explainedShare(points: readonly Point[]): number {
  const deviations = within(points);
  const sum = (pick: (item: { taken: number; log: number }) => number) =>
    deviations.reduce((total, item) => total + pick(item), 0);
  const [xx, yy, xy] = [
    sum(({ taken }) => taken ** 2),
    sum(({ log }) => log ** 2),
    sum(({ taken, log }) => taken * log),
  ];
  return xx === 0 || yy === 0 ? 0 : Math.min(1, xy ** 2 / (xx * yy));
}

/** What the slices of a duet say about the rest of the machine; null where there are none. */
export function examineNeighbours(trials: readonly OkTrial[], cpus: number): Disturbances | null {
  const slices = trials.flatMap(({ caseKey, duet }) =>
    (duet?.slices ?? []).flatMap((slice) =>
      slice.neighbours === null ? [] : [{ group: caseKey, slice, ...slice.neighbours }],
    ),
  );
  if (slices.length === 0) return null;
  const steal = slices.filter(({ stealCores }) => stealCores >= HEAVY_STEAL * cpus);
  const others = slices.filter(({ otherCores }) => otherCores >= HEAVY_OTHERS * cpus);
  const heavy = new Set<Slice>([...steal, ...others].map(({ slice }) => slice));
  const points = slices.flatMap(({ group, slice, stealCores, otherCores }) =>
    slice.qps > 0 ? [{ group, taken: stealCores + otherCores, log: Math.log(slice.qps) }] : [],
  );
  return {
    slices: slices.length,
    heavySteal: steal.length,
    heavyOthers: others.length,
    heavySeconds: [...heavy].reduce((sum, { durationSeconds }) => sum + durationSeconds, 0),
    largestCores: Math.max(...slices.map(({ stealCores, otherCores }) => stealCores + otherCores)),
    explained: points.length < MIN_SLICES ? null : explainedShare(points),
  };
}
