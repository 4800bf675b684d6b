/** The tables of a swap. */
import { table } from '../../report/document/index.ts';
import { formatBytes, formatFixed, formatShare, formatTime } from '../../report/numbers.ts';
import type { SwapRecord, SwapRow } from './record.ts';
import {
  medianOf,
  microseconds,
  millicores,
  NOTHING,
  netDifference,
  percent,
  signedMillicores,
  toneOf,
} from './words.ts';

const capitalized = (word: string) => word.slice(0, 1).toUpperCase() + word.slice(1);

function baseOf(record: SwapRecord, { workload }: SwapRow): SwapRow | undefined {
  return record.results.find((row) => row.side === 'A' && row.workload === workload);
}

/** `+13m (+4.6 %)`: as published, of CPU under load, idle included. */
function publishedDelta(record: SwapRecord, row: SwapRow): string {
  const base = baseOf(record, row)?.loadedCores;
  if (row.side === 'A' || row.loadedCores === null || base === null || base === undefined) return '';
  const delta = row.loadedCores.median - base.median;
  return `${signedMillicores(delta)} (${percent(delta / base.median)})`;
}

/** As published: version by version, without idle and without intervals. */
export function publishedTable(record: SwapRecord) {
  return table(
    'CPU under load, as published',
    [
      { title: 'Version' },
      { title: 'Workload Type' },
      { title: 'Average CPU (mCores)', isNumber: true },
      { title: 'Delta', isNumber: true },
    ],
    record.results.map((row) => [
      record.versions[row.side].version,
      capitalized(row.workload),
      medianOf(row.loadedCores, millicores),
      publishedDelta(record, row),
    ]),
  );
}

export function netTable(record: SwapRecord) {
  return table(
    'CPU that the load costs',
    [
      { title: 'Version' },
      { title: 'Workload' },
      { title: 'Placements', isNumber: true },
      { title: 'Idle', isNumber: true },
      { title: 'Under load', isNumber: true },
      { title: 'Net', isNumber: true },
      { title: 'µs per query', isNumber: true },
      { title: 'Δ net [95 %]', isNumber: true },
      { title: 'Verdict' },
    ],
    record.results.map(({ difference, ...row }) => [
      record.versions[row.side].version,
      row.workload,
      String(row.placements),
      medianOf(row.idleCores, millicores),
      medianOf(row.loadedCores, millicores),
      medianOf(row.netCores, millicores),
      medianOf(row.cpuSecondsPerQuery, microseconds),
      difference === null ? '' : netDifference(difference),
      difference === null ? '' : { text: difference.verdict, tone: toneOf(difference.verdict) },
    ]),
  );
}

/** What clients saw, and what else the versions need. */
export function serviceTable(record: SwapRecord) {
  const { ratePerSecond } = record.settings;
  return table(
    'What clients saw',
    [
      { title: 'Version' },
      { title: 'Workload' },
      { title: 'Rate held', isNumber: true },
      { title: 'Lost', isNumber: true },
      { title: 'p99', isNumber: true },
      { title: 'Working set', isNumber: true },
      { title: 'Restarts', isNumber: true },
    ],
    record.results.map((row) => [
      record.versions[row.side].version,
      row.workload,
      row.rateHeldRatio === null
        ? NOTHING
        : `${formatFixed(row.rateHeldRatio * ratePerSecond, 0)} (${formatFixed(row.rateHeldRatio * 100, 1)}\u00a0%)`,
      row.lostRatio === null ? NOTHING : formatShare(row.lostRatio),
      medianOf(row.p99Seconds, formatTime),
      medianOf(row.memoryBytes, formatBytes),
      String(row.restarts),
    ]),
  );
}

function canaryText(canary: SwapRecord['placements'][number]['canary']): string {
  return canary === null ? NOTHING : `${canary.lost} of ${canary.sent}`;
}

/** Each placement: what was where, how long it took, what a client lost. */
export function placementTable({ placements, versions, method }: SwapRecord) {
  const isInPlace = method === 'in-place';
  return table(
    'Placements',
    [
      { title: 'Placement' },
      { title: 'Version' },
      { title: 'Pods report' },
      { title: isInPlace ? 'Rollout' : 'Started in', isNumber: true },
      ...(isInPlace
        ? [
            { title: 'Lost during rollout', isNumber: true },
            { title: 'Lost afterwards', isNumber: true },
          ]
        : []),
      { title: 'Counts' },
    ],
    placements.map(({ number, side, pods, rolloutSeconds, rolloutCanary, canary, failure }) => [
      `${number} ${side}`,
      versions[side].version,
      [...new Set(pods.map(({ version, imageId }) => version ?? imageId))].join(', '),
      rolloutSeconds === null ? NOTHING : `${formatFixed(rolloutSeconds, 1)} s`,
      ...(isInPlace ? [canaryText(rolloutCanary), canaryText(canary)] : []),
      failure === null ? 'yes' : { text: `no: ${failure.message}`, tone: 'warn' as const },
    ]),
  );
}
