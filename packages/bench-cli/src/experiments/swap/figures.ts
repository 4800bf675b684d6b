/** From a placement to figures, by name set. A placement is one value, however long it was. Pure. */
import type { Estimand } from '../../engine/estimand.ts';
import { loadVisibility, visibilityProblem } from '../../stats/load-visibility.ts';
import { percentileIn } from '../../stats/percentile.ts';
import { NAME_SETS, type NameSet, type Phase, type SwapEvidence } from './evidence.ts';
import type { SwapSettings } from './settings.ts';

/** Share of the rate below which a phase does not count. */
export const MIN_RATE_RATIO = 0.98;

/** Mean over the idle windows, each as long as it was. */
function idleCoresOf({ phases }: SwapEvidence): number | null {
  const observed = phases.flatMap(({ kind, observation }) =>
    kind === 'idle' && observation !== null ? [observation] : [],
  );
  const whole = observed.reduce((sum, { durationSeconds }) => sum + durationSeconds, 0);
  if (whole === 0) return null;
  return observed.reduce((sum, { cpuCores, durationSeconds }) => sum + cpuCores * durationSeconds, 0) / whole;
}

type Pace = Pick<SwapSettings, 'rate' | 'duration'>;

/** Why the CPU of this load says nothing about it; null if it does. */
function invisible(
  { observation }: Phase,
  idleCores: number | null,
  { rate, duration }: Pace,
): string | null {
  if (observation === null) return 'its CPU could not be read';
  const samples = observation.samples.map(({ cpuCores }) => cpuCores);
  const visibility = loadVisibility({
    idleCores,
    loadedCores: observation.cpuCores,
    // Its mean where there are too few.
    readings: samples.length > 0 ? samples : [observation.cpuCores],
    seconds: duration,
    ratePerSecond: rate,
  });
  return (visibility === null ? '' : visibilityProblem(visibility)) || null;
}

const NOTHING = {
  loadedCores: null,
  netCores: null,
  cpuSecondsPerQuery: null,
  rateHeldRatio: null,
  lostRatio: null,
  p99Seconds: null,
  memoryBytes: null,
};

/** `excluded`: why figures are missing; null where none is. */
export type PlacementFigures = Readonly<Record<'idleCores' | keyof typeof NOTHING, number | null>> & {
  readonly excluded: string | null;
};

/**
 * Figures of a load that did not hold the rate are none; CPU that does not show the load is none. So nothing is said by
 * them, and the partner of such a placement is not compared either.
 */
export function figuresOf(evidence: SwapEvidence, names: NameSet, pace: Pace): PlacementFigures {
  const idleCores = idleCoresOf(evidence);
  const phase = evidence.phases.find(({ kind }) => kind === names);
  const load = phase?.load ?? null;
  if (phase === undefined || load === null) return { ...NOTHING, idleCores, excluded: 'not measured' };
  const rateHeldRatio = load.qps / pace.rate;
  if (rateHeldRatio < MIN_RATE_RATIO) {
    const excluded = `${(rateHeldRatio * 100).toFixed(1)} % of the rate was held`;
    return { ...NOTHING, idleCores, rateHeldRatio, excluded };
  }
  const excluded = invisible(phase, idleCores, pace);
  const { observation } = phase;
  const loadedCores = excluded === null ? (observation?.cpuCores ?? null) : null;
  const netCores = idleCores === null || loadedCores === null ? null : loadedCores - idleCores;
  return {
    idleCores,
    loadedCores,
    netCores,
    cpuSecondsPerQuery: netCores === null ? null : netCores / load.qps,
    rateHeldRatio,
    lostRatio: load.queriesSent === 0 ? null : load.queriesLost / load.queriesSent,
    p99Seconds: percentileIn(load.latencyPercentiles, 99),
    memoryBytes: observation?.memoryBytes?.mean ?? null,
    excluded,
  };
}

type Facts = Pick<Estimand<SwapEvidence>, 'unit' | 'better' | 'compared'> & {
  readonly title: string;
  readonly of: keyof PlacementFigures;
};

/** By the beginnings of their names; the name set follows. */
const FIGURES = {
  net: { title: 'net CPU', unit: 'cores', better: 'less', compared: 'difference', of: 'netCores' },
  loaded: {
    title: 'CPU under load',
    unit: 'cores',
    better: 'less',
    compared: 'difference',
    of: 'loadedCores',
  },
  query: {
    title: 'CPU per query',
    unit: 'CPU seconds',
    better: 'less',
    compared: 'ratio',
    of: 'cpuSecondsPerQuery',
  },
  p99: { title: 'latency p99', unit: 'seconds', better: 'less', compared: 'ratio', of: 'p99Seconds' },
  lost: { title: 'lost', unit: 'ratio', better: 'less', compared: 'difference', of: 'lostRatio' },
  memory: { title: 'working set', unit: 'bytes', better: 'less', compared: 'ratio', of: 'memoryBytes' },
  held: { title: 'rate held', unit: 'ratio', better: 'more', compared: 'no', of: 'rateHeldRatio' },
} as const satisfies Record<string, Facts>;
export type FigureName = keyof typeof FIGURES;

/** `net-internal` */
export const estimandName = (figure: FigureName, names: NameSet) => `${figure}-${names}`;

/** Both name sets are corrected together. `--until` waits for what a swap is about: net CPU. */
export function estimandsOf(pace: Pace): Estimand<SwapEvidence>[] {
  return [
    {
      ...{ name: 'idle', title: 'idle CPU', unit: 'cores', better: 'less', compared: 'no' },
      of: (evidence) => idleCoresOf(evidence),
    },
    ...NAME_SETS.flatMap((names) =>
      Object.entries(FIGURES).map(
        ([figure, { title, of, ...facts }]): Estimand<SwapEvidence> => ({
          ...facts,
          name: estimandName(figure as FigureName, names),
          title: `${title}, ${names}`,
          family: figure,
          awaited: figure === 'net',
          of: (evidence) => figuresOf(evidence, names, pace)[of],
        }),
      ),
    ),
  ];
}
