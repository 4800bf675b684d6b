/** One trial: deploy, check the answers, warm up, load and observe, remove. */
import { messageOf } from '@dinodns-bench/program';
import { BenchError, joined } from '../errors.ts';
import type { PlannedCase, PlannedTrial } from '../plan/plan.ts';
import type { FailedTrial, MaxRate, Trial } from '../results/record.ts';
import type { Server } from '../servers/server.ts';
import type { Deployment } from '../targets/target.ts';
import { countServer } from './count-server.ts';
import { loadAndObserve, type Pace, runLoaders } from './load.ts';
import { findMaxRate } from './max-rate.ts';
import { checkDeployment, type Loaded, type Measured, measuredOf, type Subject } from './measured.ts';
import { rawFolderOf, type TrialContext, type TrialProgress } from './trial-context.ts';
import { watched } from './watch-neighbours.ts';

/** The result of a trial besides its record. */
export interface TrialOutcome {
  readonly trial: Trial;
  /** Configuration files of the first instance, once it was deployed. */
  readonly files: Readonly<Record<string, string>>;
}

/**
 * Runs one trial. A failure is a result: it resolves with a failed trial and its reason. It rejects only when
 * the run is interrupted. It always stops everything that it started.
 */
export async function runTrial(
  context: TrialContext,
  planned: PlannedTrial,
  server: Server,
  progress: TrialProgress,
): Promise<TrialOutcome> {
  const startedAt = context.world.clock.now().toISOString();
  let deployment: Deployment | null = null;
  const measuring = () =>
    withServer(context, planned, server, progress, (stoppable, deployed) => {
      deployment = deployed;
      return measure(stoppable, planned, server, deployed, progress);
    });
  return trialOutcome(context, planned, startedAt, () => deployment, measuring);
}

/**
 * What came of a trial: its figures, or why there are none. Rejects only when the run is interrupted.
 * @param deployed what was deployed by the end, if anything
 */
export async function trialOutcome(
  { world, signal }: TrialContext,
  { key, case: { key: caseKey }, round, order }: PlannedTrial,
  startedAt: string,
  deployed: () => Deployment | null,
  measuring: () => Promise<Measured>,
): Promise<TrialOutcome> {
  const head = () => ({
    ...{ key, caseKey, round, order, startedAt },
    endedAt: world.clock.now().toISOString(),
    instances: [...(deployed()?.instances ?? [])],
  });
  const files = () => deployed()?.files ?? {};
  try {
    const measured = await measuring();
    return { trial: { ...head(), status: 'ok', ...measured }, files: files() };
  } catch (error) {
    signal.throwIfAborted();
    const trial: Trial = { ...head(), status: 'failed', loaderCommands: [], failure: failureOf(error) };
    return { trial, files: files() };
  }
}

/**
 * Deploys the server of a trial, measures it and removes it again. Rejects as `measuring` does, and when the server dies
 * meanwhile; nothing that was started lives on. `measuring` gets a context whose signal ends with the trial.
 */
export async function withServer<T>(
  context: TrialContext,
  planned: PlannedTrial,
  server: Server,
  progress: Pick<TrialProgress, 'phase'>,
  measuring: (context: TrialContext, deployment: Deployment) => Promise<T>,
): Promise<T> {
  const gaveUp = new AbortController();
  let deployment: Deployment | undefined;
  let measured: Promise<T> | undefined;
  const end = async () => {
    progress.phase('stopping');
    // When the server died, loaders may still be running: nothing of this trial may affect the next.
    gaveUp.abort();
    await measured?.catch(() => undefined);
    await deployment?.remove();
  };
  let result: T;
  try {
    progress.phase('starting');
    deployment = await deployTrial(context, planned, server);
    const stoppable = { ...context, signal: AbortSignal.any([context.signal, gaveUp.signal]) };
    measured = measuring(stoppable, deployment);
    result = await Promise.race([measured, deployment.died]);
  } catch (error) {
    // Pods of a lost node cannot be removed either: why the trial failed comes first.
    const problems = await end().then(
      () => [],
      (problem: unknown) => [problem],
    );
    throw joined([error, ...problems]);
  }
  await end();
  return result;
}

