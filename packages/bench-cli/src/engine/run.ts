/** The life of a run, from settings to reports: the same for every experiment. README.md has it as a sequence. */
import { relative } from 'node:path';
import type { z } from 'zod';
import type { SettingsOf, SettingTable } from '../config/setting.ts';
import { BenchError } from '../errors.ts';
import { listenForInterruption } from '../interruption.ts';
import { createDisplay, type Display } from '../progress/display.ts';
import type { Format } from '../report/renderer.ts';
import { filesOf, findRenderer } from '../report/renderer.ts';
import { withHomePaths, withPortablePaths, withRelativePaths } from '../results/portable-paths.ts';
import type { RecordKind } from '../results/record-kind.ts';
import { runHead } from '../results/run-head.ts';
import { newRunId } from '../results/run-id.ts';
import { createStore, type RunStore } from '../results/store.ts';
import { counted, formatDuration, shellCommand, shellQuote } from '../text.ts';
import type { World } from '../world.ts';
import { summarizeCases } from './cases.ts';
import { close, errorsOf, joined } from './close.ts';
import { statusOf } from './document.ts';
import { estimandSchema } from './estimand.ts';
import type { ExperimentDefinition, ExperimentPlan, Opened, RunOptions } from './experiment.ts';
import { casesOf, expectedSeconds, type MeasuredCase, planTrials } from './plan.ts';
import { ENGINE_SCHEMA_VERSION, type EngineRecord, type EngineTrial } from './record.ts';
import { clusterAgain, demandSamePlan, demandSamePrograms, warningsAgain } from './resumed.ts';
import {
  commandName,
  commandOf,
  decideSettings,
  ENGINE_SETTINGS,
  type EngineSettings,
  type GivenSettings,
  settingsAgain,
  tableOf,
} from './settings.ts';
import { takeTrials } from './trials.ts';
import { renderOptions, routineFormats, writeFiles } from './write-reports.ts';

type Made<T extends SettingTable, V extends z.ZodType> = EngineRecord<z.output<V>, SettingsOf<T>>;

/** A definition with what is made of it once. */
export interface Prepared<T extends SettingTable, D, C, V extends z.ZodType> {
  readonly definition: ExperimentDefinition<T, D, C, V>;
  readonly kind: RecordKind<Made<T, V>>;
  readonly formats: readonly Format<Made<T, V>>[];
}

/** A run that is decided: nothing has been provisioned, started or written. */
interface Decided<T extends SettingTable, D, V extends z.ZodType> {
  readonly settings: SettingsOf<T>;
  readonly engine: EngineSettings;
  readonly plan: ExperimentPlan<D>;
  readonly cases: readonly MeasuredCase[];
  readonly store: RunStore;
  readonly id: string;
  readonly directory: string;
  /** The record to resume. */
  readonly previous: Made<T, V> | undefined;
}

/** Where runs are kept: the only setting besides `--resume`, since it says where the run is. */
const PLACE = 'out';

function refuseOthers({ flags, file }: GivenSettings): void {
  const given = Object.keys(flags).filter((name) => name !== PLACE && flags[name] !== undefined);
  if (given.length === 0 && file === undefined) return;
  throw new BenchError('E_USAGE', '--resume continues with the settings of the run and accepts no others', {
    evidence: given.map((name) => `also given: ${name}`),
    fix: 'Omit the other settings, or start a new run without --resume.',
  });
}

