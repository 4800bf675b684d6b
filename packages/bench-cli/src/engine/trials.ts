/** The trials of a run, by default one after the other, each saved the moment it ends. */

import { printable } from '@dinodns-bench/program';
import { goalOf } from '../config/trial-settings.ts';
import { decidedByGate } from '../history/gate.ts';
import { failureOf } from '../measure/trial.ts';
import { oneAtATime } from '../one-at-a-time.ts';
import type { Display } from '../progress/display.ts';
import { assessView, levelOf, nextRounds, roundsToLook } from '../stats/until.ts';
import type { World } from '../world.ts';
import { type ExperimentPlan, LastTrial, type PlannedTrial, type TrialEvents } from './experiment.ts';
import { caseKeyOf, type Failure, type LivingRecord, type RecordForm, type TrialHead } from './form.ts';
import { inLanes } from './lanes.ts';
import { type MeasuredCase, planTrials, pointsOf } from './plan.ts';
import { createProgress, type Progress } from './progress.ts';
import type { EngineSettings } from './settings.ts';

export interface TrialsRequest<R extends LivingRecord, Evidence> {
  readonly world: World;
  readonly display: Display;
  readonly signal: AbortSignal;
  readonly engine: EngineSettings;
  readonly plan: Pick<ExperimentPlan<unknown>, 'lanes' | 'fits' | 'order' | 'isTogether'>;
  readonly cases: readonly MeasuredCase[];
  /** Of the subjects, by name. */
  readonly titles: ReadonlyMap<string, string>;
  readonly form: RecordForm<R, never, never, never, Evidence>;
  /** As it was saved last. */
  record(): R;
  save(record: R): Promise<void>;
  /** These trials at once: one, unless those of a point are taken together. */
  take(
    block: readonly PlannedTrial[],
    on: (planned: PlannedTrial) => TrialEvents,
  ): Promise<readonly Evidence[]>;
}

/** Asking again does not mend a wrong answer: the rest of the case fails with the same reason. */
function inherited(
  { trials }: Pick<LivingRecord, 'trials'>,
  { case: { key } }: PlannedTrial,
): Failure | null {
  const wrong = trials.find(
    (trial) =>
      caseKeyOf(trial) === key && trial.status === 'failed' && trial.failure.code === 'E_WRONG_ANSWER',
  );
  return wrong?.status === 'failed' ? wrong.failure : null;
}

interface TakenBlock<R extends LivingRecord> {
  readonly trials: readonly { readonly planned: PlannedTrial; readonly trial: R['trials'][number] }[];
  readonly last?: LastTrial;
}

async function takeBlock<R extends LivingRecord, E>(
  { world, signal, form, take, record }: TrialsRequest<R, E>,
  block: readonly PlannedTrial[],
  on: (planned: PlannedTrial) => TrialEvents,
  { cores }: Told,
): Promise<TakenBlock<R>> {
  const now = () => world.clock.now().toISOString();
  const startedAt = now();
  const head = ({ key, round, order }: PlannedTrial): TrialHead => ({
    key,
    round,
    order,
    startedAt,
    endedAt: now(),
  });
  const before = new Map(block.map((planned) => [planned, inherited(record(), planned)]));
  const able = block.filter((planned) => before.get(planned) === null);
  const failed = (planned: PlannedTrial, failure: Failure) => ({
    planned,
    trial: form.failedTrial(head(planned), failure),
  });
  const wrong = [...before].flatMap(([planned, failure]) =>
    failure === null ? [] : [failed(planned, failure)],
  );
  if (able.length === 0) return { trials: wrong };
  try {
    const found = await take(able, on);
    const taken = able.flatMap((planned, index) => {
      const evidence = found[index];
      if (evidence === undefined) return [];
      const trial = form.trialOf(record(), { ...head(planned), ...cores.get(planned.key) }, evidence);
      return [{ planned, trial }];
    });
    return { trials: [...wrong, ...taken] };
  } catch (error) {
    signal.throwIfAborted();
    const isLast = error instanceof LastTrial;
    const failure = failureOf(isLast ? error.reason : error);
    return {
      trials: [...wrong, ...able.map((planned) => failed(planned, failure))],
      ...(isLast ? { last: error } : {}),
    };
  }
}

