/**
 * Runs a plan: every trial in order, saving the record as soon as a trial ends. Knows nothing about flags and
 * terminals; it reports progress as events.
 */
import { BenchError } from '../errors.ts';
import { blocksOfTrials, type Plan, type PlannedTrial, withRounds } from '../plan/plan.ts';
import type { FailedTrial, OkTrial, RunRecord, ServerRecord, Trial } from '../results/record.ts';
import type { Server } from '../servers/server.ts';
import { summarizeRun } from '../stats/cases.ts';
import { examineDrift } from '../stats/drift.ts';
import { assessUntil, LOOK_LEVEL, nextRounds } from '../stats/until.ts';
import type { World } from '../world.ts';
import { runDuetRound } from './duet.ts';
import type { Entrant } from './duet-contestant.ts';
import { overlapWarnings } from './several-loaders.ts';
import { runTrial, type TrialOutcome } from './trial.ts';
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
  const { interval, until } = request.context.configuration;
  const level = typeof until === 'object' && until !== null ? { level: LOOK_LEVEL } : {};
  return {
    ...record,
    trials: [...trials].sort((a, b) => a.order - b.order),
    ...summarizeRun(plan.cases, trials, record.baseline, {
      interval,
      seed: record.id,
      ...level,
    }),
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

/** The time in which at least one of the trials was under way: those of a duet are so together. */
function measuredSeconds(trials: readonly Trial[]): number {
  const spans = trials.map(({ startedAt, endedAt }) => [Date.parse(startedAt), Date.parse(endedAt)] as const);
  let [milliseconds, reached] = [0, 0];
  for (const [start, end] of spans.toSorted((a, b) => a[0] - b[0])) {
    milliseconds += Math.max(0, end - Math.max(start, reached));
    reached = Math.max(reached, end);
  }
  return milliseconds / 1000;
}

/** The state of `--until` after the plan's last round; null without it. */
function untilOf(request: RunRequest, plan: Plan, record: RunRecord): RunRecord['until'] {
  const { until, maxTrials, maxTimeSeconds } = request.context.configuration;
  if (until === null) return null;
  const spent = measuredSeconds(record.trials);
  return assessUntil(record.cases, {
    goal: typeof until === 'number' ? 'width' : 'verdict',
    width: typeof until === 'number' ? until : until.verdict,
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
      const isMissing = ({ key }: PlannedTrial) => !record.trials.some((trial) => trial.key === key);
      for (const block of partsOf(plan)) {
        if (block.some(isMissing)) record = await addTrials(request, plan, record, block);
      }
      const until = untilOf(request, plan, record);
      record = { ...record, until };
      if (until === null || until.reached || until.limit !== null) break;
      plan = withRounds(plan, nextRounds(until, request.context.configuration.trials));
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

/** What is measured together: a trial, or with `--duet` all trials of a point in a round. */
function partsOf(plan: Plan): PlannedTrial[][] {
  return plan.duet === null ? plan.trials.map((planned) => [planned]) : blocksOfTrials(plan.trials);
}

/** The server of each trial. */
function entrantsOf({ servers }: RunRequest, block: readonly PlannedTrial[]): Entrant[] {
  return block.map((planned) => {
    const server = servers.find(({ name }) => name === planned.case.server);
    if (server !== undefined) return { planned, server };
    throw new BenchError('E_INTERNAL', `no server ${planned.case.server}`, { fix: 'Report this bug.' });
  });
}

/** Measures these trials and saves the record with them. Of a round that was interrupted, nothing was kept. */
async function addTrials(
  request: RunRequest,
  plan: Plan,
  record: RunRecord,
  block: readonly PlannedTrial[],
): Promise<RunRecord> {
  const { signal, events } = request;
  signal.throwIfAborted();
  const entrants = entrantsOf(request, block);
  const outcomes = await measureTrials(request, plan, record, entrants);
  const trials = outcomes.map(({ trial }) => trial);
  const servers = entrants.reduce<ServerRecord[]>(
    (list, { server }, index) => withFiles(list, server.name, outcomes[index]?.files ?? {}),
    record.servers,
  );
  const told = request.context.target.warnings?.() ?? [];
  const warnings = [...new Set([...record.warnings, ...told, ...trials.flatMap(overlapWarnings)])];
  const others = record.trials.filter(({ key }) => !trials.some((trial) => trial.key === key));
  const next = updated(request, plan, { ...record, servers, warnings }, [...others, ...trials]);
  await request.save(next);
  for (const [index, { planned, server }] of entrants.entries()) {
    const trial = trials[index];
    if (trial !== undefined) events.trialEnded(planned, server, trial);
  }
  return next;
}

/** In the order of `entrants`. */
async function measureTrials(
  request: RunRequest,
  { duet }: Plan,
  record: RunRecord,
  entrants: readonly Entrant[],
): Promise<TrialOutcome[]> {
  const { context, events, world } = request;
  const inherited = entrants.map(({ planned }) =>
    inheritedOf(record, planned, world.clock.now().toISOString()),
  );
  const able = entrants.filter((_, index) => inherited[index] === null);
  const measured =
    duet === null
      ? await Promise.all(able.map(({ planned, server }) => oneTrial(request, planned, server)))
      : able.length === 0
        ? []
        : await runDuetRound(context, able, duet, events);
  return entrants.flatMap((entrant, index) => {
    const trial = inherited[index];
    return trial == null ? (measured[able.indexOf(entrant)] ?? []) : { trial, files: {} };
  });
}

function oneTrial(request: RunRequest, planned: PlannedTrial, server: Server): Promise<TrialOutcome> {
  request.events.trialStarted(planned, server);
  return runTrial(request.context, planned, server, request.events);
}

/** The failure of a server that answered wrongly in an earlier round; null if it did not. */
function inheritedOf(record: RunRecord, planned: PlannedTrial, now: string): FailedTrial | null {
  const wrong = record.trials.find(
    (trial): trial is FailedTrial =>
      trial.status === 'failed' &&
      trial.caseKey === planned.case.key &&
      trial.failure.code === 'E_WRONG_ANSWER',
  );
  return wrong === undefined ? null : inheritedFailure(planned, wrong, now);
}
