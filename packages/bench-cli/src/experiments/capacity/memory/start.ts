/**
 * One start of CoreDNS, measured through all its stages: read everything, settle, fill the cache, answer queries, and
 * read everything again.
 *
 * Go returns memory to the system late. After the objects are read, the heap is mostly garbage, and without load the next
 * collection comes only after two minutes. So the settled state is reached by load, as in a cluster, where it never
 * stops: queries for a few names until several collections are over and memory falls no more.
 */
import { LateError } from '../../../errors.ts';
import type { LoadOutcome } from '../../../loaders/loader.ts';
import type { World } from '../../../world.ts';
import { corednsMetrics, isCorednsReady } from '../api-control.ts';
import { watchesPods } from '../configurations.ts';
import type { RunningCoredns } from '../deploy-coredns.ts';
import type { MemoryEvidence, MemoryReading, MemoryStage } from './evidence.ts';
import {
  forgetPeak,
  goHeapIn,
  metricIn,
  type PeakReading,
  readFor,
  readMemory,
  readPeak,
  readUntil,
  summarizeReadings,
} from './memory-of.ts';
import type { MemoryPoint } from './points.ts';
import { CACHE_ENTRIES, type QueryFiles } from './queries.ts';

export interface StartContext {
  readonly world: World;
  readonly point: MemoryPoint;
  readonly running: RunningCoredns;
  readonly queries: QueryFiles;
  /** Queries per second under load. */
  readonly rate: number;
  readonly pace: Pace;
  /** Sends the queries of a file for some seconds; only one start at a time does. */
  load(file: string, seconds: number, stage: string): Promise<LoadOutcome>;
  /** What is done just now. */
  onPhase(phase: string): void;
  readonly signal: AbortSignal;
}

/** What the parts of a start take that other measurements use as well. */
export interface StartParts extends Pick<StartContext, 'world' | 'running' | 'pace' | 'signal'> {
  readonly point: Pick<MemoryPoint, 'key' | 'configuration' | 'objects' | 'cluster'>;
}

type Measured = Omit<MemoryEvidence, 'cluster'>;

/** Between two looks at programs that are working. */
const POLL_SECONDS = 0.1;

/** How long the parts of a start last. */
export interface Pace {
  /** What is read counts as processed when the peak of memory has not risen for this long. */
  readonly quietSeconds: number;
  /** Readings of a stage without load. */
  readonly stageSeconds: number;
  /** Chunks of load, between which memory is looked at. */
  readonly chunkSeconds: number;
  readonly loadSeconds: number;
}

export const PACE: Pace = { quietSeconds: 2, stageSeconds: 2, chunkSeconds: 3, loadSeconds: 8 };

/** Whole seconds are the least that loaders take. */
export const QUICK_PACE: Pace = { quietSeconds: 0.5, stageSeconds: 0.5, chunkSeconds: 1, loadSeconds: 1 };

/** A busy machine reads a few thousand objects a second. */
const MIN_OBJECTS_PER_SECOND = 1000;
const READ_SECONDS = 120;

/** Collections after which the garbage of reading is gone: each returns a part of what the one before has freed. */
const MIN_COLLECTIONS = 4;
/** A fall by less than this between two chunks does not count. */
const STABLE_RATIO = 0.02;
const SETTLE_SECONDS = 90;

/** The cache is full when this part of its entries is in use: the shards do not fill evenly. */
export const FULL_RATIO = 0.97;
/** Each load begins with the first name again. So each is twice as long as the one before: 31 s in all at the quick pace. */
const FILL_LOADS = 5;

/** Resources that CoreDNS reads in this configuration. */
function resourcesOf({ configuration }: Pick<MemoryPoint, 'configuration'>): readonly string[] {
  const always = ['namespaces', 'services', 'endpointslices'];
  return watchesPods(configuration) ? [...always, 'pods'] : always;
}

/** What is waited for, and how errors name it. */
type Waiting = Pick<StartParts, 'world' | 'running' | 'signal'> & { readonly key: string };

/** Polls until `isDone`, for at most `seconds`. */
async function until(
  context: Waiting,
  what: string,
  seconds: number,
  isDone: () => Promise<boolean>,
): Promise<void> {
  const { world, running, signal, key } = context;
  const end = world.clock.monotonicSeconds() + seconds;
  while (!(await Promise.race([isDone(), running.died]))) {
    if (world.clock.monotonicSeconds() > end)
      throw new LateError('E_NO_ANSWER', `${key}: CoreDNS had not ${what} after ${Math.round(seconds)} s`, {
        fix: 'Its log is in the run folder under raw/. If the machine is busy with something else, measure again.',
      });
    await world.clock.sleep(POLL_SECONDS, signal);
  }
}

/**
 * Until every resource was read to its end more often than `before` says, and is watched.
 * @throws LateError; BenchError if the API server does not answer
 */
export async function untilRead(
  context: StartParts,
  before: Readonly<Record<string, number>>,
): Promise<void> {
  const { point, running } = context;
  const resources = resourcesOf(point);
  const seconds = READ_SECONDS + (point.objects + point.cluster.endpoints) / MIN_OBJECTS_PER_SECOND;
  await until({ ...context, ...point }, 'read all objects', seconds, async () => {
    const { reads, openWatches } = await running.api.status();
    const isRead = resources.every((name) => (reads[name] ?? 0) > (before[name] ?? 0));
    return isRead && openWatches >= resources.length;
  });
}

/** Until all its plugins are ready. */
export async function untilReady(context: Waiting): Promise<void> {
  const { running, signal } = context;
  await until(context, 'become ready', READ_SECONDS, () => isCorednsReady(running.readyPort, signal));
}

