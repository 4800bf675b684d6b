/** `bench capacity memory`: plan, measure every start, save each the moment it ends, report. */
import { EXIT_STATUS } from '@dinodns-bench/program';
import { BenchError } from '../../../errors.ts';
import type { Interruption } from '../../../interruption.ts';
import { loadFor } from '../../../measure/load.ts';
import type { Display } from '../../../progress/display.ts';
import { formatCount } from '../../../report/numbers.ts';
import { counted, formatDuration } from '../../../text.ts';
import { zoneSetOf } from '../../../workload/workload.ts';
import type { World } from '../../../world.ts';
import { clusterServers, commonConfiguration, openMachine } from '../machine.ts';
import { newCapacityRecord } from '../new-record.ts';
import { oneAtATime } from '../one-at-a-time.ts';
import {
  type CapacityRun,
  createRecorder,
  keepRun,
  type Measured,
  type MeasurementOptions,
  openRun,
} from '../open-run.ts';
import { memoryStartsOf } from '../record.ts';
import { runStart } from './deploy.ts';
import { maxLanes, runLanes } from './lanes.ts';
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

export interface MemoryOptions extends MeasurementOptions {
  readonly dryRun: boolean;
}

interface Decided extends CapacityRun<MemorySettings> {
  readonly points: readonly MemoryPoint[];
  readonly starts: readonly PlannedStart[];
  readonly budgetBytes: number;
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

async function decide(world: World, { given, common, resume }: MemoryOptions): Promise<Decided> {
  const run = await openRun(world, {
    what: 'memory',
    given,
    out: common.out,
    resume,
    decide: memorySettings,
  });
  const points = memoryPoints(run.settings);
  const budgetBytes = budgetOf(world, run.settings);
  demandRoom(points, budgetBytes);
  return { ...run, points, starts: planStarts(points, run.settings.starts), budgetBytes };
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
  const configuration = commonConfiguration(world, run.settings.servers, options.common);
  const servers = await clusterServers(world, configuration);
  if (options.dryRun) {
    const lines = run.points.map(
      (point) =>
        `${point.key}  ${formatCount(point.cluster.services)} services, ${formatCount(point.cluster.pods)} pods, ${formatCount(point.cluster.endpoints)} endpoints`,
    );
    world.stdout.write(`${[...lines, planText(world, run)].join('\n')}\n`);
    return EXIT_STATUS.success;
  }
  const zoneSet = zoneSetOf(configuration.zones, configuration.types);
  return keepRun(world, run, options.json, (attended, onSaved) =>
    measureAll(world, options, run, { configuration, servers, zoneSet, ...attended }, onSaved),
  );
}

interface Means {
  readonly configuration: ReturnType<typeof commonConfiguration>;
  readonly servers: Awaited<ReturnType<typeof clusterServers>>;
  readonly zoneSet: ReturnType<typeof zoneSetOf>;
  readonly display: Display;
  readonly interruption: Interruption;
}

async function measureAll(
  world: World,
  options: MemoryOptions,
  run: Decided,
  means: Means,
  onSaved: () => void,
): Promise<Measured> {
  const { configuration, servers, zoneSet, display, interruption } = means;
  const machine = await openMachine(world, run.id, configuration, servers, display, interruption);
  const { session, programs } = machine;
  const missing = missingOf(run);
  const progress = createMemoryProgress(display, world.clock, missing, run.starts.length);
  const first =
    run.previous ??
    newCapacityRecord(world, {
      id: run.id,
      argv: options.argv,
      settings: { ...run.settings },
      machine,
      measured: summarizeMemory(run.points, []),
    });
  const starts: MemoryStart[] = memoryStartsOf(first).filter(({ status }) => status === 'ok');
  const result = () => summarizeMemory(run.points, starts);
  const recorder = createRecorder(world, run, first, result, onSaved);
  display.line(
    `${programs.servers.map(({ title, version }) => `${title} ${version}`).join(', ')}; ${session.loader.kind} ${session.loader.version}`,
  );
  display.line(planText(world, run));
  const context = {
    world,
    target: session.target,
    loader: session.loader,
    zoneSet,
    rawDirectory: `${run.directory}/raw`,
    servers: new Map(servers.map((server) => [server.name, server])),
    programOf: programs.programOf,
    rate: run.settings.rate,
    pace: run.settings.quick ? QUICK_PACE : PACE,
    sending: loadFor(configuration, { address: '', port: 0 }),
    alone: oneAtATime(),
    onFiles: recorder.onFiles,
    signal: interruption.signal,
  };
  try {
    await runLanes(missing, {
      budgetBytes: run.budgetBytes,
      lanes: lanesOf(world, run),
      async run(planned, neighbours) {
        const start = await runStart(context, planned, neighbours, (phase) => progress.phase(planned, phase));
        starts.push(start);
        await recorder.save('running');
        progress.done(planned, start);
      },
    });
    const record = await recorder.save('complete');
    return { record, failures: starts.filter(({ status }) => status === 'failed').length };
  } catch (error) {
    if (starts.length > 0) await recorder.save('interrupted');
    throw error;
  } finally {
    progress.stop();
    await session.close();
  }
}
