/** A decided run: deploy → load and observe → statistics → report. */
import { DEFAULTS } from '../../config/settings.ts';
import { BenchError } from '../../errors.ts';
import { type Interruption, listenForInterruption } from '../../interruption.ts';
import { newRecord } from '../../measure/new-record.ts';
import { openTrials } from '../../measure/open-trials.ts';
import { prepareRun } from '../../measure/prepare.ts';
import { executeRun } from '../../measure/run.ts';
import type { TrialContext } from '../../measure/trial-context.ts';
import { tryServers } from '../../measure/try-servers.ts';
import { resumeWarnings } from '../../measure/warnings.ts';
import { createDisplay, type Display } from '../../progress/display.ts';
import { calibrationNotes } from '../../report/calibration.ts';
import { titleWithVersion } from '../../report/cases.ts';
import { withPortablePaths } from '../../results/portable-paths.ts';
import type { Environment, RunRecord } from '../../results/record.ts';
import { counted, formatDuration, shellQuote } from '../../text.ts';
import { existingRatio } from '../../workload/workload.ts';
import type { World } from '../../world.ts';
import { chooseLoad } from './calibrate-run.ts';
import type { DecidedRun, RunOptions } from './decide-run.ts';
import { finishRun } from './finish-run.ts';
import { createRunProgress } from './run-progress.ts';

/** Resolves with the exit status; rejects with a BenchError if the run as a whole fails. */
export async function perform(world: World, options: RunOptions, run: DecidedRun): Promise<number> {
  const display = createDisplay(world.stderr);
  const interruption = listenForInterruption(world, (text) => display.line(text));
  try {
    return await measureAndKeep(world, options, run, display, interruption);
  } finally {
    interruption.release();
    display.clear();
  }
}

async function measureAndKeep(
  world: World,
  options: RunOptions,
  run: DecidedRun,
  display: Display,
  interruption: Interruption,
): Promise<number> {
  const { store, directory } = run;
  // The folder comes first: an unwritable place must show before the measuring, not after it.
  await store.makeRawDirectory(directory);
  const unlock = await store.lock(directory);
  let hasTrials = true;
  try {
    const record = await measure(world, options, run, display, interruption);
    return await finishRun(world, store, directory, record, options.json);
  } catch (error) {
    const done = await savedTrials(world, run);
    hasTrials = done !== 0;
    throw explainInterruption(error, run, done);
  } finally {
    await unlock();
    // Without a single trial there is nothing to keep, report or resume.
    if (!hasTrials && run.previous === undefined)
      await world.fs.rm(directory, { recursive: true, force: true });
  }
}

/** Trials in the record on disk; null if there is a record that cannot be read. */
async function savedTrials(world: World, run: DecidedRun): Promise<number | null> {
  try {
    return (await run.store.load(run.directory)).record.trials.length;
  } catch {
    const exists = await world.fs.access(`${run.directory}/run.json`).then(
      () => true,
      () => false,
    );
    return exists ? null : 0;
  }
}

/** Prepares programs, target and loader, runs the plan and closes everything again. */
async function measure(
  world: World,
  options: RunOptions,
  run: DecidedRun,
  display: Display,
  interruption: Interruption,
): Promise<RunRecord> {
  const { configuration, directory, zoneSet } = run;
  const { signal, force } = interruption;
  const { session, programs, environment, plan, workloads, warnings } = await prepareRun({
    world,
    runId: run.id,
    configuration,
    servers: run.servers,
    plan: run.plan,
    workloads: run.workloads,
    zoneSet,
    display,
    signal,
    force,
  });
  try {
    const startedAt = world.clock.now();
    const { target, loader, alternatives = [] } = session;
    const context: TrialContext = {
      ...(await openTrials({
        world,
        configuration,
        zoneSet,
        workloads,
        session,
        programs,
        directory,
        signal,
      })),
      countsEvents: environment.hardwareCounters?.used === true,
    };
    const described = run.servers.filter(({ triedFirst }) => triedFirst === true);
    await tryServers(context, plan.cases, described);
    const chosen =
      run.previous === undefined
        ? await chooseLoad({
            context,
            plan,
            servers: run.servers,
            workloads,
            alternatives,
            progress: (text) => display.live(`  ${text}`),
          })
        : { configuration, plan, loader, calibration: run.previous.calibration };
    const record =
      run.previous === undefined
        ? newRecord({
            id: run.id,
            startedAt,
            argv: options.argv,
            configuration: chosen.configuration,
            environment,
            programs,
            session: { target, loader: chosen.loader },
            workloads,
            existingRatio: (workload) => existingRatio(zoneSet, workload),
            warnings,
            calibration: chosen.calibration,
          })
        : resumedRecord(run.previous, environment);
    display.line(announcement({ ...run, plan: chosen.plan }, record));
    for (const note of [...calibrationNotes(record), ...record.warnings]) display.line(`Note: ${note}`);
    const { configuration: settled, plan: settledPlan } = chosen;
    return await runPlan({ ...run, plan: settledPlan }, record, display, {
      ...context,
      configuration: settled,
      loader: chosen.loader,
    });
  } finally {
    await session.close();
  }
}

async function runPlan(
  run: DecidedRun,
  record: RunRecord,
  display: Display,
  context: TrialContext,
): Promise<RunRecord> {
  const { world, signal } = context;
  const portable = (next: RunRecord) => withPortablePaths(next, { cwd: world.cwd, home: world.env.HOME });
  const progress = createRunProgress({
    display,
    clock: world.clock,
    plan: run.plan,
    done: record.trials.length,
    titleWidth: Math.max(...run.servers.map((server) => server.title.length)),
  });
  try {
    const complete = await executeRun({
      world,
      plan: run.plan,
      servers: run.servers,
      context,
      record,
      save: (next) => run.store.save(portable(next), run.directory),
      events: progress,
      signal,
    });
    return portable(complete);
  } finally {
    progress.stop();
  }
}

/** An interrupted run says what is saved and how to resume. */
function explainInterruption(error: unknown, run: DecidedRun, done: number | null): unknown {
  const interrupted =
    error instanceof BenchError && (error.code === 'E_INTERRUPTED' || error.code === 'E_TERMINATED');
  if (!interrupted || done === null || done === 0) return error;
  const { out } = run.configuration;
  const place = out === DEFAULTS.out ? '' : ` --out ${shellQuote(out)}`;
  return new BenchError(
    error.code,
    `${error.message}; ${done} of ${run.plan.trials.length} trials are saved in ${run.directory}`,
    { fix: `Continue with: pnpm bench run --resume ${run.id}${place}`, cause: error },
  );
}

function announcement(run: DecidedRun, record: RunRecord): string {
  const missing = run.plan.trials.length - record.trials.length;
  const share = run.plan.estimatedSeconds / Math.max(1, run.plan.trials.length);
  const versions = record.servers.map(titleWithVersion).join(', ');
  return `${versions}; ${record.loader.kind} ${record.loader.version}\n${counted(run.plan.cases.length, 'case')}, ${counted(missing, 'trial')}, about ${formatDuration(missing * share)}`;
}

/** The machine may have changed since: the record must say so. */
function resumedRecord(previous: RunRecord, environment: Environment): RunRecord {
  return {
    ...previous,
    warnings: [...previous.warnings, ...resumeWarnings(previous.environment, environment)],
  };
}
