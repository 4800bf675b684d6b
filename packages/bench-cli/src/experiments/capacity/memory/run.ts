/** `bench capacity memory`: plan, measure every start, save each the moment it ends, report. */
import { EXIT_STATUS } from '@dinodns-bench/program';
import { BenchError } from '../../../errors.ts';
import { updateHistory } from '../../../history/history.ts';
import { type Interruption, listenForInterruption } from '../../../interruption.ts';
import { loadFor } from '../../../measure/load.ts';
import { createDisplay, type Display } from '../../../progress/display.ts';
import { newRunId } from '../../../results/run-id.ts';
import { createStore, type RunStore } from '../../../results/store.ts';
import { counted, formatDuration, shellQuote } from '../../../text.ts';
import { zoneSetOf } from '../../../workload/workload.ts';
import type { World } from '../../../world.ts';
import { finishCapacityRun } from '../finish.ts';
import { type CommonFlags, clusterServers, commonConfiguration, openMachine } from '../machine.ts';
import { newCapacityRecord } from '../new-record.ts';
import { type CapacityRecord, capacityKind, memoryStartsOf } from '../record.ts';
import { runStart } from './deploy.ts';
import { maxLanes, oneAtATime, runLanes } from './lanes.ts';
import type { MemoryStart } from './memory-record.ts';
import {
  expectedBytes,
  expectedSeconds,
  type MemoryPoint,
  memoryPoints,
  type PlannedStart,
  planStarts,
} from './points.ts';
import { createMemoryProgress } from './progress.ts';
import { type MemorySettings, memorySettings } from './settings.ts';
import { PACE, QUICK_PACE } from './start.ts';
import { summarizeMemory } from './summarize.ts';

export interface MemoryOptions {
  /** As typed, under the names of the settings. */
  readonly given: Readonly<Record<string, unknown>>;
  readonly common: CommonFlags;
  readonly resume?: string | undefined;
  readonly dryRun: boolean;
  readonly json: boolean;
  readonly argv: readonly string[];
}

interface Decided {
  readonly settings: MemorySettings;
  readonly points: readonly MemoryPoint[];
  readonly starts: readonly PlannedStart[];
  readonly budgetBytes: number;
  readonly store: RunStore;
  readonly id: string;
  readonly directory: string;
  readonly common: CommonFlags;
  readonly previous: CapacityRecord | undefined;
}

/** Half of the machine: the other half is for whatever else it does. */
function budgetOf(world: World, { memory }: MemorySettings): number {
  return memory ?? world.machine.memoryBytes / 2;
}

