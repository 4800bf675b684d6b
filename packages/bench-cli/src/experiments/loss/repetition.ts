/** One repetition of a case: a server of its own, the search, rates below and beyond the limit, an overload and what follows. */
import { BenchError } from '../../errors.ts';
import { type LoadInterval, STEP_SECONDS } from '../../loaders/loader.ts';
import { type LoadStage, loadAndObserve, runLoaders } from '../../measure/load.ts';
import { checkDeployment } from '../../measure/measured.ts';
import { mergeLoads } from '../../measure/merge-loads.ts';
import { deployTrial, failureOf, warmUp } from '../../measure/trial.ts';
import { type TrialContext, type TrialProgress, workloadOf } from '../../measure/trial-context.ts';
import type { PlannedTrial } from '../../plan/plan.ts';
import type { LoadResult, Losses } from '../../results/record.ts';
import type { Server } from '../../servers/server.ts';
import type { Deployment } from '../../targets/target.ts';
import { multiplesFor } from './multiples.ts';
import type { OkRepetition, Probe, Recovery, Repetition } from './record.ts';
import { recoveryOf } from './recovery.ts';
import { searchBands, type Tried } from './search.ts';
import type { LossSettings } from './settings.ts';

export interface RepetitionProgress extends TrialProgress {
  /** A rate was tried. */
  probed(probe: Probe): void;
}

export interface RepetitionRequest {
  readonly context: TrialContext;
  readonly planned: PlannedTrial;
  readonly server: Server;
  readonly settings: LossSettings;
  readonly progress: RepetitionProgress;
}

export interface RepetitionOutcome {
  readonly repetition: Repetition;
  /** Configuration files of the server, once it was deployed. */
  readonly files: Readonly<Record<string, string>>;
}

/** A load generator that sent less than this share of a rate could not keep up with it. */
const MIN_SENT_RATIO = 0.98;

/** Length of the closed loop that says where to begin. */
const FIRST_SECONDS = 1;

/** The first rate, as a share of the throughput of a closed loop. */
const FIRST_SHARE = 0.8;

/** After the overload: a second to recover in, and one to see that it lasts. */
const AFTER_SECONDS = 2;

/** The load after the overload, as a share of the limit: far from it, so that what is lost is due to the overload. */
const AFTER_SHARE = 0.5;

/** A failure is a result. Rejects only when the run is interrupted; always stops everything that it started. */
export async function runRepetition(request: RepetitionRequest): Promise<RepetitionOutcome> {
  const { context, planned, server, progress } = request;
  const { world, signal } = context;
  const startedAt = world.clock.now().toISOString();
  const gaveUp = new AbortController();
  let deployment: Deployment | undefined;
  let measured: Promise<Measured> | undefined;
  const described = () => ({
    case: planned.case.key,
    round: planned.round,
    order: planned.order,
    startedAt,
    endedAt: world.clock.now().toISOString(),
  });
  try {
    progress.phase('starting');
    deployment = await deployTrial(context, planned, server);
    const stoppable = { ...context, signal: AbortSignal.any([signal, gaveUp.signal]) };
    measured = measure({ ...request, context: stoppable }, deployment);
    const result = await Promise.race([measured, deployment.died]);
    return { repetition: { ...described(), status: 'ok', ...result }, files: deployment.files };
  } catch (error) {
    signal.throwIfAborted();
    return {
      repetition: { ...described(), status: 'failed', failure: failureOf(error) },
      files: deployment?.files ?? {},
    };
  } finally {
    progress.phase('stopping');
    gaveUp.abort();
    await measured?.catch(() => undefined);
    await deployment?.remove();
  }
}

type Measured = Pick<OkRepetition, 'bands' | 'limit' | 'probes' | 'recovery'>;

async function measure(request: RepetitionRequest, deployment: Deployment): Promise<Measured> {
  const { context, planned, server, settings, progress } = request;
  progress.phase('checking answers');
  await checkDeployment({ context, planned, server, deployment });
  await warmUp(context, planned, deployment, progress);
  progress.phase('searching for the highest rate');
  const probes: Probe[] = [];
  const expected = expectedCodes(request);
  const probe = async (rate: number): Promise<Probe> => {
    const made = await probeAt(request, deployment, { rate, number: probes.length + 1, expected });
    probes.push(made);
    progress.probed(made);
    return made;
  };
  const closed = await closedLoop(request, deployment);
  const { bands, precision, overload } = settings;
  const start = Math.max(20, closed * FIRST_SHARE);
  const found = await searchBands({ bands, precision, start }, async (rate) => triedOf(await probe(rate)));
  const limit = Math.max(...found.map(({ rate }) => rate));
  if (limit === 0) throw noRate(server.name, probes);
  progress.phase('measuring');
  const isLimited = await tryMultiples(multiplesFor(overload), limit, probe);
  const recovery = isLimited ? null : await overloadAndRecover(request, deployment, limit);
  return { bands: found, limit, probes, recovery };
}

