/** Builds the record of a swap, placement by placement, and ends it with its reports. */
import { relative } from 'node:path';
import { EXIT_STATUS } from '@dinodns-bench/program';
import type { BenchError } from '../../errors.ts';
import { updateHistory } from '../../history/history.ts';
import { filesOf, findRenderer } from '../../report/index.ts';
import { withPortablePaths } from '../../results/portable-paths.ts';
import type { Environment } from '../../results/record.ts';
import type { RunStore } from '../../results/store.ts';
import { shellCommand } from '../../text.ts';
import { BENCH_VERSION } from '../../version.ts';
import type { World } from '../../world.ts';
import { renderOptions, routineFormats, writeFiles } from '../write-reports.ts';
import type { MeasuredPhase } from './in-place/measure-phase.ts';
import type { Phase, SwapPlacement, SwapRecord } from './record.ts';
import { swapKind } from './record.ts';
import { SWAP_FORMATS } from './records.ts';
import { swapResults } from './results.ts';

/** What is known before the first placement. */
export interface SwapStart
  extends Pick<
    SwapRecord,
    'id' | 'method' | 'versions' | 'workload' | 'settings' | 'notCarriedOver' | 'warnings'
  > {
  readonly startedAt: Date;
  readonly argv: readonly string[];
  readonly environment: Environment;
}

export function newSwapRecord({ startedAt, argv, ...known }: SwapStart): SwapRecord {
  const { A, B } = known.versions;
  return {
    schemaVersion: 1,
    experiment: 'swap',
    generator: { name: 'dinodns-bench', version: BENCH_VERSION },
    status: 'running',
    startedAt: startedAt.toISOString(),
    endedAt: null,
    command: shellCommand(['pnpm', 'bench', ...argv]),
    argv: [...argv],
    servers: [A.name, B.name],
    placements: [],
    failure: null,
    restore: null,
    results: [],
    ...known,
  };
}

/** As the record keeps them. */
export function recordedPhases(phases: readonly MeasuredPhase[]): Phase[] {
  return phases.map(({ instances, ...phase }) => ({
    ...phase,
    instances: instances === null ? null : [...instances],
  }));
}

export function withPlacement(record: SwapRecord, placement: SwapPlacement): SwapRecord {
  const placements = [...record.placements, placement];
  return { ...record, placements, results: swapResults({ placements, settings: record.settings }) };
}

/** The record at its end; with a failure, it ended early. */
export function endedSwap(record: SwapRecord, endedAt: Date, failure: BenchError | null): SwapRecord {
  return {
    ...record,
    status: failure === null ? 'complete' : 'interrupted',
    endedAt: endedAt.toISOString(),
    failure: failure === null ? null : { code: failure.code, message: failure.message, fix: failure.fix },
  };
}

/** Saves the record without paths of this machine. */
export async function saveSwap(
  world: World,
  store: RunStore,
  directory: string,
  record: SwapRecord,
): Promise<void> {
  const portable = withPortablePaths(record, { cwd: world.cwd, home: world.env.HOME });
  await store.saveAs(swapKind, portable, directory);
}

/** Writes the reports, prints the tables or the record, and resolves with the exit status. */
export async function finishSwap(
  world: World,
  store: RunStore,
  directory: string,
  record: SwapRecord,
  json: boolean,
): Promise<number> {
  const options = renderOptions(world, 'relative');
  const paths = await writeFiles(store, directory, filesOf(routineFormats(SWAP_FORMATS), record, options));
  world.stdout.write(findRenderer(json ? 'json' : 'terminal', SWAP_FORMATS)?.render(record, options) ?? '');
  const shown = [`${directory}/run.json`, ...paths].map((path) => relative(world.cwd, path) || path);
  world.stderr.write(`\nWritten: ${shown.join(', ')}\n`);
  const notice = await updateHistory(world, store.resultsDirectory);
  if (notice !== null) world.stderr.write(`Note: ${notice}\n`);
  const isClean = record.placements.every(({ failure }) => failure === null);
  return isClean && record.failure === null ? EXIT_STATUS.success : EXIT_STATUS.failedTrials;
}
