/** What limits or qualifies a case's figures: one list, from which every report takes its marks and notes. */
import type { CaseRecord, OkTrial, RunRecord } from '../results/record.ts';
import { isLoopback } from '../text.ts';
import { describeLimit, isPartlyServer, limitWord, MIXED } from './limits.ts';
import { formatFixed } from './numbers.ts';
import { formatThrottled, throttledShareOf } from './throttling.ts';

type MarkName =
  | 'echo'
  | 'not-server-limited'
  | 'contended'
  | 'unsettled'
  | 'uneven'
  | 'throttled'
  | 'noise'
  | 'outliers'
  | 'failed-trials';

export interface Mark {
  readonly name: MarkName;
  /** Follows the throughput in tables; absent for what only notes mention. */
  readonly symbol?: string;
  /** Two or three words. */
  readonly label: string;
  /** A sentence about this case. */
  readonly explanation: string;
}

/** Throughput that is not limited by the server is not a property of the server. */
export const NOT_SERVER_LIMITED = '†';
export const CONTENDED = '‡';
const UNSETTLED = '§';
const UNEVEN = '¶';

export const ECHO_EXPLANATION =
  'Not a DNS server but an upper bound for one: it sends queries back, so there are no answers to check.';

/** Whether a server kind is not a DNS server but sends queries back. Its title always says so. */
export function isEcho(record: RunRecord, server: string): boolean {
  return record.servers.find(({ name }) => name === server)?.components.answers === 'echo';
}

/** In the place of a number of instances. */
export const AS_FOUND = 'as found';
export const AS_FOUND_EXPLANATION =
  'Measured as it was found: bench started nothing and set no CPU limit, so tier and mode say nothing about it.';

/** Whether a server was running before the run. */
export function isAsFound(record: RunRecord, server: string): boolean {
  return record.servers.find(({ name }) => name === server)?.components.deployed === 'no';
}

/** Whether the load of a run without a cluster went elsewhere than to the loopback interface. */
export function isBeyondLoopback({ target, trials }: RunRecord): boolean {
  const addresses = trials.flatMap(({ instances }) => instances.flatMap(({ address }) => address ?? []));
  return target === 'local' && addresses.some((address) => !isLoopback(address));
}

/** One instance answers more than this many times the average of its trial: the load was not spread evenly. */
export const UNEVEN_FROM = 1.2;

/** From this share of periods on, a case is marked: the threshold of kubernetes-mixin's alert CPUThrottlingHigh. */
const THROTTLED_FROM = 0.25;

function limitMark(item: CaseRecord, trials: readonly OkTrial[]): Mark[] {
  if (item.limitedBy === 'server') return [];
  const word = limitWord(item, trials);
  const label = word === MIXED ? 'mixed limits' : word === 'unknown' ? 'limit unknown' : `limited by ${word}`;
  const what = isPartlyServer(trials)
    ? 'Not limited by the server in every trial, so the server may be able to do more'
    : 'Not limited by the server, so the server can do more';
  const explanation = `${what}: ${describeLimit(item, trials)}.`;
  return [{ name: 'not-server-limited', symbol: NOT_SERVER_LIMITED, label, explanation }];
}

/** What each instance did: its queries; if unknown, the CPU time that they took; if that is unknown too, the queries of its loader. */
function sharesOf({ instanceObservations, loads }: OkTrial): number[] {
  for (const figure of ['queries', 'cpuSeconds', 'cpuCores'] as const) {
    const known = (instanceObservations ?? []).flatMap((instance) => instance[figure] ?? []);
    if (known.length > 0 && known.length === instanceObservations?.length) return known;
  }
  return loads.map(({ queriesCompleted }) => queriesCompleted);
}

/** How much more than the average the busiest instance of a trial did; null for fewer than two. */
export function unevenness(trial: OkTrial): number | null {
  const counts = sharesOf(trial);
  const sum = counts.reduce((total, queries) => total + queries, 0);
  return counts.length < 2 || sum === 0 ? null : (Math.max(...counts) * counts.length) / sum;
}

function middle(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? null;
}

function several(count: number, of: number): string {
  return count === of
    ? of === 1
      ? 'its only trial'
      : `all of its ${of} trials`
    : `${count} of ${of} trials`;
}

function unevenMark(trials: readonly OkTrial[]): Mark[] {
  const factor = middle(trials.flatMap((trial) => unevenness(trial) ?? []));
  if (factor === null || factor < UNEVEN_FROM) return [];
  return [
    {
      name: 'uneven',
      symbol: UNEVEN,
      label: 'uneven replicas',
      explanation:
        `The busiest instance did ${formatFixed(factor, 2)} × the average (in the median trial): the load was ` +
        'not spread evenly, so the others were not at their limit.',
    },
  ];
}

function throttledMark(trials: readonly OkTrial[]): Mark[] {
  const share = throttledShareOf(trials);
  if (share === null || share < THROTTLED_FROM) return [];
  return [
    {
      name: 'throttled',
      label: 'throttled',
      explanation: `The CPU limit stopped it in ${formatThrottled(share)} of the scheduling periods (in the median trial).`,
    },
  ];
}

function noiseMark(record: RunRecord, { comparison }: CaseRecord): Mark[] {
  if (comparison?.qps.belowNoiseFloor !== true) return [];
  const floor = record.noiseFloors?.find((item) => item.comparison.baseline === comparison.baseline)?.floor
    .qps;
  const size = floor === undefined || floor === null ? '' : ` of ${formatFixed(floor * 100, 1)} %`;
  return [
    {
      name: 'noise',
      label: 'below noise floor',
      explanation: `Its difference from the baseline is smaller than the noise floor${size}: the baseline differs from itself by as much.`,
    },
  ];
}

/** Every mark of a case, the most serious first; a case without figures has only that of failed trials. */
export function marksOfCase(record: RunRecord, item: CaseRecord, trials: readonly OkTrial[]): Mark[] {
  const { contended, summary, outliers } = item;
  const marks: Mark[] = [];
  if (item.trials.failed > 0) {
    marks.push({
      name: 'failed-trials',
      label: `${item.trials.failed} failed`,
      explanation: `${item.trials.failed} of ${item.trials.planned} trials failed; no figure includes them.`,
    });
  }
  if (summary === null) return marks;
  if (isEcho(record, item.server)) {
    marks.push({
      name: 'echo',
      label: 'not a DNS server',
      explanation: ECHO_EXPLANATION,
    });
  }
  marks.push(...limitMark(item, trials));
  if (contended) {
    marks.push({
      name: 'contended',
      symbol: CONTENDED,
      label: 'contended',
      explanation:
        'The machine has fewer cores than server and load generator need, so they slowed each other down.',
    });
  }
  const unsettled = trials.filter(({ steadyState }) => steadyState?.settled === false);
  if (unsettled.length > 0) {
    marks.push({
      name: 'unsettled',
      symbol: UNSETTLED,
      label: 'unsettled',
      explanation:
        `Throughput never became steady in ${several(unsettled.length, trials.length)}` +
        `${unsettled[0]?.steadyState ? ` (${unsettled[0].steadyState.reason})` : ''}.`,
    });
  }
  marks.push(...unevenMark(trials), ...noiseMark(record, item), ...throttledMark(trials));
  if (outliers.length > 0) {
    marks.push({
      name: 'outliers',
      label: outliers.length === 1 ? '1 outlier' : `${outliers.length} outliers`,
      explanation: `The throughput of ${several(outliers.length, trials.length)} is far from the rest. They count like the rest.`,
    });
  }
  return marks;
}
