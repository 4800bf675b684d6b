/** The trials of a run, by default one after the other, each saved the moment it ends. */

import { failureOf } from '../measure/trial.ts';
import type { Display } from '../progress/display.ts';
import { assessView, LOOK_LEVEL, nextRounds, roundsToLook } from '../stats/until.ts';
import { formatDuration } from '../text.ts';
import type { World } from '../world.ts';
import { summarizeCases, untilView } from './cases.ts';
import { type Estimand, showFigure } from './estimand.ts';
import { type ExperimentPlan, LastTrial, type PlannedTrial, type TrialEvents } from './experiment.ts';
import { inLanes } from './lanes.ts';
import { expectedSeconds, type MeasuredCase, planTrials, type TrialPlan } from './plan.ts';
import type { EngineRecord, EngineTrial } from './record.ts';
import type { EngineSettings } from './settings.ts';

export interface TrialsRequest<Evidence, Settings> {
  readonly world: World;
  readonly display: Display;
  readonly signal: AbortSignal;
  readonly engine: EngineSettings;
  readonly plan: Pick<ExperimentPlan<unknown>, 'lanes' | 'fits' | 'order'>;
  readonly cases: readonly MeasuredCase[];
  /** Of the subjects, by name. */
  readonly titles: ReadonlyMap<string, string>;
  readonly estimands: readonly Estimand<Evidence>[];
  /** As it was saved last. */
  record(): EngineRecord<Evidence, Settings>;
  save(record: EngineRecord<Evidence, Settings>): Promise<void>;
  trial(planned: PlannedTrial, on: TrialEvents): Promise<Evidence>;
}

type Trials<E> = readonly EngineTrial<E>[];

/** Figures and bounds of a trial. */
function figuresOf<E>(estimands: readonly Estimand<E>[], evidence: E) {
  const found = estimands.map((estimand) => [estimand.name, estimand.of(evidence)] as const);
  return {
    figures: Object.fromEntries(
      found.map(([name, value]) => [name, typeof value === 'object' ? (value?.bound ?? null) : value]),
    ),
    bounds: found.flatMap(([name, value]) => (typeof value === 'object' && value !== null ? [name] : [])),
  };
}

/** Asking again does not mend a wrong answer: the rest of the case fails with the same reason. */
function inherited<E>(trials: Trials<E>, { case: { key } }: PlannedTrial) {
  return trials.find(
    (trial) => trial.case === key && trial.status === 'failed' && trial.failure.code === 'E_WRONG_ANSWER',
  );
}

interface TakenTrial<E> {
  readonly trial: EngineTrial<E>;
  readonly last?: LastTrial;
}

async function takeTrial<E, S>(
  { world, signal, estimands, trial, record }: TrialsRequest<E, S>,
  planned: PlannedTrial,
  on: TrialEvents,
): Promise<TakenTrial<E>> {
  const now = () => world.clock.now().toISOString();
  const { key, round, order } = planned;
  const head = { key, case: planned.case.key, round, order, startedAt: now() };
  const before = inherited(record().trials, planned);
  if (before?.status === 'failed')
    return { trial: { ...head, endedAt: now(), status: 'failed', failure: before.failure } };
  try {
    const evidence = await trial(planned, on);
    const figures = figuresOf(estimands, evidence);
    return { trial: { ...head, endedAt: now(), status: 'ok', ...figures, evidence } };
  } catch (error) {
    signal.throwIfAborted();
    const isLast = error instanceof LastTrial;
    const failure = failureOf(isLast ? error.reason : error);
    return {
      trial: { ...head, endedAt: now(), status: 'failed', failure },
      ...(isLast ? { last: error } : {}),
    };
  }
}

/** With the first files of each program. */
function withFiles<R extends Pick<EngineRecord<unknown>, 'programs'>>(
  record: R,
  files: ReadonlyMap<string, Readonly<Record<string, string>>>,
): R {
  const programs = record.programs.map((program) =>
    Object.keys(program.files).length > 0 ? program : { ...program, files: { ...files.get(program.name) } },
  );
  return { ...record, programs };
}

/** A resumed run with `--until` may already have more rounds than were asked for at first. */
function roundsSoFar({ engine, record }: TrialsRequest<never, never>): number {
  const { until, trials: first, maxTrials } = engine;
  if (until === undefined) return first;
  const begun = Math.max(first, ...record().trials.map(({ round }) => round + 1));
  return typeof until === 'number' ? begun : roundsToLook(begun, first, maxTrials);
}

/** How long trials were under way: those side by side take their time together. */
export function secondsUnderWay(
  trials: readonly Pick<EngineTrial<unknown>, 'startedAt' | 'endedAt'>[],
): number {
  const spans = trials.map(({ startedAt, endedAt }) => [Date.parse(startedAt), Date.parse(endedAt)] as const);
  let [milliseconds, until] = [0, Number.NEGATIVE_INFINITY];
  for (const [begin, end] of spans.toSorted(([a], [b]) => a - b)) {
    milliseconds += Math.max(0, end - Math.max(begin, until));
    until = Math.max(until, end);
  }
  return milliseconds / 1000;
}

function untilOf<E, S>(
  { engine }: Pick<TrialsRequest<E, S>, 'engine'>,
  rounds: number,
  record: EngineRecord<E, S>,
): EngineRecord<E, S>['until'] {
  const { until, maxTrials, maxTime } = engine;
  if (until === undefined) return null;
  return assessView(untilView(record), {
    goal: typeof until === 'number' ? 'width' : 'verdict',
    width: typeof until === 'number' ? until : until.verdict,
    rounds,
    mostRounds: maxTrials,
    mostSeconds: maxTime ?? null,
    spentSeconds: secondsUnderWay(record.trials),
  });
}