/** Until memory has not risen above its peak (`forgetPeak`) for a while; resolves with the peak. */
export async function untilQuiet(context: StartParts): Promise<PeakReading> {
  const { world, running, pace, signal } = context;
  let peak = await readPeak(world, running.pid);
  let roseAt = world.clock.monotonicSeconds();
  while (world.clock.monotonicSeconds() - roseAt < pace.quietSeconds) {
    await Promise.race([world.clock.sleep(POLL_SECONDS, signal), running.died]);
    const now = await readPeak(world, running.pid);
    if (now.residentBytes > peak.residentBytes) roseAt = world.clock.monotonicSeconds();
    peak = now.residentBytes > peak.residentBytes ? now : peak;
  }
  return peak;
}

async function heapNow({ running, signal }: StartContext) {
  return goHeapIn(await corednsMetrics(running.metricsPort, signal));
}

async function stageOf(context: StartContext, readings: readonly MemoryReading[]): Promise<MemoryStage> {
  return summarizeReadings(readings, await heapNow(context));
}

async function quietStage(context: StartContext): Promise<MemoryStage> {
  const { world, running, pace, signal } = context;
  return stageOf(context, await readFor(world, running.pid, pace.stageSeconds, signal));
}

async function peakAfter(context: StartContext): Promise<Measured['relist']> {
  const { anonymousBytes } = await untilQuiet(context);
  return { peak: { anonymousBytes } };
}

async function coldStart(context: StartContext): Promise<Measured['coldStart']> {
  await untilRead(context, {});
  await untilReady({ ...context, ...context.point });
  return peakAfter(context);
}

async function settle(context: StartContext): Promise<NonNullable<Measured['settling']>> {
  const { world, running, queries, pace } = context;
  const residentNow = async () => (await readMemory(world, running.pid))?.residentBytes ?? 0;
  const begin = world.clock.monotonicSeconds();
  const { collections: before } = await heapNow(context);
  let last = await residentNow();
  for (;;) {
    await context.load(queries.few, pace.chunkSeconds, 'settle');
    const { collections } = await heapNow(context);
    const now = await residentNow();
    const seconds = world.clock.monotonicSeconds() - begin;
    const isStable = collections - before >= MIN_COLLECTIONS && last - now < STABLE_RATIO * last;
    if (isStable || seconds > SETTLE_SECONDS) return { seconds, collections: collections - before, isStable };
    last = now;
  }
}

async function cacheEntriesNow({ running, signal }: StartParts) {
  const metrics = await corednsMetrics(running.metricsPort, signal);
  const entries = (type: string) => metricIn(metrics, 'coredns_cache_entries', `type="${type}"`) ?? 0;
  return { success: entries('success'), denial: entries('denial') };
}

/** Whether the cache holds as much as it can in this configuration; yes where nothing was counted. */
export function isFull(configuration: string, entries: Measured['cacheEntries']): boolean {
  if (entries === null) return true;
  const { success, denial } = entries;
  const counts = configuration === 'no-denial' ? [success] : [success, denial];
  return counts.every((count) => count >= FULL_RATIO * CACHE_ENTRIES);
}

/** Null where this configuration caches nothing of the kind. */
export async function fillCache(
  context: StartParts & Pick<StartContext, 'queries' | 'load'>,
): Promise<Measured['cacheEntries']> {
  const { configuration } = context.point;
  if (configuration === 'nocache') return null;
  let seconds = context.pace.chunkSeconds;
  for (let load = 1; ; load += 1) {
    await context.load(context.queries.fill, seconds, `fill-${load}`);
    const entries = await cacheEntriesNow(context);
    if (isFull(configuration, entries) || load === FILL_LOADS) return entries;
    seconds *= 2;
  }
}

async function underLoad(context: StartContext): Promise<{ stage: MemoryStage; load: Measured['load'] }> {
  const { world, running, queries, rate, pace, signal } = context;
  const ended = new AbortController();
  const reading = readUntil(world, running.pid, AbortSignal.any([ended.signal, signal]));
  try {
    const { result } = await context.load(queries.load, pace.loadSeconds, 'load');
    ended.abort();
    const stage = await stageOf(context, await reading);
    const { queriesSent, queriesCompleted, queriesLost, runTimeSeconds } = result;
    return {
      stage,
      load: {
        wantedQps: rate,
        heldQps: queriesCompleted / runTimeSeconds,
        lostRatio: queriesSent === 0 ? 0 : queriesLost / queriesSent,
      },
    };
  } finally {
    ended.abort();
    await reading;
  }
}

async function relist(context: StartContext): Promise<Measured['relist']> {
  const { world, running } = context;
  const { reads } = await running.api.status();
  await forgetPeak(world, running.pid);
  await running.api.expire();
  await untilRead(context, reads);
  return peakAfter(context);
}

/** Measures a CoreDNS that has just been started. @throws BenchError, or the reason of the signal */
export async function measureStart(context: StartContext): Promise<Measured> {
  const { onPhase } = context;
  onPhase('start');
  const cold = await coldStart(context);
  const loaded = await quietStage(context);
  onPhase('settle');
  const settling = await settle(context);
  const settled = await quietStage(context);
  onPhase('fill the cache');
  const cacheEntries = await fillCache(context);
  const fullCache = cacheEntries === null ? null : await quietStage(context);
  onPhase('load');
  const { stage, load } = await underLoad(context);
  onPhase('read again');
  const again = await relist(context);
  const reread = await quietStage(context);
  return {
    coldStart: cold,
    relist: again,
    stages: { loaded, settled, fullCache, underLoad: stage, reread },
    settling,
    cacheEntries,
    load,
  };
}
