/** The form of a record: how the life of a run makes, extends and reads it, whatever else is in it. Pure. */
import type { z } from 'zod';
import type { SettingsOf, SettingTable } from '../config/setting.ts';
import type { Entry } from '../history/entry.ts';
import { documentFormats } from '../report/document/index.ts';
import { estimandSchema, showFigure } from '../report/estimand.ts';
import type { FailedTrial, ServerRecord, Until } from '../results/record.ts';
import type { RecordHeader } from '../results/record-kind.ts';
import { runHead } from '../results/run-head.ts';
import type { TestOptions } from '../stats/sample-test.ts';
import type { UntilView } from '../stats/until.ts';
import { shellCommand } from '../text.ts';
import { summarizeCases, untilView } from './cases.ts';
import { documentOf, statusOf } from './document.ts';
import { engineEntry } from './entry.ts';
import type { Estimand } from './estimand.ts';
import type { ExperimentDefinition, ExperimentPlan, Opened } from './experiment.ts';
import type { MeasuredCase } from './plan.ts';
import { ENGINE_SCHEMA_VERSION, type EngineRecord, type EngineTrial, engineKind } from './record.ts';
import type { RecordsDefinition } from './records.ts';
import { commandName, commandOf, tableOf } from './settings.ts';

/** Where a trial has its place, and when it was taken. */
export interface TrialHead {
  /** `<key of its case>#<round>` */
  readonly key: string;
  readonly round: number;
  readonly order: number;
  readonly startedAt: string;
  readonly endedAt: string;
  /** As in the record. */
  readonly taken?: number | undefined;
}

/** Why a trial failed. */
export type Failure = FailedTrial['failure'];

/** A trial as every record has it. */
export type TakenTrial = TrialHead &
  ({ readonly status: 'ok' } | { readonly status: 'failed'; readonly failure: Failure });

/** A record as the life of its run sees it. */
export interface LivingRecord extends RecordHeader {
  /** Name of the subject that others are compared with; null where nothing is compared. */
  readonly baseline: string | null;
  readonly trials: readonly TakenTrial[];
  /** What trials that have not ended have found so far (`TrialEvents.keep`), by their keys. */
  readonly unfinished?: Readonly<Record<string, unknown>> | undefined;
  /** Null without `--until`. */
  readonly until: Until | null;
  /** What closing came to, in sentences. */
  readonly closing?: string[] | undefined;
}

/** Key of the case of a trial. */
export function caseKeyOf({ key, round }: Pick<TrialHead, 'key' | 'round'>): string {
  return key.slice(0, -`#${round}`.length);
}

/** Conditions of experiments that load servers: what sends the load, and how CPU is limited. */
export function loadConditions(
  { kind, version }: { readonly kind: string; readonly version: string },
  { method }: { readonly method: string },
) {
  return { 'load generator': `${kind} ${version}`, 'CPU limits': method };
}

/** A run whose first trial is about to begin. */
export interface StartOfRun<Settings, Decided, Context> {
  readonly id: string;
  readonly argv: readonly string[];
  readonly startedAt: string;
  readonly settings: Settings;
  readonly plan: ExperimentPlan<Decided>;
  readonly opened: Opened<Context, unknown, unknown>;
}

export interface RecordForm<R extends LivingRecord, Settings, Decided, Context, Evidence>
  extends Pick<RecordsDefinition<R>, 'kind' | 'formats' | 'deltaOf'> {
  /** Every setting, as files name them, for resuming. */
  settingsOf(record: R): Readonly<Record<string, unknown>>;
  programsOf(record: R): readonly ServerRecord[];
  withPrograms(record: R, programs: readonly ServerRecord[]): R;
  /** As `Opened.conditions`. */
  conditionsOf(record: R): Readonly<Record<string, string>>;
  /** Without a trial; its cases are those of `summarized`. */
  start(run: StartOfRun<Settings, Decided, Context>): R;
  /** A trial, of what it came to. */
  trialOf(record: R, head: TrialHead, evidence: Evidence): R['trials'][number];
  failedTrial(head: TrialHead, failure: Failure): R['trials'][number];
  /** With cases and comparisons of the trials so far. */
  summarized(record: R, cases: readonly MeasuredCase[], rounds: number, options: TestOptions): R;
  untilView(record: R): UntilView;
  /** As the history sees it. */
  entryOf(record: R): Entry;
  /** With what only the end of a run can show. Default: nothing. */
  ended?(record: R): R;
  /** Said at the start besides the warnings. Default: nothing. */
  notesOf?(record: R): readonly string[];
  /** A trial that did not fail, in a line. */
  lineOf(record: R, trial: R['trials'][number]): string;
  exitStatusOf(record: R): number;
}

/** Loads the form of an experiment's records when it is needed. */
export type LoadForm<T extends SettingTable, D, C, E, R extends LivingRecord> = () =>
  | RecordForm<R, SettingsOf<T>, D, C, E>
  | Promise<RecordForm<R, SettingsOf<T>, D, C, E>>;

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

/** The compared figures of a trial. */
function lineOf<E>({ estimands }: Pick<EngineRecord<E>, 'estimands'>, trial: EngineTrial<E>): string {
  if (trial.status === 'failed') return '';
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

/** The form of all experiments that do not have their own. */
export function engineForm<T extends SettingTable, D, C, V extends z.ZodType>(
  definition: ExperimentDefinition<T, D, C, V>,
): RecordForm<EngineRecord<z.output<V>, SettingsOf<T>>, SettingsOf<T>, D, C, z.output<V>> {
  type Evidence = z.output<V>;
  const kind = engineKind<V, SettingsOf<T>>(definition.name, definition.evidence);
  return {
    kind,
    formats: [
      ...documentFormats<z.output<typeof kind.schema>>((record) =>
        documentOf(record, definition.document(record)),
      ),
      ...(definition.formats ?? []),
    ],
    settingsOf: ({ settings }) => settings,
    programsOf: ({ programs }) => programs,
    withPrograms: (record, programs) => ({ ...record, programs: [...programs] }),
    conditionsOf: ({ conditions }) => conditions,
    start({ id, argv, startedAt, settings, plan, opened }) {
      const { environment, programs, provisioned, conditions, warnings } = opened;
      const trials: EngineTrial<Evidence>[] = [];
      return {
        schemaVersion: ENGINE_SCHEMA_VERSION,
        experiment: definition.name,
        id,
        ...runHead(argv, startedAt),
        command: shellCommand(commandOf(commandName(definition), tableOf(definition.settings), settings)),
        environment,
        warnings: [...warnings],
        servers: programs.map((program) => program.name),
        settings,
        subjects: plan.subjects.map((subject) => ({ ...subject })),
        baseline: plan.baseline,
        // Without the function.
        estimands: definition.estimands(settings).map((estimand) => estimandSchema.parse(estimand)),
        programs: [...programs],
        provisioned: [...provisioned],
        conditions: { ...conditions },
        trials,
        cases: [],
        until: null,
      };
    },
    trialOf: ({ settings }, head, evidence) => ({
      ...head,
      case: caseKeyOf(head),
      status: 'ok',
      ...figuresOf(definition.estimands(settings), evidence),
      evidence,
    }),
    failedTrial: (head, failure) => ({ ...head, case: caseKeyOf(head), status: 'failed', failure }),
    summarized: (record, cases, rounds, options) => ({
      ...record,
      cases: summarizeCases(cases, rounds, record, options),
    }),
    untilView,
    entryOf: (record) => engineEntry(record, ''),
    lineOf,
    exitStatusOf: (record) => statusOf(record).exitStatus,
  };
}
