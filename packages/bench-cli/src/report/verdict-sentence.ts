/**
 * One honest sentence about a case: what was shown, how certain it is, and its limitations. Never stronger than the
 * interval: its ends are rounded outwards, and without a verdict no winner is named.
 */
import type { CaseRecord, Delta, RunRecord } from '../results/record.ts';
import {
  baselineOf,
  type Decisive,
  type DecisiveMetric,
  type DecisiveReason,
  decisiveOf,
  isLowerBound,
  isUndecidable,
} from '../stats/decisive.ts';
import { METRIC_TITLES } from '../stats/metrics.ts';
import { groupCases, serverTitle } from './cases.ts';
import { bothInWords } from './delta-texts.ts';
import { couldShow } from './estimand.ts';
import { mixedLimit } from './limits.ts';
import { formatFixed, formatOutwards, formatP, formatQps } from './numbers.ts';
import { okTrialsOf } from './ok-trials.ts';
import { endText, MULTIPLE_FROM, SIZE_WORDS, type SizeWords, sizeText } from './size.ts';
import { tailText } from './tail.ts';

/** What a metric is called, and how its differences are told. */
interface Words extends SizeWords {
  /** `answered 5 % more queries per second`. */
  readonly verb: string;
  readonly unit: string;
  /** `No difference in CPU per query shown`; empty where the sentence needs none. */
  readonly of: string;
}

const WORDS: Readonly<Record<DecisiveMetric, Words>> = {
  qps: { ...SIZE_WORDS.qps, verb: 'answered', unit: METRIC_TITLES.qps, of: '' },
  cpuSecondsPerQuery: {
    ...SIZE_WORDS.cpuSecondsPerQuery,
    verb: 'used',
    unit: 'CPU per query',
    of: ' in CPU per query',
  },
};

const WITH_UNIT = WORDS.qps.unit;

/** "32 % more" or "1.9 × as many", with the interval in the same terms, for a delta with a verdict. */
function difference(
  delta: Delta,
  low: number,
  high: number,
  words: Words,
): { text: string; interval: string } {
  const { relative, verdict } = delta;
  const isMultiple = verdict === 'faster' && relative >= MULTIPLE_FROM;
  const { size, interval, word } = sizeText({ relative, low, high }, words, isMultiple);
  return { text: `${size} ${words.unit}`, interval: `${interval} ${word}`.trim() };
}

/** The difference in a sentence without its full stop; `both` is what the two pairs say, if there are just two. */
function compared(name: string, baseline: string, decisive: Decisive, both: string | null): string {
  const sentence = comparedPlainly(name, baseline, decisive, both);
  if (decisive.delta.allowance === null || isUndecidable(decisive)) return sentence;
  const rest = sentence.startsWith('No ') ? sentence.replace(/^No /, 'no ') : sentence;
  return `After allowing for what other programs took, ${rest}`;
}

function comparedPlainly(
  name: string,
  baseline: string,
  { metric, delta, reason }: Decisive,
  both: string | null,
): string {
  // Without CPU figures there is nothing else to compare.
  if (isUndecidable({ metric, reason })) {
    return `${name} and ${baseline} are not compared, because their throughput was not limited by the servers`;
  }
  const words = WORDS[metric];
  const { low, high, n } = delta;
  const open = `No difference${words.of} shown between ${name} and ${baseline}`;
  if (both !== null && delta.verdict === 'no difference shown') return `${open} (${both} ${words.unit})`;
  if (low === null || high === null) {
    const word = delta.relative >= 0 ? words.higher : words.lower;
    const size = `${formatFixed(Math.abs(delta.relative) * 100, 1)} % ${word} ${words.unit}`;
    return `${name} ${words.verb} ${size} than ${baseline} in one trial of each: no interval, so nothing is shown yet`;
  }
  const ends = formatOutwards(low * 100, high * 100, 0);
  const span = `runs from ${endText(ends.low, words)} to ${endText(ends.high, words)} ${words.unit}`;
  if (delta.undecided === 'correction') {
    return (
      `${open}: the interval of this comparison alone ${span}, but with ${delta.comparisons} comparisons ` +
      `that happens by chance too often (adjusted p ${formatP(delta.adjustedPValue ?? 1)}; ${n} paired trials)`
    );
  }
  if (delta.verdict === 'no difference shown') {
    const more = delta.undecided === 'ties' ? unconfirmed(delta) : couldShow(delta);
    return `${open}: the 95 % interval ${span} (${n} paired trials${more})`;
  }
  const { text, interval } = difference(delta, low, high, words);
  const than = text.includes('×') ? 'as' : 'than';
  return `${name} ${words.verb} ${text} ${than} ${baseline} (${both ?? `95 % interval ${interval}`})`;
}

