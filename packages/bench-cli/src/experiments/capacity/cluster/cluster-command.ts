/**
 * `bench capacity memory --target kubernetes`: synthetic objects and a private CoreDNS, at each size. Every start is saved the
 * moment it ends, and `--resume` goes on.
 */
import { specForObjects } from '@dinodns-bench/cluster-objects';
import { EXIT_STATUS } from '@dinodns-bench/program';
import { renderOptions, routineFormats, writeFiles } from '../../../engine/write-reports.ts';
import { describeEnvironment } from '../../../environment/describe.ts';
import { BenchError } from '../../../errors.ts';
import { formatCount } from '../../../report/numbers.ts';
import { filesOf, findRenderer } from '../../../report/renderer.ts';
import { runHead } from '../../../results/run-head.ts';
import { newRunId } from '../../../results/run-id.ts';
import { createStore } from '../../../results/store.ts';
import { corednsImageReference } from '../../../servers/coredns/image.ts';
import { describeCluster } from '../../../targets/kubernetes/cluster-facts.ts';
import { openClient } from '../../../targets/kubernetes/open-cluster.ts';
import { counted, formatDuration } from '../../../text.ts';
import type { World } from '../../../world.ts';
import { PHASES } from '../beside/phases.ts';
import { type Attended, type KeptRun, keepFolder, refuseOthers } from '../open-run.ts';
import { clusterFormats } from '../report.ts';
import { clusterSettings } from './cluster-flags.ts';
import {
  type ClusterMemoryPlan,
  type Given,
  type MissingStarts,
  missingStarts,
  planClusterMemory,
  planOf,
  withStarts,
} from './cluster-plan.ts';
import { type ClusterPoint, type ClusterRecord, clusterKind } from './cluster-record.ts';
import { MAX_CREATION_RATE } from './create-paced.ts';
import { type ClusterMemoryResult, createdFor, measureOnCluster } from './measure-on-cluster.ts';

export interface ClusterMemoryOptions {
  readonly given: Given;
  /** All flags. */
  readonly flags: Given;
  /** `--resume` */
  readonly resume: string | undefined;
  readonly dryRun: boolean;
  readonly json: boolean;
  readonly argv: readonly string[];
}

/** How long memory at rest and under load is watched; with --quick, a second. */
const PHASE_SECONDS = 20;

interface ClusterMemoryRun extends KeptRun<ClusterRecord> {
  readonly plan: ClusterMemoryPlan;
}

/** @throws BenchError `E_USAGE` if a run that is resumed has measured another image */
function demandSameImage(world: World, flags: Given, { id, points }: ClusterRecord, version: string | null) {
  const settings = clusterSettings(flags, world.env);
  const image = corednsImageReference({ settings, version, isNamed: version !== null });
  const other = points.find(({ corednsImage }) => corednsImage !== image);
  if (other === undefined) return;
  throw new BenchError('E_USAGE', `run ${id} has measured ${other.corednsImage}, not ${image}`, {
    fix: 'Resume it with the same --coredns-image.',
  });
}

/** A new run, or the one to resume. Touches nothing yet. */
async function openClusterRun(world: World, options: ClusterMemoryOptions): Promise<ClusterMemoryRun> {
  const { given, flags, resume } = options;
  const out = flags.out === undefined ? undefined : String(flags.out);
  const store = createStore(world, out ?? world.env.DINODNS_BENCH_OUT ?? 'results');
  const run = { command: 'memory --target kubernetes', store, out };
  if (resume === undefined) {
    const plan = planClusterMemory(given, flags);
    const id = newRunId(world.clock.now());
    return { ...run, plan, id, directory: store.directoryOf(id), previous: undefined };
  }
  const { maxObjects, corednsVersion } = flags;
  refuseOthers({ ...given, maxObjects, corednsVersion });
  const { record, directory } = await store.loadAs(clusterKind, resume);
  const plan = planOf(record);
  demandSameImage(world, flags, record, plan.version);
  return { ...run, plan, id: record.id, directory, previous: record };
}

