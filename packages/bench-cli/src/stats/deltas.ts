/**
 * The two definitions of a difference between a value and its baseline. `relative` is what most people
 * expect; `symmetric` treats both sides alike and is used in the published DinoDNS tables: 18,584 against 20,855
 * queries per second is −10.89 % relative and −11.52 % symmetric.
 */
import type { Delta, Difference } from '../results/record.ts';

export type DeltaDefinition = 'relative' | 'symmetric';

/** (value − baseline) ÷ baseline. The baseline must not be zero. */
export function relativeDelta(value: number, baseline: number): number {
  return (value - baseline) / baseline;
}

/** (value − baseline) ÷ mean of both, in [−2, 2] for quantities that are not negative. Both zero: NaN. */
export function symmetricDelta(value: number, baseline: number): number {
  return (value - baseline) / ((value + baseline) / 2);
}

/**
 * The symmetric delta of a relative one. It increases with the relative delta everywhere above −100 %, so the ends
 * of an interval can be converted one by one.
 */
export function symmetricFromRelative(relative: number): number {
  return (2 * relative) / (2 + relative);
}

/** The figures of `delta`, with its interval, in the requested definition. */
export function deltaFigures(
  delta: Pick<Delta, 'relative' | 'symmetric' | 'low' | 'high'>,
  definition: DeltaDefinition,
) {
  if (definition === 'relative') return { value: delta.relative, low: delta.low, high: delta.high };
  return {
    value: delta.symmetric,
    low: delta.low === null ? null : symmetricFromRelative(delta.low),
    high: delta.high === null ? null : symmetricFromRelative(delta.high),
  };
}

/** `value` against `baseline` in the requested definition; null where the baseline is zero. */
export function deltaOf(value: number, baseline: number, definition: DeltaDefinition): number | null {
  if (baseline === 0) return null;
  return definition === 'relative' ? relativeDelta(value, baseline) : symmetricDelta(value, baseline);
}

/** How much larger than the baseline: relative for a ratio, in the figure's unit for a difference. */
export function sizeOf(delta: Pick<Delta, 'relative'> | Pick<Difference, 'difference'>): number {
  return 'difference' in delta ? delta.difference : delta.relative;
}

/**
 * The smallest relative difference that these trials could have shown: half the width of the interval, on the scale of
 * logarithms on which it was made. An interval of that width around a smaller difference contains zero. Null without an
 * interval. A true difference of exactly this size would have shown in about half of such runs.
 */
export function smallestShown({ low, high }: Pick<Delta, 'low' | 'high'>): number | null {
  if (low === null || high === null || low <= -1) return null;
  return Math.sqrt((1 + high) / (1 + low)) - 1;
}
