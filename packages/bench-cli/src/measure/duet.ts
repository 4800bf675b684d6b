/**
 * `--duet`: a round in which all servers of a point are up at once and the load goes to one after the other, in short slices.
 * Whatever the machine does meanwhile hits all of them alike, so that it cancels out in their ratio; a disturbance of
 * some seconds would otherwise hit one trial and not the next. After Bulej et al., "Duet Benchmarking: Improving
 * Measurement Accuracy in the Cloud", ICPE 2020, with slices instead of simultaneous load, for which a machine of few
 * CPUs has no room.
 */

import type { LoadOutcome } from '../loaders/loader.ts';
import { readSharedBetween } from '../observe/shared-memory.ts';
import type { PlannedTrial } from '../plan/plan.ts';
import { balancedOrder, type DuetPlan } from '../plan/plan.ts';
import type { Counters, Neighbours, Slice, Trial } from '../results/record.ts';
import type { Server } from '../servers/server.ts';
import type { Deployment } from '../targets/target.ts';
import { countServer, type ServerCounting } from './count-server.ts';
import { loadAndObserve, runLoaders } from './load.ts';
import {
  checkDeployment,
  type Loaded,
  limitOfLoad,
  type Measured,
  measuredOf,
  type Subject,
} from './measured.ts';
import { mergeLoads } from './merge-loads.ts';
import { joinSlices } from './merge-slices.ts';
import { createNeighbourMeter, type NeighbourMeter } from './neighbours.ts';
import { deployTrial, failureOf, paceOf, type TrialOutcome, warmUp } from './trial.ts';
import type { TrialContext, TrialProgress } from './trial-context.ts';

/** One of the servers of a round. */
export interface Entrant {
  readonly planned: PlannedTrial;
  readonly server: Server;
}

export interface DuetEvents extends TrialProgress {
  trialStarted(planned: PlannedTrial, server: Server): void;
}

interface Measurement {
  readonly slice: Slice;
  readonly loaded: Loaded;
}

/** A server of the round, as far as it has come. It stays as it is once it has failed. */
interface Contestant extends Entrant {
  deployment: Deployment | null;
  checkedAnswers: number;
  readonly measurements: Measurement[];
  /** CPU seconds while others had the load, and how long that was. */
  idle: { cpuSeconds: number; seconds: number } | null;
  sharedMemoryBytes: number | null;
  /** From the end of the warm-up, over the load that does not count too. */
  counting: ServerCounting | null;
  queries: number;
  failure: unknown;
}

interface Round {
  readonly context: TrialContext;
  readonly events: DuetEvents;
  readonly contestants: readonly Contestant[];
  readonly meter: NeighbourMeter;
  readonly plan: DuetPlan;
}

const up = (contestant: Contestant): contestant is Contestant & { deployment: Deployment } =>
  contestant.failure === undefined && contestant.deployment !== null;

/**
 * Runs one round: a trial for each entrant, in their order. A server that fails is out, and its trial a failed one; the
 * others go on. Rejects only when the run is interrupted. Always stops everything that it started.
 */
export async function runDuetRound(
  context: TrialContext,
  entrants: readonly Entrant[],
  plan: DuetPlan,
  events: DuetEvents,
): Promise<TrialOutcome[]> {
  const startedAt = context.world.clock.now().toISOString();
  const contestants = entrants.map(
    (entrant): Contestant => ({
      ...entrant,
      deployment: null,
      checkedAnswers: 0,
      measurements: [],
      idle: null,
      sharedMemoryBytes: null,
      counting: null,
      queries: 0,
      failure: undefined,
    }),
  );
  const meter = await createNeighbourMeter(context.world);
  const round: Round = { context, events, contestants, meter, plan };
  try {
    for (const contestant of contestants) {
      await attempt(round, contestant, () => deploy(round, contestant));
      await attempt(round, contestant, () => prepare(round, contestant));
    }
    await measureSlices(round);
    await measureSharing(round);
    return await Promise.all(contestants.map((contestant) => outcomeOf(round, contestant, startedAt)));
  } finally {
    events.phase('stopping');
    await Promise.all(contestants.map(({ counting }) => counting?.end()));
    await Promise.all(contestants.map(({ deployment }) => deployment?.remove()));
  }
}

