/**
 * What the statistics found besides the verdicts, in sentences: the noise floor, drift, trials that did not settle,
 * outliers, and how `--until` ended. Every report shows them; they change no figure.
 */
import type { Drift, NoiseFloor, RunRecord, Until } from '../results/record.ts';
import { pointKey } from '../stats/cases.ts';
import { decisiveOf, isUndecidable } from '../stats/decisive.ts';
import { DIRECTIONS, METRIC_TITLES } from '../stats/metrics.ts';
import { minTrialsForRanks } from '../stats/sample-test.ts';
import { examineSliceTrends } from '../stats/slice-trend.ts';
import { levelOfRecord, MIN_ROUNDS } from '../stats/until.ts';
import { formatDuration, listed } from '../text.ts';
import { calibrationNotes } from './calibration.ts';
import { groupCases, pointOf, serverTitle } from './cases.ts';
import { counterNotes } from './counters.ts';
import { lossNotes } from './losses.ts';
import { neighbourNotes } from './neighbours.ts';
import { formatFixed, formatOutwards, formatP, formatSize, signed } from './numbers.ts';
import { okTrials, okTrialsOf } from './ok-trials.ts';

function plural(count: number, one: string, many: string): string {
  return count === 1 ? one : many;
}

function caseName(record: RunRecord, key: string): string {
  const item = record.cases.find((candidate) => candidate.key === key);
  if (item === undefined) return key;
  return `${serverTitle(record, item.server)}${item.aa ? ' (A/A)' : ''} at ${pointOf(record, item)}`;
}

function aboutUntil(record: RunRecord, until: Until): string {
  const isOpen = record.cases.some((item) => {
    const decisive = decisiveOf(item, record);
    return decisive !== null && isUndecidable(decisive);
  });
  const comparison = isOpen ? 'comparison that the servers limited' : 'comparison';
  const asked =
    until.goal === 'width'
      ? `every interval narrower than ${formatSize(until.width)}`
      : until.goal === 'gate'
        ? `every ${comparison} decided against a tolerance of ${formatSize(until.width)}`
        : `a verdict, or an interval narrower than ${formatSize(until.width)}, for each ${comparison}`;
  const rounds = `${until.rounds} trials of each case`;
  if (until.reached) return `--until: ${asked} after ${rounds}.`;
  const limit =
    until.limit === 'rounds'
      ? `--max-trials ${until.mostRounds}`
      : until.limit === 'time'
        ? `--max-time ${formatDuration(until.mostSeconds ?? 0)}`
        : null;
  const widest =
    until.widest === null || until.widestOf === null
      ? ''
      : `; the widest, of ${caseName(record, until.widestOf.caseKey)} (${until.widestOf.metric}), is ${formatSize(until.widest)} wide`;
  const early =
    until.goal === 'width' && until.rounds < MIN_ROUNDS
      ? `, and at least ${MIN_ROUNDS} trials are needed`
      : '';
  return limit === null
    ? `--until: not ${asked} yet, after ${rounds}${widest}.`
    : `--until: stopped by ${limit} before ${asked}, after ${rounds}${widest}${early}.`;
}

function aboutFloor(record: RunRecord, { caseKey, comparison }: NoiseFloor): string[] {
  const item = record.cases.find(({ key }) => key === caseKey);
  if (item === undefined) return [];
  const { low, high, relative, verdict } = comparison.qps;
  const point = pointOf(record, item);
  if (low === null || high === null) {
    return [`Noise floor (A/A) at ${point}: the two trials differ by ${formatSize(relative)}; no interval.`];
  }
  const ends = formatOutwards(low * 100, high * 100, 0);
  const floor = Math.max(Math.abs(low), Math.abs(high));
  const sentence =
    `Noise floor (A/A) at ${point}: ${serverTitle(record, item.server)} against itself differs by ` +
    `${signed(formatFixed(relative * 100, ends.digits))} % (95 % interval ${signed(ends.low)} to ${signed(ends.high)} %): ` +
    `a difference below ${formatSize(floor)} ` +
    'may be this machine, not the server.';
  return verdict === 'no difference shown'
    ? [sentence]
    : [
        sentence,
        `Two equal servers were told apart at ${point}: something on this machine favours one place in the order. ` +
          'Do not trust small differences in this run.',
      ];
}

