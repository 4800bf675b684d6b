/** Results and intervals for programs: JSON, NDJSON and CSV. Pure. */
import type { CannonResult, Interval } from '../result/result.ts';
import { PERCENTILES, type Statistics } from '../result/statistics.ts';

export function renderJson(result: CannonResult): string {
  return `${JSON.stringify(result, null, 2)}\n`;
}

/** One line of `--ndjson`: an interval, or the result at the end. `type` distinguishes them. */
export function renderNdjson(record: Interval | CannonResult): string {
  const type = 'tool' in record ? 'result' : 'interval';
  return `${JSON.stringify({ type, ...record })}\n`;
}

const KEYS = [
  'min',
  'mean',
  'standardDeviation',
  ...PERCENTILES.map((percentile) => `p${percentile}` as const),
  'max',
] as const;

export const CSV_HEADER = `${[
  'interval',
  'from_seconds',
  'to_seconds',
  'qps',
  'sent',
  'answered',
  'lost',
  'unsent',
  'late',
  'duplicate',
  'mismatched',
  'malformed',
  'truncated',
  'noerror',
  'nxdomain',
  'servfail',
  'refused_code',
  ...KEYS.map((key) => `latency_${key === 'standardDeviation' ? 'sd' : key.replace('.', '_')}_seconds`),
].join(',')}\n`;

function statisticsCells(statistics: Statistics | null): (number | '')[] {
  return KEYS.map((key) => statistics?.[key] ?? '');
}

type Counted = Pick<Interval, 'qps' | 'counts' | 'codes' | 'latencySeconds'>;

function row(
  name: string | number,
  from: number,
  to: number,
  { qps, counts, codes, latencySeconds }: Counted,
): string {
  const cells = [
    name,
    from,
    to,
    qps,
    counts.sent,
    counts.answered,
    counts.lost,
    counts.unsent,
    counts.late,
    counts.duplicate,
    counts.mismatched,
    counts.malformed,
    counts.truncated,
    ...['NOERROR', 'NXDOMAIN', 'SERVFAIL', 'REFUSED'].map((code) => codes[code] ?? 0),
    ...statisticsCells(latencySeconds),
  ];
  return `${cells.join(',')}\n`;
}

/** A row for an interval, or for the whole run (`total`). */
export function renderCsvRow(record: Interval | CannonResult): string {
  return 'tool' in record
    ? row('total', 0, record.elapsedSeconds, record)
    : row(record.index, record.fromSeconds, record.toSeconds, record);
}
