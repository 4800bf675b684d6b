/**
 * Runs a plan: every trial in order, the record saved the moment a trial ends. Knows nothing of flags and
 * terminals; what happens is told as events.
 */
import { BenchError } from '../errors.ts';
import type { Plan, PlannedTrial } from '../plan/plan.ts';
import type { FailedTrial, RunRecord, ServerRecord, Trial } from '../results/record.ts';
import type { ServerKind } from '../servers/server.ts';
import { summarizeCases } from '../stats/cases.ts';
import type { World } from '../world.ts';
import { runTrial } from './trial.ts';
import type { TrialContext, TrialPhase } from './trial-context.ts';

export interface RunEvents {
  trialStarted(planned: PlannedTrial, server: ServerKind): void;
  phase(phase: TrialPhase): void;
  rate(qps: number): void;
  trialEnded(planned: PlannedTrial, server: ServerKind, trial: Trial): void;
}

export interface RunRequest {
  readonly world: World;
  readonly plan: Plan;
  readonly servers: readonly ServerKind[];
  readonly context: TrialContext;
  /** The record so far: without trials for a new run, with some for one that is resumed. */
  readonly record: RunRecord;
  readonly save: (record: RunRecord) => Promise<void>;
  readonly events: RunEvents;
  readonly signal: AbortSignal;
}

/** The files of the first trial of each server; they are the same in all others but for the port. */
function withFiles(
  servers: readonly ServerRecord[],
  kind: string,
  files: Readonly<Record<string, string>>,
): ServerRecord[] {
  return servers.map((server) =>
    server.kind === kind && Object.keys(server.files).length === 0
      ? { ...server, files: { ...files } }
      : server,
  );
}

/** A wrong answer does not become right by asking again: the rest of the case fails with the same reason. */
function inheritedFailure(planned: PlannedTrial, cause: FailedTrial, now: string): FailedTrial {
  return {
    key: planned.key,
    caseKey: planned.case.key,
    round: planned.round,
    order: planned.order,
    startedAt: now,
    endedAt: now,
    instances: [],
    loaderCommands: [],
    status: 'failed',
    failure: cause.failure,
  };
}

/** Replaces what the trials say about the run: the trials in order, the cases, the status. */
function updated(request: RunRequest, record: RunRecord, trials: readonly Trial[]): RunRecord {
  return {
    ...record,
    trials: [...trials].sort((a, b) => a.order - b.order),
    cases: summarizeCases(request.plan.cases, trials, record.baseline),
  };
}

/**
 * Runs every trial of the plan that the record does not hold yet, and resolves with the complete record.
 * When the signal is aborted it saves the record as `interrupted` and rejects with the signal's reason; the
 * trial in progress is given up, because half a trial is no measurement.
 */
export async function executeRun(request: RunRequest): Promise<RunRecord> {
  const { world, plan, signal, events } = request;
  let record = updated(
    request,
    { ...request.record, status: 'running', endedAt: null },
    request.record.trials,
  );
  await request.save(record);
  try {
    for (const planned of plan.trials) {
      if (record.trials.some((trial) => trial.key === planned.key)) continue;
      signal.throwIfAborted();
      const server = request.servers.find((kind) => kind.name === planned.case.server);
      if (server === undefined)
        throw new BenchError('E_INTERNAL', `no server kind ${planned.case.server}`, {
          fix: 'Report this bug.',
        });
      events.trialStarted(planned, server);
      const { trial, files } = await oneTrial(request, record, planned, server);
      record = updated(request, { ...record, servers: withFiles(record.servers, server.name, files) }, [
        ...record.trials,
        trial,
      ]);
      await request.save(record);
      events.trialEnded(planned, server, trial);
    }
  } catch (error) {
    const status = { status: 'interrupted' as const, endedAt: world.clock.now().toISOString() };
    // The first error is the one to report; on a full disk saving fails again.
    await request.save({ ...record, ...status }).catch(() => undefined);
    throw error;
  }
  record = { ...record, status: 'complete', endedAt: world.clock.now().toISOString() };
  await request.save(record);
  return record;
}

async function oneTrial(
  request: RunRequest,
  record: RunRecord,
  planned: PlannedTrial,
  server: ServerKind,
): Promise<{ trial: Trial; files: Readonly<Record<string, string>> }> {
  const wrong = record.trials.find(
    (trial): trial is FailedTrial =>
      trial.status === 'failed' &&
      trial.caseKey === planned.case.key &&
      trial.failure.code === 'E_WRONG_ANSWER',
  );
  if (wrong !== undefined) {
    return { trial: inheritedFailure(planned, wrong, request.world.clock.now().toISOString()), files: {} };
  }
  return runTrial(request.context, planned, server, request.events);
}
