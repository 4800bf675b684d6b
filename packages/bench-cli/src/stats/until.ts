/**
 * `--until`: trials go on, round by round, until the 95 % interval of every difference is narrow enough, or a limit
 * is reached. Stopping depends on the width only, never on the verdict: to stop as soon as a difference shows
 * would find one sooner or later between equal servers. See docs/method.md for what it does to coverage.
 */
import type { CaseRecord, Until } from '../results/record.ts';
import type { ComparedMetric } from './metrics.ts';

/** Not memory: it has no noise that more trials would average out, but garbage collectors with habits. */
const METRICS = ['qps', 'latencySeconds', 'cpuSecondsPerQuery'] as const satisfies readonly ComparedMetric[];

/** Fewer trials can look narrow by luck: with a minimum of three, 95 % intervals would cover far less often. */
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
 * Where a run with `--until` stands. It goes on exactly while `reached` is false and `limit` is null. A case of
 * which every trial fails has no difference and keeps nothing waiting; if nothing has one, only the limits end it.
 */
export function assessUntil(cases: readonly CaseRecord[], progress: UntilProgress): Until {
  const { width, rounds, mostRounds, mostSeconds, spentSeconds } = progress;
  const widths = widthsOf(cases);
  const widest = widths.reduce<Width | null>(
    (most, item) => (most === null || item.width > most.width ? item : most),
    null,
  );
  const reached = rounds >= MIN_ROUNDS && widest !== null && widest.width < width;
  // A further round takes about as long as the ones before; a limit of time is not to be overrun.
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
