/**
 * Runs a plan: every trial in order, saving the record as soon as a trial ends. Knows nothing about flags and
 * terminals; it reports progress as events.
 */
import { BenchError } from '../errors.ts';
import { type Plan, type PlannedTrial, withRounds } from '../plan/plan.ts';
import type { FailedTrial, OkTrial, RunRecord, ServerRecord, Trial } from '../results/record.ts';
import type { Server } from '../servers/server.ts';
import { summarizeRun } from '../stats/cases.ts';
import { examineDrift } from '../stats/drift.ts';
import { assessUntil } from '../stats/until.ts';
import type { World } from '../world.ts';
import { overlapWarnings } from './several-loaders.ts';
import { runTrial } from './trial.ts';
import type { TrialContext, TrialPhase } from './trial-context.ts';

export interface RunEvents {
  trialStarted(planned: PlannedTrial, server: Server): void;
  phase(phase: TrialPhase): void;
  rate(qps: number): void;
  trialEnded(planned: PlannedTrial, server: Server, trial: Trial): void;
  /** With `--until`: the rounds so far are not enough, and this is the plan with one more. */
  planExtended(plan: Plan): void;
}

export interface RunRequest {
  readonly world: World;
  readonly plan: Plan;
  readonly servers: readonly Server[];
  readonly context: TrialContext;
  /** The record so far: without trials for a new run, with some for a resumed one. */
  readonly record: RunRecord;
  readonly save: (record: RunRecord) => Promise<void>;
  readonly events: RunEvents;
  readonly signal: AbortSignal;
}

/** The files of the first trial of each server; they are the same in all others but for the port. */
function withFiles(
  servers: readonly ServerRecord[],
  name: string,
  files: Readonly<Record<string, string>>,
): ServerRecord[] {
  return servers.map((server) =>
    server.name === name && Object.keys(server.files).length === 0
      ? { ...server, files: { ...files } }
      : server,
  );
}

/** Asking again does not fix a wrong answer: the rest of the case fails with the same reason. */
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

/** Replaces what the trials say about the run: the trials in order, the cases, the noise floor. */
function updated(request: RunRequest, plan: Plan, record: RunRecord, trials: readonly Trial[]): RunRecord {
  const { interval } = request.context.configuration;
  return {
    ...record,
    trials: [...trials].sort((a, b) => a.order - b.order),
    ...summarizeRun(plan.cases, trials, record.baseline, { interval, seed: record.id }),
  };
}

/** The record with what only the whole run can show. */
function concluded(request: RunRequest, record: RunRecord, status: 'complete' | 'interrupted'): RunRecord {
  const ok = record.trials.filter((trial): trial is OkTrial => trial.status === 'ok');
  return {
    ...record,
    status,
    endedAt: request.world.clock.now().toISOString(),
    drift: examineDrift(ok),
  };
}

/** The plan so far: a resumed run with `--until` may already have extra rounds. */
function planSoFar({ plan, record, context }: RunRequest): Plan {
  if (context.configuration.until === null) return plan;
  const rounds = Math.max(...record.trials.map(({ round }) => round + 1), context.configuration.trials);
  return withRounds(plan, rounds);
}

/** The state of `--until` after the plan's last round; null without it. */
function untilOf(request: RunRequest, plan: Plan, record: RunRecord): RunRecord['until'] {
  const { until, maxTrials, maxTimeSeconds } = request.context.configuration;
  if (until === null) return null;
  const spent = record.trials.reduce(
    (sum, trial) => sum + (Date.parse(trial.endedAt) - Date.parse(trial.startedAt)) / 1000,
    0,
  );
  return assessUntil(record.cases, {
    width: until,
    rounds: Math.max(0, ...plan.cases.map(({ plannedTrials }) => plannedTrials)),
    mostRounds: maxTrials,
    mostSeconds: maxTimeSeconds,
    spentSeconds: spent,
  });
}

/**
 * Runs every trial of the plan that the record does not have yet, with `--until` as many more rounds as needed, and
 * resolves with the complete record.
 * When the signal is aborted it saves the record as `interrupted` and rejects with the signal's reason; the
 * trial in progress is discarded, because half a trial is not a measurement.
 */
export async function executeRun(request: RunRequest): Promise<RunRecord> {
  let plan = planSoFar(request);
  const start: RunRecord = { ...request.record, status: 'running', endedAt: null };
  let record = updated(request, plan, start, start.trials);
  await request.save(record);
  try {
    if (plan !== request.plan) request.events.planExtended(plan);
    for (;;) {
      for (const planned of plan.trials) {
        if (record.trials.some((trial) => trial.key === planned.key)) continue;
        record = await addTrial(request, plan, record, planned);
      }
      const until = untilOf(request, plan, record);
      record = { ...record, until };
      if (until === null || until.reached || until.limit !== null) break;
      plan = withRounds(plan, until.rounds + 1);
      request.events.planExtended(plan);
    }
  } catch (error) {
    // The first error is the one to report; on a full disk saving fails again.
    await request.save(concluded(request, record, 'interrupted')).catch(() => undefined);
    throw error;
  }
  record = concluded(request, record, 'complete');
  await request.save(record);
  return record;
}

/** Runs one trial and saves the record with it. */
async function addTrial(
  request: RunRequest,
  plan: Plan,
  record: RunRecord,
  planned: PlannedTrial,
): Promise<RunRecord> {
  const { signal, events } = request;
  signal.throwIfAborted();
  const server = request.servers.find(({ name }) => name === planned.case.server);
  if (server === undefined)
    throw new BenchError('E_INTERNAL', `no server ${planned.case.server}`, {
      fix: 'Report this bug.',
    });
  events.trialStarted(planned, server);
  const { trial, files } = await oneTrial(request, record, planned, server);
  const servers = withFiles(record.servers, server.name, files);
  const told = request.context.target.warnings?.() ?? [];
  const warnings = [...new Set([...record.warnings, ...told, ...overlapWarnings(trial)])];
  const next = updated(request, plan, { ...record, servers, warnings }, [...record.trials, trial]);
  await request.save(next);
  events.trialEnded(planned, server, trial);
  return next;
}

async function oneTrial(
  request: RunRequest,
  record: RunRecord,
  planned: PlannedTrial,
  server: Server,
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
