/** How cases, figures and differences are written. Pure. */
import { valueText as axisValueText } from '../history/axes.ts';
import {
  bothOf,
  boundsText,
  type EstimandFacts,
  pairsOf,
  showFigure,
  signOfBound,
  bothText as textOfBoth,
  verdictWord,
} from '../report/estimand.ts';
import { beside, formatCount, type formatShort } from '../report/numbers.ts';
import type { Delta, Difference, ServerRecord, SummaryStatistic } from '../results/record.ts';
import { serverTitle } from '../servers/registry.ts';
import { unbroken } from '../text.ts';
import { type EngineCase, type EngineRecord, type OkTrial, okTrials } from './record.ts';

type Point = EngineCase['point'];

type Cases = Pick<EngineRecord<unknown>, 'cases' | 'subjects'>;

/** `tier 1`, `fresh sockets`; a server by its title */
export function valueText(name: string, value: string | number): string {
  return name === 'server' ? serverTitle(String(value)) : (axisValueText(name, value) ?? String(value));
}

/** Whether a number of all cases follows from another: the services of each size of a cluster follow from its objects. */
function follows(points: readonly Point[], from: string, name: string): boolean {
  const isNumber = points.every(
    (point) => typeof point[from] === 'number' && typeof point[name] === 'number',
  );
  return isNumber && points.every((a) => points.every((b) => a[from] !== b[from] || a[name] === b[name]));
}

/**
 * `tier 1, single`: of a point, what is not the same in all cases, and no number that follows from one before it; unless `all` is
 * asked for.
 */
export function pointText(
  { cases }: { readonly cases: readonly { readonly point: Point }[] },
  { point }: { readonly point: Point },
  all = false,
): string {
  const points = cases.map((item) => item.point);
  const varying = Object.keys(point).filter((name) => points.some((other) => other[name] !== point[name]));
  const names = varying.filter(
    (name, index) => !varying.slice(0, index).some((earlier) => follows(points, earlier, name)),
  );
  return Object.entries(point)
    .filter(([name]) => all || names.includes(name))
    .map(([name, value]) => valueText(name, value))
    .join(', ');
}

/** In words, also where the record has only a server's name for it. */
export function subjectTitle({ subjects }: Pick<Cases, 'subjects'>, subject: string): string {
  return serverTitle(subjects.find(({ name }) => name === subject)?.title ?? subject);
}

/** `CoreDNS 1.13.1 (registry/coredns:v1.13.1)`: of a server on a cluster, a title can begin with its name. */
export function programTitle({ name, title }: Pick<ServerRecord, 'name' | 'title'>): string {
  return title.startsWith(name) ? `${serverTitle(name)}${title.slice(name.length)}` : title;
}

/** `1.13.1`, as the program of this name reports it; the name where the record has no such program. */
export function versionOf({ programs }: Pick<EngineRecord<unknown>, 'programs'>, name: string): string {
  return programs.find((program) => program.name === name)?.version ?? name;
}

/** The subject, and of its point what is not the same in all cases. */
export function caseTitle(record: Cases, item: EngineCase): string {
  return [subjectTitle(record, item.subject), pointText(record, item), item.aa ? 'A/A' : '']
    .filter((part) => part !== '')
    .join(', ');
}

/** `12.3 ms [11.9 ms, 12.8 ms]`, on one line; `–` for none. */
export function interval(
  summary: Pick<SummaryStatistic, 'median' | 'low' | 'high'> | null,
  show: typeof formatShort,
): string {
  if (summary === null) return '–';
  const { median, low, high } = summary;
  if (low === null || high === null || low === high) return unbroken(show(median));
  const all = beside(median, low, high);
  return unbroken(`${show(median, all)} [${show(low, all)}, ${show(high, all)}]`);
}

/** Beyond, the ends of an interval say more than its width: `±586,802 %` says nothing. */
const WIDEST_SIDE = 1;