function aboutBelowFloor(record: RunRecord): string[] {
  return record.cases.flatMap((item) => {
    const { qps } = item.comparison ?? {};
    if (qps === undefined || qps.belowNoiseFloor !== true || qps.verdict === 'no difference shown') return [];
    return [
      `The difference of ${serverTitle(record, item.server)} at ${pointOf(record, item)}, ${formatSize(qps.relative)}, is below ` +
        'the noise floor: two equal servers may differ as much here.',
    ];
  });
}

function aboutDrift({ metric, relativeChange, low, high, pValue }: Drift): string {
  // "fell by 2.5 to 20.1 %": the word has the sign.
  const [near, far] = relativeChange < 0 ? [-(high ?? 0), -(low ?? 0)] : [low ?? 0, high ?? 0];
  const ends = formatOutwards(near * 100, far * 100, 0);
  const { goal } = DIRECTIONS[metric];
  const worse = goal === 'higher' ? relativeChange < 0 : relativeChange > 0;
  return (
    `Drift: from the first trial to the last, ${METRIC_TITLES[metric]} ${relativeChange < 0 ? 'fell' : 'rose'} by ` +
    `${formatSize(relativeChange, ends.digits)} (95 % interval ${ends.low} to ${ends.high} %, p ${formatP(pValue ?? 1)})` +
    // A slow machine does not make servers larger.
    `${metric === 'memoryBytes' ? '' : `: the machine became ${worse ? 'slower' : 'faster'}`}. ` +
    'Paired comparisons cancel this out; absolute figures are averages over it.'
  );
}

/** What the decisive comparisons are without the allowance for others' CPU. */
function aboutAllowance(record: RunRecord): string[] {
  const without = record.cases.flatMap((item) => {
    const decisive = decisiveOf(item, record);
    const allowance = decisive?.delta.allowance;
    if (decisive == null || allowance == null) return [];
    const { relative, low, high } = allowance.plain;
    const ends = low === null || high === null ? null : formatOutwards(low * 100, high * 100, 0);
    const size = signed(formatFixed(relative * 100, ends?.digits ?? 1));
    const interval = ends === null ? '' : ` [${signed(ends.low)}, ${signed(ends.high)}]`;
    const name = item.comparison === null ? '' : caseName(record, item.key);
    return [{ allowance, text: `${name} ${size} %${interval} ${METRIC_TITLES[decisive.metric]}` }];
  });
  const [first] = without;
  if (first === undefined) return [];
  return [
    'Comparisons allow for what other programs and the hypervisor took: they are those of the calmest trial ' +
      `(${formatFixed(first.allowance.referenceCores, 2)} CPUs taken), while the figures of single servers are as measured. ` +
      `Without that: ${without.map(({ text }) => text).join('; ')}.`,
  ];
}

/** A warm-up that was too short shows as first slices that cost more. */
function aboutSlices(record: RunRecord): string[] {
  return examineSliceTrends(okTrials(record)).map(({ caseKey, figure, relativeChange, interval }) => {
    const isMore = relativeChange > 0;
    // "5.0 % less, 2.5 to 7.4 %": the word has the sign.
    const [near, far] = isMore ? [interval.low, interval.high] : [-interval.high, -interval.low];
    const ends = formatOutwards(near * 100, far * 100, 0);
    return (
      `${caseName(record, caseKey)} needed ${formatSize(relativeChange, ends.digits)} ${isMore ? 'more' : 'less'} ${figure} per query in ` +
      `the first slice of a round than in the later ones (95 % interval ${ends.low} to ${ends.high} %): it was still ` +
      'changing. A longer --warmup would tell whether that ends.'
    );
  });
}

/** Maximum number of trials named; the rest is counted. */
const MAX_NAMED = 4;

/** "DinoDNS, trial 2", counted from 1, and the point where the run has several. */
function trialName(record: RunRecord, key: string): string {
  const at = key.lastIndexOf('#');
  const item = record.cases.find((candidate) => candidate.key === key.slice(0, at));
  if (item === undefined) return key;
  const name =
    groupCases(record).length === 1
      ? `${serverTitle(record, item.server)}${item.aa ? ' (A/A)' : ''}`
      : caseName(record, item.key);
  return `${name}, trial ${Number(key.slice(at + 1)) + 1}`;
}

