/** `bench capacity memory --target kubernetes`: synthetic objects and a private CoreDNS, at each size. */

import { specForObjects } from '@dinodns-bench/cluster-objects';
import { EXIT_STATUS } from '@dinodns-bench/program';
import { describeEnvironment } from '../../../environment/describe.ts';
import { BenchError } from '../../../errors.ts';
import { updateHistory } from '../../../history/history.ts';
import { listenForInterruption } from '../../../interruption.ts';
import { createDisplay, type Display } from '../../../progress/display.ts';
import { filesOf, findRenderer } from '../../../report/index.ts';
import { formatCount } from '../../../report/numbers.ts';
import { newRunId } from '../../../results/run-id.ts';
import { createStore } from '../../../results/store.ts';
import { describeCluster } from '../../../targets/kubernetes/cluster-facts.ts';
import { openClient } from '../../../targets/kubernetes/open-cluster.ts';
import { shellCommand } from '../../../text.ts';
import { BENCH_VERSION } from '../../../version.ts';
import type { World } from '../../../world.ts';
import { renderOptions, routineFormats, writeFiles } from '../../write-reports.ts';
import { PHASES } from '../beside/phases.ts';
import { wholeNumber } from '../demand.ts';
import { memorySettings } from '../memory/settings.ts';
import type { Configuration } from '../published.ts';
import { clusterFormats } from '../report.ts';
import { clusterSettings } from './cluster-flags.ts';
import { type ClusterPoint, type ClusterRecord, clusterKind } from './cluster-record.ts';
import { DEFAULT_MAX_OBJECTS, demandBounded, measureOnCluster } from './measure-on-cluster.ts';

