/**
 * `--until`: trials continue, round by round, until the 95 % interval of every difference is narrow enough, or a limit
 * is reached. Stopping depends only on the width, never on the verdict: stopping as soon as a difference shows would
 * sooner or later find one between equal servers. See docs/method.md for the effect on coverage.
 */
import type { CaseRecord, Until } from '../results/record.ts';
import type { ComparedMetric } from './metrics.ts';

/** Not memory: its variation comes from garbage collection, which more trials do not average out. */
const METRICS = ['qps', 'latencySeconds', 'cpuSecondsPerQuery'] as const satisfies readonly ComparedMetric[];

/** The interval of fewer trials can be narrow by luck: with a minimum of three, 95 % intervals would cover far less. */
export const MIN_ROUNDS = 8;

export interface UntilProgress {
  readonly width: number;
  /** Measured so far. */
  readonly rounds: number;
  readonly mostRounds: number;
  readonly mostSeconds: number | null;
  /** Sum of the durations of all trials so far. */
  readonly spentSeconds: number;
}

interface Width {
  readonly caseKey: string;
  readonly metric: string;
  /** Infinite for fewer than two trials. */
  readonly width: number;
}

/** Widths of all differences; of a run without comparisons, of the figures themselves, relative to the median. */
function widthsOf(cases: readonly CaseRecord[]): Width[] {
  const compared = cases.filter(({ comparison }) => comparison !== null);
  if (compared.length > 0) {
    return compared.flatMap(({ key, comparison }) =>
      METRICS.flatMap((metric) => {
        const delta = comparison?.[metric];
        if (delta == null) return [];
        const width = delta.low === null || delta.high === null ? Infinity : delta.high - delta.low;
        return [{ caseKey: key, metric, width }];
      }),
    );
  }
  return cases.flatMap(({ key, summary }) =>
    METRICS.flatMap((metric) => {
      const figure = summary?.[metric];
      if (figure == null || figure.median === 0) return [];
      const { low, high, median } = figure;
      return [
        { caseKey: key, metric, width: low === null || high === null ? Infinity : (high - low) / median },
      ];
    }),
  );
}

/**
 * The state of a run with `--until`. It continues exactly while `reached` is false and `limit` is null. A case of
 * which every trial fails has no difference and is not waited for; if no case has one, only the limits end the run.
 */
export function assessUntil(cases: readonly CaseRecord[], progress: UntilProgress): Until {
  const { width, rounds, mostRounds, mostSeconds, spentSeconds } = progress;
  const widths = widthsOf(cases);
  const widest = widths.reduce<Width | null>(
    (most, item) => (most === null || item.width > most.width ? item : most),
    null,
  );
  const reached = rounds >= MIN_ROUNDS && widest !== null && widest.width < width;
  // Another round takes about as long as the ones before; the time limit must not be exceeded.
  const nextEnd = spentSeconds + (rounds === 0 ? 0 : spentSeconds / rounds);
  const outOfTime = mostSeconds !== null && nextEnd > mostSeconds;
  const limit = reached ? null : rounds >= mostRounds ? 'rounds' : outOfTime ? 'time' : null;
  return {
    width,
    reached,
    rounds,
    mostRounds,
    mostSeconds,
    limit,
    widest: widest === null || !Number.isFinite(widest.width) ? null : widest.width,
    widestOf: widest === null ? null : { caseKey: widest.caseKey, metric: widest.metric },
  };
}