/** Why there is no verdict though the interval excludes zero. */
function unconfirmed({ pValue }: Delta): string {
  return `; the test does not confirm it, because of equal figures or zeros: p ${formatP(pValue ?? 1)}`;
}

/** Says that a difference within the noise floor means little. */
function noise(delta: Delta | undefined): string[] {
  if (delta?.belowNoiseFloor !== true || delta.verdict === 'no difference shown') return [];
  return ['the baseline differs from itself by as much (noise floor)'];
}

/** What limited throughput other than the server, as clauses. */
function limitClauses(
  record: RunRecord,
  cases: readonly CaseRecord[],
  reason: DecisiveReason | null,
): string[] {
  const limits = cases.map((item) => ({
    name: serverTitle(record, item.server),
    limitedBy: item.limitedBy,
    mixed: mixedLimit(okTrialsOf(record, item)),
  }));
  const named = (limit: CaseRecord['limitedBy']) =>
    limits.flatMap(({ name, limitedBy, mixed }) => (limitedBy === limit && mixed === null ? [name] : []));
  const [loader, rate, unknown] = [named('loader'), named('rate'), named('unknown')].map((names) =>
    [...new Set(names)].join(' and '),
  );
  const mixed = limits.flatMap((item) =>
    item.mixed === null ? [] : [`${item.name} was the limit in ${item.mixed}`],
  );
  return [
    ...(loader ? [`the load generator, not the server, limited ${loader}`] : []),
    // A comparison of what the rate costs is not about a maximum.
    ...(rate && reason !== 'rate held' ? [`${rate} ran at a fixed rate, so this is not a maximum`] : []),
    ...(unknown ? [`what limited ${unknown} is unknown`] : []),
    ...(mixed.length > 0 ? [mixed.join(', and ')] : []),
  ];
}

/** Why the figures do not describe the servers alone, as clauses. */
function reservations(record: RunRecord, cases: readonly CaseRecord[], decisive: Decisive | null): string[] {
  const isTold = decidesByCost(decisive) || (decisive !== null && isUndecidable(decisive));
  const limits = isTold ? [] : limitClauses(record, cases, decisive?.reason ?? null);
  return cases.some(({ contended }) => contended)
    ? [...limits, 'the machine has fewer cores than servers and load generators need (contended)']
    : limits;
}

/** The limits of throughput do not qualify a comparison of CPU per query; they are told of the throughput. */
function decidesByCost(decisive: Decisive | null): boolean {
  return decisive?.metric === 'cpuSecondsPerQuery' && decisive.reason === 'lower bound';
}

/**
 * What is known of the throughput where it does not decide: "DinoDNS answered at least 73,912 queries per second, CoreDNS
 * 51,203; the load generator, not the server, limited DinoDNS."
 */
function throughput(record: RunRecord, cases: readonly CaseRecord[]): string {
  const rates = cases.flatMap((item, index) => {
    if (item.summary === null) return [];
    const rate = `${isLowerBound(item) ? 'at least ' : ''}${formatQps(item.summary.qps.median)}`;
    const name = serverTitle(record, item.server);
    return [index === 0 ? `${name} answered ${rate} ${WITH_UNIT}` : `${name} ${rate}`];
  });
  return ` ${rates.join(', ')}: ${limitClauses(record, cases, 'lower bound').join(', and ')}.`;
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
  const baseline = baselineOf(item, record);
  const involved = baseline === undefined ? [item] : [item, baseline];
  const decisive = decisiveOf(item, record);
  const clauses = [...noise(decisive?.delta), ...reservations(record, involved, decisive)];
  const but = clauses.length === 0 ? '' : `; but ${clauses.join(', and ')}`;
  if (decisive !== null) {
    const rates = decidesByCost(decisive) || isUndecidable(decisive) ? throughput(record, involved) : '';
    const tail = tailText(record, item);
    const both = bothInWords(record, item, decisive.metric, WORDS[decisive.metric]);
    return `${compared(name, baselineName, decisive, both)}${but}.${rates}${tail === null ? '' : ` ${tail}`}`;
  }
  if (item.server === record.baseline) return `${name}, the baseline, answered ${rateOf(item)}${but}.`;
  return (
    `${name} answered ${rateOf(item)}; it cannot be compared, because no round also has ` +
    `a successful trial of ${baselineName}${but}.`
  );
}

interface CaseVerdict {
  /** Title of the case's group. */
  readonly group: string;
  readonly item: CaseRecord;
  readonly sentence: string;
}

/** Of all compared cases in the order of the groups; of the baseline where it is alone. */
export function verdictSentences(record: RunRecord): CaseVerdict[] {
  return groupCases(record).flatMap(({ title, cases }) =>
    cases
      .filter(({ server }) => server !== record.baseline || cases.length === 1)
      .map((item) => ({ group: title, item, sentence: verdictSentence(item, record) })),
  );
}
