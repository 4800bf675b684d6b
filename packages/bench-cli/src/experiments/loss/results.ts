/** Each case over its repetitions, and against the baseline. Pure. */
import { addLosses } from '../../measure/explain-losses.ts';
import type { Delta, SummaryStatistic } from '../../results/record.ts';
import { holmAdjusted } from '../../stats/holm.ts';
import { DIRECTIONS } from '../../stats/metrics.ts';
import { comparePairs, decide, type Pair, summarize } from '../../stats/summarize.ts';
import { multiplesFor } from './multiples.ts';
import type { LossCase, LossRecord, LossResult, OkRepetition, Probe } from './record.ts';

function summaryOf(values: readonly number[], highest?: number): SummaryStatistic | null {
  return values.length === 0 ? null : summarize(values, highest === undefined ? {} : { highest });
}

function okOf({ repetitions }: Pick<LossRecord, 'repetitions'>, key: string): OkRepetition[] {
  return repetitions.filter((each): each is OkRepetition => each.case === key && each.status === 'ok');
}

const rateOf = ({ bands }: OkRepetition, maxLostRatio: number) =>
  bands.find((band) => band.maxLostRatio === maxLostRatio)?.rate ?? 0;

/** The probe that was made at this multiple of the limit. */
function probeAt({ probes, limit }: OkRepetition, multiple: number): Probe | null {
  const distance = ({ rate }: Probe) => Math.abs(rate / (limit * multiple) - 1);
  const nearest = probes.reduce<Probe | null>(
    (best, probe) => (best === null || distance(probe) < distance(best) ? probe : best),
    null,
  );
  // The limit itself was tried in the search; anything farther away is another rate.
  return nearest !== null && distance(nearest) < 0.001 ? nearest : null;
}

function beyondOf(ok: readonly OkRepetition[], overload: number): LossResult['beyond'] {
  return multiplesFor(overload).flatMap((multiple) => {
    const found = ok.flatMap((each) => {
      const probe = probeAt(each, multiple);
      return probe === null ? [] : [{ probe, limit: each.limit }];
    });
    const goodput = summaryOf(found.map(({ probe }) => probe.goodput));
    const share = summaryOf(found.map(({ probe, limit }) => probe.goodput / limit));
    const lostRatio = summaryOf(
      found.map(({ probe }) => probe.lostRatio),
      1,
    );
    if (goodput === null || share === null || lostRatio === null) return [];
    return [
      {
        multiple,
        goodput,
        share,
        lostRatio,
        p99Seconds: summaryOf(found.flatMap(({ probe }) => probe.p99Seconds ?? [])),
        cpuCores: summaryOf(found.flatMap(({ probe }) => probe.cpuCores ?? [])),
        generatorLimited: found.filter(({ probe }) => probe.generatorLimited).length,
      },
    ];
  });
}

function recoveryOf(ok: readonly OkRepetition[]): LossResult['recovery'] {
  const all = ok.flatMap(({ recovery }) => recovery ?? []);
  const lost = summaryOf(
    all.map(({ lostRatioInFirstSecond }) => lostRatioInFirstSecond),
    1,
  );
  if (lost === null) return null;
  const times = all.flatMap(({ seconds }) => seconds ?? []);
  return { lostRatioInFirstSecond: lost, seconds: summaryOf(times), recovered: times.length, n: all.length };
}

/** The case that another is compared with: of the same point. */
function baselineOf(item: LossCase, { cases, baseline }: LossRecord): LossCase | null {
  if (item.server === baseline) return null;
  const { tier, mode, workload } = item;
  return (
    cases.find(
      (other) =>
        other.server === baseline &&
        other.tier === tier &&
        other.mode === mode &&
        other.workload === workload,
    ) ?? null
  );
}

/** The rates of one band in the rounds that both have. */
function pairsOf(record: LossRecord, item: LossCase, maxLostRatio: number): Pair[] {
  const other = baselineOf(item, record);
  if (other === null) return [];
  const baseline = new Map(okOf(record, other.key).map((each) => [each.round, rateOf(each, maxLostRatio)]));
  return okOf(record, item.key).flatMap((each) => {
    const reference = baseline.get(each.round);
    return reference === undefined ? [] : [{ value: rateOf(each, maxLostRatio), baseline: reference }];
  });
}

/** Whether the load generator was the limit of any repetition: the rate is then a lower bound. */
function isLowerBound(record: LossRecord, key: string, maxLostRatio: number): boolean {
  return okOf(record, key).some(({ bands }) =>
    bands.some((band) => band.maxLostRatio === maxLostRatio && band.generatorLimited),
  );
}

/** Nothing is more or less than a lower bound; and a lower bound can show that it is more, but not that it is less. */
function isComparable(record: LossRecord, item: LossCase, maxLostRatio: number, relative: number): boolean {
  const other = baselineOf(item, record);
  if (other === null || isLowerBound(record, other.key, maxLostRatio)) return false;
  return relative > 0 || !isLowerBound(record, item.key, maxLostRatio);
}

/** The comparisons of one band are a family, corrected for their number. By case; absent where there is none. */
function comparisonsOf(record: LossRecord, maxLostRatio: number): Map<string, Delta> {
  const pairs = record.cases.map((item) => ({ item, list: pairsOf(record, item, maxLostRatio) }));
  const comparisons = pairs.filter(({ list }) => list.length > 1).length;
  const found = pairs.flatMap(({ item, list }) => {
    const delta = comparePairs(list, { comparisons, seed: `${record.id}/${item.key}/${maxLostRatio}` });
    return delta !== null && isComparable(record, item, maxLostRatio, delta.relative)
      ? [{ key: item.key, delta }]
      : [];
  });
  const tested = found.filter(({ delta }) => delta.pValue !== null);
  const adjusted = holmAdjusted(tested.map(({ delta }) => delta.pValue ?? 1));
  const adjustedOf = new Map(tested.map(({ key }, index) => [key, adjusted[index] ?? 1]));
  return new Map(
    found.map(({ key, delta }) => [
      key,
      decide(delta, DIRECTIONS.qps, adjustedOf.get(key) ?? null, comparisons),
    ]),
  );
}

/** The results of the repetitions that the record has. */
export function resultsOf(record: LossRecord): LossResult[] {
  const { bands, overload } = record.settings;
  const comparisons = new Map(bands.map((band) => [band, comparisonsOf(record, band)]));
  return record.cases.map((item) => {
    const ok = okOf(record, item.key);
    const all = record.repetitions.filter((each) => each.case === item.key);
    const losses = ok.flatMap(({ probes }) => probes.flatMap((probe) => probe.losses ?? []));
    return {
      case: item.key,
      repetitions: ok.length,
      failed: all.length - ok.length,
      bands: bands.map((maxLostRatio) => ({
        maxLostRatio,
        rate: summaryOf(ok.map((each) => rateOf(each, maxLostRatio))),
        generatorLimited: ok.filter(
          (each) => each.bands.find((band) => band.maxLostRatio === maxLostRatio)?.generatorLimited === true,
        ).length,
        comparison: comparisons.get(maxLostRatio)?.get(item.key) ?? null,
      })),
      limit: summaryOf(ok.map(({ limit }) => limit)),
      beyond: beyondOf(ok, overload),
      recovery: recoveryOf(ok),
      queriesSent: ok.flatMap(({ probes }) => probes).reduce((sum, { queriesSent }) => sum + queriesSent, 0),
      losses: losses.length === 0 ? null : addLosses(losses),
    };
  });
}
