/**
 * `--until`: trials continue, round by round, until a goal is reached, or a limit.
 *
 * - **A width**: the 95 % interval of every difference is narrow enough. Stopping depends only on the width, never on the
 *   verdict: stopping as soon as a difference shows would sooner or later find one between equal servers. See
 *   docs/method.md for the effect on coverage.
 * - **A verdict**: each comparison has one, or its interval is narrow enough. That is stopping as soon as a difference
 *   shows, so each look counts: there are at most ten, and each tests at a tenth of 5 %, so that ten of them together
 *   are wrong in at most 5 % of runs. The intervals are made at that level too, and all of them together
 *   cover with 95 % (repeated confidence intervals, Jennison and Turnbull 1989).
 * - **A gate**: each comparison is shown to be worse than tolerated, or shown not to be, as `bench gate` will judge it. Looked at
 *   like a verdict, so that an alarm that would be one at 5 %, but not at a tenth of it, is measured again instead of being believed.
 */
import type { CaseRecord, Until } from '../results/record.ts';
import { decisiveOf, isUndecidable } from './decisive.ts';
import { type ComparedMetric, METRIC_NAMES } from './metrics.ts';
import { LEVEL } from './sample-test.ts';

/** Not memory: its variation comes from garbage collection, which more trials do not average out. */
const METRICS = ['qps', 'latencySeconds', 'cpuSecondsPerQuery'] as const satisfies readonly ComparedMetric[];

/** Looks of a run at most. */
export const MAX_LOOKS = 10;

/** The level of each look: ten of them together are wrong in at most 5 % of runs, whatever the test (Bonferroni). */
export const LOOK_LEVEL = LEVEL / MAX_LOOKS;

/** The two-sided level at which comparisons of a run are tested that was looked at until its goal was reached, or was not. */
export function levelOf(goal: Until['goal'] | null): number {
  return goal === null || goal === 'width' ? LEVEL : LOOK_LEVEL;
}

/**
 * `levelOf` for a record. `until` is null before the first look, and without `--until`: then the setting tells, which is an object
 * for a verdict or a gate (`UntilSetting`).
 */
export function levelOfRecord(until: Pick<Until, 'goal'> | null | undefined, settings: unknown): number {
  if (until != null) return levelOf(until.goal);
  const { until: setting = null }: { readonly until?: unknown } = Object(settings);
  return typeof setting === 'object' && setting !== null ? LOOK_LEVEL : LEVEL;
}

/** With three, Student's t at the level of a look is ten times the standard error: it would show next to nothing. */
const FIRST_LOOK = 4;

/**
 * After which rounds a run is looked at, from `first` to `last` rounds, at most ten times: each look comes after about as
 * many more rounds in proportion.
 */
export function looksOf(first: number, last: number): number[] {
  const from = Math.min(Math.max(first, FIRST_LOOK), last);
  const looks = Array.from({ length: MAX_LOOKS }, (_, index) =>
    Math.round(from * (last / from) ** (index / (MAX_LOOKS - 1))),
  );
  return [...new Set(looks)];
}

/** The interval of fewer trials can be narrow by luck: with a minimum of three, 95 % intervals would cover far less. */
export const MIN_ROUNDS = 8;

export interface UntilProgress
  extends Readonly<Pick<Until, 'goal' | 'width' | 'rounds' | 'mostRounds' | 'mostSeconds'>> {
  /** For which trials were under way so far. */
  readonly spentSeconds: number;
  /** Rounds before the first look. Default: as few as a look needs. */
  readonly first?: number;
}

/** How wide the interval of a difference is. */
export interface Width {
  readonly caseKey: string;
  readonly metric: string;
  /** Infinite for fewer than two trials. */
  readonly width: number;
}

type Interval = Readonly<Record<'low' | 'high', number | null>>;

/** The width of an interval in multiples of `unit`. */
export function widthOf({ low, high }: Interval, unit = 1): number {
  return low === null || high === null || unit === 0 ? Infinity : (high - low) / Math.abs(unit);
}

