/**
 * The slices of a round on a cluster. One Job sends them all, one after the other: a pod for each would begin seconds later.
 *
 * Kubelets read the counters of pods every 10 to 15 seconds, so that no slice has CPU figures. But a server's counter rises by
 * what its own slices cost, and nearly nothing else. It is read before the first and after the last slice of the round, both
 * times when nobody has load, so that CPU per query over the round is as exact as that of a trial.
 */
import { BenchError, internalError } from '../errors.ts';
import type { Loader, LoadOutcome, LoadRequest, LoadTurn } from '../loaders/loader.ts';
import type { ObservationWindow } from '../observe/window.ts';
import { balancedOrder, type DuetPlan } from '../plan/plan.ts';
import {
  type Contestant,
  type Deployed,
  isUp,
  type Measurement,
  type Round,
  type SlicePlace,
  sliceOf,
} from './duet-contestant.ts';
import { lossesOf, requestFor } from './load.ts';
import { paceOf } from './trial.ts';

/** One load of the Job: that at the beginning of a slice, which does not count, or its rest. */
interface Turn {
  readonly contestant: Deployed;
  readonly counts: boolean;
  readonly position: number;
}

type LoadInTurn = NonNullable<Loader['loadInTurn']>;

/** The loads of a round in their order, for the servers that are up. */
function turnsOf({ contestants, plan }: Round): Turn[] {
  const first = contestants[0]?.planned.round ?? 0;
  const order = Array.from({ length: plan.slices }, (_, turn) =>
    balancedOrder(contestants, first + turn),
  ).flat();
  return order.flatMap((contestant, position) => {
    if (!isUp(contestant)) return [];
    const settling = plan.settleSeconds > 0 ? [{ contestant, counts: false, position }] : [];
    return [...settling, { contestant, counts: true, position }];
  });
}

/** Measures all slices of a round in one Job. A server that dies or does not answer has failed; the others go on. */
export async function measureInOneJob(round: Round, loadInTurn: LoadInTurn): Promise<void> {
  const { context, contestants, events } = round;
  const nobodyLeft = new AbortController();
  watchForDeaths(contestants, nobodyLeft);
  events.phase('measuring');
  const windows = await openWindows(round);
  try {
    await runTurns(round, loadInTurn, windows, AbortSignal.any([context.signal, nobodyLeft.signal]));
  } catch (error) {
    context.signal.throwIfAborted();
    for (const contestant of contestants.filter(isUp)) contestant.failure = error;
  } finally {
    await closeWindows(windows);
  }
  context.signal.throwIfAborted();
}

async function runTurns(
  round: Round,
  loadInTurn: LoadInTurn,
  windows: ReadonlyMap<Deployed, ObservationWindow>,
  signal: AbortSignal,
): Promise<void> {
  const turns = turnsOf(round);
  const begin = () => {
    for (const window of windows.values()) window.started?.();
  };
  const requests = turns.map((turn, index) =>
    requestOf(round, turn, signal, index === 0 ? begin : () => undefined),
  );
  const ended = await loadInTurn(requests);
  for (const [index, turn] of turns.entries()) addTurn(round, turn, ended[index]);
}

/** Begins to observe every server, all at once: each waits for its kubelet. */
async function openWindows({ context, contestants }: Round): Promise<Map<Deployed, ObservationWindow>> {
  const opened = await Promise.all(
    contestants.filter(isUp).map(async (contestant) => {
      try {
        return [[contestant, await contestant.deployment.observe({ inTurn: true })] as const];
      } catch (error) {
        context.signal.throwIfAborted();
        contestant.failure ??= error;
        return [];
      }
    }),
  );
  return new Map(opened.flat());
}

/** Resolves when every window is closed. Without figures the trial has none; with an error it has failed. */
async function closeWindows(windows: ReadonlyMap<Deployed, ObservationWindow>): Promise<void> {
  await Promise.all(
    [...windows].map(async ([contestant, window]) => {
      try {
        const observation = await window.end();
        contestant.wholeRound = { observation, instances: window.instances?.() ?? null };
        contestant.idleCores = window.idleCores?.() ?? null;
      } catch (error) {
        contestant.failure ??= error;
      }
    }),
  );
}

/** What has died is removed at once, because Kubernetes would start it again beside the others. */
function watchForDeaths(contestants: readonly Contestant[], nobodyLeft: AbortController): void {
  for (const contestant of contestants.filter(isUp)) {
    contestant.deployment.died.catch((error: unknown) => {
      contestant.failure ??= error;
      // Removed again at the end of the round, which reports what cannot be.
      contestant.deployment.remove().catch(() => undefined);
      if (!contestants.some(isUp)) nobodyLeft.abort(error);
    });
  }
}

function stageOf({ counts }: Turn, { sliceSeconds, settleSeconds }: DuetPlan) {
  return counts
    ? { stage: 'slices', durationSeconds: sliceSeconds }
    : { stage: 'settle', durationSeconds: settleSeconds };
}

function requestOf(
  { context, events, plan }: Round,
  turn: Turn,
  signal: AbortSignal,
  onStarted: () => void,
): LoadRequest {
  const { planned, server, deployment } = turn.contestant;
  const [endpoint] = deployment.endpoints;
  if (endpoint === undefined) throw internalError(`no endpoint of ${server.name}`);
  return {
    ...requestFor(context, planned, endpoint, {
      ...stageOf(turn, plan),
      ...paceOf(context, planned, null),
    }),
    onStarted: () => {
      events.trialStarted(planned, server);
      events.phase('measuring');
      onStarted();
    },
    onProgress: (qps) => events.rate(qps),
    signal,
  };
}

/** Adds what became of a turn to what is known of its server, unless that has failed. */
function addTurn(round: Round, turn: Turn, ended: LoadTurn | undefined): void {
  const { contestant, counts, position } = turn;
  if (contestant.failure !== undefined || ended === undefined) return;
  if (ended.ended instanceof BenchError) {
    contestant.failure = ended.ended;
    return;
  }
  const { result } = ended.ended;
  if (result.queriesSent > 0 && result.queriesCompleted === 0) {
    contestant.failure = silentIn(contestant, result.queriesSent);
    return;
  }
  contestant.queries += result.queriesCompleted;
  if (!counts) return;
  const { sliceSeconds, settleSeconds } = round.plan;
  // Where the pod has no clock, it is as planned.
  const atSeconds = ended.atSeconds ?? position * (settleSeconds + sliceSeconds);
  contestant.measurements.push(measurementOf(round, contestant, ended.ended, { position, atSeconds }));
}

function silentIn({ server }: Contestant, queriesSent: number): BenchError {
  return new BenchError(
    'E_ALL_LOST',
    `${server.name} answered none of ${queriesSent} queries at the beginning of a slice or in the rest of it`,
    { fix: 'It answered before the round began: see its log in the run folder under raw/.' },
  );
}

function measurementOf(
  { context }: Round,
  contestant: Deployed,
  outcome: LoadOutcome,
  place: SlicePlace,
): Measurement {
  const outcomes = [outcome];
  const loaded = {
    outcomes,
    observation: null,
    instances: null,
    losses: lossesOf(contestant.planned, outcomes, null),
  };
  return { loaded, slice: sliceOf({ context, ...contestant }, loaded, null, place) };
}
