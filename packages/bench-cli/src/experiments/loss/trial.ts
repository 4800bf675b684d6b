/** One trial: a server of its own, the search, rates below and beyond the limit, an overload and what follows. */
import type { PlannedTrial, TrialEvents } from '../../engine/experiment.ts';
import { type DecidedServers, expectedCodes, serverTrial } from '../../engine/servers.ts';
import { BenchError } from '../../errors.ts';
import { STEP_SECONDS } from '../../loaders/loader.ts';
import { type LoadStage, loadAndObserve, runLoaders } from '../../measure/load.ts';
import { coresUnderLoad, type Loaded } from '../../measure/measured.ts';
import { mergeLoads, mergeTogether } from '../../measure/merge-loads.ts';
import { unexpectedIn } from '../../measure/response-codes.ts';
import { checkAndWarmUp, withServer } from '../../measure/trial.ts';
import type { TrialContext } from '../../measure/trial-context.ts';
import { watched } from '../../measure/watch-neighbours.ts';
import type { PlannedTrial as ServerTrial } from '../../plan/plan.ts';
import type { Losses, NeighbourSecond } from '../../results/record.ts';
import type { Server } from '../../servers/server.ts';
import { takenOver } from '../../stats/neighbours.ts';
import { percentileIn } from '../../stats/percentile.ts';
import type { Deployment } from '../../targets/target.ts';
import type { LossEvidence, Probe, Recovery } from './evidence.ts';
import { MIN_SENT_RATIO, mergeTimelines, recoveryOf } from './recovery.ts';
import { searchBands, type Tried } from './search.ts';
import { type LossSettings, multiplesFor } from './settings.ts';

/** What all trials share. */
export interface LossContext {
  readonly trials: TrialContext;
  readonly decided: DecidedServers;
  readonly settings: LossSettings;
}

interface Request {
  readonly context: TrialContext;
  readonly planned: ServerTrial;
  readonly server: Server;
  readonly settings: LossSettings;
  readonly progress: TrialEvents;
}

/** Length of the closed loop that says where to begin. */
const FIRST_SECONDS = 1;

/** The first rate, as a share of the throughput of a closed loop. */
const FIRST_SHARE = 0.8;

/** After the overload: a second to recover in, and one to see that it lasts. */
const AFTER_SECONDS = 2;

/** The load after the overload, as a share of the limit: far from it, so that what is lost is due to the overload. */
const AFTER_SHARE = 0.5;

export function lossTrial(
  { trials, decided, settings }: LossContext,
  planned: PlannedTrial,
  on: TrialEvents,
): Promise<LossEvidence> {
  const { server, planned: found } = serverTrial(decided, planned);
  return withServer(trials, found, server, on, (context, deployment) => {
    on.files(server.name, deployment.files);
    return measure({ context, planned: found, server, settings, progress: on }, deployment);
  });
}

async function measure(request: Request, deployment: Deployment): Promise<LossEvidence> {
  const { context, planned, server, settings, progress } = request;
  await checkAndWarmUp({ context, planned, server, deployment }, progress);
  progress.phase('searching for the highest rate');
  const probes: Probe[] = [];
  const neighbours: NeighbourSecond[] = [];
  const expected = expectedCodes(context, planned, server);
  const probe = async (rate: number): Promise<Probe> => {
    const number = probes.length + 1;
    const made = await probeAt(request, deployment, { rate, number, expected, neighbours });
    probes.push(made);
    progress.phase(
      `${Math.round(rate).toLocaleString('en')}/s, ${(made.lostRatio * 100).toPrecision(3)} % lost`,
    );
    return made;
  };
  const closed = await closedLoop(request, deployment);
  const { bands, precision, overload } = settings;
  const start = Math.max(20, closed * FIRST_SHARE);
  const found = await searchBands({ bands, precision, start }, async (rate) => triedOf(await probe(rate)));
  // Only while it searched: rates beyond the limit say nothing of the rates that are compared.
  const taken = takenOver(neighbours);
  if (taken !== null) progress.taken(taken);
  const limit = Math.max(...found.map(({ rate }) => rate));
  if (limit === 0) throw noRate(server.name, probes);
  progress.phase('measuring');
  const isLimited = await tryMultiples(multiplesFor(overload), limit, probe);
  const recovery = isLimited ? null : await overloadAndRecover(request, deployment, limit);
  return { bands: found, limit, probes, recovery };
}

/** For the search, an answer with a wrong response code counts as lost. */
function triedOf(probe: Probe): Tried {
  const { rate, lostRatio, unexpectedAnswers, queriesSent, queriesLost, generatorLimited, losses } = probe;
  return {
    rate,
    lostRatio: Math.min(1, lostRatio + unexpectedAnswers / Math.max(1, queriesSent)),
    generatorLimited,
    lostByGenerator: ownLosses(losses) * 2 > queriesLost + unexpectedAnswers,
  };
}