/** For the search, an answer with a wrong response code is none. */
function triedOf({ rate, lostRatio, unexpectedAnswers, queriesSent, generatorLimited }: Probe): Tried {
  return {
    rate,
    lostRatio: Math.min(1, lostRatio + unexpectedAnswers / Math.max(1, queriesSent)),
    generatorLimited,
  };
}

/** Response codes that the workload predicts; null where any will do. */
function expectedCodes({ context, planned, server }: RepetitionRequest): ReadonlySet<string> | null {
  if (server.answers === 'echo') return null;
  const workload = context.answersOf(server, workloadOf(context, planned).workload);
  return new Set(context.predictedCodes(server, workload).keys());
}

function unexpectedIn({ responseCodes }: LoadResult, expected: ReadonlySet<string> | null): number {
  const others = Object.entries(responseCodes).filter(([code]) => expected?.has(code) === false);
  return others.reduce((sum, [, answers]) => sum + answers, 0);
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
async function closedLoop(
  { context, planned, progress }: RepetitionRequest,
  deployment: Deployment,
): Promise<number> {
  const outcomes = await runLoaders(context, planned, deployment, {
    stage: 'closed-loop',
    ratePerSecond: null,
    openLoop: false,
    durationSeconds: FIRST_SECONDS,
    progress,
    onStarted: () => undefined,
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
  /** In the repetition, from 1. */
  readonly number: number;
  readonly expected: ReadonlySet<string> | null;
}

async function probeAt(
  { context, planned, progress }: RepetitionRequest,
  deployment: Deployment,
  { rate, number, expected }: Wanted,
): Promise<Probe> {
  const { durationSeconds } = context.configuration;
  const stage: Omit<LoadStage, 'onStarted'> = {
    stage: `rate-${String(number).padStart(2, '0')}`,
    ratePerSecond: rate,
    openLoop: true,
    durationSeconds,
    progress,
  };
  const { outcomes, observation, losses } = await loadAndObserve(context, planned, deployment, stage);
  const load = mergeLoads(outcomes.map(({ result }) => result));
  const percentile = (wanted: number) =>
    load.latencyPercentiles?.find((each) => each.percentile === wanted)?.seconds ?? null;
  const sentRate = load.queriesSent / durationSeconds;
  const unexpectedAnswers = unexpectedIn(load, expected);
  return {
    rate,
    sentRate,
    queriesSent: load.queriesSent,
    queriesLost: load.queriesLost,
    lostRatio: load.queriesSent === 0 ? 1 : load.queriesLost / load.queriesSent,
    unexpectedAnswers,
    goodput: (load.queriesCompleted - unexpectedAnswers) / load.runTimeSeconds,
    p50Seconds: percentile(50),
    p99Seconds: percentile(99),
    // The observation lasts longer than the load, which is over before the time-out of its last query.
    cpuCores: observation === null ? null : observation.cpuSeconds / load.runTimeSeconds,
    generatorLimited: sentRate < rate * MIN_SENT_RATIO || ownLosses(losses) * 2 > load.queriesLost,
    losses,
  };
}

/** The intervals of several load generators as those of one, as far as all have them. */
function mergeTimelines(all: readonly (readonly LoadInterval[])[]): LoadInterval[] {
  const [first = []] = all;
  return first.slice(0, Math.min(...all.map(({ length }) => length))).map((interval, index) => {
    const sum = (pick: (each: LoadInterval) => number) =>
      all.reduce((total, timeline) => total + pick(timeline[index] ?? interval), 0);
    return {
      atSeconds: interval.atSeconds,
      sent: sum(({ sent }) => sent),
      answered: sum(({ answered }) => answered),
      lost: sum(({ lost }) => lost),
    };
  });
}

async function overloadAndRecover(
  { context, planned, settings, progress }: RepetitionRequest,
  deployment: Deployment,
  limit: number,
): Promise<Recovery | null> {
  const { durationSeconds, timeoutSeconds } = context.configuration;
  const overloadSeconds = Math.max(1, Math.round(durationSeconds / STEP_SECONDS)) * STEP_SECONDS;
  const [overloadRate, afterRate] = [limit * settings.overload, limit * AFTER_SHARE];
  const outcomes = await runLoaders(context, planned, deployment, {
    stage: 'overload',
    ratePerSecond: overloadRate,
    openLoop: true,
    durationSeconds: overloadSeconds,
    after: { ratePerSecond: afterRate, seconds: AFTER_SECONDS },
    progress,
    onStarted: () => undefined,
  });
  const timelines = outcomes.flatMap(({ timeline }) => (timeline === undefined ? [] : [timeline]));
  return recoveryOf(mergeTimelines(timelines), {
    overloadSeconds,
    overloadRate,
    afterSeconds: AFTER_SECONDS,
    afterRate,
    timeoutSeconds,
  });
}
