/** How the difference of a case from its baseline is written, in every report alike. Pure. */
import type { CaseRecord, RunRecord } from '../results/record.ts';
import { pairsOf } from '../stats/comparisons.ts';
import type { Decisive, Shown } from '../stats/decisive.ts';
import { type DeltaDefinition, deltaFigures, deltaOf } from '../stats/deltas.ts';
import type { ComparedMetric } from '../stats/metrics.ts';
import { formatFixed, formatOutwards, signed } from './numbers.ts';
import { okTrialsOf } from './ok-trials.ts';
import { endText, type SizeWords } from './size.ts';

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
  item: CaseRecord,
  metric: ComparedMetric,
  definition: DeltaDefinition,
): readonly [number, number] | null {
  const baseline = { key: item.comparison?.baseline ?? '' };
  const pairs = pairsOf(okTrialsOf(record, item), okTrialsOf(record, baseline), metric);
  const [first, second, ...others] = pairs.flatMap(
    ({ value, baseline: other }) => deltaOf(value, other, definition) ?? [],
  );
  return first === undefined || second === undefined || others.length > 0 ? null : [first, second];
}

/** `the two pairs: 18.1 % more and 2.3 % fewer`; null for any other number. */
export function bothInWords(
  record: RunRecord,
  item: CaseRecord,
  metric: ComparedMetric,
  words: SizeWords,
): string | null {
  const both = bothPairs(record, item, metric, 'relative');
  if (both === null) return null;
  const label = item.comparison?.[metric]?.allowance == null ? 'the two pairs' : 'the two pairs as measured';
  return `${label}: ${both.map((ratio) => endText(formatFixed(ratio * 100, 1), words)).join(' and ')}`;
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
  return {
    size: `${percent(value, ends.digits)} %`,
    ends: [signed(ends.low), signed(ends.high)],
    isInterval: true,
  };
}

/** `+20 % [+17, +23]`; of two pairs `+18.1 % and +21.3 %`; of one, the figure and `one`. What it is `of` follows the sizes. */
export function deltaLine({ size, ends, isInterval }: DeltaTexts, one: string, of = ''): string {
  if (ends === null) return `${size}${of}${one}`;
  return isInterval ? `${size}${of} [${ends.join(', ')}]` : `${ends[0]} % and ${ends[1]} %${of}`;
}

/** What stands in brackets or below the differences of these cases: intervals, both differences of two pairs, or either. */
export function endsOfAll(
  record: RunRecord,
  cases: readonly CaseRecord[],
  metricOf: (item: CaseRecord) => ComparedMetric,
): 'intervals' | 'pairs' | 'either' {
  const isInterval = new Set(
    cases.flatMap((item) => {
      const delta = item.comparison?.[metricOf(item)];
      if (delta == null) return [];
      const texts = deltaTexts(record, item, metricOf(item), { delta }, 'relative');
      return texts.ends === null ? [] : [texts.isInterval];
    }),
  );
  if (!isInterval.has(false)) return 'intervals';
  return isInterval.has(true) ? 'either' : 'pairs';
}
