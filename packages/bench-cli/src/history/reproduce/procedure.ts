/**
 * Published ratios beside measured ones: each row of a published table that is compared with another row, in each figure
 * that both have. A publication needs its record (`published/NAME.json`) and a mapping to cases of ours. Pure.
 */
import { valuesOf } from '../../report/estimand.ts';
import { median, momentsOf } from '../../stats/intervals.ts';
import { visibilityProblem } from '../../stats/load-visibility.ts';
import { COMPARED_METRICS, type ComparedMetric, METRIC_NAMES } from '../../stats/metrics.ts';
import type { TestOptions } from '../../stats/sample-test.ts';
import type { UndecidedDelta } from '../../stats/summarize.ts';
import { type Samples, samplesOf, undecidedDelta } from '../compare.ts';
import type { Entry, EntryCase } from '../entry.ts';
import { comparedEstimand } from '../entry.ts';
import type { ImportedCase, PublicationFacts } from '../imported.ts';
import type { Published } from '../published.ts';
import { type Condition, conditionsOf } from './conditions.ts';

/** Cases of a run that stand for a published one, the best first; each list holds equally good ones. */
export type Mapping = (published: ImportedCase, cases: readonly EntryCase[]) => readonly EntryCase[];

/**
 * - `reproduced`: our 95 % interval contains the published ratio, and not 1;
 * - `cannot tell`: it contains both, so it says nothing about the publication; or something other than the server limited a figure;
 * - `same direction`: it does not contain the published ratio, but all of it lies on the same side of 1;
 * - `contradicted`: our interval contains 1 (`no difference`), lies on the other side (`opposite`), or shows a large difference
 *   where the publication has hardly any (`far more`);
 * - `too few trials`: measured, but without an interval;
 * - `not measured`: the run lacks one of the two cases, or the figure.
 */
export const REPRODUCTION_VERDICTS = [
  'reproduced',
  'cannot tell',
  'same direction',
  'contradicted',
  'too few trials',
  'not measured',
] as const;
export type ReproductionVerdict = (typeof REPRODUCTION_VERDICTS)[number];

export const VERDICT_EXPLANATION =
  'reproduced: our 95 % interval contains the published ratio, and not 1. cannot tell: it contains both, or something other than the ' +
  'server limited a figure. same direction: it does not ' +
  'contain the published ratio, but all of it is on the same side of 1. contradicted: our interval contains 1 (no difference), is on ' +
  'the other side (opposite), or is at least a factor of 2 away from 1 where the publication has less than a quarter (far more). too few trials: ' +
  'measured, but without an interval.';

export type Contradiction = 'no difference' | 'opposite' | 'far more';

/** A published difference below a quarter is told as hardly any. */
const HARDLY_ANY = 1.25;
/** And a difference from twice on as large. */
const LARGE = 2;

export interface PublishedRatio {
  readonly value: number;
  readonly baseline: number;
  readonly ratio: number;
  /** The difference as printed, in the publication's definition; null where it prints none. */
  readonly delta: number | null;
}

export interface MeasuredRatio {
  readonly caseKey: string;
  readonly baselineKey: string;
  /** Medians. */
  readonly value: number;
  readonly baseline: number;
  readonly ratio: number;
  /** 95 % interval; null below two paired trials. */
  readonly low: number | null;
  readonly high: number | null;
  readonly trials: number;
  readonly method: UndecidedDelta['method'];
  /** Whether something other than the server limited either figure, or it mirrors one that was limited. */
  readonly isBound: boolean;
}

export interface Judgement {
  readonly verdict: ReproductionVerdict;
  /** What contradicts it: see `REPRODUCTION_VERDICTS`. Null for other verdicts. */
  readonly contradiction: Contradiction | null;
}

export interface Cell extends Judgement {
  /** Rows of the published table. */
  readonly title: string;
  readonly baselineTitle: string;
  readonly tier: number | null;
  readonly metric: ComparedMetric;
  readonly published: PublishedRatio;
  /** Null for `not measured`. */
  readonly measured: MeasuredRatio | null;
}

export interface Reproduction {
  readonly publication: PublicationFacts;
  readonly run: string;
  readonly cells: readonly Cell[];
  readonly counts: Readonly<Record<ReproductionVerdict, number>>;
  readonly conditions: readonly Condition[];
  /** What else to know, in sentences. */
  readonly notes: readonly string[];
}

/** Published readings of CPU are those of a minute. */
const SAMPLED_SECONDS = 60;