function named(record: RunRecord, keys: readonly string[]): string {
  const shown = keys
    .slice(0, MAX_NAMED)
    .map((key) => trialName(record, key))
    .join('; ');
  return keys.length > MAX_NAMED ? `${shown} and ${keys.length - MAX_NAMED} more` : shown;
}

function aboutTrials(record: RunRecord): string[] {
  const ok = okTrials(record);
  const unsettled = ok.filter(({ steadyState }) => steadyState?.settled === false);
  const outliers = record.cases.flatMap((item) => item.outliers);
  const lines: string[] = [];
  if (unsettled.length > 0) {
    const [first] = unsettled;
    const keys = named(
      record,
      unsettled.map(({ key }) => key),
    );
    const why = first?.steadyState === null ? '' : `; ${first?.steadyState.reason} in the first of them`;
    lines.push(
      `${unsettled.length} of ${ok.length} trials never settled (${keys})${why}. ` +
        'Longer trials, or a longer --warmup, would tell whether that is the server.',
    );
  }
  if (outliers.length > 0) {
    lines.push(
      `${outliers.length} ${plural(outliers.length, 'trial lies', 'trials lie')} far from the others in ` +
        `${plural(outliers.length, 'its case', 'their cases')} (${named(record, outliers)}). All are included in the figures.`,
    );
  }
  return lines;
}

/**
 * The assumption behind verdicts that a distribution-free test could not give. One sentence for the run: the number of
 * comparisons is the same for all.
 */
function aboutMethod(record: RunRecord): string[] {
  const byT = record.cases.flatMap(({ comparison }) =>
    comparison?.qps.method === 'student-t' ? [comparison.qps] : [],
  );
  const [first] = byT;
  if (first?.rankTest == null) return [];
  const comparisons = first.comparisons ?? 1;
  const fewest = Math.min(...byT.map(({ n }) => n));
  const among = comparisons === 1 ? '' : ` and ${comparisons} comparisons`;
  const enough = minTrialsForRanks(comparisons, levelOfRecord(record.until, record.configuration));
  return [
    `With ${fewest} trials${among} no test can show anything without an assumption about the noise, so verdicts rest on ` +
      `Student's t, which assumes log-normal noise. With ${record.until === null ? `--trials ${enough} or more` : `${enough} trials or more`}, ` +
      'no assumption is needed.',
  ];
}

/** How the figures came about, in sentences with a full stop. */
export function procedureNotes(record: RunRecord): string[] {
  return [
    ...calibrationNotes(record),
    ...aboutMethod(record),
    ...(record.until === null ? [] : [aboutUntil(record, record.until)]),
    ...(record.noiseFloors ?? []).flatMap((floor) => aboutFloor(record, floor)),
    ...aboutAllowance(record),
    ...counterNotes(record),
  ];
}

/** Which of the servers that are compared ran on different nodes, over all trials. */
function aboutNodes(record: RunRecord): string[] {
  const points = Map.groupBy(record.cases, pointKey);
  const differing = [...points.values()].flatMap((cases) => {
    const byServer = cases.flatMap((item) => {
      const instances = okTrialsOf(record, item).flatMap((trial) => trial.instances);
      const nodes = [...new Set(instances.flatMap(({ node }) => node ?? []))].sort();
      return nodes.length === 0 ? [] : [{ server: serverTitle(record, item.server), nodes: listed(nodes) }];
    });
    const places = Map.groupBy(byServer, ({ nodes }) => nodes);
    if (places.size < 2) return [];
    return [...places].map(
      ([nodes, members]) => `${listed([...new Set(members.map(({ server }) => server))])} on ${nodes}`,
    );
  });
  if (differing.length === 0) return [];
  return [
    `Servers that are compared ran on different nodes (${[...new Set(differing)].join('; ')}): a part of any difference may be that of the nodes. For servers that bench starts, choose one with --server-node NAME.`,
  ];
}

/** Reasons to doubt the figures, in sentences with a full stop. */
export function cautions(record: RunRecord): string[] {
  return [
    ...aboutNodes(record),
    ...aboutBelowFloor(record),
    ...neighbourNotes(record),
    ...lossNotes(record),
    ...(record.drift ?? []).filter(({ verdict }) => verdict === 'drift').map(aboutDrift),
    ...aboutTrials(record),
    ...aboutSlices(record),
  ];
}

/** All of them. */
export function findings(record: RunRecord): string[] {
  return [...procedureNotes(record), ...cautions(record)];
}