/** What trials said besides their evidence. */
interface Told {
  /** What others took, by the key of the trial. */
  readonly cores: Map<string, Pick<TrialHead, 'taken'>>;
  /** The first files of each program. */
  readonly files: Map<string, Readonly<Record<string, string>>>;
  readonly warnings: Set<string>;
}

function withTold<R extends LivingRecord>(
  form: RecordForm<R, never, never, never, never>,
  record: R,
  { files, warnings }: Told,
): R {
  const programs = form
    .programsOf(record)
    .map((program) =>
      Object.keys(program.files).length > 0 ? program : { ...program, files: { ...files.get(program.name) } },
    );
  return form.withPrograms(
    { ...record, warnings: [...new Set([...record.warnings, ...warnings])] },
    programs,
  );
}

/** A resumed run with `--until` may already have more rounds than were asked for at first. */
function roundsSoFar<R extends LivingRecord, E>({ engine, record }: TrialsRequest<R, E>): number {
  const { until, trials: first, maxTrials } = engine;
  if (until === undefined) return first;
  const begun = Math.max(first, ...record().trials.map(({ round }) => round + 1));
  return typeof until === 'number' ? begun : roundsToLook(begun, first, maxTrials);
}

/** How long trials were under way: those side by side take their time together. */
export function secondsUnderWay(trials: readonly Pick<TrialHead, 'startedAt' | 'endedAt'>[]): number {
  const spans = trials.map(({ startedAt, endedAt }) => [Date.parse(startedAt), Date.parse(endedAt)] as const);
  let [milliseconds, until] = [0, Number.NEGATIVE_INFINITY];
  for (const [begin, end] of spans.toSorted(([a], [b]) => a - b)) {
    milliseconds += Math.max(0, end - Math.max(begin, until));
    until = Math.max(until, end);
  }
  return milliseconds / 1000;
}

function untilOf<R extends LivingRecord, E>(
  { engine, form, record }: TrialsRequest<R, E>,
  rounds: number,
): LivingRecord['until'] {
  const { until, maxTrials, maxTime, interval } = engine;
  if (until === undefined) return null;
  const { goal, width } = goalOf(until);
  const view = form.untilView(record());
  return assessView(goal === 'gate' ? decidedByGate(view, form.entryOf(record()), width, interval) : view, {
    ...{ goal, width, rounds },
    mostRounds: maxTrials,
    mostSeconds: maxTime ?? null,
    spentSeconds: secondsUnderWay(record().trials),
    first: engine.trials,
  });
}

/** Whether there is anything to keep, report or resume. */
const hasAnything = ({ trials, unfinished }: LivingRecord) => trials.length > 0 || unfinished !== undefined;

/** Without what these trials have kept. */
function without(unfinished: LivingRecord['unfinished'], keys: ReadonlySet<string>) {
  const left = Object.entries(unfinished ?? {}).filter(([key]) => !keys.has(key));
  return left.length === 0 ? undefined : Object.fromEntries(left);
}

/**
 * Takes every trial that the record does not have yet, with `--until` as many more rounds as needed. Resolves with the
 * complete record. Rejects when the run is interrupted, with the record saved as such if it has anything; the trial under way
 * is discarded, because half a trial is no measurement, except for what it has kept.
 */
