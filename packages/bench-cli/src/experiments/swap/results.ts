/** From placements to verdicts. Pure. */
import type { SummaryStatistic } from '../../results/record.ts';
import { holmAdjusted } from '../../stats/holm.ts';
import { including, median, medianInterval } from '../../stats/intervals.ts';
import { loadVisibility, middleVisibility, visibilityProblem } from '../../stats/load-visibility.ts';
import { detectableDifference, LEVEL, testDifferences, testPaired } from '../../stats/sample-test.ts';
import { figuresOf, type PlacementFigures } from './placement-figures.ts';
import {
  SIDES,
  type Side,
  type SwapDifference,
  type SwapPlacement,
  type SwapRow,
  type SwapVerdict,
  type SwapWorkload,
  WORKLOADS,
} from './record.ts';

/** What the results are made of. */
export interface SwapMeasured {
  readonly placements: readonly SwapPlacement[];
  readonly settings: { readonly ratePerSecond: number; readonly durationSeconds: number };
}

type Figure = (figures: PlacementFigures) => number | null;

/** Medians carry their interval; see `stats/intervals.ts`. */
function statistic(figures: readonly PlacementFigures[], figure: Figure): SummaryStatistic | null {
  const values = figures.flatMap((one) => figure(one) ?? []);
  if (values.length === 0) return null;
  const value = median(values);
  const interval = medianInterval(values);
  const { low, high } = interval === null ? { low: null, high: null } : including(interval, value);
  return { median: value, low, high, n: values.length };
}

interface Pair {
  readonly a: PlacementFigures;
  readonly b: PlacementFigures;
}

/** Placements 1 and 2 are a pair, 3 and 4 the next; a pair with one that does not count is none. */
function pairsOf(figures: readonly PlacementFigures[]): Pair[] {
  const byPair = Map.groupBy(figures, ({ placement }) => Math.floor((placement.number - 1) / 2));
  return [...byPair.values()].flatMap((members) => {
    const [a, b] = SIDES.map((side) =>
      members.find(({ placement, excluded }) => placement.side === side && excluded === null),
    );
    return a === undefined || b === undefined ? [] : [{ a, b }];
  });
}

/** Why the CPU of these placements says nothing about the load; empty if it does. */
function invisible(
  figures: readonly PlacementFigures[],
  { ratePerSecond, durationSeconds }: SwapMeasured['settings'],
): string[] {
  const all = figures.flatMap(
    (one) => loadVisibility({ ...one, seconds: durationSeconds, ratePerSecond }) ?? [],
  );
  const visibility = middleVisibility(all);
  return visibility === null || visibility.isVisible ? [] : [visibilityProblem(visibility)];
}

interface Compared {
  readonly workload: SwapWorkload;
  readonly pairs: readonly Pair[];
  readonly difference: Omit<SwapDifference, 'adjustedPValue' | 'verdict'>;
  readonly isVisible: boolean;
}

/** Differences of net CPU; of CPU under load where idle was not measured, which both then contain alike. */
function netDifference({ a, b }: Pair): number {
  const net = (one: PlacementFigures) => one.netCores ?? one.loadedCores ?? 0;
  return net(b) - net(a);
}

function loadedRatio(pairs: readonly Pair[]) {
  const ratios = pairs.map(({ a, b }) => (b.loadedCores ?? 0) / (a.loadedCores ?? 1));
  if (ratios.length === 0 || !ratios.every((one) => one > 0)) return { ratio: null, low: null, high: null };
  const test = testPaired(ratios);
  const ratio = test?.ratio ?? ratios[0] ?? 1;
  return {
    ratio: ratio - 1,
    low: test === null ? null : test.low - 1,
    high: test === null ? null : test.high - 1,
  };
}

