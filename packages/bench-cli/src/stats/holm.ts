/**
 * Correction for multiple comparisons. Among 20 comparisons of equal servers, one looks like a difference by
 * chance. Holm's step-down method keeps the probability of even one false verdict in the family at 5 % or less, and
 * is never weaker than Bonferroni's.
 *
 * S. Holm: A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6 (1979),
 * 65–70.
 */
import { LEVEL } from './sample-test.ts';

/**
 * The adjusted p values, in the order of the given ones: compare each with 0.05 as if it were alone.
 * @param level of each test, if it is smaller than 5 % because a run is looked at repeatedly
 */
export function holmAdjusted(pValues: readonly number[], level = LEVEL): number[] {
  const looks = LEVEL / level;
  const order = pValues.map((pValue, index) => ({ pValue, index })).sort((a, b) => a.pValue - b.pValue);
  const adjusted = new Array<number>(pValues.length).fill(1);
  let largest = 0;
  for (const [position, { pValue, index }] of order.entries()) {
    largest = Math.max(largest, Math.min(1, pValue * looks * (pValues.length - position)));
    adjusted[index] = largest;
  }
  return adjusted;
}

/** The adjusted p values of those that have one. */
export function holmByItem<T>(
  items: readonly T[],
  pValueOf: (item: T) => number | null,
  level = LEVEL,
): Map<T, number> {
  const tested = items.flatMap((item) => {
    const pValue = pValueOf(item);
    return pValue === null ? [] : [{ item, pValue }];
  });
  const adjusted = holmAdjusted(
    tested.map(({ pValue }) => pValue),
    level,
  );
  return new Map(tested.map(({ item }, index) => [item, adjusted[index] ?? 1]));
}