async function decide<T extends SettingTable, D, C, V extends z.ZodType>(
  world: World,
  { definition, kind }: Prepared<T, D, C, V>,
  options: RunOptions,
): Promise<Decided<T, D, V>> {
  const name = commandName(definition);
  const table = tableOf(definition.settings);
  const { resume } = options;
  if (resume !== undefined) refuseOthers(options);
  const typed = await decideSettings(world, name, table, options);
  // Both tables are part of `table`.
  const { out } = typed as unknown as EngineSettings;
  const store = createStore(world, out);
  const found = resume === undefined ? undefined : await store.loadAs(kind, resume);
  const previous = found?.record;
  // Keys of cases can contain paths: they must be those that the settings of the record lead to again.
  const again =
    previous === undefined
      ? withRelativePaths(typed, world.cwd)
      : {
          ...settingsAgain(name, table, withHomePaths(previous, world.env.HOME)),
          ...(await clusterAgain(world, previous)),
        };
  const settings = { ...again, out } as SettingsOf<T> & EngineSettings;
  const plan = await definition.plan(settings, world);
  const cases = casesOf(plan.cases, { aa: settings.aa, baseline: plan.baseline });
  if (previous !== undefined) demandSamePlan(previous, plan, cases);
  const id = previous?.id ?? newRunId(world.clock.now());
  return {
    settings,
    engine: { ...settings, trials: plan.rounds ?? settings.trials },
    plan,
    cases,
    store,
    id,
    directory: found?.directory ?? store.directoryOf(id),
    previous,
  };
}

/** The plan for people: what is measured, how often, and how long it takes. */
function planText({ plan, cases, engine, previous }: Decided<SettingTable, unknown, z.ZodType>): string {
  const { trials } = planTrials(cases, engine.trials, plan);
  const missing = trials.filter(({ key }) => previous?.trials.every((trial) => trial.key !== key) ?? true);
  const titleOf = new Map(plan.subjects.map(({ name, title }) => [name, title]));
  const lines = cases.map(({ key, subject, aa, details }) => {
    const words = [
      titleOf.get(subject) ?? subject,
      ...(aa ? ['A/A'] : []),
      ...(details === undefined ? [] : [details]),
    ];
    return `${key}  ${words.join(', ')}`;
  });
  const { lanes = 1 } = plan;
  const total = [
    counted(cases.length, 'case'),
    counted(missing.length, 'trial'),
    ...(lanes === 1 ? [] : [`up to ${lanes} side by side`]),
    `about ${formatDuration(expectedSeconds(missing) / lanes)}`,
  ].join(', ');
  return [...(plan.summary === undefined ? [] : [`${plan.summary}\n`]), ...lines, total, ''].join('\n');
}

/** Resolves with the exit status; rejects with a BenchError if the run as a whole fails. */
export async function invokeExperiment<T extends SettingTable, D, C, V extends z.ZodType>(
  world: World,
  prepared: Prepared<T, D, C, V>,
  options: RunOptions,
): Promise<number> {
  const { definition, formats } = prepared;
  const taken = await definition.invoke?.({
    world,
    options,
    run: async (given) => {
      const run = await decide(world, prepared, { ...options, ...given });
      if (!options.dryRun) return runDecided(world, prepared, run, options);
      world.stdout.write(planText(run));
      return null;
    },
  });
  if (taken != null) return taken;
  const run = await decide(world, prepared, options);
  if (options.dryRun) {
    world.stdout.write(planText(run));
    return 0;
  }
  const record = await runDecided(world, prepared, run, options, (complete) =>
    world.stdout.write(
      findRenderer(options.format, formats)?.render(complete, renderOptions(world, 'relative')) ?? '',
    ),
  );
  return statusOf(record).exitStatus;
}