/** Runs a step of one server, unless it has failed before. A server that dies meanwhile has failed. */
async function attempt(
  { context, events }: Round,
  contestant: Contestant,
  step: () => Promise<void>,
): Promise<void> {
  context.signal.throwIfAborted();
  if (contestant.failure !== undefined) return;
  events.trialStarted(contestant.planned, contestant.server);
  const running = step();
  try {
    const { deployment } = contestant;
    await (deployment === null ? running : Promise.race([running, deployment.died]));
  } catch (error) {
    context.signal.throwIfAborted();
    contestant.failure = error;
    // Its loaders end with it; nothing of it may disturb the others.
    await running.catch(() => undefined);
    await contestant.deployment?.remove();
  }
}

async function deploy({ context, events }: Round, contestant: Contestant): Promise<void> {
  events.phase('starting');
  contestant.deployment = await deployTrial(context, contestant.planned, contestant.server);
}

async function prepare({ context, events }: Round, contestant: Contestant): Promise<void> {
  if (!up(contestant)) return;
  const { planned, server, deployment } = contestant;
  events.phase('checking answers');
  contestant.checkedAnswers = await checkDeployment({ context, planned, server, deployment });
  await warmUp(context, planned, deployment, events);
  contestant.counting = await countServer(context, deployment);
}

/** CPU seconds of every server that is up. */
async function usageOf(contestants: readonly Contestant[]): Promise<Map<Contestant, number>> {
  const used = await Promise.all(
    contestants.filter(up).map(async (contestant) => {
      const usage = await contestant.deployment.usage?.();
      return usage === undefined ? [] : [[contestant, usage.cpuSeconds] as const];
    }),
  );
  return new Map(used.flat());
}

async function measureSlices(round: Round): Promise<void> {
  const { contestants, plan, context } = round;
  const { clock } = context.world;
  const began = clock.monotonicSeconds();
  const first = contestants[0]?.planned.round ?? 0;
  let position = 0;
  for (let turn = 0; turn < plan.slices; turn += 1) {
    for (const contestant of balancedOrder(contestants, first + turn)) {
      const [before, from] = [await usageOf(contestants), clock.monotonicSeconds()];
      const place = { position, atSeconds: from - began };
      await attempt(round, contestant, () => measureSlice(round, contestant, place));
      addIdle(contestants, contestant, before, await usageOf(contestants), clock.monotonicSeconds() - from);
      position += 1;
    }
  }
}

/** What all but one used meanwhile. */
function addIdle(
  contestants: readonly Contestant[],
  busy: Contestant,
  before: ReadonlyMap<Contestant, number>,
  after: ReadonlyMap<Contestant, number>,
  seconds: number,
): void {
  for (const contestant of contestants) {
    const [from, to] = [before.get(contestant), after.get(contestant)];
    if (contestant === busy || from === undefined || to === undefined) continue;
    const { idle } = contestant;
    contestant.idle = {
      cpuSeconds: (idle?.cpuSeconds ?? 0) + Math.max(0, to - from),
      seconds: (idle?.seconds ?? 0) + seconds,
    };
  }
}

async function measureSlice(
  { context, events, meter, plan }: Round,
  contestant: Contestant,
  place: Pick<Slice, 'position' | 'atSeconds'>,
): Promise<void> {
  if (!up(contestant)) return;
  const { planned, server, deployment } = contestant;
  const pace = paceOf(context, planned, null);
  events.phase('measuring');
  if (plan.settleSeconds > 0) {
    const settled = await runLoaders(context, planned, deployment, {
      stage: 'settle',
      ...pace,
      durationSeconds: plan.settleSeconds,
      progress: events,
      onStarted: () => undefined,
    });
    contestant.queries += completedOf(settled);
  }
  const usage = await deployment.usage?.();
  const window = await meter.begin(usage?.pids ?? []);
  const loaded = await loadAndObserve(context, planned, deployment, {
    stage: `slice-${contestant.measurements.length + 1}`,
    ...pace,
    durationSeconds: plan.sliceSeconds,
    progress: events,
  });
  const neighbours = await window.end({
    serverSeconds: loaded.observation?.cpuSeconds ?? 0,
    loaderSeconds: loaded.outcomes.reduce(
      (total, { observation }) => total + (observation?.cpuSeconds ?? 0),
      0,
    ),
  });
  contestant.queries += completedOf(loaded.outcomes);
  contestant.measurements.push({
    loaded,
    slice: sliceOf({ context, planned, server, deployment }, loaded, neighbours, place),
  });
}

