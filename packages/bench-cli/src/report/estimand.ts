/** Figures of a trial that are compared: what they are, and how they are written. Pure. */
import { z } from 'zod';
import type { Delta, Difference, SummaryStatistic, Verdict } from '../results/record.ts';
import { relativeDelta, smallestShown } from '../stats/deltas.ts';
import { type Direction, type Pair, pairTrials, summaryOf } from '../stats/summarize.ts';
import { unbroken } from '../text.ts';
import {
  beside,
  formatBytes,
  formatCount,
  formatFixed,
  formatMillicores,
  formatOutwards,
  formatPercent,
  formatTime,
  MEBIBYTE,
  signed,
} from './numbers.ts';

/** How figures of a unit are written, and what better and worse ones are called in verdicts and in texts. */
const UNITS = {
  'queries/s': { show: formatCount, words: ['faster', 'slower'], noun: 'queries per second' },
  'lookups/s': { show: formatCount, words: ['faster', 'slower'], noun: 'lookups per second' },
  seconds: { show: formatTime, words: ['faster', 'slower'], noun: '' },
  bytes: { show: formatBytes, words: ['less', 'more'], noun: '' },
  // Figures that memory limits are chosen by; the name is of the time when they were shown in MB.
  'decimal bytes': { show: formatBytes, words: ['less', 'more'], noun: '' },
  'CPU seconds': { show: formatTime, words: ['less', 'more'], noun: '' },
  cores: { show: formatMillicores, words: ['less', 'more'], noun: '' },
  ratio: { show: formatPercent, words: ['less', 'more'], noun: '' },
  count: { show: formatCount, words: ['less', 'more'], noun: '' },
} as const;

export const estimandSchema = z.object({
  /** In figures and flags: `rate`. */
  name: z.string(),
  /** For people, in the middle of a sentence: `highest rate without loss`. */
  title: z.string(),
  unit: z.enum(Object.keys(UNITS) as (keyof typeof UNITS)[]),
  better: z.enum(['more', 'less']),
  /**
   * With the baseline's figure, of the same round unless `isPaired` is false: by the ratio, by the difference (of figures that can be zero, or whose noise
   * adds up), or not at all.
   */
  compared: z.enum(['ratio', 'difference', 'no']),
  /** Estimands of one family are corrected for the number of comparisons together. Default: each by itself. */
  family: z.string().optional(),
  /** False where trials of a round have no more in common than others, such as long searches side by side; of ratios. Default: true. */
  isPaired: z.boolean().optional(),
  /** How closely a search knows the figure: a share of it, but no closer than `least`, in its unit. Default: exactly. */
  resolution: z.object({ share: z.number().positive(), least: z.number().nonnegative() }).optional(),
  /** More than this there cannot be, in its unit: intervals end there. Default: 1 for a ratio, none for others. */
  most: z.number().positive().optional(),
  /** False where `--until` does not wait for it. Default: true. */
  awaited: z.boolean().optional(),
});
/** As in the record. */
export type EstimandFacts = z.output<typeof estimandSchema>;

export function directionOf({ unit, better }: EstimandFacts): Direction {
  const [good, bad] = UNITS[unit].words;
  // More of an amount that should be high is better.
  const isTurned = better === 'more' && good === 'less';
  return {
    goal: better === 'more' ? 'higher' : 'lower',
    better: isTurned ? bad : good,
    worse: isTurned ? good : bad,
  };
}

/** `higher` for a faster rate; other verdicts as they are. */
export function verdictWord(estimand: EstimandFacts, verdict: Verdict): string {
  if (verdict === 'no difference shown') return verdict;
  const { goal, better } = directionOf(estimand);
  return (verdict === better) === (goal === 'higher') ? 'higher' : 'lower';
}

/** Of an axis: what it counts in, and how much of that is one of the base unit. */
export function axisUnit({ unit }: EstimandFacts): { readonly name: string; readonly scale: number } {
  if (isSize(unit)) return { name: ' (MiB)', scale: 1 / MEBIBYTE };
  return unit.endsWith('seconds') ? { name: ' (µs)', scale: 1e6 } : { name: '', scale: 1 };
}

/** Without the unit's name where a table's title has it. */
export function showFigure({ unit }: EstimandFacts, value: number, all = beside(value)): string {
  return UNITS[unit].show(value, all);
}

/** Whether it is an amount of memory. */
export function isSize(unit: EstimandFacts['unit']): boolean {
  return unit === 'bytes' || unit === 'decimal bytes';
}

/** What a table counts: `queries per second`; empty where each figure has its unit. */
export function nounOf({ unit }: EstimandFacts): string {
  return UNITS[unit].noun;
}

/** Whether one that is more, or less, by this is a better one. */
export function isBetter({ better }: EstimandFacts, size: number): boolean {
  return better === 'more' ? size > 0 : size < 0;
}

/** A trial with its figures by the names of estimands. */
export interface Figures {
  /** Trials of one run and the same round are pairs; null for imported trials, which are not paired. */
  readonly round: number | null;
  /** Null or absent for what was not measured. */
  readonly figures: Readonly<Record<string, number | null>>;
  /** CPUs that the hypervisor and other programs took meanwhile. Absent where nobody watched. */
  readonly taken?: number | undefined;
}

/** Over the trials that have the figure; null without one. */
export function summaryOfFigure(
  { name, unit, resolution, most = unit === 'ratio' ? 1 : Number.POSITIVE_INFINITY }: EstimandFacts,
  trials: readonly Figures[],
): SummaryStatistic | null {
  const summary = summaryOf(valuesOf(trials, name), { highest: most });
  return summary === null || resolution === undefined
    ? summary
    : withinStep(summary, stepOf(resolution, summary.median));
}