/** From the folder to the history. `print` gets the record when its reports are written. */
async function runDecided<T extends SettingTable, D, C, V extends z.ZodType>(
  world: World,
  prepared: Prepared<T, D, C, V>,
  decided: Decided<T, D, V>,
  options: RunOptions,
  print: (record: Made<T, V>) => void = () => undefined,
): Promise<Made<T, V>> {
  const { store, directory } = decided;
  let run = decided;
  // The folder comes first: an unwritable place must show before the measuring, not after it.
  await store.makeRawDirectory(directory);
  const unlock = await store.lock(directory);
  let saved = run.previous;
  try {
    if (saved !== undefined) {
      // Until the lock was there, another bench may have gone on with it.
      saved = (await store.loadAs(prepared.kind, directory)).record;
      run = { ...run, previous: saved };
      if (isComplete(run, saved)) {
        world.stderr.write('The run is complete: there is nothing to resume.\n');
        await report(world, prepared, run, saved, print);
        return saved;
      }
    }
    const { record, errors } = await measure(world, prepared, run, options, (next) => {
      saved = next;
    });
    if (errors.length > 0) throw joined(errors);
    await report(world, prepared, run, record, print);
    return record;
  } catch (error) {
    if (saved === undefined) throw error;
    // What was measured is shown all the same; the error is what matters if that is not possible.
    if (!isInterruption(error)) await report(world, prepared, run, saved, print).catch(() => undefined);
    throw explained(error, commandName(prepared.definition), run, saved.trials.length);
  } finally {
    await unlock();
    // Without a single trial there is nothing to keep, report or resume.
    if (saved === undefined) await world.fs.rm(directory, { recursive: true, force: true });
  }
}

/** With `--until`, a run is complete once its goal or a limit is reached. */
function isComplete(
  { cases, engine, plan }: Pick<Decided<SettingTable, unknown, z.ZodType>, 'cases' | 'engine' | 'plan'>,
  { status, trials }: Pick<EngineRecord<unknown>, 'status' | 'trials'>,
): boolean {
  const taken = new Set(trials.map(({ key }) => key));
  return (
    status === 'complete' && planTrials(cases, engine.trials, plan).trials.every(({ key }) => taken.has(key))
  );
}

/** Writes the reports, and prints the record. */
async function report<T extends SettingTable, D, C, V extends z.ZodType>(
  world: World,
  { formats }: Prepared<T, D, C, V>,
  { store, directory }: Decided<T, D, V>,
  record: Made<T, V>,
  print: (record: Made<T, V>) => void,
): Promise<void> {
  const files = filesOf(routineFormats(formats), record, renderOptions(world, 'relative'));
  const paths = await writeFiles(store, directory, files);
  print(record);
  const shown = [`${directory}/run.json`, ...paths].map((path) => relative(world.cwd, path) || path);
  world.stderr.write(`\nWritten: ${shown.join(', ')}\n`);
}

function isInterruption(error: unknown): boolean {
  return error instanceof BenchError && (error.code === 'E_INTERRUPTED' || error.code === 'E_TERMINATED');
}

/** A run that ended early says what is saved, and how to go on. */
function explained(
  error: unknown,
  name: string,
  { id, directory, engine }: Pick<Decided<SettingTable, unknown, z.ZodType>, 'id' | 'directory' | 'engine'>,
  saved: number,
): unknown {
  if (!(error instanceof BenchError)) return error;
  const place = engine.out === ENGINE_SETTINGS.out.default ? '' : ` --out ${shellQuote(engine.out)}`;
  const next = `Continue with: pnpm bench ${name} --resume ${id}${place}`;
  return new BenchError(error.code, `${error.message}; ${counted(saved, 'trial')} saved in ${directory}`, {
    evidence: [...error.evidence],
    fix: isInterruption(error) ? next : `${error.fix} ${next}`,
    cause: error,
  });
}

async function measure<T extends SettingTable, D, C, V extends z.ZodType>(
  world: World,
  prepared: Prepared<T, D, C, V>,
  run: Decided<T, D, V>,
  { argv }: RunOptions,
  onSaved: (record: Made<T, V>) => void,
): Promise<{
  readonly record: Made<T, V>;
  /** What closing failed with, after all trials. */
  readonly errors: readonly unknown[];
}> {
  const { settings, plan, store, directory, id: runId } = run;
  let saved = run.previous;
  const display = createDisplay(world.stderr);
  const interruption = listenForInterruption(world, (text) => display.line(text), plan.interruption);
  const { signal, force } = interruption;
  try {
    const opened = await prepared.definition
      .open({ world, settings, decided: plan.decided, runId, directory, display, signal, force })
      .catch((error: unknown) => {
        throw joined(errorsOf(error));
      });
    const outcome = await measureOpened(
      {
        ...{ world, display, signal },
        onSaved: (record) => {
          saved = record;
          onSaved(record);
        },
      },
      prepared,
      run,
      opened,
      argv,
    ).then(
      (record) => ({ record }),
      (error: unknown) => ({ error }),
    );
    const errors = await close(opened);
    const closing = opened.closing?.() ?? [];
    for (const line of closing) display.line(line);
    if (saved !== undefined && closing.length > 0) {
      saved = { ...saved, closing: [...(saved.closing ?? []), ...closing] };
      await store.saveAs(prepared.kind, saved, directory);
      onSaved(saved);
    }
    if ('error' in outcome) throw joined([outcome.error, ...errors]);
    return { record: saved ?? outcome.record, errors };
  } finally {
    interruption.release();
    display.clear();
  }
}