/** How the server of a case is deployed. */
export function deployRequest(
  { programOf, zoneSet, configuration, signal }: TrialContext,
  { mode, transport, allowances }: PlannedCase,
  server: Server,
) {
  const { workers } = configuration.kubernetes;
  return { ...{ server, program: programOf(server), zoneSet, mode, transport }, allowances, workers, signal };
}

/** Deploys the server of a trial. */
export function deployTrial(
  context: TrialContext,
  planned: PlannedTrial,
  server: Server,
): Promise<Deployment> {
  const logDirectory = rawFolderOf(context, planned);
  return context.target.deploy({ ...deployRequest(context, planned.case, server), logDirectory });
}

/** A failure as the record has it. */
export function failureOf(error: unknown): FailedTrial['failure'] {
  if (error instanceof BenchError) {
    return { code: error.code, message: error.message, fix: error.fix, evidence: [...error.evidence] };
  }
  return {
    code: 'E_INTERNAL',
    message: messageOf(error),
    fix: 'This is a bug in bench: please report it with the record of this run.',
    evidence: error instanceof Error ? (error.stack ?? '').split('\n').slice(1, 6) : [],
  };
}

async function measure(
  context: TrialContext,
  planned: PlannedTrial,
  server: Server,
  deployment: Deployment,
  progress: TrialProgress,
): Promise<Measured> {
  const { configuration } = context;
  const subject = { context, planned, server, deployment };
  const checkedAnswers = await checkAndWarmUp(subject, progress);
  let maxRate: MaxRate | null = null;
  if (configuration.objective === 'max-rate') {
    progress.phase('searching for the highest rate');
    maxRate = await findMaxRate(context, planned, deployment, progress);
  }
  progress.phase('measuring');
  const loaded = await watchedLoad(context, planned, deployment, paceOf(context, planned, maxRate), progress);
  return measuredOf(subject, loaded, checkedAnswers, maxRate);
}

/** The load that counts, and the rest of the machine meanwhile. */
async function watchedLoad(
  context: TrialContext,
  planned: PlannedTrial,
  deployment: Deployment,
  pace: Pace,
  progress: TrialProgress,
): Promise<Loaded> {
  const { durationSeconds } = context.configuration;
  const counting = await countServer(context, deployment);
  try {
    const stage = { stage: 'load', ...pace, durationSeconds, progress };
    const loaded = await watched<Loaded>(context.world, deployment, durationSeconds, (onStarted) =>
      loadAndObserve(context, planned, deployment, stage, onStarted),
    );
    return { ...loaded, counters: await counting.end() };
  } finally {
    await counting.end();
  }
}

/** Before the load that counts. Resolves with how many answers were checked. */
export async function checkAndWarmUp(subject: Subject, progress: TrialProgress): Promise<number> {
  const { context, planned, deployment } = subject;
  const { warmupSeconds } = context.configuration;
  progress.phase('checking answers');
  const checked = await checkDeployment(subject);
  if (warmupSeconds === 0) return checked;
  progress.phase('warming up');
  await runLoaders(context, planned, deployment, {
    stage: 'warm-up',
    ...paceOf(context, planned, null),
    durationSeconds: warmupSeconds,
    progress,
  });
  return checked;
}

/** An open loop at the rate that was found, or what the case asks for. */
export function paceOf(
  { configuration }: TrialContext,
  planned: PlannedTrial,
  maxRate: MaxRate | null,
): Pace {
  if (maxRate !== null) return { ratePerSecond: maxRate.rate, openLoop: true };
  return { ratePerSecond: planned.case.ratePerSecond, openLoop: configuration.openLoop };
}
