/** An invocation of an experiment: what is decided, and with --dry-run no more than that. */
import { messageOf } from '@dinodns-bench/program';
import type { SettingsOf, SettingTable } from '../config/setting.ts';
import { demandWritable } from '../results/make-directories.ts';
import { withHomePaths, withRelativePaths } from '../results/portable-paths.ts';
import { newRunId } from '../results/run-id.ts';
import { createStore } from '../results/store.ts';
import type { World } from '../world.ts';
import { type Decided, planned, planText } from './announce.ts';
import type { Procedure, RunOptions } from './experiment.ts';
import type { LivingRecord, LoadForm } from './form.ts';
import { commandName, decideSettings, settingsAgain, tableOf } from './settings.ts';

/** Settings and plan of a new run. */
async function decideNew<T extends SettingTable, D, C, E, R extends LivingRecord>(
  world: World,
  procedure: Procedure<T, D, C, E, R>,
  options: RunOptions,
): Promise<Decided<T, D, R>> {
  const settle = async () => {
    const typed = await decideSettings(world, commandName(procedure), tableOf(procedure.settings), options);
    // The command of a record may begin a path with `~`, where no shell replaces it.
    const settings = withRelativePaths(withHomePaths(typed, world.env.HOME), world.cwd) as SettingsOf<T>;
    return { settings, plan: await procedure.plan(settings, world) };
  };
  const { settings, plan } = await (procedure.settle?.(world, options) ?? settle());
  const decided = planned(settings, plan);
  const store = createStore(world, decided.engine.out);
  const id = newRunId(world.clock.now());
  return { ...decided, store, id, directory: store.directoryOf(id), previous: undefined };
}

/** The same of a run that goes on. */
async function decideAgain<T extends SettingTable, D, C, E, R extends LivingRecord>(
  world: World,
  procedure: Procedure<T, D, C, E, R>,
  loadForm: LoadForm<T, D, C, E, R>,
  resume: string,
  options: RunOptions,
): Promise<Decided<T, D, R>> {
  const { clusterAgain, demandSamePlan, givenWithResume } = await import('./resumed.ts');
  const name = commandName(procedure);
  const typed = await givenWithResume(world, name, options);
  const store = createStore(world, typed.out);
  const form = await loadForm();
  const path = await options.runPath(typed.out, resume, form.kind.experiment);
  const { record: previous, directory } = await store.loadAs(form.kind, path);
  const settings = {
    // Keys of cases can contain paths: they must be those that the settings of the record lead to again.
    ...settingsAgain(name, tableOf(procedure.settings), {
      id: previous.id,
      settings: withHomePaths(form.settingsOf(previous), world.env.HOME),
    }),
    ...(await clusterAgain(world, previous)),
    ...typed,
  } as SettingsOf<T>;
  const decided = planned(settings, await procedure.plan(settings, world));
  demandSamePlan(previous, decided.plan, decided.cases);
  return { ...decided, store, id: previous.id, directory, previous };
}

/** Resolves with the exit status; rejects with a BenchError if the run as a whole fails. */
export async function invokeExperiment<T extends SettingTable, D, C, E, R extends LivingRecord>(
  world: World,
  procedure: Procedure<T, D, C, E, R>,
  loadForm: LoadForm<T, D, C, E, R>,
  options: RunOptions,
): Promise<number> {
  const { dryRun, format } = options;
  /** Null for a dry run. */
  const run = async (given: RunOptions, isPrinted: boolean) => {
    const decided = await (given.resume === undefined
      ? decideNew(world, procedure, given)
      : decideAgain(world, procedure, loadForm, given.resume, given));
    if (dryRun) {
      world.stdout.write(planText(decided, options));
      const { resultsDirectory } = decided.store;
      await demandWritable(world.fs, resultsDirectory).catch((error: unknown) =>
        world.stderr.write(`Note: runs cannot be written to ${resultsDirectory}: ${messageOf(error)}\n`),
      );
      return null;
    }
    // Much to load, which a plan does not need.
    const { printed, runDecided } = await import('./run.ts');
    const form = await loadForm();
    const print = isPrinted ? printed(world, form, format) : undefined;
    return runDecided(world, { procedure, form }, decided, options, print);
  };
  const taken = await procedure.invoke?.({
    world,
    options,
    run: (given) => run({ ...options, ...given }, false),
  });
  if (taken != null) return taken;
  const record = await run(options, true);
  return record === null ? 0 : (await loadForm()).exitStatusOf(record);
}
