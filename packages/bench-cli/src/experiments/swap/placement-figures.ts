/** The figures of one placement: idle, under load, and the difference. A placement is one value, however long it was. */
import type { Phase, SwapPlacement, SwapWorkload } from './record.ts';

/** Share of the rate below which a phase does not count. */
export const MIN_RATE_RATIO = 0.98;

export interface PlacementFigures {
  readonly placement: SwapPlacement;
  readonly idleCores: number | null;
  readonly loadedCores: number | null;
  /** Readings under load, for the question whether the load shows. */
  readonly readings: readonly number[];
  readonly netCores: number | null;
  readonly cpuSecondsPerQuery: number | null;
  readonly qps: number | null;
  readonly rateHeldRatio: number | null;
  readonly sent: number;
  readonly lost: number;
  readonly p99Seconds: number | null;
  readonly memoryBytes: number | null;
  /** Why it does not count for this workload; null if it does. */
  readonly excluded: string | null;
}

/** Mean over the idle windows, each as long as it was. */
export function idleCoresOf({ phases }: SwapPlacement): number | null {
  const observed = phases.flatMap(({ kind, observation }) =>
    kind === 'idle' && observation !== null ? [observation] : [],
  );
  const whole = observed.reduce((sum, { durationSeconds }) => sum + durationSeconds, 0);
  if (whole === 0) return null;
  return observed.reduce((sum, { cpuCores, durationSeconds }) => sum + cpuCores * durationSeconds, 0) / whole;
}

function p99Of({ load }: Phase): number | null {
  return load?.latencyPercentiles?.find(({ percentile }) => percentile === 99)?.seconds ?? null;
}

function exclusionOf(
  placement: SwapPlacement,
  phase: Phase | undefined,
  rateHeldRatio: number | null,
): string | null {
  const { failure } = placement;
  if (failure !== null) return failure.message;
  if (phase === undefined || phase.load === null) return 'not measured';
  if (rateHeldRatio === null || rateHeldRatio < MIN_RATE_RATIO) {
    const held = rateHeldRatio === null ? 'none' : `${(rateHeldRatio * 100).toFixed(1)} %`;
    return `${held} of the rate was held`;
  }
  return phase.observation === null ? 'its CPU could not be read' : null;
}

/** Readings of the window, or its mean where there are too few. */
function readingsOf(phase: Phase | undefined): number[] {
  const samples = phase?.observation?.samples.map(({ cpuCores }) => cpuCores) ?? [];
  if (samples.length > 0) return samples;
  return phase?.observation == null ? [] : [phase.observation.cpuCores];
}

export function figuresOf(
  placement: SwapPlacement,
  workload: SwapWorkload,
  ratePerSecond: number,
): PlacementFigures {
  const phase = placement.phases.find(({ kind }) => kind === workload);
  const { load = null, observation = null } = phase ?? {};
  const idleCores = idleCoresOf(placement);
  const loadedCores = observation?.cpuCores ?? null;
  const netCores = idleCores === null || loadedCores === null ? null : loadedCores - idleCores;
  const qps = load?.qps ?? null;
  const rateHeldRatio = qps === null ? null : qps / ratePerSecond;
  return {
    placement,
    idleCores,
    loadedCores,
    readings: readingsOf(phase),
    netCores,
    cpuSecondsPerQuery: netCores === null || qps === null || qps === 0 ? null : netCores / qps,
    qps,
    rateHeldRatio,
    sent: load?.queriesSent ?? 0,
    lost: load?.queriesLost ?? 0,
    p99Seconds: phase === undefined ? null : p99Of(phase),
    memoryBytes: observation?.memoryBytes?.mean ?? null,
    excluded: exclusionOf(placement, phase, rateHeldRatio),
  };
}
