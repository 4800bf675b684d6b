/** The life of a measuring run: new or resumed, locked while it lasts, saved after every step, explained when it is interrupted. */
import { BenchError } from '../../errors.ts';
import { type Interruption, listenForInterruption } from '../../interruption.ts';
import { createDisplay, type Display } from '../../progress/display.ts';
import { newRunId } from '../../results/run-id.ts';
import { createStore, type RunStore } from '../../results/store.ts';
import { shellQuote } from '../../text.ts';
import type { World } from '../../world.ts';
import { finishCapacityRun } from './finish.ts';
import type { CommonFlags } from './machine.ts';
import { oneAtATime } from './one-at-a-time.ts';
import { type CapacityRecord, capacityKind } from './record.ts';

type What = CapacityRecord['measured']['what'];

/** A run with a folder of its own. */
export interface KeptRun<R> {
  /** What continues it, after `bench capacity`. */
  readonly command: string;
  readonly store: RunStore;
  readonly id: string;
  readonly directory: string;
  /** As typed; undefined for the default. */
  readonly out: string | undefined;
  /** What was measured before; undefined for a new run. */
  readonly previous: R | undefined;
}

export interface CapacityRun<Settings> extends KeptRun<CapacityRecord> {
  readonly what: What;
  readonly settings: Settings;
}

export interface RunRequest<Settings> {
  readonly what: What;
  /** Default: `what`. */
  readonly command?: string;
  /** As typed, under the names of the settings. */
  readonly given: Readonly<Record<string, unknown>>;
  readonly out: string | undefined;
  /** `--resume` */
  readonly resume: string | undefined;
  /** @throws BenchError `E_CONFIG` */
  decide(given: Readonly<Record<string, unknown>>): Settings;
}

/** @throws BenchError `E_USAGE` for anything that was given beside `--resume` */
export function refuseOthers(given: RunRequest<unknown>['given']): void {
  const names = Object.keys(given).filter((name) => given[name] !== undefined);
  if (names.length === 0) return;
  throw new BenchError('E_USAGE', '--resume continues with the settings of the run and accepts no others', {
    evidence: names.map((name) => `also given: ${name}`),
    fix: 'Omit the other settings, or start a new run without --resume.',
  });
}

/** What was typed for a measurement. */
export interface MeasurementOptions {
  /** Under the names of the settings. */
  readonly given: Readonly<Record<string, unknown>>;
  readonly common: CommonFlags;
  readonly resume: string | undefined;
  readonly json: boolean;
  readonly argv: readonly string[];
}

/**
 * A new run, or the one to resume. Touches nothing yet.
 * @throws BenchError `E_USAGE` for settings beside `--resume`, and for a run of another command; as the store does
 */
export async function openRun<Settings>(
  world: World,
  { what, command = what, given, out, resume, decide }: RunRequest<Settings>,
): Promise<CapacityRun<Settings>> {
  const store = createStore(world, out ?? 'results');
  if (resume === undefined) {
    const settings = decide(given);
    const id = newRunId(world.clock.now());
    return { what, command, settings, store, id, directory: store.directoryOf(id), out, previous: undefined };
  }
  refuseOthers(given);
  const { record, directory } = await store.loadAs(capacityKind, resume);
  if (record.measured.what !== what) {
    throw new BenchError('E_USAGE', `run ${record.id} is one of bench capacity ${record.measured.what}`, {
      fix: `Resume it with bench capacity ${record.measured.what} --resume ${record.id}.`,
    });
  }
  const settings = decide(record.settings);
  return { what, command, settings, store, id: record.id, directory, out, previous: record };
}

/** An interrupted run says how it goes on. */
function explainInterruption(error: unknown, { command, id, out, directory }: KeptRun<unknown>): unknown {
  const interrupted =
    error instanceof BenchError && (error.code === 'E_INTERRUPTED' || error.code === 'E_TERMINATED');
  if (!interrupted) return error;
  const place = out === undefined ? '' : ` --out ${shellQuote(out)}`;
  return new BenchError(error.code, `${error.message}; what was measured is saved in ${directory}`, {
    fix: `Continue with: pnpm bench capacity ${command} --resume ${id}${place}`,
    cause: error,
  });
}

/** The complete record, and how many of its parts failed. */
export interface Measured {
  readonly record: CapacityRecord;
  readonly failures: number;
}

async function keepLocked(
  world: World,
  run: KeptRun<unknown>,
  measure: (onSaved: () => void) => Promise<number>,
): Promise<number> {
  const { store, directory } = run;
  await store.makeRawDirectory(directory);
  const unlock = await store.lock(directory);
  let kept = run.previous !== undefined;
  try {
    return await measure(() => {
      kept = true;
    });
  } catch (error) {
    throw kept ? explainInterruption(error, run) : error;
  } finally {
    await unlock();
    if (!kept) await world.fs.rm(directory, { recursive: true, force: true });
  }
}

/** What a measurement shows its progress on, and what stops it. */
export interface Attended {
  readonly display: Display;
  readonly interruption: Interruption;
}

/**
 * Measures with the run's folder locked, progress shown and Ctrl-C heard. `onSaved` must be called when something was saved: a
 * folder without a record is deleted.
 */
export async function keepFolder(
  world: World,
  run: KeptRun<unknown>,
  measure: (attended: Attended, onSaved: () => void) => Promise<number>,
): Promise<number> {
  const display = createDisplay(world.stderr);
  const interruption = listenForInterruption(world, (text) => display.line(text));
  try {
    return await keepLocked(world, run, (onSaved) => measure({ display, interruption }, onSaved));
  } finally {
    interruption.release();
    display.clear();
  }
}

/** The same, and writes the reports; resolves with the exit status. */
export function keepRun(
  world: World,
  run: CapacityRun<unknown>,
  json: boolean,
  measure: (attended: Attended, onSaved: () => void) => Promise<Measured>,
): Promise<number> {
  return keepFolder(world, run, async (attended, onSaved) => {
    const { record, failures } = await measure(attended, onSaved);
    return finishCapacityRun(world, run.store, run.directory, record, failures, json);
  });
}

export interface Recorder {
  /** Keeps the first files of each server. */
  onFiles(server: string, files: Readonly<Record<string, string>>): void;
  /** Saves one after the other, each with what is measured then; resolves with the record. */
  save(status: CapacityRecord['status']): Promise<CapacityRecord>;
}

export function createRecorder(
  world: World,
  { store, directory }: CapacityRun<unknown>,
  first: CapacityRecord,
  measured: () => CapacityRecord['measured'],
  onSaved: () => void,
): Recorder {
  let record = first;
  const files = new Map<string, Readonly<Record<string, string>>>();
  const alone = oneAtATime();
  return {
    onFiles(server, found) {
      if (!files.has(server)) files.set(server, found);
    },
    save: (status) =>
      alone(async () => {
        const endedAt = status === 'running' ? null : world.clock.now().toISOString();
        const programs = record.programs.map((program) => ({
          ...program,
          files: { ...(files.get(program.name) ?? program.files) },
        }));
        record = { ...record, status, endedAt, programs, measured: measured() };
        await store.saveAs(capacityKind, record, directory);
        onSaved();
        return record;
      }),
  };
}
