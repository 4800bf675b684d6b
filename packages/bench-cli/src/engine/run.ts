/** The life of a run, from its folder to its reports: the same for every experiment. README.md has it as a sequence. */
import { relative } from 'node:path';
import type { SettingsOf, SettingTable } from '../config/setting.ts';
import { BenchError, errorsOf, joined } from '../errors.ts';
import { type Interruption, listenForInterruption } from '../interruption.ts';
import { createDisplay, type Display } from '../progress/display.ts';
import { filesOf, findRenderer } from '../report/renderer.ts';
import { withPortablePaths } from '../results/portable-paths.ts';
import { countedLines } from '../text.ts';
import type { World } from '../world.ts';
import {
  type AnyDecided,
  announcement,
  type Decided,
  explained,
  isInterruption,
  planned,
} from './announce.ts';
import { close } from './close.ts';
import type { Opened, Procedure, RunOptions } from './experiment.ts';
import type { LivingRecord, RecordForm } from './form.ts';
import { planTrials } from './plan.ts';
import { continued } from './resumed.ts';
import { commandName } from './settings.ts';
import { takeTrials } from './trials.ts';
import { renderOptions, routineFormats, withRawOutput, writeFiles } from './write-reports.ts';

/** An experiment, and the form of its records. */
export interface Prepared<T extends SettingTable, D, C, E, R extends LivingRecord> {
  readonly procedure: Procedure<T, D, C, E, R>;
  readonly form: RecordForm<R, SettingsOf<T>, D, C, E>;
}

function optionsFor<R extends LivingRecord>(
  world: World,
  { deltaOf }: Pick<RecordForm<R, never, never, never, never>, 'deltaOf'>,
  record: R,
) {
  return renderOptions(world, deltaOf?.(record) ?? 'relative');
}

/** Prints the record in the format that was asked for. */
export function printed<R extends LivingRecord>(
  world: World,
  form: Pick<RecordForm<R, never, never, never, never>, 'deltaOf' | 'formats'>,
  format: string,
): (record: R) => void {
  return (record) =>
    world.stdout.write(
      findRenderer(format, form.formats)?.render(record, optionsFor(world, form, record)) ?? '',
    );
}

