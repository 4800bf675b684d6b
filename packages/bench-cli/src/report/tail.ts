/** Where a server's slowest answers differ from the baseline's by so much that the mean hides it. Pure. */
import type { CaseRecord, RunRecord } from '../results/record.ts';
import { isServersOwn } from '../stats/decisive.ts';
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
function ratiosOf(record: RunRecord, item: CaseRecord): number[] {
  const baseline = record.cases.find(({ key }) => key === item.comparison?.baseline);
  if (baseline === undefined || !isServersOwn('latencySeconds', [item.limitedBy, baseline.limitedBy]))
    return [];
  const pairs = pairTrials(okTrialsOf(record, item), okTrialsOf(record, baseline), (trial) => ({
    value: trialPercentile(trial, 99),
  }));
  return pairs.flatMap(({ value, baseline: other }) => (other === 0 ? [] : [value / other]));
}

/** By the keys of the cases whose p99s are shown to differ, corrected for the number of cases. The interval of two pairs says nothing. */
function testsOf(record: RunRecord): ReadonlyMap<string, SampleTest> {
  const level = levelOfRecord(record.until, record.configuration);
  const all = record.cases.flatMap((item) => {
    const ratios = item.aa ? [] : ratiosOf(record, item);
    return ratios.length < MIN_PAIRS ? [] : [{ key: item.key, ratios }];
  });
  const tested = all.flatMap(({ key, ratios }) => {
    const test = testPaired(ratios, { level, comparisons: all.length });
    return test === null ? [] : [{ key, test }];
  });
  const adjustedOf = holmByItem(tested, ({ test }) => test.pValue, level);
  const shown = tested.filter(
    (each) => (adjustedOf.get(each) ?? 1) <= LEVEL && (each.test.low > 1 || each.test.high < 1),
  );
  return new Map(shown.map(({ key, test }) => [key, test]));
}

/** The ratio of the p99s of a case and of its baseline, if it is shown, notable, and not that of the means. */
function tailOf(record: RunRecord, item: CaseRecord, tests = testsOf(record)): SampleTest | null {
  const baseline = record.cases.find(({ key }) => key === item.comparison?.baseline);
  const test = tests.get(item.key);
  if (test === undefined || baseline === undefined) return null;
  const [mean, reference] = [item, baseline].map(({ summary }) => summary?.latencySeconds?.median ?? 0);
  const ofMeans = mean && reference ? mean / reference : 1;
  return apart(test.ratio, NOTABLE) && apart(test.ratio / ofMeans, MIRRORED) ? test : null;
}

/** `Its p99 latency was 2.3 × as long (95 % interval 1.8–2.9): 3.80 ms and 1.65 ms.`; null where it is not notable. */
export function tailText(record: RunRecord, item: CaseRecord): string | null {
  const test = tailOf(record, item);
  const baseline = record.cases.find(({ key }) => key === item.comparison?.baseline);
  const [own, other] = [item, baseline].map((side) => (side === undefined ? null : percentileOf(side, 99)));
  if (test === null || own == null || other == null) return null;
  const ends = formatOutwards(test.low, test.high, 1);
  return (
    `Its p99 latency was ${formatFixed(test.ratio, ends.digits)} × as long (95 % interval ${ends.low}–${ends.high}): ` +
    `${formatTime(own.median)} and ${formatTime(other.median)}.`
  );
}

/** The cases of which it is told. */
export function notableTails(record: RunRecord): CaseRecord[] {
  const tests = testsOf(record);
  return record.cases.filter((item) => tailOf(record, item, tests) !== null);
}