function newRecord(
  world: World,
  { id, plan }: ClusterMemoryRun,
  { argv }: ClusterMemoryOptions,
  environment: ClusterRecord['environment'],
): ClusterRecord {
  return {
    schemaVersion: 1,
    experiment: 'capacity-cluster',
    id,
    ...runHead(argv, world.clock.now().toISOString()),
    environment,
    warnings: [],
    servers: [],
    settings: { ...plan },
    points: [],
  };
}

function pointOf(
  { configuration, objects }: MissingStarts,
  { starts, ...found }: ClusterMemoryResult,
): ClusterPoint {
  return {
    configuration,
    objects,
    ...found,
    starts: starts.map((start) => ({ ...start, phases: [...start.phases] })),
  };
}

/** The points one after the other: objects of one are deleted before those of the next are created. */
async function measureAll(
  world: World,
  options: ClusterMemoryOptions,
  run: ClusterMemoryRun,
  { display, interruption: { signal } }: Attended,
  onSaved: () => void,
): Promise<ClusterRecord> {
  const { plan, store, directory } = run;
  const settings = clusterSettings(options.flags, world.env);
  const client = await openClient(world, settings.context);
  const { cluster } = await describeCluster(client, settings, signal);
  const environment = { ...(await describeEnvironment(world)), cluster };
  let record = run.previous ?? newRecord(world, run, options, environment);
  const save = async (status: ClusterRecord['status'], points = record.points) => {
    const endedAt = status === 'running' ? null : world.clock.now().toISOString();
    const servers = [...new Set(points.map(({ corednsImage }) => corednsImage))];
    record = { ...record, status, endedAt, servers, points };
    await store.saveAs(clusterKind, record, directory);
    onSaved();
  };
  try {
    for (const missing of missingStarts(plan, record.points)) {
      const before = record.points;
      display.line(`${missing.configuration}, ${formatCount(missing.objects)} objects`);
      await measureOnCluster({
        world,
        client,
        settings,
        runId: run.id,
        size: specForObjects(missing.objects),
        maxObjects: plan.maxObjects,
        configuration: missing.configuration,
        version: plan.version,
        starts: missing.starts,
        phases: PHASES,
        seconds: plan.quick ? 1 : PHASE_SECONDS,
        queriesPerSecond: plan.rate,
        memory: null,
        onStart: (found) => save('running', withStarts(before, pointOf(missing, found))),
        tell: (text) => display.line(text),
        signal,
      });
    }
    await save('complete');
    return record;
  } catch (error) {
    if (record.points.length > 0) await save('interrupted');
    throw error;
  }
}

/** What would be created and measured. */
function dryRunText({ plan, previous }: ClusterMemoryRun): string {
  const lines = missingStarts(plan, previous?.points ?? []).map(({ configuration, objects, starts }) => {
    const count = createdFor(objects, configuration);
    const seconds = formatDuration(count / MAX_CREATION_RATE);
    return `${configuration}, ${formatCount(objects)} pods and services: ${formatCount(count)} objects created in ${seconds} at least, ${counted(starts, 'start')}`;
  });
  return `${lines.join('\n')}\n`;
}

/** Resolves with the exit status: 5 if CoreDNS has ended in a start. */
export async function clusterMemoryCommand(world: World, options: ClusterMemoryOptions): Promise<number> {
  const run = await openClusterRun(world, options);
  if (options.dryRun) {
    world.stdout.write(dryRunText(run));
    return EXIT_STATUS.success;
  }
  return keepFolder(world, run, async (attended, onSaved) => {
    const record = await measureAll(world, options, run, attended, onSaved);
    attended.display.clear();
    return finish(world, run, record, options.json);
  });
}

async function finish(
  world: World,
  { store, directory }: ClusterMemoryRun,
  record: ClusterRecord,
  json: boolean,
): Promise<number> {
  const options = renderOptions(world, 'relative');
  const paths = await writeFiles(store, directory, filesOf(routineFormats(clusterFormats), record, options));
  world.stdout.write(findRenderer(json ? 'json' : 'terminal', clusterFormats)?.render(record, options) ?? '');
  world.stderr.write(`\nWritten: ${[`${directory}/run.json`, ...paths].join(', ')}\n`);
  const hasDied = record.points.some(({ starts }) => starts.some(({ death }) => death !== null));
  return hasDied ? EXIT_STATUS.failedTrials : EXIT_STATUS.success;
}
