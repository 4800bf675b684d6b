/** Builds the record of a swap, placement by placement, and ends it with its reports. */
import { relative } from 'node:path';
import { EXIT_STATUS, messageOf } from '@dinodns-bench/program';
import { renderOptions, routineFormats, writeFiles } from '../../engine/write-reports.ts';
import { describeEnvironment } from '../../environment/describe.ts';
import { BenchError } from '../../errors.ts';
import { filesOf, findRenderer } from '../../report/renderer.ts';
import { withPortablePaths } from '../../results/portable-paths.ts';
import type { Cluster } from '../../results/record.ts';
import { runHead } from '../../results/run-head.ts';
import type { RunStore } from '../../results/store.ts';
import type { World } from '../../world.ts';
import type { CheckedImages } from './check-images.ts';
import type { DnsWorkload } from './in-place/find-workload.ts';
import type { InPlaceSettings } from './in-place/in-place.ts';
import { recordedQueries } from './query-files.ts';
import { type Side, type SwapPlacement, type SwapRecord, swapKind } from './record.ts';
import { SWAP_FORMATS } from './records.ts';
import { swapResults } from './results.ts';

/** Where a run keeps its files. */
export interface RunFolder {
  readonly world: World;
  readonly store: RunStore;
  readonly directory: string;
  /** To be called when it has a record. */
  readonly onSaved: () => void;
}

/** What is known of a run before its first placement. */
export interface SwapStart extends Pick<SwapRecord, 'id' | 'method' | 'notCarriedOver' | 'warnings'> {
  readonly argv: readonly string[];
  readonly settings: Pick<
    InPlaceSettings,
    'ratePerSecond' | 'durationSeconds' | 'idleSeconds' | 'settleSeconds' | 'sequence' | 'ownQueries'
  >;
  readonly workload: DnsWorkload;
  /** Pods of each placement. */
  readonly pods: number;
  readonly images: Readonly<Record<Side, string>>;
  readonly checked: Pick<CheckedImages, 'versions' | 'builds'>;
  readonly cluster: Cluster;
}

function settingsOf({ settings }: SwapStart): SwapRecord['settings'] {
  const { ratePerSecond, durationSeconds, idleSeconds, settleSeconds, sequence } = settings;
  return {
    ratePerSecond,
    durationSeconds,
    idleSeconds,
    settleSeconds,
    sequence: sequence.join(''),
    queries: recordedQueries(settings.ownQueries),
  };
}

function workloadOf({ workload, pods }: SwapStart): SwapRecord['workload'] {
  const { title, container, service, sidecars, cpuLimitCores, memoryLimitBytes } = workload;
  return {
    title,
    container,
    service: service.name,
    pods,
    sidecars: { ...sidecars },
    cpuLimitCores,
    memoryLimitBytes,
  };
}

async function newRecord(world: World, start: SwapStart): Promise<SwapRecord> {
  const { id, method, argv, images, checked, cluster, notCarriedOver, warnings } = start;
  const startedAt = world.clock.now().toISOString();
  const versionOf = (side: Side) => ({
    name: `coredns@${checked.versions[side]}`,
    version: checked.versions[side],
    image: images[side],
    builds: checked.builds[side],
  });
  const versions = { A: versionOf('A'), B: versionOf('B') };
  return {
    schemaVersion: 1,
    experiment: 'swap',
    id,
    ...runHead(argv, startedAt),
    environment: { ...(await describeEnvironment(world)), cluster },
    warnings: [...warnings],
    servers: [versions.A.name, versions.B.name],
    method,
    versions,
    workload: workloadOf(start),
    settings: settingsOf(start),
    notCarriedOver: [...notCarriedOver],
    placements: [],
    failure: null,
    restore: null,
    results: [],
  };
}

/** As the record keeps it. */
function failureOf(error: unknown): SwapRecord['failure'] {
  if (error instanceof BenchError) return { code: error.code, message: error.message, fix: error.fix };
  return { code: 'E_INTERNAL', message: messageOf(error), fix: 'This is a bug in bench: please report it.' };
}

export interface SwapRecording {
  /** Adds a placement and saves. */
  add(placement: SwapPlacement): Promise<void>;
  /** Saves the end. With a failure other than null the run has ended early. */
  end(failure: unknown, restore: SwapRecord['restore']): Promise<SwapRecord>;
}

/** Saves the record of a run that begins, so that one that is killed says how far it came. */
export async function startRecording(
  { world, store, directory, onSaved }: RunFolder,
  start: SwapStart,
): Promise<SwapRecording> {
  let record = await newRecord(world, start);
  const save = async () => {
    const portable = withPortablePaths(record, { cwd: world.cwd, home: world.env.HOME });
    await store.saveAs(swapKind, portable, directory);
    onSaved();
  };
  await save();
  return {
    async add(placement) {
      const placements = [...record.placements, placement];
      record = { ...record, placements, results: swapResults({ placements, settings: record.settings }) };
      await save();
    },
    async end(failure, restore) {
      record = {
        ...record,
        status: failure === null ? 'complete' : 'interrupted',
        endedAt: world.clock.now().toISOString(),
        failure: failure === null ? null : failureOf(failure),
        restore,
      };
      await save();
      return record;
    },
  };
}

function isClean({ placements, failure, restore }: SwapRecord): boolean {
  return (
    failure === null &&
    placements.every((placement) => placement.failure === null) &&
    (restore === null || restore.superseded.length === 0)
  );
}

/** Writes the reports, prints the tables or the record, and resolves with the exit status. */
export async function finishSwap(
  { world, store, directory }: RunFolder,
  record: SwapRecord,
  json: boolean,
): Promise<number> {
  const options = renderOptions(world, 'relative');
  const paths = await writeFiles(store, directory, filesOf(routineFormats(SWAP_FORMATS), record, options));
  world.stdout.write(findRenderer(json ? 'json' : 'terminal', SWAP_FORMATS)?.render(record, options) ?? '');
  const shown = [`${directory}/run.json`, ...paths].map((path) => relative(world.cwd, path) || path);
  world.stderr.write(`\nWritten: ${shown.join(', ')}\n`);
  return isClean(record) ? EXIT_STATUS.success : EXIT_STATUS.failedTrials;
}
