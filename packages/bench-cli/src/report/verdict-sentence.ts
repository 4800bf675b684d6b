/**
 * One honest sentence about a case: what was shown, how certain it is, and its limitations. Never stronger than the
 * interval: its ends are rounded outwards, and without a verdict no winner is named.
 */
import type { CaseRecord, Delta, RunRecord } from '../results/record.ts';
import { serverTitle } from './cases.ts';
import { type Decisive, type DecisiveMetric, decisiveDelta } from './decisive.ts';
import { mixedLimit } from './limits.ts';
import { okTrialsByCase } from './marks.ts';
import { formatFixed, formatOutwards, formatP, formatQps } from './numbers.ts';

/** From 1.5 times on, a multiple is easier to grasp than a percentage. */
const MULTIPLE_FROM = 1.5;

/** What a metric is called, and how its differences are told. */
interface Words {
  /** `answered 5 % more queries per second`. */
  readonly verb: string;
  readonly unit: string;
  readonly higher: string;
  readonly lower: string;
  /** `No difference in CPU per query shown`; empty where the sentence needs none. */
  readonly of: string;
}

const WORDS: Readonly<Record<DecisiveMetric, Words>> = {
  qps: { verb: 'answered', unit: 'queries per second', higher: 'more', lower: 'fewer', of: '' },
  cpuSecondsPerQuery: {
    verb: 'used',
    unit: 'CPU per query',
    higher: 'more',
    lower: 'less',
    of: ' in CPU per query',
  },
};

const WITH_UNIT = WORDS.qps.unit;

function asPercent(value: number, digits: number): string {
  return formatFixed(Math.abs(value) * 100, digits);
}

/** "32 % more" or "1.9 × as many", with the interval in the same terms, for a delta with a verdict. */
function difference(
  delta: Delta,
  low: number,
  high: number,
  words: Words,
): { text: string; interval: string } {
  if (delta.verdict === 'faster' && 1 + delta.relative >= MULTIPLE_FROM) {
    const ends = formatOutwards(1 + low, 1 + high, 1);
    const value = formatFixed(1 + delta.relative, ends.digits);
    return { text: `${value} × as many ${words.unit}`, interval: `${ends.low}–${ends.high}` };
  }
  const word = delta.relative >= 0 ? words.higher : words.lower;
  const [near, far] = delta.relative >= 0 ? [low, high] : [-high, -low];
  const ends = formatOutwards(near * 100, far * 100, 0);
  return {
    text: `${asPercent(delta.relative, ends.digits)} % ${word} ${words.unit}`,
    interval: `${ends.low}–${ends.high} % ${word}`,
  };
}

function signedEnd(text: string, { higher, lower }: Words): string {
  if (Number.parseFloat(text) === 0) return 'no difference';
  return text.startsWith('-') ? `${text.slice(1)} % ${lower}` : `${text} % ${higher}`;
}

function compared(name: string, baseline: string, { metric, delta }: Decisive): string {
  const words = WORDS[metric];
  const { low, high, n } = delta;
  if (low === null || high === null) {
    const word = delta.relative >= 0 ? words.higher : words.lower;
    const size = `${asPercent(delta.relative, 1)} % ${word} ${words.unit}`;
    return `${name} ${words.verb} ${size} than ${baseline} in one trial of each: no interval, so nothing is shown yet`;
  }
  if (delta.undecided === 'correction') {
    const ends = formatOutwards(low * 100, high * 100, 0);
    return (
      `No difference${words.of} shown between ${name} and ${baseline}: the interval of this comparison alone runs from ` +
      `${signedEnd(ends.low, words)} to ${signedEnd(ends.high, words)} ${words.unit}, but with ${delta.comparisons} comparisons ` +
      `that happens by chance too often (adjusted p ${formatP(delta.adjustedPValue ?? 1)}; ${n} paired trials)`
    );
  }
  if (delta.verdict === 'no difference shown') {
    const ends = formatOutwards(low * 100, high * 100, 0);
    return (
      `No difference${words.of} shown between ${name} and ${baseline}: the 95 % interval runs from ` +
      `${signedEnd(ends.low, words)} to ${signedEnd(ends.high, words)} ${words.unit} (${n} paired trials)`
    );
  }
  const { text, interval } = difference(delta, low, high, words);
  const than = text.includes('×') ? 'as' : 'than';
  return `${name} ${words.verb} ${text} ${than} ${baseline} (95 % interval ${interval})`;
}

/** Says that a difference within the noise floor means little. */
function noise(delta: Delta | undefined): string[] {
  if (delta?.belowNoiseFloor !== true || delta.verdict === 'no difference shown') return [];
  return ['the baseline differs from itself by as much (noise floor)'];
}

/** Why the figures do not describe the servers alone, as clauses. */
function reservations(record: RunRecord, cases: readonly CaseRecord[], decisive: Decisive | null): string[] {
  const trials = okTrialsByCase(record);
  const limits = cases.map((item) => ({
    name: serverTitle(record, item.server),
    limitedBy: item.limitedBy,
    mixed: mixedLimit(trials.get(item.key) ?? []),
  }));
  const named = (limit: CaseRecord['limitedBy']) =>
    limits.flatMap(({ name, limitedBy, mixed }) => (limitedBy === limit && mixed === null ? [name] : []));
  const [loader, rate, unknown] = [named('loader'), named('rate'), named('unknown')].map((names) =>
    [...new Set(names)].join(' and '),
  );
  const clauses: string[] = [];
  if (loader) clauses.push(`the load generator, not the server, limited ${loader}`);
  // A comparison of what the rate costs is not about a maximum.
  if (rate && decisive?.metric !== 'cpuSecondsPerQuery')
    clauses.push(`${rate} ran at a fixed rate, so this is not a maximum`);
  if (unknown) clauses.push(`what limited ${unknown} is unknown`);
  const mixed = limits.flatMap((item) =>
    item.mixed === null ? [] : [`${item.name} was the limit in ${item.mixed}`],
  );
  if (mixed.length > 0) clauses.push(mixed.join(', and '));
  if (cases.some(({ contended }) => contended)) {
    clauses.push('the machine has fewer cores than servers and load generators need (contended)');
  }
  return clauses;
}

function rateOf({ summary }: CaseRecord): string {
  if (summary === null) return '';
  const { median, n } = summary.qps;
  return `${formatQps(median)} ${WITH_UNIT} (${n === 1 ? 'one trial' : `median of ${n} trials`})`;
}

/** The sentence for `item`, a case of `record`. Ends with a full stop. */
export function verdictSentence(item: CaseRecord, record: RunRecord): string {
  const name = serverTitle(record, item.server);
  const baselineName = serverTitle(record, record.baseline);
  if (item.summary === null) {
    return item.trials.failed > 0
      ? `${name} has no result: none of its trials succeeded.`
      : `${name} has no result yet.`;
  }
  const { comparison } = item;
  const baseline = record.cases.find(({ key }) => key === comparison?.baseline);
  const involved = baseline === undefined ? [item] : [item, baseline];
  const decisive = decisiveDelta(item, record);
  const clauses = [...noise(decisive?.delta), ...reservations(record, involved, decisive)];
  const but = clauses.length === 0 ? '' : `; but ${clauses.join(', and ')}`;
  if (decisive !== null) return `${compared(name, baselineName, decisive)}${but}.`;
  if (item.server === record.baseline) return `${name}, the baseline, answered ${rateOf(item)}${but}.`;
  return (
    `${name} answered ${rateOf(item)}; it cannot be compared, because no round also has ` +
    `a successful trial of ${baselineName}${but}.`
  );
}