/** Rates below and beyond the limit, as far as the load generator can send them; true if it could not. */
async function tryMultiples(
  multiples: readonly number[],
  limit: number,
  probe: (rate: number) => Promise<Probe>,
): Promise<boolean> {
  for (const multiple of multiples) {
    if (multiple === 1) continue;
    const { generatorLimited } = await probe(multiple * limit);
    if (generatorLimited && multiple > 1) return true;
  }
  return false;
}

function noRate(server: string, probes: readonly Probe[]): BenchError {
  return new BenchError('E_NO_RATE', `found no rate at which ${server} loses few enough queries`, {
    evidence: probes
      .slice(-5)
      .map(
        ({ rate, lostRatio }) =>
          `${Math.round(rate)} queries per second: ${(lostRatio * 100).toPrecision(3)} % lost`,
      ),
    fix: 'Allow more with --bands, or give queries more time with --timeout.',
  });
}

/** The throughput of a closed loop, near which the limit is. */
async function closedLoop({ context, planned, progress }: Request, deployment: Deployment): Promise<number> {
  const outcomes = await runLoaders(context, planned, deployment, {
    ...{ stage: 'closed-loop', ratePerSecond: null, openLoop: false },
    ...{ durationSeconds: FIRST_SECONDS, progress },
  });
  return mergeLoads(outcomes.map(({ result }) => result)).qps;
}

/** Lost by the load generator itself: answers that found no room, and queries that were never sent. */
function ownLosses(losses: Losses | null): number {
  const own = losses?.places.filter(({ place }) => place === 'loader-buffer' || place === 'not-sent') ?? [];
  return own.reduce((sum, { queries }) => sum + queries, 0);
}

interface Wanted {
  readonly rate: number;
  /** In the trial, from 1. */
  readonly number: number;
  readonly expected: ReadonlySet<string> | null;
  /** Gets what the rest of the machine did meanwhile. */
  readonly neighbours: NeighbourSecond[];
}

async function probeAt(
  { context, planned, progress }: Request,
  deployment: Deployment,
  { rate, number, expected, neighbours }: Wanted,
): Promise<Probe> {
  const { durationSeconds } = context.configuration;
  const stage: LoadStage = {
    ...{ stage: `rate-${String(number).padStart(2, '0')}`, ratePerSecond: rate, openLoop: true },
    ...{ durationSeconds, progress },
  };
  const loaded = await watched<Loaded>(context.world, deployment, durationSeconds, (onStarted) =>
    loadAndObserve(context, planned, deployment, stage, onStarted),
  );
  neighbours.push(...(loaded.neighbours ?? []));
  const { outcomes, observation, losses } = loaded;
  const load = mergeLoads(outcomes.map(({ result }) => result));
  const sentRate = load.queriesSent / durationSeconds;
  const unexpectedAnswers = unexpectedIn(load.responseCodes, expected);
  return {
    rate,
    sentRate,
    queriesSent: load.queriesSent,
    queriesLost: load.queriesLost,
    lostRatio: load.queriesSent === 0 ? 1 : load.queriesLost / load.queriesSent,
    unexpectedAnswers,
    goodput: (load.queriesCompleted - unexpectedAnswers) / load.runTimeSeconds,
    p50Seconds: percentileIn(load.latencyPercentiles, 50),
    p99Seconds: percentileIn(load.latencyPercentiles, 99),
    // The observation lasts longer than the load, which is over before the time-out of its last query.
    cpuCores: coresUnderLoad(observation, mergeTogether(outcomes, rate)),
    generatorLimited: sentRate < rate * MIN_SENT_RATIO || ownLosses(losses) * 2 > load.queriesLost,
    losses,
  };
}

async function overloadAndRecover(
  { context, planned, settings, progress }: Request,
  deployment: Deployment,
  limit: number,
): Promise<Recovery | null> {
  const { durationSeconds, timeoutSeconds } = context.configuration;
  const overloadSeconds = Math.max(1, Math.round(durationSeconds / STEP_SECONDS)) * STEP_SECONDS;
  const [overloadRate, afterRate] = [limit * settings.overload, limit * AFTER_SHARE];
  const outcomes = await runLoaders(context, planned, deployment, {
    ...{ stage: 'overload', ratePerSecond: overloadRate, openLoop: true, durationSeconds: overloadSeconds },
    ...{ after: { ratePerSecond: afterRate, seconds: AFTER_SECONDS }, progress },
  });
  const timelines = outcomes.flatMap(({ timeline }) => (timeline === undefined ? [] : [timeline]));
  return recoveryOf(mergeTimelines(timelines), {
    ...{ overloadSeconds, overloadRate, afterSeconds: AFTER_SECONDS, afterRate, timeoutSeconds },
  });
}