/** @throws BenchError `E_CONFIG` if the largest point cannot be measured even alone */
function demandRoom(points: readonly MemoryPoint[], budgetBytes: number): void {
  const largest = points.toSorted((a, b) => expectedBytes(b) - expectedBytes(a))[0];
  if (largest === undefined || expectedBytes(largest) <= budgetBytes) return;
  const gigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(1)} GB`;
  throw new BenchError(
    'E_CONFIG',
    `${largest.key} is expected to need ${gigabytes(expectedBytes(largest))}, and --memory allows ${gigabytes(budgetBytes)}`,
    { fix: 'Allow more with --memory, or measure fewer --objects.' },
  );
}

function decided(
  world: World,
  settings: MemorySettings,
  rest: Pick<Decided, 'store' | 'id' | 'directory' | 'common' | 'previous'>,
): Decided {
  const points = memoryPoints(settings);
  const budgetBytes = budgetOf(world, settings);
  demandRoom(points, budgetBytes);
  return { settings, points, starts: planStarts(points, settings.starts), budgetBytes, ...rest };
}

async function decide(world: World, options: MemoryOptions): Promise<Decided> {
  const { given, common, resume } = options;
  const store = createStore(world, common.out ?? 'results');
  if (resume === undefined) {
    const id = newRunId(world.clock.now());
    const settings = memorySettings(given);
    return decided(world, settings, {
      store,
      id,
      directory: store.directoryOf(id),
      common,
      previous: undefined,
    });
  }
  const names = Object.keys(given).filter((name) => given[name] !== undefined);
  if (names.length > 0) {
    throw new BenchError('E_USAGE', '--resume continues with the settings of the run and accepts no others', {
      evidence: names.map((name) => `also given: ${name}`),
      fix: 'Omit the other settings, or start a new run without --resume.',
    });
  }
  const { record, directory } = await store.loadAs(capacityKind, resume);
  if (record.measured.what !== 'memory') {
    throw new BenchError('E_USAGE', `run ${record.id} is one of bench capacity ${record.measured.what}`, {
      fix: 'Resume it with the command that began it.',
    });
  }
  const settings = memorySettings(record.settings);
  return decided(world, settings, { store, id: record.id, directory, common, previous: record });
}

/** What is still to be measured: failed starts are tried again. */
function missingOf({ starts, previous }: Decided): PlannedStart[] {
  const done = new Set(
    (previous === undefined ? [] : memoryStartsOf(previous)).flatMap(({ point, start, status }) =>
      status === 'ok' ? `${point} ${start}` : [],
    ),
  );
  return starts.filter(({ point, start }) => !done.has(`${point.key} ${start}`));
}

function lanesOf(world: World, { settings }: Decided): number {
  return settings.sideBySide ?? maxLanes(world.machine.availableCpus);
}

function planText(world: World, run: Decided): string {
  const missing = missingOf(run);
  const lanes = lanesOf(world, run);
  const seconds = missing.reduce((sum, { point }) => sum + expectedSeconds(point), 0) / Math.min(lanes, 2);
  const places = `up to ${lanes} side by side within ${(run.budgetBytes / 1e9).toFixed(1)} GB`;
  return `${counted(run.points.length, 'point')}, ${counted(missing.length, 'start')}, ${places}, about ${formatDuration(seconds)}`;
}

export async function memoryCommand(world: World, options: MemoryOptions): Promise<number> {
  const run = await decide(world, options);
  const configuration = commonConfiguration(world, run.settings.servers, run.common);
  const servers = await clusterServers(world, configuration);
  if (options.dryRun) {
    const lines = run.points.map(
      (point) =>
        `${point.key}  ${point.cluster.services} services, ${point.cluster.pods} pods, ${point.cluster.endpoints} endpoints`,
    );
    world.stdout.write(`${[...lines, planText(world, run)].join('\n')}\n`);
    return EXIT_STATUS.success;
  }
  const display = createDisplay(world.stderr);
  const interruption = listenForInterruption(world, (text) => display.line(text));
  const zoneSet = zoneSetOf(configuration.zones, configuration.types);
  try {
    return await perform(world, options, run, { configuration, servers, zoneSet, display, interruption });
  } finally {
    interruption.release();
    display.clear();
  }
}

interface Means {
  readonly configuration: ReturnType<typeof commonConfiguration>;
  readonly servers: Awaited<ReturnType<typeof clusterServers>>;
  readonly zoneSet: ReturnType<typeof zoneSetOf>;
  readonly display: Display;
  readonly interruption: Interruption;
}

async function perform(world: World, options: MemoryOptions, run: Decided, means: Means): Promise<number> {
  const { store, directory } = run;
  await store.makeRawDirectory(directory);
  const unlock = await store.lock(directory);
  let kept = run.previous !== undefined;
  try {
    const record = await measureAll(world, options, run, means, () => {
      kept = true;
    });
    const failures = memoryStartsOf(record).filter(({ status }) => status === 'failed').length;
    return await finishCapacityRun(world, store, directory, record, failures, options.json);
  } catch (error) {
    throw kept ? explainInterruption(error, run) : error;
  } finally {
    await unlock();
    if (kept) await updateHistory(world, store.resultsDirectory);
    else await world.fs.rm(directory, { recursive: true, force: true });
  }
}

/** An interrupted run says how it goes on. */
function explainInterruption(error: unknown, { id, common, directory }: Decided): unknown {
  const interrupted =
    error instanceof BenchError && (error.code === 'E_INTERRUPTED' || error.code === 'E_TERMINATED');
  if (!interrupted) return error;
  const place = common.out === undefined ? '' : ` --out ${shellQuote(common.out)}`;
  return new BenchError(error.code, `${error.message}; what was measured is saved in ${directory}`, {
    fix: `Continue with: pnpm bench capacity memory --resume ${id}${place}`,
    cause: error,
  });
}

async function measureAll(
  world: World,
  options: MemoryOptions,
  run: Decided,
  means: Means,
  onSaved: () => void,
): Promise<CapacityRecord> {
  const { configuration, servers, zoneSet, display, interruption } = means;
  const machine = await openMachine(world, run.id, configuration, servers, display, interruption);
  const { session, programs } = machine;
  const missing = missingOf(run);
  const progress = createMemoryProgress(display, world.clock, missing, run.starts.length);
  let record =
    run.previous ??
    newCapacityRecord(world, {
      id: run.id,
      argv: options.argv,
      settings: { ...run.settings },
      machine,
      measured: summarizeMemory(run.points, []),
    });
  const starts: MemoryStart[] = memoryStartsOf(record).filter(({ status }) => status === 'ok');
  const files = new Map<string, Readonly<Record<string, string>>>();
  const alone = oneAtATime();
  const oneSave = oneAtATime();
  const saveNow = async (status: CapacityRecord['status']) => {
    record = {
      ...record,
      status,
      endedAt: status === 'running' ? null : world.clock.now().toISOString(),
      programs: record.programs.map((program) => ({
        ...program,
        files: { ...(files.get(program.name) ?? program.files) },
      })),
      measured: summarizeMemory(run.points, starts),
    };
    await run.store.saveAs(capacityKind, record, run.directory);
    onSaved();
  };
  const save = (status: CapacityRecord['status']) => oneSave(() => saveNow(status));
  display.line(
    `${programs.servers.map(({ title, version }) => `${title} ${version}`).join(', ')}; ${session.loader.kind} ${session.loader.version}`,
  );
  display.line(planText(world, run));
  const serverByName = new Map(servers.map((server) => [server.name, server]));
  const context = {
    world,
    target: session.target,
    loader: session.loader,
    zoneSet,
    rawDirectory: `${run.directory}/raw`,
    servers: serverByName,
    programOf: programs.programOf,
    rate: run.settings.rate,
    pace: run.settings.quick ? QUICK_PACE : PACE,
    sending: loadFor(configuration, { address: '', port: 0 }),
    alone,
    onFiles: (server: string, found: Readonly<Record<string, string>>) => {
      if (!files.has(server)) files.set(server, found);
    },
    signal: interruption.signal,
  };
  try {
    await runLanes(missing, {
      budgetBytes: run.budgetBytes,
      lanes: lanesOf(world, run),
      async run(planned, neighbours) {
        const start = await runStart(context, planned, neighbours, (phase) => progress.phase(planned, phase));
        starts.push(start);
        await save('running');
        progress.done(planned, start);
      },
    });
    await save('complete');
    return record;
  } catch (error) {
    if (starts.length > 0) await save('interrupted');
    throw error;
  } finally {
    progress.stop();
    await session.close();
  }
}