function compare(measured: SwapMeasured, workload: SwapWorkload): Compared {
  const { placements, settings } = measured;
  const figures = placements.map((placement) => figuresOf(placement, workload, settings.ratePerSecond));
  const pairs = pairsOf(figures);
  const differences = pairs.map(netDifference);
  const test = testDifferences(differences);
  const excluded = figures.flatMap(({ placement, excluded: why }) =>
    why === null ? [] : `placement ${placement.number}: ${why}`,
  );
  const problems = SIDES.flatMap((side) =>
    invisible(
      pairs.map((pair) => (side === 'A' ? pair.a : pair.b)),
      settings,
    ).map((problem) => `${side}: ${problem}`),
  );
  const loaded = loadedRatio(pairs);
  return {
    workload,
    pairs,
    isVisible: problems.length === 0,
    difference: {
      pairs: pairs.length,
      netCores: test?.estimate ?? differences[0] ?? null,
      lowCores: test?.low ?? null,
      highCores: test?.high ?? null,
      pValue: test?.pValue ?? null,
      method: test?.method ?? null,
      detectableCores: detectableDifference(differences),
      loadedRatio: loaded.ratio,
      loadedLow: loaded.low,
      loadedHigh: loaded.high,
      reasons: [...problems, ...excluded],
    },
  };
}

function verdictOf({ pairs, isVisible, difference }: Compared, adjustedPValue: number | null): SwapVerdict {
  if (pairs.length === 0) return 'not comparable';
  if (!isVisible) return 'load not visible';
  const { lowCores, highCores } = difference;
  const isShown = adjustedPValue !== null && adjustedPValue <= LEVEL;
  if (isShown && lowCores !== null && lowCores > 0) return 'more';
  if (isShown && highCores !== null && highCores < 0) return 'less';
  return 'no difference shown';
}

function differencesOf(measured: SwapMeasured): Map<SwapWorkload, SwapDifference> {
  const compared = WORKLOADS.map((workload) => compare(measured, workload));
  const tested = compared.flatMap(({ workload, difference: { pValue } }) =>
    pValue === null ? [] : [{ workload, pValue }],
  );
  const adjusted = holmAdjusted(tested.map(({ pValue }) => pValue));
  const adjustedOf = (workload: SwapWorkload) =>
    adjusted[tested.findIndex((one) => one.workload === workload)] ?? null;
  return new Map(
    compared.map((one) => {
      const adjustedPValue = adjustedOf(one.workload);
      return [one.workload, { ...one.difference, adjustedPValue, verdict: verdictOf(one, adjustedPValue) }];
    }),
  );
}

function rowOf(
  measured: SwapMeasured,
  side: Side,
  workload: SwapWorkload,
  difference: SwapDifference | null,
): SwapRow {
  const { placements, settings } = measured;
  const all = placements
    .filter((placement) => placement.side === side)
    .map((placement) => figuresOf(placement, workload, settings.ratePerSecond));
  const counted = all.filter(({ excluded }) => excluded === null);
  const sent = counted.reduce((sum, one) => sum + one.sent, 0);
  const held = all.flatMap(({ rateHeldRatio }) => rateHeldRatio ?? []);
  return {
    side,
    workload,
    placements: counted.length,
    idleCores: statistic(counted, ({ idleCores }) => idleCores),
    loadedCores: statistic(counted, ({ loadedCores }) => loadedCores),
    netCores: statistic(counted, ({ netCores }) => netCores),
    cpuSecondsPerQuery: statistic(counted, ({ cpuSecondsPerQuery }) => cpuSecondsPerQuery),
    qps: statistic(counted, ({ qps }) => qps),
    p99Seconds: statistic(counted, ({ p99Seconds }) => p99Seconds),
    memoryBytes: statistic(counted, ({ memoryBytes }) => memoryBytes),
    rateHeldRatio: held.length === 0 ? null : Math.min(...held),
    lostRatio: sent === 0 ? null : counted.reduce((sum, one) => sum + one.lost, 0) / sent,
    restarts: all.filter(({ placement }) => placement.failure?.reason === 'restarted').length,
    difference: side === 'A' ? null : difference,
  };
}

/** The rows of the tables: both versions with each workload that any placement has. */
export function swapResults(measured: SwapMeasured): SwapRow[] {
  const differences = differencesOf(measured);
  const present = WORKLOADS.filter((workload) =>
    measured.placements.some(({ phases }) => phases.some(({ kind }) => kind === workload)),
  );
  return SIDES.flatMap((side) =>
    present.map((workload) => rowOf(measured, side, workload, differences.get(workload) ?? null)),
  );
}
