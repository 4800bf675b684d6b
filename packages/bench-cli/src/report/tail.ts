/** Where a server's slowest answers differ from the baseline's by so much that the mean hides it. Pure. */
import type { CaseRecord, RunRecord } from '../results/record.ts';
import { baselineOf, isServersOwn } from '../stats/decisive.ts';
import { holmByItem } from '../stats/holm.ts';
import { LEVEL, type SampleTest, testPaired } from '../stats/sample-test.ts';
import { pairTrials } from '../stats/summarize.ts';
import { levelOfRecord } from '../stats/until.ts';
import { formatFixed, formatOutwards, formatTime } from './numbers.ts';
import { okTrialsOf } from './ok-trials.ts';
import { percentileOf, trialPercentile } from './percentiles.ts';

/** From twice on, people notice. */
const NOTABLE = 2;

/** Fewer have no interval. */
const MIN_PAIRS = 3;

/** Nearer to the ratio of the means than this factor, it says what they say. */
const MIRRORED = 1.5;

const apart = (ratio: number, factor: number) => ratio >= factor || ratio <= 1 / factor;

/** The ratios of the p99s of a case and of its baseline, round by round; empty where they are not the servers' own. */
function ratiosOf(record: RunRecord, item: CaseRecord, baseline: CaseRecord): number[] {
  if (!isServersOwn('latencySeconds', [item.limitedBy, baseline.limitedBy])) return [];
  const pairs = pairTrials(okTrialsOf(record, item), okTrialsOf(record, baseline), (trial) => ({
    value: trialPercentile(trial, 99),
  }));
  return pairs.flatMap(({ value, baseline: other }) => (other === 0 ? [] : [value / other]));
}

interface Tail {
  readonly item: CaseRecord;
  readonly baseline: CaseRecord;
  /** Of the ratio of their p99s. */
  readonly test: SampleTest;
}

/** Whether the ratio of the p99s is notable, and not that of the means. */
function isNotable({ item, baseline, test }: Tail): boolean {
  const [mean, reference] = [item, baseline].map(({ summary }) => summary?.latencySeconds?.median ?? 0);
  const ofMeans = mean && reference ? mean / reference : 1;
  return apart(test.ratio, NOTABLE) && apart(test.ratio / ofMeans, MIRRORED);
}

/** The cases of which it is told: their p99s are shown to differ, corrected for the number of cases. */
export function notableTails(record: RunRecord): Tail[] {
  const level = levelOfRecord(record.until, record.configuration);
  const all = record.cases.flatMap((item) => {
    const baseline = item.aa ? undefined : baselineOf(item, record);
    const ratios = baseline === undefined ? [] : ratiosOf(record, item, baseline);
    // The interval of two pairs says nothing.
    return baseline === undefined || ratios.length < MIN_PAIRS ? [] : [{ item, baseline, ratios }];
  });
  const tested = all.flatMap(({ item, baseline, ratios }): Tail[] => {
    const test = testPaired(ratios, { level, comparisons: all.length });
    return test === null ? [] : [{ item, baseline, test }];
  });
  const adjustedOf = holmByItem(tested, ({ test }) => test.pValue, level);
  return tested
    .filter((each) => (adjustedOf.get(each) ?? 1) <= LEVEL && (each.test.low > 1 || each.test.high < 1))
    .filter(isNotable);
}

/** `Its p99 latency was 2.3 × as long (95 % interval 1.8–2.9): 3.80 ms and 1.65 ms.`; null where it is not notable. */
export function tailText(record: RunRecord, { key }: CaseRecord): string | null {
  const found = notableTails(record).find(({ item }) => item.key === key);
  if (found === undefined) return null;
  const { item, baseline, test } = found;
  const [own, other] = [item, baseline].map((side) => percentileOf(side, 99));
  if (own == null || other == null) return null;
  const ends = formatOutwards(test.low, test.high, 1);
  return (
    `Its p99 latency was ${formatFixed(test.ratio, ends.digits)} × as long (95 % interval ${ends.low}–${ends.high}): ` +
    `${formatTime(own.median)} and ${formatTime(other.median)}.`
  );
}