/** `12,345 ±4 %`: with the longer side of the interval, rounded up, or the ends of a very wide one; `–` for none. */
export function plusMinus(summary: SummaryStatistic | null, show: typeof formatShort): string {
  if (summary === null) return '–';
  const { median, low, high } = summary;
  if (low === null || high === null || median === 0) return unbroken(show(median));
  const side = Math.max(high - median, median - low) / Math.abs(median);
  if (side > WIDEST_SIDE) return interval(summary, show);
  return unbroken(`${show(median)} ±${formatCount(Math.ceil(side * 100 - 1e-9))} %`);
}

/** `≥ ` before a figure that could be better: something other than the subject bounded it in some trial. */
export function boundSign(estimand: EstimandFacts, { bounds }: Pick<EngineCase, 'bounds'>): string {
  return (bounds[estimand.name] ?? 0) === 0 ? '' : signOfBound(estimand);
}

/** `≥ 12,345 ±4 %`; `12,100 / 12,590` of two trials, whose interval is many times as wide as they are apart. */
export function figureText(
  estimand: EstimandFacts,
  item: EngineCase,
  trials: readonly OkTrial<unknown>[],
): string {
  const show: typeof formatShort = (value, all) => showFigure(estimand, value, all);
  const values = trials.flatMap(({ figures }) => figures[estimand.name] ?? []);
  const text =
    values.length === 2
      ? unbroken([...new Set(values.map((value) => show(value)))].join(' / '))
      : plusMinus(item.summary[estimand.name] ?? null, show);
  return `${boundSign(estimand, item)}${text}`;
}

type AnyRecord = EngineRecord<unknown, unknown>;

/** `-54.1 % / -48.0 %`: the differences of two pairs; null for any other number. */
export function bothText(
  record: AnyRecord,
  estimand: EstimandFacts,
  { key, comparison }: EngineCase,
): string | null {
  const baseline = okTrials(record, comparison?.baseline ?? '');
  const both = bothOf(estimand, pairsOf(estimand, okTrials(record, key), baseline));
  return both === null ? null : textOfBoth(estimand, both);
}

/**
 * `+12.3 % [+8, +17]: higher`; `–` where nothing may be said. Below a table that says so once, `isOpenSaid`, an open verdict is left
 * out.
 */
export function deltaText(
  record: AnyRecord,
  estimand: EstimandFacts,
  item: EngineCase,
  isOpenSaid = false,
): string {
  const delta = item.comparison?.deltas[estimand.name];
  if (delta == null) return '–';
  const both = bothText(record, estimand, item);
  const text = both ?? boundsText(estimand, delta);
  const isSaid = isOpenSaid && delta.verdict === 'no difference shown';
  const verdict = isSaid ? '' : `: ${verdictWord(estimand, delta.verdict)}`;
  return `${boundSign(estimand, item)}${text}${delta.low === null ? ', no interval' : verdict}`;
}

/** Why there is no verdict though the interval, which is that of one comparison alone, excludes zero. */
const correctionText = ({ undecided, comparisons }: Delta | Difference) =>
  undecided === 'correction' && comparisons !== null && comparisons > 1
    ? ` after correction for ${formatCount(comparisons)} comparisons`
    : '';

/** `higher, +12.3 % [+8, +17]`; of one pair, what both had: `43.0 MiB, against 44.0 MiB with CoreDNS 1.13.1 (…)`. */
export function verdictText(
  record: AnyRecord,
  estimand: EstimandFacts,
  item: EngineCase,
  delta: Delta | Difference,
): string {
  const sign = boundSign(estimand, item);
  const text = `${sign}${bothText(record, estimand, item) ?? boundsText(estimand, delta)}`;
  if (delta.low !== null) return `${verdictWord(estimand, delta.verdict)}${correctionText(delta)}, ${text}`;
  const own = okTrials(record, item.key);
  const [pair, ...others] = pairsOf(estimand, own, okTrials(record, item.comparison?.baseline ?? ''));
  if (pair === undefined || others.length > 0) return `${text}, no interval`;
  const [value, baseline] = [pair.value, pair.baseline].map((figure) => showFigure(estimand, figure));
  return `${sign}${value}, against ${baseline} with ${subjectTitle(record, record.baseline ?? '')} (${text}; one trial of each, so no interval)`;
}
