/** Results and intervals for programs: JSON, NDJSON and CSV. Pure. */
import type { CannonResult, Interval } from '../result/result.ts';
import { PERCENTILES, titleOf } from '../result/statistics.ts';

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

const COUNTS = [
  ...(['sent', 'answered', 'lost', 'unsent', 'late', 'duplicate'] as const),
  ...(['mismatched', 'malformed', 'truncated'] as const),
];

/** Columns of response codes; `refused` alone would be the count of refused connections. */
const CODES = { noerror: 'NOERROR', nxdomain: 'NXDOMAIN', servfail: 'SERVFAIL', refused_code: 'REFUSED' };

export const CSV_HEADER = `${[
  ...['interval', 'from_seconds', 'to_seconds', 'qps', ...COUNTS, ...Object.keys(CODES)],
  ...KEYS.map((key) => `latency_${titleOf(key).replace('.', '_')}_seconds`),
].join(',')}\n`;

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
    ...COUNTS.map((count) => counts[count]),
    ...Object.values(CODES).map((code) => codes[code] ?? 0),
    ...KEYS.map((key) => latencySeconds?.[key] ?? ''),
  ];
  return `${cells.join(',')}\n`;
}

/** A row for an interval, or for the whole run (`total`). */
export function renderCsvRow(record: Interval | CannonResult): string {
  return 'tool' in record
    ? row('total', 0, record.elapsedSeconds, record)
    : row(record.index, record.fromSeconds, record.toSeconds, record);
}
