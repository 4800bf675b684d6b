/** `bench loss`: every repetition is saved the moment it ends. */
import { settingsOf } from '../../config/configuration.ts';
import { BenchError } from '../../errors.ts';
import { updateHistory } from '../../history/history.ts';
import { type Interruption, listenForInterruption } from '../../interruption.ts';
import { serverWorkloads } from '../../measure/learned-answers.ts';
import { type Prepared, prepareRun } from '../../measure/prepare.ts';
import type { PreparedWorkload, TrialContext } from '../../measure/trial-context.ts';
import type { PlannedTrial } from '../../plan/plan.ts';
import { createDisplay, type Display } from '../../progress/display.ts';
import { runHead } from '../../results/run-head.ts';
import { newRunId } from '../../results/run-id.ts';
import { createStore, type RunStore } from '../../results/store.ts';
import type { Server } from '../../servers/server.ts';
import { fileNameOf, formatDuration } from '../../text.ts';
import { writeQueryFile } from '../../workload/load-workload.ts';
import { predictedCodes } from '../../workload/workload.ts';
import type { World } from '../../world.ts';
import { type DecidedLoss, decideLoss, type LossOptions } from './decide.ts';
import { finishLoss } from './finish.ts';
import { LOSS_SCHEMA_VERSION, type LossRecord, lossKind } from './record.ts';
import { type RepetitionProgress, runRepetition } from './repetition.ts';
import { resultsOf } from './results.ts';

interface LossRun {
  readonly world: World;
  readonly options: LossOptions;
  readonly decided: DecidedLoss;
  readonly store: RunStore;
  readonly id: string;
  readonly directory: string;
  readonly display: Display;
  readonly interruption: Interruption;
}

/** Resolves with the exit status; rejects with a BenchError if the run as a whole fails. */
export async function runLoss(world: World, options: LossOptions): Promise<number> {
  const decided = await decideLoss(world, options);
  const store = createStore(world, decided.configuration.out);
  const id = newRunId(world.clock.now());
  const directory = store.directoryOf(id);
  const display = createDisplay(world.stderr);
  const interruption = listenForInterruption(world, (text) => display.line(text));
  try {
    return await keep({ world, options, decided, store, id, directory, display, interruption });
  } finally {
    interruption.release();
    display.clear();
  }
}

/** A run without a single repetition leaves nothing behind. */
async function keep(run: LossRun): Promise<number> {
  const { world, options, store, directory } = run;
  await store.makeRawDirectory(directory);
  const unlock = await store.lock(directory);
  let isKept = false;
  try {
    const record = await measure(run, () => {
      isKept = true;
    });
    return await finishLoss(world, store, directory, record, options.json);
  } catch (error) {
    throw isKept ? explained(error, directory) : error;
  } finally {
    await unlock();
    if (isKept) await updateHistory(world, store.resultsDirectory);
    else await world.fs.rm(directory, { recursive: true, force: true });
  }
}

function explained(error: unknown, directory: string): unknown {
  const isInterruption =
    error instanceof BenchError && (error.code === 'E_INTERRUPTED' || error.code === 'E_TERMINATED');
  if (!isInterruption) return error;
  return new BenchError(error.code, `${error.message}; what was measured is saved in ${directory}`, {
    fix: `Read it with: pnpm bench report ${directory}`,
    cause: error,
  });
}

async function measure(run: LossRun, onSaved: () => void): Promise<LossRecord> {
  const { world, decided, store, id, directory, display, interruption } = run;
  const prepared = await prepareRun({ world, runId: id, ...decided, display, ...interruption });
  try {
    let record = newLossRecord(run, prepared);
    for (const warning of record.warnings) display.line(`Note: ${warning}`);
    const save = async (status: LossRecord['status']) => {
      const endedAt = status === 'running' ? null : world.clock.now().toISOString();
      record = { ...record, status, endedAt };
      record = { ...record, results: resultsOf(record) };
      await store.saveAs(lossKind, record, directory);
      onSaved();
    };
    try {
      const context = await contextOf(run, prepared);
      await repeatAll(run, context, async (repetition, files) => {
        record = withRepetition(record, repetition, files);
        await save('running');
      });
    } catch (error) {
      if (record.repetitions.length > 0) await save('interrupted');
      throw error;
    }
    await save('complete');
    return record;
  } finally {
    await prepared.session.close();
  }
}

type Outcome = Awaited<ReturnType<typeof runRepetition>>;

