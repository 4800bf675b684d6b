/** The tables of a swap. */
import type { Cell } from '../../report/document/document.ts';
import { table } from '../../report/document/index.ts';
import { formatBytes, formatFixed, formatShare, formatTime } from '../../report/numbers.ts';
import { countsOf } from './canary-words.ts';
import { figuresOf } from './placement-figures.ts';
import type { CanaryFigures, SwapPlacement, SwapRecord, SwapRow } from './record.ts';
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

const canaryText = (canary: CanaryFigures | null) => (canary === null ? NOTHING : countsOf(canary));

/** Whether it counts: for both workloads, for one, or for none. */
function countsText(placement: SwapPlacement, { settings, results }: SwapRecord): Cell | string {
  if (placement.failure !== null) return { text: `no: ${placement.failure.message}`, tone: 'warn' };
  const workloads = [...new Set(results.map(({ workload }) => workload))];
  const excluded = workloads.flatMap((workload) => {
    const why = figuresOf(placement, workload, settings.ratePerSecond).excluded;
    return why === null ? [] : `${workload}: ${why}`;
  });
  if (excluded.length === 0) return 'yes';
  const begin = excluded.length < workloads.length ? 'in part' : 'no';
  return { text: `${begin}: ${excluded.join('; ')}`, tone: 'warn' };
}

/** Each placement: what was where, how long it took, what a client lost. */
export function placementTable(record: SwapRecord) {
  const { placements, versions, method } = record;
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
    placements.map((placement) => {
      const { number, side, pods, rolloutSeconds, rolloutCanary, canary } = placement;
      return [
        `${number} ${side}`,
        versions[side].version,
        [...new Set(pods.map(({ version, imageId }) => version ?? imageId))].join(', '),
        rolloutSeconds === null ? NOTHING : `${formatFixed(rolloutSeconds, 1)} s`,
        ...(isInPlace ? [canaryText(rolloutCanary), canaryText(canary)] : []),
        countsText(placement, record),
      ];
    }),
  );
}
