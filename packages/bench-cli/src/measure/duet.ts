/**
 * `--duet`: a round in which all servers of a point are up at once and the load goes to one after the other, in short slices.
 * Whatever the machine does meanwhile hits all of them alike, so that it cancels out in their ratio; a disturbance of
 * some seconds would otherwise hit one trial and not the next. After Bulej et al., "Duet Benchmarking: Improving
 * Measurement Accuracy in the Cloud", ICPE 2020, with slices instead of simultaneous load, for which a machine of few
 * CPUs has no room.
 */

import { readSharedBetween } from '../observe/shared-memory.ts';
import type { DuetPlan } from '../plan/plan.ts';
import type { Counters } from '../results/record.ts';
import { countServer } from './count-server.ts';
import {
  attempt,
  type Contestant,
  completedOf,
  contestantOf,
  type DuetEvents,
  type Entrant,
  isUp,
  type Round,
} from './duet-contestant.ts';
import { measureInOneJob } from './duet-job.ts';
import { measureSlices } from './duet-slices.ts';
import { type Loaded, type Measured, measuredOf } from './measured.ts';
import { joinSlices, overSlices } from './merge-slices.ts';
import { createNeighbourMeter } from './neighbours.ts';
import { checkAndWarmUp, deployTrial, type TrialOutcome, trialOutcome } from './trial.ts';
import type { TrialContext } from './trial-context.ts';

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
  const contestants = entrants.map(contestantOf);
  const meter = await createNeighbourMeter(context.world);
  const round: Round = { context, events, contestants, meter, plan };
  try {
    for (const contestant of contestants) {
      await attempt(round, contestant, () => deploy(round, contestant));
      await attempt(round, contestant, () => prepare(round, contestant));
    }
    const { loader } = context;
    await (loader.loadInTurn === undefined
      ? measureSlices(round)
      : measureInOneJob(round, loader.loadInTurn));
    await measureSharing(round);
    return await Promise.all(
      contestants.map((contestant) =>
        trialOutcome(
          context,
          contestant.planned,
          startedAt,
          () => contestant.deployment,
          () => recordOf(context, contestant, plan),
        ),
      ),
    );
  } finally {
    events.phase('stopping');
    await Promise.all(contestants.map(({ counting }) => counting?.end()));
    await Promise.all(contestants.map(({ deployment }) => deployment?.remove()));
  }
}

async function deploy({ context, events }: Round, contestant: Contestant): Promise<void> {
  events.phase('starting');
  contestant.deployment = await deployTrial(context, contestant.planned, contestant.server);
}

async function prepare({ context, events }: Round, contestant: Contestant): Promise<void> {
  if (!isUp(contestant)) return;
  contestant.checkedAnswers = await checkAndWarmUp({ context, ...contestant }, events);
  contestant.counting = await countServer(context, contestant.deployment);
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

/** How much memory each server seems not to have because the others are up. */
async function measureSharing({ context, contestants }: Round): Promise<void> {
  const alive = contestants.filter(isUp);
  const pids = await Promise.all(
    alive.map(async ({ deployment }) => (await deployment.usage?.())?.pids ?? []),
  );
  const shared = await readSharedBetween(context.world, pids);
  for (const [index, contestant] of alive.entries()) {
    contestant.sharedMemoryBytes = pids[index]?.length === 0 ? null : (shared?.[index] ?? null);
  }
}

async function recordOf(context: TrialContext, contestant: Contestant, plan: DuetPlan): Promise<Measured> {
  if (!isUp(contestant)) throw contestant.failure;
  const { measurements, checkedAnswers, wholeRound, idleCores, sharedMemoryBytes, queries } = contestant;
  const joined = joinSlices(measurements.map((item) => item.loaded));
  const loaded = {
    ...withSharedMemory(
      wholeRound === null ? joined : overSlices(joined, wholeRound, queries),
      sharedMemoryBytes,
    ),
    counters: await countersOfSlices(contestant),
  };
  return {
    ...(await measuredOf({ context, ...contestant }, loaded, checkedAnswers, null, plan.slices)),
    duet: {
      slices: measurements.map(({ slice }) => slice),
      idleCores,
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
