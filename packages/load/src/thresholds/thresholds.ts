/** Thresholds of `--fail-if`: `p99>5ms`, `lost>0.1%`, `qps<100000`. */

import { rcodeName, rcodeNumber } from '@dinodns-bench/wire';
import { dueIn } from '../engine/measurements.ts';
import { loadError } from '../errors.ts';
import type { CannonResult } from '../result/result.ts';
import { PERCENTILES, type Statistics, titleOf } from '../result/statistics.ts';

/** What is compared: a time in seconds, which is infinite if nothing was answered, a count of queries, or a rate. */
interface Metric {
  readonly kind: 'time' | 'count' | 'rate';
  valueIn(result: CannonResult): number;
  /** The total that a count is a share of. */
  totalIn?(result: CannonResult): number;
}

const OPERATORS = {
  '>=': (a: number, b: number) => a >= b,
  '<=': (a: number, b: number) => a <= b,
  '>': (a: number, b: number) => a > b,
  '<': (a: number, b: number) => a < b,
} as const;
type Operator = keyof typeof OPERATORS;

const TIME_UNITS = new Map(Object.entries({ ns: 1e-9, us: 1e-6, µs: 1e-6, ms: 1e-3, s: 1 }));

const STATISTICS: ReadonlyMap<string, keyof Statistics> = new Map(
  [
    ...(['min', 'mean', 'standardDeviation', 'max'] as const),
    ...PERCENTILES.map((percentile) => `p${percentile}` as const),
  ].map((key) => [titleOf(key), key]),
);

/** Counts that are shares of the queries sent; `unsent` is one of what was due. */
const COUNTS = new Map<string, (counts: CannonResult['counts']) => number>([
  ['lost', ({ lost }) => lost],
  ['late', ({ late }) => late],
  ['duplicate', ({ duplicate }) => duplicate],
  ['mismatched', ({ mismatched }) => mismatched],
  ['malformed', ({ malformed }) => malformed],
  ['truncated', ({ truncated }) => truncated],
  ['unexpected', ({ wrongCode, wrongAddress, unreadable }) => wrongCode + wrongAddress + unreadable],
  ['unsent', ({ unsent }) => unsent],
]);

const KNOWN = [
  ...STATISTICS.keys(),
  'lateness.p99',
  ...COUNTS.keys(),
  'qps',
  'a response code such as SERVFAIL',
].join(', ');

export interface Threshold {
  /** As the user wrote it. */
  readonly text: string;
  readonly metric: Metric;
  readonly operator: Operator;
  readonly value: number;
  /** Whether `value` is a share, 0 to 1. */
  readonly share: boolean;
}

/** A threshold that was crossed. */
export interface Crossed {
  readonly text: string;
  /** The measured value, in the threshold's base unit: seconds, queries, share, or queries per second. */
  readonly measured: number;
}

function metricOf(name: string): Metric | null {
  const [, lateness, statistic = ''] = /^(lateness\.)?(.+)$/.exec(name) ?? [];
  const key = STATISTICS.get(statistic);
  if (key !== undefined) {
    return {
      kind: 'time',
      valueIn: ({ latencySeconds, latenessSeconds }) =>
        lateness === undefined
          ? (latencySeconds?.[key] ?? Number.POSITIVE_INFINITY)
          : (latenessSeconds?.[key] ?? 0),
    };
  }
  const count = COUNTS.get(name);
  if (count !== undefined) {
    return {
      kind: 'count',
      valueIn: ({ counts }) => count(counts),
      totalIn: ({ counts }) => (name === 'unsent' ? dueIn(counts) : counts.sent),
    };
  }
  if (name === 'qps') return { kind: 'rate', valueIn: ({ qps }) => qps };
  const number = rcodeNumber(name);
  if (number === undefined) return null;
  // As results name it: RCODE2 is SERVFAIL.
  const code = rcodeName(number);
  return {
    kind: 'count',
    valueIn: ({ codes }) => codes[code] ?? 0,
    totalIn: ({ counts }) => counts.answered,
  };
}

/** Reads one threshold. Throws `LoadError` (`E_OPTIONS`). */
export function parseThreshold(text: string): Threshold {
  const fail = (problem: string, fix: string) =>
    loadError('E_OPTIONS', `the threshold "${text}" ${problem}`, fix);
  const parts = text.match(/^\s*([\w.]+)\s*(>=|<=|>|<)\s*([\d.]+(?:e\d+)?)\s*([a-zµ%]*)\s*$/i);
  const [, name = '', operator = '', number = '', unit = ''] = parts ?? [];
  if (parts === null || Number.isNaN(Number(number))) {
    throw fail('cannot be read', "write it as 'p99>5ms', 'lost>0.1%' or 'qps<100000'");
  }
  const metric = metricOf(name);
  if (metric === null) throw fail(`has an unknown measure "${name}"`, `use one of ${KNOWN}`);
  const { kind } = metric;
  const base = { text, metric, operator: operator as Operator };
  if (kind === 'time') {
    const scale = TIME_UNITS.get(unit.toLowerCase());
    if (scale === undefined) throw fail(`needs a unit of time, not "${unit}"`, 'use ns, us, ms or s');
    return { ...base, value: Number(number) * scale, share: false };
  }
  if (unit === '%' && kind === 'count') return { ...base, value: Number(number) / 100, share: true };
  if (unit !== '')
    throw fail(
      `cannot have the unit "${unit}"`,
      kind === 'count' ? 'give a number or a percentage' : 'give queries per second, without a unit',
    );
  return { ...base, value: Number(number), share: false };
}

/**
 * The thresholds that a result crosses. A latency that could not be measured, because nothing was answered, crosses
 * every upper bound.
 */
export function crossedThresholds(thresholds: readonly Threshold[], result: CannonResult): Crossed[] {
  return thresholds.flatMap(({ text, metric, operator, value, share }) => {
    const total = share ? Math.max(1, metric.totalIn?.(result) ?? 1) : 1;
    const measured = metric.valueIn(result) / total;
    return OPERATORS[operator](measured, value) ? [{ text, measured }] : [];
  });
}