export interface ClusterMemoryOptions {
  /** As typed, under the names of the settings of `bench capacity memory`. */
  readonly given: Readonly<Record<string, unknown>>;
  /** All flags. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly json: boolean;
  readonly argv: readonly string[];
}

/** Where none is given: enough to be seen above the scatter, few enough for any cluster. */
const DEFAULT_OBJECTS = [1000];

/** How long memory at rest and under load is watched; with --quick, a second. */
const PHASE_SECONDS = 20;

/** The program beside CoreDNS asks; more would take the CPU from it. */
const MAX_QUERIES_PER_SECOND = 2000;

/** Settings that mean something on one machine only. */
const LOCAL_ONLY = ['servers', 'serviceShares', 'endpointsPerPod', 'headless', 'sideBySide', 'memory'];

interface Decided {
  readonly objects: readonly number[];
  readonly configurations: readonly Configuration[];
  readonly starts: number;
  readonly rate: number;
  readonly maxObjects: number;
  readonly quick: boolean;
  readonly version: string | null;
}

/** @throws BenchError `E_USAGE` for a rate that was typed and is too high */
function rateOf(given: ClusterMemoryOptions['given'], rate: number): number {
  if (rate <= MAX_QUERIES_PER_SECOND || given.rate === undefined)
    return Math.min(rate, MAX_QUERIES_PER_SECOND);
  throw new BenchError(
    'E_USAGE',
    `--rate: ${formatCount(rate)} queries a second are more than a cluster is asked (${formatCount(MAX_QUERIES_PER_SECOND)})`,
    { fix: 'Lower it, or omit it. Memory hardly depends on the rate.' },
  );
}

function decide({ given, flags }: ClusterMemoryOptions): Decided {
  const unused = LOCAL_ONLY.filter((name) => given[name] !== undefined);
  if (unused.length > 0) {
    throw new BenchError('E_USAGE', `--target kubernetes has no ${unused.join(', ')}`, {
      fix: 'Omit what is for measurements on one machine.',
    });
  }
  const settings = memorySettings(given);
  const configurations = settings.configurations.map((name): Configuration => {
    if (name === 'default' || name === 'autopath') return name;
    throw new BenchError('E_USAGE', `--config: "${name}" is measured on one machine only`, {
      fix: 'On a cluster, give default, autopath or both.',
    });
  });
  const text = (name: string) => (flags[name] === undefined ? undefined : String(flags[name]));
  return {
    objects: given.objects === undefined ? DEFAULT_OBJECTS : settings.objects,
    // Pods are created on request only.
    configurations: given.configurations === undefined ? ['default'] : configurations,
    starts: settings.starts,
    rate: rateOf(given, settings.rate),
    maxObjects: wholeNumber('--max-objects', text('maxObjects'), DEFAULT_MAX_OBJECTS, 1),
    quick: settings.quick,
    version: text('corednsVersion') ?? null,
  };
}

/** The points one after the other: objects of one are deleted before those of the next are created. */
async function measurePoints(
  world: World,
  options: ClusterMemoryOptions,
  decided: Decided,
  runId: string,
  display: Display,
  signal: AbortSignal,
): Promise<{ points: ClusterPoint[]; environment: ClusterRecord['environment'] }> {
  const settings = clusterSettings(options.flags, world.env);
  for (const objects of decided.objects) demandBounded(objects, decided.maxObjects);
  const client = await openClient(world, settings.context);
  const { cluster } = await describeCluster(client, settings, signal);
  const points: ClusterPoint[] = [];
  for (const configuration of decided.configurations) {
    for (const objects of decided.objects) {
      display.line(`${configuration}, ${formatCount(objects)} objects`);
      const { starts, ...found } = await measureOnCluster({
        world,
        client,
        settings,
        runId,
        size: specForObjects(objects),
        maxObjects: decided.maxObjects,
        configuration,
        version: decided.version,
        starts: decided.starts,
        phases: PHASES,
        seconds: decided.quick ? 1 : PHASE_SECONDS,
        queriesPerSecond: decided.rate,
        memory: null,
        tell: (text) => display.line(text),
        signal,
      });
      points.push({
        configuration,
        objects,
        ...found,
        starts: starts.map((start) => ({ ...start, phases: [...start.phases] })),
      });
    }
  }
  return { points, environment: { ...(await describeEnvironment(world)), cluster } };
}

/** Resolves with the exit status: 5 if CoreDNS has ended in a start. */
export async function clusterMemoryCommand(world: World, options: ClusterMemoryOptions): Promise<number> {
  const decided = decide(options);
  const startedAt = world.clock.now();
  const id = newRunId(startedAt);
  const display = createDisplay(world.stderr);
  const interruption = listenForInterruption(world, (text) => display.line(text));
  try {
    const measured = await measurePoints(world, options, decided, id, display, interruption.signal);
    const record: ClusterRecord = {
      schemaVersion: 1,
      experiment: 'capacity-cluster',
      id,
      generator: { name: 'dinodns-bench', version: BENCH_VERSION },
      status: 'complete',
      startedAt: startedAt.toISOString(),
      endedAt: world.clock.now().toISOString(),
      command: shellCommand(['pnpm', 'bench', ...options.argv]),
      argv: [...options.argv],
      warnings: [],
      servers: [...new Set(measured.points.map(({ corednsImage }) => corednsImage))],
      settings: { ...decided },
      ...measured,
    };
    display.clear();
    return await finish(world, record, options);
  } finally {
    interruption.release();
    display.clear();
  }
}

async function finish(
  world: World,
  record: ClusterRecord,
  { flags, json }: ClusterMemoryOptions,
): Promise<number> {
  const out = flags.out ?? world.env.DINODNS_BENCH_OUT ?? 'results';
  const store = createStore(world, String(out));
  const directory = store.directoryOf(record.id);
  await store.makeRawDirectory(directory);
  await store.saveAs(clusterKind, record, directory);
  const options = renderOptions(world, 'relative');
  const paths = await writeFiles(store, directory, filesOf(routineFormats(clusterFormats), record, options));
  await updateHistory(world, store.resultsDirectory);
  world.stdout.write(findRenderer(json ? 'json' : 'terminal', clusterFormats)?.render(record, options) ?? '');
  world.stderr.write(`\nWritten: ${[`${directory}/run.json`, ...paths].join(', ')}\n`);
  const hasDied = record.points.some(({ starts }) => starts.some(({ death }) => death !== null));
  return hasDied ? EXIT_STATUS.failedTrials : EXIT_STATUS.success;
}
