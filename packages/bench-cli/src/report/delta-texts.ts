/** How the difference of a case from its baseline is written, in every report alike. Pure. */
import type { CaseRecord, RunRecord } from '../results/record.ts';
import { pairsOf } from '../stats/comparisons.ts';
import { type DeltaDefinition, deltaFigures, deltaOf } from '../stats/deltas.ts';
import type { ComparedMetric } from '../stats/metrics.ts';
import type { Decisive, Shown } from './decisive.ts';
import { okTrialsByCase } from './marks.ts';
import { formatFixed, formatOutwards, signed } from './numbers.ts';

interface DeltaTexts {
  /** `+19.7 %` */
  readonly size: string;
  /** In percent, `+17` and `+23`: of its interval or, of two pairs, whose interval would say nothing, both differences; null for one pair. */
  readonly ends: readonly [string, string] | null;
  readonly isInterval: boolean;
}

const percent = (ratio: number, digits = 1) => signed(formatFixed(ratio * 100, digits));

/** The differences of two pairs, as ratios; null for any other number. */
export function bothPairs(
  record: RunRecord,
  { key, comparison }: CaseRecord,
  metric: ComparedMetric,
  definition: DeltaDefinition,
): readonly [number, number] | null {
  const trials = okTrialsByCase(record);
  const pairs = pairsOf(trials.get(key) ?? [], trials.get(comparison?.baseline ?? '') ?? [], metric);
  const [first, second, ...others] = pairs.flatMap(
    ({ value, baseline }) => deltaOf(value, baseline, definition) ?? [],
  );
  return first === undefined || second === undefined || others.length > 0 ? null : [first, second];
}

export function deltaTexts(
  record: RunRecord,
  item: CaseRecord,
  metric: ComparedMetric,
  { delta }: Pick<Shown | Decisive, 'delta'>,
  definition: DeltaDefinition,
): DeltaTexts {
  const { value, low, high } = deltaFigures(delta, definition);
  const size = `${percent(value)} %`;
  const both = bothPairs(record, item, metric, definition);
  if (both !== null) return { size, ends: [percent(both[0]), percent(both[1])], isInterval: false };
  if (low === null || high === null) return { size, ends: null, isInterval: false };
  const ends = formatOutwards(low * 100, high * 100, 0);
  return { size, ends: [signed(ends.low), signed(ends.high)], isInterval: true };
}

/** `+19.7 % [+17, +23]`; of two pairs `+18.1 % and +21.3 %`; of one, the figure and `one`. */
export function deltaLine({ size, ends, isInterval }: DeltaTexts, one: string): string {
  if (ends === null) return `${size}${one}`;
  return isInterval ? `${size} [${ends.join(', ')}]` : `${ends[0]} % and ${ends[1]} %`;
}