interface PublishedPair {
  readonly item: ImportedCase;
  readonly baseline: ImportedCase;
}

function pairsOf({ record }: Published): PublishedPair[] {
  return record.cases.flatMap((item) => {
    const baseline = record.cases.find(({ key }) => key === item.comparedWith);
    return baseline === undefined ? [] : [{ item, baseline }];
  });
}

/** Where only the CPU at a rate is published, CPU time per query follows from it, with idle in it. */
function publishedValue(
  { trials, figures, samples, ratePerSecond }: ImportedCase,
  metric: ComparedMetric,
): number | null {
  const values = trials.flatMap(({ metrics }) => metrics[metric] ?? []);
  if (values.length > 0) return median(values);
  // A published average may be rounded; its readings are not.
  const readings = samples?.cpuCores ?? [];
  const cores = readings.length > 0 ? momentsOf(readings).mean : figures?.cpuCores;
  return metric === 'cpuSecondsPerQuery' && cores !== undefined && ratePerSecond
    ? cores / ratePerSecond
    : null;
}

/** What speaks against published CPU figures whose readings are known. */
function doubts({ record }: Published): string[] {
  return record.cases.flatMap(({ title, key, samples, ratePerSecond }) => {
    const problem = visibilityProblem({
      idleCores: null,
      loadedCores: null,
      readings: samples?.cpuCores ?? [],
      seconds: SAMPLED_SECONDS,
      ratePerSecond: ratePerSecond ?? 0,
    });
    return problem === '' ? [] : [`Published ${title ?? key}: ${problem}.`];
  });
}

function publishedRatio({ item, baseline }: PublishedPair, metric: ComparedMetric): PublishedRatio | null {
  const [value, reference] = [publishedValue(item, metric), publishedValue(baseline, metric)];
  if (value === null || reference === null || reference === 0) return null;
  const deltas = item.publishedDeltas;
  const delta = deltas?.[metric] ?? (metric === 'cpuSecondsPerQuery' ? deltas?.cpuCores : null) ?? null;
  return { value, baseline: reference, ratio: value / reference, delta };
}

/** `contradicted: opposite` */
export function judgementText({ verdict, contradiction }: Judgement): string {
  return contradiction === null ? verdict : `${verdict}: ${contradiction}`;
}

/**
 * The verdict on a published ratio, given our interval of it.
 * @param isBound whether something other than the server limited a figure of ours: it may be any better
 */
export function verdictOn(
  published: number,
  { low, high }: Pick<MeasuredRatio, 'low' | 'high'>,
  isBound: boolean,
): Judgement {
  const without = (verdict: ReproductionVerdict) => ({ verdict, contradiction: null });
  if (isBound) return without('cannot tell');
  if (low === null || high === null) return without('too few trials');
  const contradicted = (contradiction: Contradiction) => ({
    verdict: 'contradicted' as const,
    contradiction,
  });
  const holdsOne = low <= 1 && high >= 1;
  if (low <= published && published <= high)
    return without(holdsOne && published !== 1 ? 'cannot tell' : 'reproduced');
  if (holdsOne) return contradicted('no difference');
  const isHardlyAny = published < HARDLY_ANY && published > 1 / HARDLY_ANY;
  if (isHardlyAny && (low >= LARGE || high <= 1 / LARGE)) return contradicted('far more');
  const isSameSide = published > 1 ? low > 1 : published < 1 && high < 1;
  return isSameSide ? without('same direction') : contradicted('opposite');
}

interface Question {
  readonly pair: PublishedPair;
  readonly metric: ComparedMetric;
  readonly published: PublishedRatio;
  readonly ours: { readonly item: EntryCase; readonly baseline: EntryCase } | null;
  readonly samples: Samples | null;
}

function ask(entry: Entry, mapping: Mapping, pair: PublishedPair, metric: ComparedMetric): Question[] {
  const published = publishedRatio(pair, metric);
  if (published === null) return [];
  const name = METRIC_NAMES[metric];
  const has = (item: EntryCase) => valuesOf(item.trials, name).length > 0;
  const [item] = mapping(pair.item, entry.cases).filter(has);
  const [baseline] = mapping(pair.baseline, entry.cases).filter(has);
  if (item === undefined || baseline === undefined)
    return [{ pair, metric, published, ours: null, samples: null }];
  const samples = samplesOf({ entry, item: baseline }, { entry, item }, comparedEstimand(metric), null);
  return [{ pair, metric, published, ours: { item, baseline }, samples }];
}