/** The files of the first repetition of each server; they are the same in all others but for the port. */
function withRepetition(
  record: LossRecord,
  repetition: Outcome['repetition'],
  files: Outcome['files'],
): LossRecord {
  const server = record.cases.find(({ key }) => key === repetition.case)?.server;
  return {
    ...record,
    repetitions: [...record.repetitions, repetition],
    serverRecords: record.serverRecords.map((each) =>
      each.name === server && Object.keys(each.files).length === 0 ? { ...each, files: { ...files } } : each,
    ),
  };
}

async function repeatAll(
  run: LossRun,
  context: TrialContext,
  onEnd: (repetition: Outcome['repetition'], files: Outcome['files']) => Promise<void>,
): Promise<void> {
  const { world, decided, display } = run;
  const { trials } = decided.plan;
  const begin = world.clock.monotonicSeconds();
  for (const [index, planned] of trials.entries()) {
    const server = serverOf(decided, planned);
    const head = `${index + 1}/${trials.length}  ${server.title}, repetition ${planned.round + 1}`;
    const { repetition, files } = await runRepetition({
      context,
      planned,
      server,
      settings: decided.settings,
      progress: progressOf(display, head),
    });
    await onEnd(repetition, files);
    const left = ((world.clock.monotonicSeconds() - begin) / (index + 1)) * (trials.length - index - 1);
    display.line(`${head}: ${lineOf(repetition)}; about ${formatDuration(left)} left`);
  }
}

const whole = (value: number) => Math.round(value).toLocaleString('en');

function lineOf(repetition: Outcome['repetition']): string {
  if (repetition.status === 'failed') return `failed: ${repetition.failure.message}`;
  const bands = repetition.bands.map(
    ({ maxLostRatio, rate, generatorLimited }) =>
      `${generatorLimited ? '≥ ' : ''}${whole(rate)}/s at ${Number((maxLostRatio * 100).toPrecision(3))} %`,
  );
  return `${bands.join(', ')} (${repetition.probes.length} rates tried)`;
}

function progressOf(display: Display, head: string): RepetitionProgress {
  return {
    phase: (phase) => display.live(`  ${head}: ${phase}`),
    rate: (qps) => display.live(`  ${head}: ${whole(qps)} queries/s answered`),
    probed: ({ rate, lostRatio }) =>
      display.live(`  ${head}: ${whole(rate)}/s, ${(lostRatio * 100).toPrecision(3)} % lost`),
  };
}

function serverOf({ servers }: DecidedLoss, planned: PlannedTrial): Server {
  const found = servers.find(({ name }) => name === planned.case.server);
  if (found !== undefined) return found;
  throw new BenchError('E_INTERNAL', `no server ${planned.case.server}`, { fix: 'Report this bug.' });
}

async function contextOf(
  { world, decided, directory, interruption }: LossRun,
  { session, programs, workloads }: Prepared,
): Promise<TrialContext> {
  const { configuration, zoneSet } = decided;
  const prepared = new Map<string, PreparedWorkload>();
  for (const workload of workloads) {
    const queryFile = `${directory}/queries-${fileNameOf(workload.name)}.txt`;
    await writeQueryFile(world, queryFile, workload);
    prepared.set(workload.name, { workload, queryFile });
  }
  return {
    world,
    configuration,
    zoneSet,
    workloads: prepared,
    target: session.target,
    loader: session.loader,
    rawDirectory: `${directory}/raw`,
    programOf: programs.programOf,
    answersOf: serverWorkloads(zoneSet, configuration),
    predictedCodes: (server, workload) => predictedCodes(zoneSet, server, workload),
    signal: interruption.signal,
  };
}

function newLossRecord({ world, options, decided, id }: LossRun, prepared: Prepared): LossRecord {
  const { settings, configuration, plan } = decided;
  const { session, programs, environment, warnings } = prepared;
  const cpuLimits = { requested: configuration.cpu, ...session.target.cpuLimits };
  return {
    schemaVersion: LOSS_SCHEMA_VERSION,
    experiment: 'loss',
    id,
    ...runHead(options.argv, world.clock.now().toISOString()),
    environment,
    warnings: [...warnings(cpuLimits)],
    servers: programs.servers.map(({ name }) => name),
    settings: {
      ...settings,
      bands: [...settings.bands],
      probeSeconds: configuration.durationSeconds,
      timeoutSeconds: configuration.timeoutSeconds,
      repetitions: configuration.trials,
    },
    configuration: settingsOf(configuration),
    baseline: configuration.baseline,
    loader: { kind: session.loader.kind, version: session.loader.version },
    cpuLimits: cpuLimits.method,
    serverRecords: [...programs.servers],
    provisioned: [...programs.provisioned],
    cases: plan.cases.map(({ key, server, tier, mode, workload, contended }) => ({
      key,
      server,
      tier,
      mode,
      workload,
      contended,
    })),
    repetitions: [],
    results: [],
  };
}