/** Widths of all differences; of a run without comparisons, of the figures themselves, relative to the median. */
function widthsOf(cases: readonly CaseRecord[]): Width[] {
  const isCompared = cases.some(({ comparison }) => comparison !== null);
  return cases.flatMap(({ key, comparison, summary }) =>
    METRICS.flatMap((metric) => {
      const figure = (isCompared ? comparison : summary)?.[metric];
      if (figure == null) return [];
      const unit = 'median' in figure ? figure.median : 1;
      return unit === 0 ? [] : [{ caseKey: key, metric, width: widthOf(figure, unit) }];
    }),
  );
}

/** A comparison by what it is about. */
export interface ComparedWidth extends Width {
  /** Its figure, as flags and the history name it. */
  readonly estimand: string;
  /** Whether it has a verdict, or can have none; for a gate (`decidedByGate`), whether that decides it, or never will. */
  readonly isDecided: boolean;
}

function comparedWidths(cases: readonly CaseRecord[]): ComparedWidth[] {
  return cases.flatMap((item) => {
    const decisive = decisiveOf(item, { cases });
    if (decisive === null) return [];
    const { metric, delta } = decisive;
    return [
      {
        caseKey: item.key,
        metric,
        estimand: METRIC_NAMES[metric],
        width: widthOf(delta),
        isDecided: delta.verdict !== 'no difference shown' || isUndecidable(decisive),
      },
    ];
  });
}

/** The intervals of a run, as `--until` sees them. */
export interface UntilView {
  /** Of all differences; of a run without comparisons, of the figures themselves, relative to the median. */
  readonly widths: readonly Width[];
  readonly compared: readonly ComparedWidth[];
}

/** The intervals whose widest is told: all that the goal is about. */
function toldOf({ widths, compared }: UntilView, goal: Until['goal']): readonly Width[] {
  return goal === 'width' ? widths : compared.filter(({ isDecided }) => !isDecided);
}

/**
 * The state of a run with `--until`. It continues exactly while `reached` is false and `limit` is null. A case of
 * which every trial fails has no difference and is not waited for; if no case has one, only the limits end the run.
 */
export function assessView(view: UntilView, progress: UntilProgress): Until {
  const { goal, width, rounds, mostRounds, mostSeconds, spentSeconds, first = FIRST_LOOK } = progress;
  const told = toldOf(view, goal);
  // A gate waits for its decision only.
  const open = told.filter((item) => goal === 'gate' || item.width >= width);
  const isLongEnough = rounds >= (goal === 'width' ? MIN_ROUNDS : FIRST_LOOK);
  const isAbout = (goal === 'width' ? view.widths : view.compared).length > 0;
  const reached = isLongEnough && isAbout && open.length === 0;
  const widest = told.reduce<Width | null>(
    (most, item) => (most === null || item.width > most.width ? item : most),
    null,
  );
  // The rounds until the next look take about as long each as those before; the time limit must not be exceeded.
  const nextEnd = rounds === 0 ? spentSeconds : (spentSeconds / rounds) * nextRounds(progress, first);
  const outOfTime = mostSeconds !== null && nextEnd > mostSeconds;
  const limit = reached ? null : rounds >= mostRounds ? 'rounds' : outOfTime ? 'time' : null;
  return {
    goal,
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

/** The intervals of a comparison of servers. */
export function comparisonView(cases: readonly CaseRecord[]): UntilView {
  return {
    widths: widthsOf(cases),
    compared: comparedWidths(cases),
  };
}

/**
 * After which round a resumed run is looked at, once `begun` rounds have begun. A look of its own would be one more than the
 * level of each allows for.
 */
export function roundsToLook(begun: number, first: number, mostRounds: number): number {
  return begun <= first ? first : (looksOf(first, mostRounds).find((look) => look >= begun) ?? begun);
}

/** How many rounds to measure before the next look. */
export function nextRounds(
  { goal, rounds, mostRounds }: Pick<Until, 'goal' | 'rounds' | 'mostRounds'>,
  first: number,
): number {
  if (goal === 'width') return rounds + 1;
  return looksOf(first, mostRounds).find((look) => look > rounds) ?? mostRounds;
}