interface Watched<R> {
  readonly world: World;
  readonly display: Display;
  readonly signal: AbortSignal;
  readonly onSaved: (record: R) => void;
}

async function measureOpened<T extends SettingTable, D, C, V extends z.ZodType>(
  { world, display, signal, onSaved }: Watched<Made<T, V>>,
  { definition, kind }: Prepared<T, D, C, V>,
  run: Decided<T, D, V>,
  opened: Opened<C>,
  argv: readonly string[],
): Promise<Made<T, V>> {
  const { settings, plan, store, directory } = run;
  const estimands = definition.estimands(settings);
  let record = startOf(world, definition, run, opened, estimands, argv);
  for (const warning of record.warnings) display.line(`Note: ${warning}`);
  const save = async (next: typeof record) => {
    record = withPortablePaths(next, { cwd: world.cwd, home: world.env.HOME });
    await store.saveAs(kind, record, directory);
    onSaved(record);
  };
  return takeTrials({
    ...{ world, display, estimands, engine: run.engine, plan, cases: run.cases, save },
    titles: new Map(plan.subjects.map(({ name, title }) => [name, title])),
    signal: opened.lost === undefined ? signal : AbortSignal.any([signal, opened.lost]),
    record: () => record,
    trial: (planned, on) => definition.trial(opened.context, planned, on),
  });
}

function startOf<T extends SettingTable, D, C, V extends z.ZodType>(
  world: World,
  definition: Pick<ExperimentDefinition<T, D, C, V>, 'name' | 'command' | 'settings'>,
  { previous, settings, plan, cases, engine, id }: Decided<T, D, V>,
  opened: Opened<C>,
  estimands: readonly Parameters<typeof facts>[0][],
  argv: readonly string[],
): Made<T, V> {
  const { environment, programs, provisioned, conditions, warnings } = opened;
  // The machine may have changed since: the record must say so.
  if (previous !== undefined) {
    demandSamePrograms(previous, opened);
    // As the record has them: the same is said once.
    const now = withPortablePaths(
      { environment, conditions, warnings },
      { cwd: world.cwd, home: world.env.HOME },
    );
    return { ...previous, warnings: warningsAgain(previous, now) };
  }
  const trials: EngineTrial<z.output<V>>[] = [];
  const start = {
    schemaVersion: ENGINE_SCHEMA_VERSION,
    experiment: definition.name,
    id,
    ...runHead(argv, world.clock.now().toISOString()),
    command: shellCommand(commandOf(commandName(definition), tableOf(definition.settings), settings)),
    environment,
    warnings: [...warnings],
    servers: programs.map((program) => program.name),
    settings,
    subjects: plan.subjects.map((subject) => ({ ...subject })),
    baseline: plan.baseline,
    estimands: estimands.map(facts),
    programs: [...programs],
    provisioned: [...provisioned],
    conditions: { ...conditions },
    trials,
    until: null,
  };
  return { ...start, cases: summarizeCases(cases, engine.trials, start) };
}

/** Without the function. */
function facts(estimand: EngineRecord<unknown>['estimands'][number]) {
  return estimandSchema.parse(estimand);
}
