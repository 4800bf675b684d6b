/**
 * One line for each trial, for spreadsheets and statistics programs: base units, nothing rounded, empty where
 * there is no figure. RFC 4180, but with a bare line feed, which every reader takes. Text that a spreadsheet would take
 * for a formula gets an apostrophe in front (OWASP, CSV injection); numbers, negative ones too, stay as they are.
 */
import {
  type CaseRecord,
  LOSS_PLACES,
  type LossPlace,
  type Neighbours,
  type RunRecord,
  type Trial,
} from '../results/record.ts';
import { neighboursOf } from '../stats/neighbours.ts';
import type { ReportDocument } from './document/document.ts';
import { SHOWN_PERCENTILES, trialPercentile } from './percentiles.ts';
import { throttledShare } from './throttling.ts';

/** The rest of the machine during a trial. */
function besideOf(trial: Trial): Neighbours | null {
  return trial.status === 'ok' ? neighboursOf(trial) : null;
}

type Value = string | number | boolean | null;
type Column = readonly [name: string, value: (trial: Trial, item: CaseRecord | undefined) => Value];

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
  ['limited_by', (trial) => (trial.status === 'ok' ? trial.limitedBy : null)],
  ['queries_sent', (trial) => (trial.status === 'ok' ? trial.load.queriesSent : null)],
  ['queries_completed', (trial) => (trial.status === 'ok' ? trial.load.queriesCompleted : null)],
  ['queries_lost', (trial) => (trial.status === 'ok' ? trial.load.queriesLost : null)],
  ['queries_interrupted', (trial) => (trial.status === 'ok' ? trial.load.queriesInterrupted : null)],
  ['run_time_seconds', (trial) => (trial.status === 'ok' ? trial.load.runTimeSeconds : null)],
  ['qps', (trial) => (trial.status === 'ok' ? trial.metrics.qps : null)],
  ['latency_seconds', (trial) => (trial.status === 'ok' ? trial.metrics.latencySeconds : null)],
  ...SHOWN_PERCENTILES.map(
    (wanted): Column => [`latency_p${wanted}_seconds`, (trial) => trialPercentile(trial, wanted)],
  ),
  ['lookups_per_second', (trial) => (trial.status === 'ok' ? trial.metrics.lookupsPerSecond : null)],
  ['lookup_latency_seconds', (trial) => (trial.status === 'ok' ? trial.metrics.lookupLatencySeconds : null)],
  ['cpu_seconds_per_query', (trial) => (trial.status === 'ok' ? trial.metrics.cpuSecondsPerQuery : null)],
  ['cpu_cores', (trial) => (trial.status === 'ok' ? trial.metrics.cpuCores : null)],
  ['memory_bytes', (trial) => (trial.status === 'ok' ? trial.metrics.memoryBytes : null)],
  ['throttled_seconds', (trial) => (trial.status === 'ok' ? trial.metrics.throttledSeconds : null)],
  ['throttled_ratio', (trial) => (trial.status === 'ok' ? throttledShare(trial.server) : null)],
  ['rate_per_second', (_, item) => item?.ratePerSecond ?? null],
  ['steal_cores', (trial) => besideOf(trial)?.stealCores ?? null],
  ['other_cores', (trial) => besideOf(trial)?.otherCores ?? null],
  ['run_queue_wait_seconds', (trial) => besideOf(trial)?.waitSeconds ?? null],
  ...LOSS_PLACES.map((place): Column => [`lost_${place.replace('-', '_')}`, (trial) => lostAt(trial, place)]),
];

/** Null where the trial does not say where its losses were. */
function lostAt(trial: Trial, wanted: LossPlace): number | null {
  if (trial.status !== 'ok' || trial.losses === undefined) return null;
  return trial.losses.places.find(({ place }) => place === wanted)?.queries ?? 0;
}

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