function completedOf(outcomes: readonly LoadOutcome[]): number {
  return outcomes.reduce((total, { result }) => total + result.queriesCompleted, 0);
}

/** What was counted, as if it had been over the slices only: a server that waits does nothing. */
async function countersOfSlices({
  counting,
  queries,
  measurements,
}: Contestant): Promise<Counters | undefined> {
  const counters = await counting?.end();
  if (counters === undefined || queries === 0) return undefined;
  const share = measurements.reduce((sum, { loaded }) => sum + completedOf(loaded.outcomes), 0) / queries;
  const part = ({ user, kernel }: Counters['cycles']) => ({ user: user * share, kernel: kernel * share });
  return {
    instructions: part(counters.instructions),
    cycles: part(counters.cycles),
    cacheMisses: part(counters.cacheMisses),
  };
}

function sliceOf(
  subject: Subject,
  { outcomes, observation }: Loaded,
  neighbours: Neighbours | null,
  place: Pick<Slice, 'position' | 'atSeconds'>,
): Slice {
  const load = mergeLoads(outcomes.map(({ result }) => result));
  return {
    ...place,
    durationSeconds: load.runTimeSeconds,
    qps: load.qps,
    latencySeconds: load.latencySeconds?.mean ?? null,
    cpuSecondsPerQuery:
      observation === null || load.queriesCompleted === 0
        ? null
        : observation.cpuSeconds / load.queriesCompleted,
    lostRatio: load.queriesSent === 0 ? 0 : load.queriesLost / load.queriesSent,
    limitedBy: limitOfLoad(subject, outcomes, load, observation),
    neighbours,
  };
}

/** How much memory each server seems not to have because the others are up. */
async function measureSharing({ context, contestants }: Round): Promise<void> {
  const alive = contestants.filter(up);
  const pids = await Promise.all(
    alive.map(async ({ deployment }) => (await deployment.usage?.())?.pids ?? []),
  );
  const shared = await readSharedBetween(context.world, pids);
  for (const [index, contestant] of alive.entries()) {
    contestant.sharedMemoryBytes = pids[index]?.length === 0 ? null : (shared?.[index] ?? null);
  }
}

async function outcomeOf(
  { context, plan }: Round,
  contestant: Contestant,
  startedAt: string,
): Promise<TrialOutcome> {
  const { planned, deployment } = contestant;
  const described = {
    key: planned.key,
    caseKey: planned.case.key,
    round: planned.round,
    order: planned.order,
    startedAt,
    endedAt: context.world.clock.now().toISOString(),
    instances: [...(deployment?.instances ?? [])],
  };
  const files = deployment?.files ?? {};
  try {
    if (!up(contestant)) throw contestant.failure;
    const measured = await recordOf(context, contestant, plan);
    return { trial: { ...described, status: 'ok', ...measured }, files };
  } catch (error) {
    context.signal.throwIfAborted();
    const trial: Trial = { ...described, status: 'failed', loaderCommands: [], failure: failureOf(error) };
    return { trial, files };
  }
}

async function recordOf(
  context: TrialContext,
  contestant: Contestant & { deployment: Deployment },
  plan: DuetPlan,
): Promise<Measured> {
  const { planned, server, deployment, measurements, checkedAnswers, idle, sharedMemoryBytes } = contestant;
  const subject = { context, planned, server, deployment };
  const joined = joinSlices(measurements.map((item) => item.loaded));
  const loaded = {
    ...withSharedMemory(joined, sharedMemoryBytes),
    counters: await countersOfSlices(contestant),
  };
  return {
    ...(await measuredOf(subject, loaded, checkedAnswers, null, plan.slices)),
    duet: {
      slices: measurements.map(({ slice }) => slice),
      idleCores: idle === null ? null : idle.cpuSeconds / idle.seconds,
      sharedMemoryBytes,
    },
  };
}

/** The memory that the server would have had alone. */
function withSharedMemory(loaded: Loaded, sharedBytes: number | null): Loaded {
  const { observation } = loaded;
  if (sharedBytes === null || observation?.memoryBytes == null) return loaded;
  const { mean, max, source } = observation.memoryBytes;
  if (source !== 'pss') return loaded;
  const memoryBytes = { mean: mean + sharedBytes, max: max + sharedBytes, source };
  return { ...loaded, observation: { ...observation, memoryBytes } };
}
