/** `bench lookup`: prepare → trials, interleaved → results → reports. */
import { describeEnvironment } from '../../environment/describe.ts';
import { BenchError } from '../../errors.ts';
import { updateHistory } from '../../history/history.ts';
import { type Interruption, listenForInterruption } from '../../interruption.ts';
import { createDisplay, type Display } from '../../progress/display.ts';
import { withPortablePaths } from '../../results/portable-paths.ts';
import { newRunId } from '../../results/run-id.ts';
import { createStore, type RunStore } from '../../results/store.ts';
import { formatDuration } from '../../text.ts';
import type { World } from '../../world.ts';
import { finishLookup } from './finish.ts';
import { measureTrial } from './measure.ts';
import { newLookupRecord, withTrials } from './new-record.ts';
import { type LookupOptions, portOf } from './options.ts';
import { type Prepared, prepareLookup, synLinearTimeouts } from './prepare.ts';
import { type LookupRecord, type LookupTrial, lookupKind } from './record.ts';
import type { Phases } from './sampling/sample.ts';
import { interleaved, subjectsOf } from './subjects.ts';

interface Running {
  readonly world: World;
  readonly options: LookupOptions;
  readonly store: RunStore;
  readonly id: string;
  readonly directory: string;
  readonly rawDirectory: string;
  readonly display: Display;
  readonly interruption: Interruption;
}

/** Resolves with the exit status; rejects with a BenchError if the run as a whole fails. */
export async function runLookup(
  world: World,
  options: LookupOptions,
  argv: readonly string[],
): Promise<number> {
  const store = createStore(world, options.out);
  const id = newRunId(world.clock.now());
  const directory = store.directoryOf(id);
  const display = createDisplay(world.stderr);
  const interruption = listenForInterruption(world, (text) => display.line(text));
  const rawDirectory = await store.makeRawDirectory(directory);
  const unlock = await store.lock(directory);
  const running = { world, options, store, id, directory, rawDirectory, display, interruption };
  let hasTrials = false;
  try {
    const record = await measureAll(running, argv, () => {
      hasTrials = true;
    });
    display.clear();
    return await finishLookup(world, store, directory, record, options.json);
  } finally {
    interruption.release();
    display.clear();
    await unlock();
    if (!hasTrials) await world.fs.rm(directory, { recursive: true, force: true });
    else await remember(world, store);
  }
}

async function remember(world: World, { resultsDirectory }: RunStore): Promise<void> {
  const notice = await updateHistory(world, resultsDirectory);
  if (notice !== null) world.stderr.write(`Note: ${notice}\n`);
}

async function measureAll(
  running: Running,
  argv: readonly string[],
  onTrial: () => void,
): Promise<LookupRecord> {
  const { world, options, display, rawDirectory, interruption } = running;
  const { signal, force } = interruption;
  const environment = await describeEnvironment(world);
  const prepared = await prepareLookup({
    world,
    options,
    display,
    logDirectory: rawDirectory,
    signal,
    force,
  });
  try {
    const timeouts = await synLinearTimeouts(world);
    const subjects = subjectsOf(options, prepared.resolvers, timeouts);
    const { policies, programDelaySeconds, search, ndots, target } = options;
    const record = newLookupRecord({
      id: running.id,
      argv: [...argv],
      startedAt: world.clock.now(),
      environment,
      warnings: [...prepared.warnings],
      target,
      url: options.url.href,
      durationSeconds: options.durationSeconds,
      rounds: options.rounds,
      simulation: policies.length === 0 ? null : { programDelaySeconds, synLinearTimeouts: timeouts },
      resolvConf: target === 'local' ? { search: [...search], ndots } : null,
      tools: prepared.tools,
      serverRecords: prepared.serverRecords,
      subjects,
    });
    announce(display, options, record);
    return await runTrials(running, prepared, record, onTrial);
  } finally {
    await prepared.place.close();
  }
}

function announce(display: Display, { durationSeconds, url }: LookupOptions, record: LookupRecord): void {
  const { subjects, rounds, warnings } = record;
  const time = formatDuration(durationSeconds * subjects.length);
  const simulated = record.simulation === null ? '' : 'SIMULATION: ';
  display.line(
    `${simulated}${url.href}: ${subjects.map(({ key }) => key).join(', ')}; ${rounds} trials each, ${time} in all`,
  );
  for (const warning of warnings) display.line(`Note: ${warning}`);
}

async function runTrials(
  running: Running,
  { place, tcpdump }: Prepared,
  start: LookupRecord,
  onTrial: () => void,
): Promise<LookupRecord> {
  const { world, options, store, directory, rawDirectory, display, interruption } = running;
  const { signal } = interruption;
  const seconds = options.durationSeconds / options.rounds;
  const planned = interleaved(start.subjects, options.rounds);
  const trials: LookupTrial[] = [];
  const pooled = new Map<string, Phases[]>();
  let record = start;
  const save = async (status: LookupRecord['status']) => {
    const endedAt = status === 'running' ? null : world.clock.now().toISOString();
    const next = { ...withTrials(record, trials, pooled), status, endedAt };
    record = withPortablePaths(next, { cwd: world.cwd, home: world.env.HOME });
    await store.saveAs(lookupKind, record, directory);
  };
  try {
    for (const { subject, round, order } of planned) {
      signal.throwIfAborted();
      display.live(`  ${order + 1} of ${planned.length}  ${subject.key}`);
      const head = { key: `${subject.key}#${round}`, subject: subject.key, round, order, seconds };
      const measured = await measureTrial({
        ...{ world, place, subject, head, tcpdump, rawDirectory, signal },
        url: options.url.href,
        port: portOf(options.url),
      });
      trials.push(measured.trial);
      pooled.set(subject.key, [...(pooled.get(subject.key) ?? []), ...measured.phases]);
      if (measured.trial.failure !== null) display.line(`  ${head.key}: ${measured.trial.failure}`);
      await save('running');
      onTrial();
    }
  } catch (error) {
    if (!signal.aborted || trials.length === 0) throw error;
    await save('interrupted');
    throw interruption.signal.reason instanceof BenchError
      ? new BenchError(
          interruption.signal.reason.code,
          `interrupted after ${trials.length} of ${planned.length} trials`,
          {
            fix: `They are in ${directory}/run.json; run the command again for all.`,
            cause: error,
          },
        )
      : error;
  }
  await save('complete');
  return record;
}