/** The values of an estimand over the trials that have it. */
export function valuesOf(trials: readonly Figures[], name: string): number[] {
  return trials.flatMap(({ figures }) => figures[name] ?? []);
}

/** As a share of a figure. */
function stepOf({ share, least }: NonNullable<EstimandFacts['resolution']>, figure: number): number {
  return Math.max(share, least / figure);
}

/** What a search found lies anywhere within its last step, however little its figures scatter: the two add up as squares. */
function withinStep(summary: SummaryStatistic, step: number): SummaryStatistic {
  const { median, low, high } = summary;
  if (low === null || high === null || median === 0) return summary;
  const side = (ratio: number) => Math.exp(Math.hypot(Math.log(ratio), Math.log1p(step)));
  return { ...summary, low: median / side(median / low), high: median * side(high / median) };
}

/** The figures of the rounds that both have. Of figures that are not paired, those of the only trial of either; of several, none. */
export function pairsOf(
  { name, unit, isPaired = true }: EstimandFacts,
  trials: readonly Figures[],
  baseline: readonly Figures[],
): Pair[] {
  if (!isPaired) {
    const [[value, ...more], [other, ...others]] = [valuesOf(trials, name), valuesOf(baseline, name)];
    return value === undefined || other === undefined || more.length + others.length > 0
      ? []
      : [{ value, baseline: other }];
  }
  // What others take slows servers down; it does not make them larger.
  const takenBy = ({ taken }: Figures) => (isSize(unit) ? undefined : taken);
  return pairTrials(trials, baseline, (trial) => ({ value: trial.figures[name], taken: takenBy(trial) }));
}

export const figuresOf = (pairs: readonly Pair[]) =>
  pairs.flatMap(({ value, baseline }) => [value, baseline]);

/** How closely a search knows the ratio of any two of these figures, as a share. */
export function resolutionOf({ resolution }: EstimandFacts, figures: readonly number[]): number {
  return resolution === undefined ? 0 : stepOf(resolution, Math.min(...figures));
}

/** Before a figure that something other than the subject kept from being better. */
export function signOfBound({ better }: EstimandFacts): string {
  return better === 'more' ? '≥\u00a0' : '≤\u00a0';
}

/** A difference, whatever is concluded from it. */
type Sized = Pick<Delta, 'relative' | 'low' | 'high'> | Pick<Difference, 'difference' | 'low' | 'high'>;

/**
 * The size of a difference with the decimals of its interval, and the ends; `null` for ends without an interval. A difference of
 * shares is in percentage points.
 */
function textsOf(estimand: EstimandFacts, delta: Sized) {
  const { low, high } = delta;
  const interval = low === null || high === null ? null : ([low, high] as const);
  if ('difference' in delta) {
    const isShare = estimand.unit === 'ratio';
    // With the unit that the largest of them asks for.
    const all = beside(delta.difference, ...(interval ?? []));
    const show = (value: number) =>
      isShare
        ? signed(formatPercent(value).replace(' %', ''))
        : unbroken(signed(showFigure(estimand, value, all)));
    const size = show(delta.difference);
    return { size: isShare ? `${size}\u00a0points` : size, ends: interval?.map(show) ?? null };
  }
  const outwards = interval && formatOutwards(interval[0] * 100, interval[1] * 100, 0);
  const size = `${signed(formatFixed(delta.relative * 100, outwards?.digits ?? 1))}\u00a0%`;
  return { size, ends: outwards && [signed(outwards.low), signed(outwards.high)] };
}

/** `+12 % [+8, +17]` */
export function boundsText(estimand: EstimandFacts, delta: Sized): string {
  const { size, ends } = textsOf(estimand, delta);
  return ends === null ? size : `${size}\u00a0[${ends.join(',\u00a0')}]`;
}

/** From here on, an increase and the decrease that is as far from zero as a ratio are no longer about the same percentage. */
const LOPSIDED = 0.25;

/** What trials without a verdict could have shown, so that "no difference shown" is not read as "equal". */
export function couldShow(delta: Pick<Delta, 'low' | 'high'>): string {
  const smallest = smallestShown(delta);
  if (smallest === null || smallest === 0) return '';
  const { high } = formatOutwards(0, smallest * 100, 0);
  const decrease = formatFixed((smallest / (1 + smallest)) * 100, 1);
  const size = smallest < LOPSIDED ? `${high} %` : `${high} % upwards or ${decrease} % downwards`;
  return `; a difference of less than about ${size} would not have shown`;
}

/** The differences of two pairs, whose interval would say nothing; null for any other number. */
export function bothOf({ compared }: EstimandFacts, pairs: readonly Pair[]): readonly number[] | null {
  if (pairs.length !== 2) return null;
  if (compared === 'difference') return pairs.map(({ value, baseline }) => value - baseline);
  if (pairs.some(({ baseline }) => baseline === 0)) return null;
  return pairs.map(({ value, baseline }) => relativeDelta(value, baseline));
}

/** `-54.1 % / -48.0 %` */
export function bothText(estimand: EstimandFacts, both: readonly number[]): string {
  const isDifference = estimand.compared === 'difference';
  const texts = both.map((size) =>
    sizeText(estimand, {
      ...(isDifference ? { difference: size } : { relative: size }),
      ...{ low: null, high: null },
    }),
  );
  return unbroken([...new Set(texts)].join(' / '));
}

/** `+12 %`, or `+4.2m` of a difference, on one line. */
export function sizeText(estimand: EstimandFacts, delta: Sized): string {
  return textsOf(estimand, delta).size;
}
