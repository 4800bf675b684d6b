/**
 * One line for each trial, for spreadsheets and statistics programs: base units, nothing rounded, empty where
 * there is no figure. RFC 4180, but with a bare line feed, which every reader takes. Text that a spreadsheet would take
 * for a formula gets an apostrophe in front (OWASP, CSV injection); numbers, negative ones too, stay as they are.
 */
import { type CaseRecord, LOSS_PLACES, type OkTrial, type RunRecord, type Trial } from '../results/record.ts';
import { neighboursOf } from '../stats/neighbours.ts';
import type { ReportDocument } from './document/document.ts';
import { SHOWN_PERCENTILES, trialPercentile } from './percentiles.ts';
import { throttledShare } from './throttling.ts';

type Value = string | number | boolean | null;
type Column = readonly [name: string, value: (trial: Trial, item: CaseRecord | undefined) => Value];

/** Empty for a failed trial. */
const ofOk =
  (value: (trial: OkTrial) => Value): Column[1] =>
  (trial) =>
    trial.status === 'ok' ? value(trial) : null;

const COLUMNS: readonly Column[] = [
  ['trial', (trial) => trial.key],
  ['server', (_, item) => item?.server ?? null],
  ['tier', (_, item) => item?.tier ?? null],
  ['mode', (_, item) => item?.mode ?? null],
  ['workload', (_, item) => item?.workload ?? null],
  ['transport', (_, item) => item?.transport ?? null],
  ['instances', (_, item) => item?.instances ?? null],
  ['contended', (_, item) => item?.contended ?? null],
  ['round', (trial) => trial.round],
  ['order', (trial) => trial.order],
  ['started_at', (trial) => trial.startedAt],
  ['status', (trial) => trial.status],
  ['failure', (trial) => (trial.status === 'failed' ? trial.failure.code : null)],
  ['limited_by', ofOk((trial) => trial.limitedBy)],
  ['queries_sent', ofOk((trial) => trial.load.queriesSent)],
  ['queries_completed', ofOk((trial) => trial.load.queriesCompleted)],
  ['queries_lost', ofOk((trial) => trial.load.queriesLost)],
  ['queries_interrupted', ofOk((trial) => trial.load.queriesInterrupted)],
  ['run_time_seconds', ofOk((trial) => trial.load.runTimeSeconds)],
  ['qps', ofOk((trial) => trial.metrics.qps)],
  ['latency_seconds', ofOk((trial) => trial.metrics.latencySeconds)],
  ...SHOWN_PERCENTILES.map(
    (wanted): Column => [`latency_p${wanted}_seconds`, (trial) => trialPercentile(trial, wanted)],
  ),
  ['lookups_per_second', ofOk((trial) => trial.metrics.lookupsPerSecond)],
  ['lookup_latency_seconds', ofOk((trial) => trial.metrics.lookupLatencySeconds)],
  ['cpu_seconds_per_query', ofOk((trial) => trial.metrics.cpuSecondsPerQuery)],
  ['cpu_cores', ofOk((trial) => trial.metrics.cpuCores)],
  ['memory_bytes', ofOk((trial) => trial.metrics.memoryBytes)],
  ['throttled_seconds', ofOk((trial) => trial.metrics.throttledSeconds)],
  ['throttled_ratio', ofOk((trial) => throttledShare(trial.server))],
  ['rate_per_second', (_, item) => item?.ratePerSecond ?? null],
  ['steal_cores', ofOk((trial) => neighboursOf(trial)?.stealCores ?? null)],
  ['other_cores', ofOk((trial) => neighboursOf(trial)?.otherCores ?? null)],
  ['run_queue_wait_seconds', ofOk((trial) => neighboursOf(trial)?.waitSeconds ?? null)],
  ...LOSS_PLACES.map(
    (wanted): Column => [
      `lost_${wanted.replace('-', '_')}`,
      // Empty where the trial does not say where its losses were.
      ofOk(({ losses }) =>
        losses === undefined ? null : (losses.places.find(({ place }) => place === wanted)?.queries ?? 0),
      ),
    ],
  ),
];

function field(value: Value): string {
  const isFormula = typeof value === 'string' && /^[=+\-@\t\r]/.test(value);
  const text = value === null ? '' : `${isFormula ? "'" : ''}${value}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A table of base units as text; see above. */
export function csvText(columns: readonly string[], rows: readonly (readonly Value[])[]): string {
  const lines = rows.map((row) => row.map(field).join(','));
  return `${[columns.map(field).join(','), ...lines].join('\n')}\n`;
}

/** A line for each trial of a comparison. */
export function trialData(record: RunRecord): ReportDocument['data'] {
  const cases = new Map(record.cases.map((item) => [item.key, item]));
  return {
    columns: COLUMNS.map(([name]) => name),
    rows: record.trials.map((trial) => COLUMNS.map(([, value]) => value(trial, cases.get(trial.caseKey)))),
  };
}