/**
 * Takes every trial that the record does not have yet, with `--until` as many more rounds as needed. Resolves with the
 * complete record. Rejects when the run is interrupted, with the record saved as such if it has a trial; the trial under way
 * is discarded, because half a trial is no measurement.
 */
export async function takeTrials<E, S>(request: TrialsRequest<E, S>): Promise<EngineRecord<E, S>> {
  const { world, engine, cases, save, signal, record } = request;
  let rounds = roundsSoFar(request as unknown as TrialsRequest<never, never>);
  const { interval, until } = engine;
  const level = typeof until === 'object' ? { level: LOOK_LEVEL } : {};
  const summarized = (next: EngineRecord<E, S>) => ({
    ...next,
    cases: summarizeCases(cases, rounds, next, { interval, ...level }),
  });
  const end = (status: 'interrupted' | 'complete') =>
    save({ ...summarized(record()), status, endedAt: world.clock.now().toISOString() });
  try {
    for (;;) {
      const plan = planTrials(cases, rounds, request.plan);
      await takeRounds(request, plan, (next) =>
        save(summarized({ ...next, status: 'running', endedAt: null })),
      );
      const state = untilOf(request, rounds, record());
      if (state === null) break;
      await save({ ...record(), until: state });
      if (state.reached || state.limit !== null) break;
      rounds = nextRounds(state, engine.trials);
    }
  } catch (error) {
    // The first error is the one to report; on a full disk saving fails again.
    if (record().trials.length > 0) await end('interrupted').catch(() => undefined);
    signal.throwIfAborted();
    throw error;
  }
  await end('complete');
  return record();
}

async function takeRounds<E, S>(
  request: TrialsRequest<E, S>,
  { trials }: TrialPlan,
  save: (record: EngineRecord<E, S>) => Promise<void>,
): Promise<void> {
  const { world, display, estimands, plan, record, signal } = request;
  const missing = trials.filter(({ key }) => record().trials.every((trial) => trial.key !== key));
  const files = new Map<string, Readonly<Record<string, string>>>();
  const begin = world.clock.monotonicSeconds();
  const expected = expectedSeconds(missing);
  let done = 0;
  const onLine = lineOfLanes(display);
  await inLanes(missing, {
    ...plan,
    signal,
    take(planned) {
      const head = headOf(request, planned, trials.length);
      return takeTrial(
        request,
        planned,
        eventsOf((text) => onLine(head, text), files),
      );
    },
    async onEnd(planned, { trial, last }) {
      const head = headOf(request, planned, trials.length);
      onLine(head, null);
      const all = [...record().trials, trial].toSorted((a, b) => a.order - b.order);
      await save(withFiles({ ...record(), trials: all }, files));
      // What is expected, corrected by what the trials of this run have taken so far.
      done += planned.case.expectedSeconds;
      const left = ((expected - done) * (world.clock.monotonicSeconds() - begin)) / done;
      display.line(
        `${head}: ${lineOf(estimands, trial)}${left > 0 ? `; about ${formatDuration(left)} left` : ''}`,
      );
      if (last !== undefined) throw last.reason;
    },
  });
}

/** What the trials under way are doing, on one line. */
function lineOfLanes(display: Display): (head: string, text: string | null) => void {
  const texts = new Map<string, string>();
  return (head, text) => {
    if (text === null) texts.delete(head);
    else texts.set(head, text);
    if (texts.size > 0) display.live(`  ${[...texts].map(([each, what]) => `${each}: ${what}`).join(' | ')}`);
  };
}

/** `3/9  DinoDNS, tier 2, trial 1`: of the point, what is not the same in all cases. */
function headOf(
  { cases, titles }: TrialsRequest<never, never> | TrialsRequest<unknown, unknown>,
  planned: PlannedTrial,
  total: number,
): string {
  const { case: item, round, order } = planned;
  const varying = Object.entries(item.point).filter(([name, value]) =>
    cases.some(({ point }) => point[name] !== value),
  );
  const isTwin = cases.some(({ key, aa }) => key === item.key && aa);
  const words = [
    titles.get(item.subject) ?? item.subject,
    ...varying.map(([name, value]) => (typeof value === 'number' ? `${name} ${value}` : value)),
    ...(isTwin ? ['A/A'] : []),
    `trial ${round + 1}`,
  ];
  return `${order + 1}/${total}  ${words.join(', ')}`;
}

function eventsOf(
  show: (text: string) => void,
  files: Map<string, Readonly<Record<string, string>>>,
): TrialEvents {
  return {
    phase: show,
    rate: (qps) => show(`${Math.round(qps).toLocaleString('en')} queries/s answered`),
    files(program, found) {
      if (!files.has(program)) files.set(program, found);
    },
  };
}

/** The compared figures of a trial, or why it failed. */
function lineOf<E>(estimands: readonly Estimand<E>[], trial: EngineTrial<E>): string {
  if (trial.status === 'failed') return `failed: ${trial.failure.message}`;
  return estimands
    .filter(({ compared, awaited = true }) => compared !== 'no' && awaited)
    .flatMap((estimand) => {
      const value = trial.figures[estimand.name];
      if (value == null) return [];
      const sign = trial.bounds.includes(estimand.name) ? (estimand.better === 'more' ? '≥ ' : '≤ ') : '';
      return [`${estimand.title} ${sign}${showFigure(estimand, value)}`];
    })
    .join(', ');
}
