/** The servers of a duet's round, and what has been measured of each. */

import type { LoadOutcome } from '../loaders/loader.ts';
import type { DuetPlan, PlannedTrial } from '../plan/plan.ts';
import type { Neighbours, Slice } from '../results/record.ts';
import type { Server } from '../servers/server.ts';
import type { Deployment } from '../targets/target.ts';
import type { ServerCounting } from './count-server.ts';
import { type Loaded, limitOfLoad, type Subject } from './measured.ts';
import { mergeTogether } from './merge-loads.ts';
import type { NeighbourMeter } from './neighbours.ts';
import type { TrialContext, TrialProgress } from './trial-context.ts';

/** One of the servers of a round. */
export interface Entrant {
  readonly planned: PlannedTrial;
  readonly server: Server;
}

export interface DuetEvents extends TrialProgress {
  trialStarted(planned: PlannedTrial, server: Server): void;
}

export interface Measurement {
  readonly slice: Slice;
  readonly loaded: Loaded;
}

/** A server of the round, as far as it has come. It stays as it is once it has failed. */
export interface Contestant extends Entrant {
  deployment: Deployment | null;
  checkedAnswers: number;
  readonly measurements: Measurement[];
  /** What was observed over the round as a whole; null where each slice was observed. */
  wholeRound: Pick<Loaded, 'observation' | 'instances'> | null;
  /** Cores used while others had the load. */
  idleCores: number | null;
  sharedMemoryBytes: number | null;
  /** From the end of the warm-up, over the load that does not count too. */
  counting: ServerCounting | null;
  /** Answered since then. */
  queries: number;
  failure: unknown;
}

/** A server of the round that has not failed so far. */
export type Deployed = Contestant & { deployment: Deployment };

export interface Round {
  readonly context: TrialContext;
  readonly events: DuetEvents;
  readonly contestants: readonly Contestant[];
  readonly meter: NeighbourMeter;
  readonly plan: DuetPlan;
}

export const isUp = (contestant: Contestant): contestant is Deployed =>
  contestant.failure === undefined && contestant.deployment !== null;

export function contestantOf(entrant: Entrant): Contestant {
  return {
    ...entrant,
    deployment: null,
    checkedAnswers: 0,
    measurements: [],
    wholeRound: null,
    idleCores: null,
    sharedMemoryBytes: null,
    counting: null,
    queries: 0,
    failure: undefined,
  };
}

/** Runs a step of one server, unless it has failed before. A server that dies meanwhile has failed. */
export async function attempt(
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

export function completedOf(outcomes: readonly LoadOutcome[]): number {
  return outcomes.reduce((total, { result }) => total + result.queriesCompleted, 0);
}

/** Where a slice is in its round. */
export type SlicePlace = Pick<Slice, 'position' | 'atSeconds'>;

export function sliceOf(
  subject: Subject,
  { outcomes, observation }: Loaded,
  neighbours: Neighbours | null,
  place: SlicePlace,
): Slice {
  const load = mergeTogether(outcomes, subject.planned.case.ratePerSecond);
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