export async function takeTrials<R extends LivingRecord, E>(request: TrialsRequest<R, E>): Promise<R> {
  const { world, engine, cases, save, signal, record, form } = request;
  let rounds = roundsSoFar(request);
  const { interval, until } = engine;
  const level = levelOf(until === undefined ? null : goalOf(until).goal);
  const summarized = (next: R) => form.summarized(next, cases, rounds, { interval, level });
  const end = (status: 'interrupted' | 'complete') => {
    const ended = summarized({ ...record(), status, endedAt: world.clock.now().toISOString() });
    return save(form.ended?.(ended) ?? ended);
  };
  try {
    for (;;) {
      await takeRounds(request, planTrials(cases, rounds, request.plan), (next) =>
        save(summarized({ ...next, status: 'running', endedAt: null })),
      );
      const state = untilOf(request, rounds);
      if (state === null) break;
      await save({ ...record(), until: state });
      if (state.reached || state.limit !== null) break;
      rounds = nextRounds(state, engine.trials);
    }
  } catch (error) {
    // The first error is the one to report; on a full disk saving fails again.
    if (hasAnything(record())) await end('interrupted').catch(() => undefined);
    signal.throwIfAborted();
    throw error;
  }
  await end('complete');
  return record();
}

async function takeRounds<R extends LivingRecord, E>(
  request: TrialsRequest<R, E>,
  trials: readonly PlannedTrial[],
  save: (record: R) => Promise<void>,
): Promise<void> {
  const { world, display, plan, cases, titles, record, signal, form } = request;
  const isMissing = ({ key }: PlannedTrial) => record().trials.every((trial) => trial.key !== key);
  const blocks = plan.isTogether === true ? pointsOf(trials) : trials.map((planned) => [planned]);
  // Of a block that was interrupted nothing was kept, and figures of its trials belong together.
  const missing = blocks.filter((block) => block.some(isMissing));
  const told: Told = { files: new Map(), warnings: new Set(), cores: new Map() };
  // Trials side by side: a save must not undo the one before.
  const alone = oneAtATime();
  const update = (change: (now: R) => R) => alone(() => save(change(record())));
  const progress = createProgress({
    ...{ display, clock: world.clock, cases, titles, lanes: plan.lanes ?? 1 },
    ...{ missing: missing.flat(), total: trials.length },
  });
  await inLanes(missing, {
    ...plan,
    signal,
    casesOf: (block) => block.map((planned) => planned.case),
    take: (block) =>
      takeBlock(
        request,
        block,
        (planned) => ({
          ...eventsOf(progress, block, planned, told),
          kept: record().unfinished?.[planned.key],
          keep: (found) =>
            update((now) => ({ ...now, unfinished: { ...now.unfinished, [planned.key]: found } })),
        }),
        told,
      ),
    async onEnd(block, { trials: taken, last }) {
      const keys = new Set(block.map(({ key }) => key));
      await update((now) => {
        const others = now.trials.filter(({ key }) => !keys.has(key));
        const trials = [...others, ...taken.map(({ trial }) => trial)].toSorted((a, b) => a.order - b.order);
        return withTold(form, { ...now, trials, unfinished: without(now.unfinished, keys) }, told);
      });
      const results = taken.map(({ planned, trial }) => ({ planned, line: lineOf(form, record(), trial) }));
      progress.ended(block, results);
      if (last !== undefined) throw last.reason;
    },
  });
}

function eventsOf(
  progress: Progress,
  lane: object,
  planned: PlannedTrial,
  { files, warnings, cores }: Told,
): Omit<TrialEvents, 'keep' | 'kept'> {
  return {
    ...progress.eventsOf(lane, planned),
    files(program, found) {
      if (!files.has(program) && Object.keys(found).length > 0) files.set(program, found);
    },
    warning: (text) => void warnings.add(text),
    taken: (count) => void cores.set(planned.key, { taken: count }),
  };
}

/** Its figures, or why it failed, with the evidence below. */
function lineOf<R extends LivingRecord>(
  form: RecordForm<R, never, never, never, never>,
  record: R,
  trial: R['trials'][number],
): string {
  if (trial.status === 'ok') return form.lineOf(record, trial);
  const { message, evidence } = trial.failure;
  return [`failed: ${message}`, ...evidence.map((text) => `      ${text}`)].map(printable).join('\n');
}