/** From the folder to the history. `print` gets the record when its reports are written. */
export async function runDecided<T extends SettingTable, D, C, E, R extends LivingRecord>(
  world: World,
  prepared: Prepared<T, D, C, E, R>,
  decided: Decided<T, D, R>,
  options: RunOptions,
  print: (record: R) => void = () => undefined,
): Promise<R> {
  const { store, directory } = decided;
  let run = decided;
  // The folder comes first: an unwritable place must show before the measuring, not after it.
  await store.makeRawDirectory(directory);
  const unlock = await store.lock(directory);
  let saved = run.previous;
  let isFurther = false;
  const display = createDisplay(world.stderr);
  // Until the reports are written: they are worth the moment that they take.
  const interruption = listenForInterruption(world, (text) => display.line(text), run.plan.interruption);
  try {
    if (saved !== undefined) {
      // Until the lock was there, another bench may have gone on with it.
      saved = (await store.loadAs(prepared.form.kind, directory)).record;
      run = { ...run, previous: saved };
      if (isComplete(run, saved)) {
        world.stderr.write('The run is complete: there is nothing to resume.\n');
        await report(world, prepared, run, saved, print);
        return saved;
      }
    }
    const { record, errors } = await measure(
      { world, display, interruption },
      prepared,
      run,
      options,
      (next) => {
        saved = next;
        isFurther = true;
      },
    );
    if (errors.length > 0) throw joined(errors);
    await report(world, prepared, run, record, print);
    return record;
  } catch (error) {
    // A record that cannot be gone on with is as it was.
    const isRefused = !isFurther && error instanceof BenchError && error.code === 'E_CONFIG';
    if (saved === undefined || isRefused) throw error;
    // The figures are shown even so; if that fails, the first error matters more.
    if (isFurther && !isInterruption(error))
      await report(world, prepared, run, saved, print).catch(() => undefined);
    throw explained(world, error, commandName(prepared.procedure), run, saved);
  } finally {
    interruption.release();
    await unlock();
    // Without a single trial, or a part of one, there is nothing to keep, report or resume.
    if (saved === undefined)
      await world.fs.rm(directory, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** With `--until`, a run is complete once its goal or a limit is reached. */
function isComplete(
  { cases, engine, plan }: Pick<AnyDecided, 'cases' | 'engine' | 'plan'>,
  { status, trials }: Pick<LivingRecord, 'status' | 'trials'>,
): boolean {
  const taken = new Set(trials.map(({ key }) => key));
  return status === 'complete' && planTrials(cases, engine.trials, plan).every(({ key }) => taken.has(key));
}

/** Writes the reports, and prints the record. */
async function report<T extends SettingTable, D, C, E, R extends LivingRecord>(
  world: World,
  { form }: Prepared<T, D, C, E, R>,
  { store, directory }: Decided<T, D, R>,
  record: R,
  print: (record: R) => void,
): Promise<void> {
  const options = await withRawOutput(world, optionsFor(world, form, record), directory, record.trials);
  const paths = await writeFiles(store, directory, filesOf(routineFormats(form.formats), record, options));
  print(record);
  const shown = [`${directory}/run.json`, ...paths].map((path) => relative(world.cwd, path) || path);
  world.stderr.write(`\nWritten: ${shown.join(', ')}\n`);
}

interface Heard {
  readonly world: World;
  readonly display: Display;
  readonly interruption: Interruption;
}

async function measure<T extends SettingTable, D, C, E, R extends LivingRecord>(
  { world, display, interruption }: Heard,
  prepared: Prepared<T, D, C, E, R>,
  run: Decided<T, D, R>,
  { argv }: RunOptions,
  onSaved: (record: R) => void,
): Promise<{
  readonly record: R;
  /** What closing failed with, after all trials. */
  readonly errors: readonly unknown[];
}> {
  const { settings, plan, store, directory, id: runId, previous } = run;
  let saved = previous;
  const { signal, force } = interruption;
  const isResumed = previous !== undefined;
  try {
    const opened = await prepared.procedure
      .open({ world, settings, decided: plan.decided, runId, isResumed, directory, display, signal, force })
      .catch((error: unknown) => {
        throw joined(errorsOf(error));
      });
    const outcome = await measureOpened(
      { world, display, interruption },
      prepared,
      { ...run, ...(opened.revised && planned(opened.revised.settings, opened.revised.plan)) },
      opened,
      argv,
      (record) => {
        saved = record;
        onSaved(record);
      },
    ).then(
      (record) => ({ record }),
      (error: unknown) => ({ error }),
    );
    const errors = await close(opened);
    const closing = opened.closing?.() ?? [];
    for (const line of countedLines(closing)) display.line(line);
    if (saved !== undefined && closing.length > 0) {
      saved = { ...saved, closing: [...(saved.closing ?? []), ...closing] };
      await store.saveAs(prepared.form.kind, saved, directory);
      onSaved(saved);
    }
    if ('error' in outcome) throw joined([outcome.error, ...errors]);
    return { record: saved ?? outcome.record, errors };
  } finally {
    display.clear();
  }
}

async function measureOpened<T extends SettingTable, D, C, E, R extends LivingRecord>(
  { world, display, interruption }: Heard,
  { procedure, form }: Prepared<T, D, C, E, R>,
  run: Decided<T, D, R>,
  opened: Opened<C, unknown, unknown>,
  argv: readonly string[],
  onSaved: (record: R) => void,
): Promise<R> {
  const { plan, store, directory } = run;
  const { signal } = interruption;
  let record = startOf(world, form, run, opened, argv);
  display.line(announcement(form, run, record));
  for (const note of [...(form.notesOf?.(record) ?? []), ...record.warnings]) display.line(`Note: ${note}`);
  const save = async (next: R) => {
    const portable = withPortablePaths(next, { cwd: world.cwd, home: world.env.HOME });
    await store.saveAs(form.kind, portable, directory);
    // Only then: a record that cannot be saved must not keep the one before from being saved as interrupted.
    record = portable;
    onSaved(record);
  };
  return takeTrials({
    ...{ world, display, engine: run.engine, plan, cases: run.cases, form, save },
    titles: new Map(plan.subjects.map(({ name, title }) => [name, title])),
    signal: opened.lost === undefined ? signal : AbortSignal.any([signal, opened.lost]),
    record: () => record,
    take: async (block, on) => {
      const [first] = block;
      if (first === undefined) return [];
      return plan.isTogether === true && procedure.together !== undefined
        ? procedure.together(opened.context, block, on)
        : [await procedure.trial(opened.context, first, on(first))];
    },
  });
}

/** The record as the first trial finds it. */
function startOf<T extends SettingTable, D, C, R extends LivingRecord>(
  world: World,
  form: RecordForm<R, SettingsOf<T>, D, C, never>,
  { previous, settings, plan, cases, engine, id }: Decided<T, D, R>,
  opened: Opened<C, unknown, unknown>,
  argv: readonly string[],
): R {
  if (previous === undefined) {
    const startedAt = world.clock.now().toISOString();
    const start = form.start({ id, argv, startedAt, settings, plan, opened });
    return form.summarized(start, cases, engine.trials, {});
  }
  return continued(world, form, previous, opened);
}