type ReproductionTest = Required<Pick<TestOptions, 'comparisons' | 'level' | 'seed'>>;

function measure(
  { ours, samples, metric }: Question,
  { comparisons, level, seed }: ReproductionTest,
): MeasuredRatio | null {
  if (ours === null || samples === null || samples.candidate.length === 0 || samples.reference.length === 0)
    return null;
  const [value, baseline] = [median(samples.candidate), median(samples.reference)];
  // As measured, like the figures beside it: no publication allows for what other programs took.
  const pairs = samples.pairs?.map((pair) => ({ value: pair.value, baseline: pair.baseline })) ?? null;
  const delta = undecidedDelta({ ...samples, pairs }, { comparisons, level, seed });
  if (delta === null) return null;
  const { relative, low, high, method } = delta;
  const name = METRIC_NAMES[metric];
  return {
    caseKey: ours.item.key,
    baselineKey: ours.baseline.key,
    value,
    baseline,
    ratio: 1 + relative,
    low: low === null ? null : 1 + low,
    high: high === null ? null : 1 + high,
    trials: delta.n,
    method,
    isBound: [ours.item, ours.baseline].some(({ bounds, foreign }) => [...bounds, ...foreign].includes(name)),
  };
}

function answer(question: Question, test: ReproductionTest): Cell {
  const { pair, metric, published } = question;
  const measured = measure(question, { ...test, seed: `${test.seed}/${pair.item.key}/${metric}` });
  const judged =
    measured === null
      ? { verdict: 'not measured' as const, contradiction: null }
      : verdictOn(published.ratio, measured, measured.isBound);
  return {
    title: pair.item.title ?? pair.item.key,
    baselineTitle: pair.baseline.title ?? pair.baseline.key,
    tier: pair.item.tier,
    metric,
    published,
    measured,
    ...judged,
  };
}

/** Where several cases of the run could stand for a published one: which was taken. */
function choices(questions: readonly Question[], entry: Entry, mapping: Mapping): string[] {
  const lines = questions.flatMap(({ pair, ours }) =>
    ours === null
      ? []
      : [[pair.item, ours.item] as const, [pair.baseline, ours.baseline] as const].flatMap(
          ([published, taken]) => {
            const others = mapping(published, entry.cases).filter(
              ({ key, point }) => key !== taken.key && point.mode === taken.point.mode,
            );
            return others.length === 0
              ? []
              : [
                  `For "${published.title ?? published.key}", ${taken.key} was taken; the run also has ${others.map(({ key }) => key).join(', ')}. Select with RUN:server=…`,
                ];
          },
        ),
  );
  return [...new Set(lines)];
}

/** Compares a publication with a run, cell by cell, in the order of the published tables. */
export function reproduce(published: Published, entry: Entry, mapping: Mapping): Reproduction {
  const questions = COMPARED_METRICS.flatMap((metric) =>
    pairsOf(published).flatMap((pair) => ask(entry, mapping, pair, metric)),
  );
  const comparisonsOf = (metric: ComparedMetric) =>
    questions.filter((question) => question.metric === metric && question.ours !== null).length;
  const seed = `${entry.id}/${published.facts.name}`;
  const cells = questions.map((question) =>
    answer(question, { comparisons: comparisonsOf(question.metric), level: entry.level, seed }),
  );
  const byRow = Map.groupBy(cells, ({ title, tier }) => JSON.stringify([tier, title]));
  const ordered = pairsOf(published).flatMap(
    ({ item }) => byRow.get(JSON.stringify([item.tier, item.title ?? item.key])) ?? [],
  );
  const used = new Set(
    cells.flatMap(({ measured }) => (measured === null ? [] : [measured.caseKey, measured.baselineKey])),
  );
  const count = (verdict: ReproductionVerdict) => cells.filter((cell) => cell.verdict === verdict).length;
  return {
    publication: published.facts,
    run: entry.id,
    cells: ordered,
    counts: {
      reproduced: count('reproduced'),
      'cannot tell': count('cannot tell'),
      'same direction': count('same direction'),
      contradicted: count('contradicted'),
      'too few trials': count('too few trials'),
      'not measured': count('not measured'),
    },
    conditions: conditionsOf(published.entry, entry, used),
    notes: [...choices(questions, entry, mapping), ...doubts(published), ...published.record.source.notes],
  };
}
