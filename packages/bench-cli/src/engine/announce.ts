/** What is said of a run besides its reports: its plan, what is about to be measured, and how an early end is explained. Pure. */
import { dirname, resolve } from 'node:path';
import type { RunConfiguration } from '../config/configuration.ts';
import type { SettingsOf, SettingTable } from '../config/setting.ts';
import { DEFAULTS } from '../config/settings.ts';
import { BenchError } from '../errors.ts';
import { titleWithVersion } from '../report/cases.ts';
import type { RunStore } from '../results/store.ts';
import { namedVersions } from '../servers/registry.ts';
import { counted, formatDuration, listed, shellQuote } from '../text.ts';
import type { World } from '../world.ts';
import type { ExperimentPlan, RunOptions } from './experiment.ts';
import type { LivingRecord, RecordForm } from './form.ts';
import { casesOf, expectedSeconds, type MeasuredCase, planTrials } from './plan.ts';
import { ENGINE_SETTINGS, type EngineSettings } from './settings.ts';

/** A run that is decided: nothing has been provisioned, started or written. */
export interface Decided<T extends SettingTable, D, R> {
  readonly settings: SettingsOf<T>;
  readonly engine: EngineSettings;
  readonly plan: ExperimentPlan<D>;
  readonly cases: readonly MeasuredCase[];
  readonly store: RunStore;
  readonly id: string;
  readonly directory: string;
  /** The record to resume. */
  readonly previous: R | undefined;
}

/** What a plan comes to. */
export function planned<T extends SettingTable, D>(settings: SettingsOf<T>, plan: ExperimentPlan<D>) {
  // Every table has those of the engine.
  const engine = settings as unknown as EngineSettings;
  return {
    settings,
    engine: { ...engine, trials: plan.rounds ?? engine.trials },
    plan,
    cases: casesOf(plan.cases, { aa: engine.aa, baseline: plan.baseline }),
  };
}

export type AnyDecided = Decided<SettingTable, unknown, LivingRecord>;

/** The trials that the record does not have, and how long they take. */
function missingOf({ plan, cases, engine, previous }: Omit<AnyDecided, 'settings' | 'store'>) {
  const trials = planTrials(cases, engine.trials, plan);
  const missing = trials.filter(({ key }) => previous?.trials.every((trial) => trial.key !== key) ?? true);
  const { lanes = 1 } = plan;
  return [
    counted(cases.length, 'case'),
    counted(missing.length, 'trial'),
    ...(lanes === 1 ? [] : [`up to ${lanes} side by side`]),
    `about ${formatDuration(expectedSeconds(missing) / lanes)}`,
  ].join(', ');
}

/** A line on the versions that were asked for; nothing without any. Whether they exist is asked when a run begins. */
export function uncheckedText(settings: Readonly<Record<string, unknown>>): string {
  const { servers, corednsVersion = DEFAULTS.corednsVersion } = settings as Partial<RunConfiguration>;
  // Other experiments than ours may mean something else by it.
  const entries = Array.isArray(servers) ? servers.map(String) : [];
  const named = namedVersions(entries, { corednsVersion });
  return named.length === 0
    ? ''
    : `Not checked, since a dry run gets nothing: whether there is ${listed(named)}\n`;
}

/** The plan for people: what is measured, how often, and how long it takes. */
export function planText(run: AnyDecided, { format }: Pick<RunOptions, 'format'>): string {
  const { plan, cases } = run;
  if (plan.show !== undefined) return plan.show(format);
  const titleOf = new Map(plan.subjects.map(({ name, title }) => [name, title]));
  const lines = cases.map(({ key, subject, aa, details }) => {
    const words = [
      titleOf.get(subject) ?? subject,
      ...(aa ? ['A/A'] : []),
      ...(details === undefined ? [] : [details]),
    ];
    return `${key}  ${words.join(', ')}`;
  });
  const summary = plan.summary === undefined ? [] : [`${plan.summary}\n`];
  return [...summary, ...lines, missingOf(run), uncheckedText(run.settings)].join('\n');
}

export function isInterruption(error: unknown): boolean {
  return error instanceof BenchError && (error.code === 'E_INTERRUPTED' || error.code === 'E_TERMINATED');
}

/** A run that ended early says what is saved, and how to go on if something is left to measure. */
export function explained(
  { cwd }: Pick<World, 'cwd'>,
  error: unknown,
  name: string,
  { id, directory, engine }: Pick<AnyDecided, 'id' | 'directory' | 'engine'>,
  { status, trials, unfinished = {} }: Pick<LivingRecord, 'status' | 'trials' | 'unfinished'>,
): unknown {
  if (!(error instanceof BenchError)) return error;
  const parts = Object.keys(unfinished).length;
  const saved = [counted(trials.length, 'trial'), ...(parts === 0 ? [] : [`${parts} in part`])].join(', ');
  const runs = dirname(resolve(cwd, directory));
  const isUsual = runs === resolve(cwd, ENGINE_SETTINGS.out.default);
  const place = isUsual ? '' : ` --out ${shellQuote(runs === resolve(cwd, engine.out) ? engine.out : runs)}`;
  const next = status === 'complete' ? '' : `Continue with: pnpm bench ${name} --resume ${id}${place}`;
  return new BenchError(error.code, `${error.message}; ${saved} saved in ${directory}`, {
    evidence: [...error.evidence],
    fix: isInterruption(error) && next !== '' ? next : `${error.fix} ${next}`.trim(),
    cause: error,
  });
}

/** What is about to be measured. */
export function announcement<R extends LivingRecord>(
  form: RecordForm<R, never, never, never, never>,
  run: AnyDecided,
  record: R,
): string {
  const generator = form.conditionsOf(record)['load generator'];
  const programs = form.programsOf(record).map(titleWithVersion);
  const named = [
    ...(programs.length === 0 ? [] : [programs.join(', ')]),
    ...(generator === undefined ? [] : [generator]),
  ].join('; ');
  return `${named === '' ? '' : `${named}\n`}${missingOf(run)}`;
}
