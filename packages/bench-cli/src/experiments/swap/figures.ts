/** From a placement to figures, by name set. A placement is one value, however long it was. Pure. */
import type { Bound, Estimand } from '../../engine/estimand.ts';
import { anyWasTheLimit } from '../../measure/limiting-factor.ts';
import { sum } from '../../stats/intervals.ts';
import { visibilityProblem } from '../../stats/load-visibility.ts';
import { percentileIn } from '../../stats/percentile.ts';
import { NAME_SETS, type NameSet, type Phase, type SwapEvidence } from './evidence.ts';
import type { SwapSettings } from './settings.ts';

/** Share of the rate below which a phase does not count. */
export const MIN_RATE_RATIO = 0.98;

/** Null without values, and where one is not known. */
function sumOfAll(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 || known.length < values.length ? null : sum(known);
}

/** The kubelets read each pod at times of its own. Null where one has no such time, as in old records. */
function coresByPod(instances: Phase['instances']): number | null {
  const cores = (instances ?? []).map(({ cpuSeconds, readSeconds }) =>
    cpuSeconds === null || readSeconds == null ? null : cpuSeconds / readSeconds,
  );
  return sumOfAll(cores);
}

/** Mean over the idle windows, each as long as the time between its readings. */
function idleCoresOf({ phases }: SwapEvidence): number | null {
  const observed = phases.flatMap(({ kind, observation, readSeconds, instances }) => {
    if (kind !== 'idle' || observation === null) return [];
    const length = readSeconds ?? observation.durationSeconds;
    const cores = coresByPod(instances);
    return [{ used: cores === null ? observation.cpuSeconds : cores * length, length }];
  });
  const whole = sum(observed.map(({ length }) => length));
  return whole === 0 ? null : sum(observed.map(({ used }) => used)) / whole;
}

/** What the pods used between their readings and the load, each as when it was idle; null where that is not known of each. */
function idleUseByPod(
  { instances }: Phase,
  durationSeconds: number,
  { phases }: SwapEvidence,
): number | null {
  const idle = phases.flatMap((phase) => (phase.kind === 'idle' ? (phase.instances ?? []) : []));
  const used = (instances ?? []).map(({ name, readSeconds }) => {
    const windows = idle.filter((instance) => instance.name === name);
    const whole = sum(windows.map((window) => window.readSeconds ?? 0));
    if (readSeconds == null || whole === 0 || windows.some((window) => window.readSeconds == null))
      return null;
    const cores = sum(windows.map(({ cpuSeconds }) => cpuSeconds ?? 0)) / whole;
    return cores * Math.max(0, readSeconds - durationSeconds);
  });
  return sumOfAll(used);
}

/** Without what the pods used between the readings before and after the load, when they were idle. */
function loadedCoresOf(phase: Phase, idleCores: number | null, evidence: SwapEvidence): number | null {
  const { observation, readSeconds } = phase;
  if (observation === null || readSeconds == null || idleCores === null) return observation?.cpuCores ?? null;
  const { cpuSeconds, durationSeconds } = observation;
  const idleUse =
    idleUseByPod(phase, durationSeconds, evidence) ?? idleCores * Math.max(0, readSeconds - durationSeconds);
  return Math.max(0, cpuSeconds - idleUse) / durationSeconds;
}

type Pace = Pick<SwapSettings, 'rate' | 'duration'>;

/** Why the CPU of this load says nothing about it; null if it does. */
function invisible(
  { observation }: Phase,
  { idleCores, loadedCores }: Pick<PlacementFigures, 'idleCores' | 'loadedCores'>,
  { rate, duration }: Pace,
): string | null {
  if (observation === null) return 'its CPU could not be read';
  const samples = observation.samples.map(({ cpuCores }) => cpuCores);
  const problem = visibilityProblem({
    idleCores,
    loadedCores,
    // Its mean where there are too few.
    readings: samples.length > 0 ? samples : [observation.cpuCores],
    seconds: duration,
    ratePerSecond: rate,
  });
  return problem || null;
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

/** What a client saw: bounds where the load generator was the limit. */
type Seen = 'lostRatio' | 'p99Seconds';

/** `excluded`: why figures are missing; null where none is. */
export type PlacementFigures = Readonly<
  Record<'idleCores' | Exclude<keyof typeof NOTHING, Seen>, number | null> &
    Record<Seen, number | Bound | null>
> & {
  readonly excluded: string | null;
};

/** Whether a load generator was the limit of a load: it sent late, or took answers late. */
export const isLoaderLimited = ({ loaders }: Phase): boolean =>
  loaders !== undefined && anyWasTheLimit(loaders.each) === true;

/** What the load generator added is not known; nothing can be less than nothing. */
function seenIn(phase: Phase, value: number | null): number | Bound | null {
  return value === null || value === 0 || !isLoaderLimited(phase) ? value : { bound: value };
}

/**
 * Figures of a load that did not hold the rate are none; CPU that does not show the load is none. So nothing is said by
 * them, and the partner of such a placement is not compared either.
 */
export function figuresOf(evidence: SwapEvidence, names: NameSet, pace: Pace): PlacementFigures {
  const idleCores = idleCoresOf(evidence);
  const phase = evidence.phases.find(({ kind }) => kind === names);
  const load = phase?.load ?? null;
  if (phase === undefined || load === null) return { ...NOTHING, idleCores, excluded: 'not measured' };
  // Not the loader's own rate: the time that the last answers take is no part of the load, nor of its CPU.
  const answeredPerSecond = load.queriesCompleted / pace.duration;
  const rateHeldRatio = answeredPerSecond / pace.rate;
  if (rateHeldRatio < MIN_RATE_RATIO) {
    const excluded = `${(rateHeldRatio * 100).toFixed(1)} % of the rate was held`;
    return { ...NOTHING, idleCores, rateHeldRatio, excluded };
  }
  const measured = loadedCoresOf(phase, idleCores, evidence);
  const excluded = invisible(phase, { idleCores, loadedCores: measured }, pace);
  const loadedCores = excluded === null ? measured : null;
  const netCores = idleCores === null || loadedCores === null ? null : loadedCores - idleCores;
  return {
    idleCores,
    loadedCores,
    netCores,
    cpuSecondsPerQuery: netCores === null ? null : netCores / answeredPerSecond,
    rateHeldRatio,
    lostRatio: seenIn(phase, load.queriesSent === 0 ? null : load.queriesLost / load.queriesSent),
    p99Seconds: seenIn(phase, percentileIn(load.latencyPercentiles, 99)),
    memoryBytes: phase.observation?.memoryBytes?.mean ?? null,
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
