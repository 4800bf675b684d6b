/**
 * Runs on disk: `results/<run id>/run.json`, the record (`record-file.ts`); `raw/`, the output of every tool; and the reports made from
 * the record. The record is saved after every trial and is always complete.
 */

import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { nearest } from '@dinodns-bench/program';
import { BenchError } from '../errors.ts';
import type { World } from '../world.ts';
import { formatJson } from './json-text.ts';
import { makeDirectories } from './make-directories.ts';
import { experimentNameIn, listProblems, parseRecordAs } from './parse-record.ts';
import { RAW_NAME } from './raw-output.ts';
import { RECORD_NAME, readRecordText, recordIn } from './record-file.ts';
import type { RecordKind } from './record-kind.ts';
import { RUN_ID_PATTERN } from './run-id.ts';
import { lockRun } from './run-lock.ts';
import { writeError, writeWhole } from './write-whole.ts';

/** How many runs an error lists. */
const MAX_RUNS = 5;

/** A run whose record has not been read beyond the name of its experiment. */
export interface FoundRun {
  /** The record's text. */
  readonly text: string;
  /** Absolute path of the record. */
  readonly path: string;
  /** The experiment that wrote it. */
  readonly experiment: string;
  /** Absolute path of the run's folder. */
  readonly directory: string;
}

export interface LoadedRun<R> {
  readonly record: R;
  /** Absolute path of the run's folder. */
  readonly directory: string;
}

export interface RunStore {
  /** Absolute path of the directory that holds the runs' folders. */
  readonly resultsDirectory: string;
  /** Absolute path of the folder of the run with this id; it need not exist. */
  directoryOf(id: string): string;
  /** Makes the folder for raw tool output in a run's folder and returns its absolute path. */
  makeRawDirectory(directory: string): Promise<string>;
  /**
   * Saves the record atomically. Rejects with `E_DISK_FULL` or `E_WRITE_FAILED`, and with `E_INTERNAL` for a record
   * that violates its schema; the previously saved record stays.
   */
  saveAs<R extends { readonly id: string }>(
    kind: RecordKind<R>,
    record: R,
    directory?: string,
  ): Promise<void>;
  /** Writes a file such as a report beside the record, atomically; `name` may be a path. Returns its path. */
  writeBeside(directory: string, name: string, content: string | Uint8Array): Promise<string>;
  /** Ids of the runs that have a record, oldest first. */
  list(): Promise<string[]>;
  /**
   * Finds a run of any experiment by `latest`, its ID or a unique prefix of it, or the path of its folder or file.
   * Rejects with `E_RECORD_UNREADABLE` or `E_RECORD_FOREIGN`.
   */
  find(reference: string): Promise<FoundRun>;
  /**
   * Finds and reads a run of an experiment.
   * Rejects with `E_RECORD_UNREADABLE`, `E_RECORD_FOREIGN` (also for a run of another experiment) or `E_RECORD_VERSION`.
   */
  loadAs<R>(kind: RecordKind<R>, reference: string): Promise<LoadedRun<R>>;
  /** Keeps other benches from writing to the run until the returned function is called. See `lockRun`. */
  lock(directory: string): Promise<() => Promise<void>>;
}

type StoreWorld = Pick<World, 'fs' | 'cwd' | 'machine' | 'processes'>;

/** Names of folders in the results directory that hold a record; none if there is no such directory. */
async function foldersWithRecord({ fs }: StoreWorld, resultsDirectory: string): Promise<string[]> {
  const names = await fs.readdir(resultsDirectory).catch((): string[] => []);
  const found = await Promise.all(
    names.map(async (name) =>
      (await recordIn({ fs }, join(resultsDirectory, name))) === null ? [] : [name],
    ),
  );
  return found.flat().sort();
}

function missingRun(reference: string, resultsDirectory: string, available: readonly string[]): BenchError {
  const suggestion = nearest(reference, available);
  const newest = available.slice(-MAX_RUNS).reverse();
  const hint =
    available.length === 0
      ? `There are no runs in ${resultsDirectory} yet: make one with \`bench run\`, or give another directory with --out.`
      : suggestion === undefined
        ? 'Give one of these, `latest`, a tag, a git branch, a commit, or the path of a run.json.'
        : `Did you mean ${suggestion}?`;
  return new BenchError('E_RECORD_UNREADABLE', `there is no run ${JSON.stringify(reference)}`, {
    fix: hint,
    evidence: newest.map((id) => join(resultsDirectory, id)),
  });
}

/** An imported measurement has another kind of record: it can be compared, but it is not a run. */
async function refuseImported({ fs }: StoreWorld, directories: readonly string[]): Promise<void> {
  for (const directory of directories) {
    const stats = await fs.stat(join(directory, 'imported.json')).catch(() => null);
    if (stats === null) continue;
    throw new BenchError('E_RECORD_FOREIGN', `${directory} is a measurement of another program`, {
      fix: 'Use `bench history`, `bench compare` or `bench trend`; reports exist only for runs of bench.',
    });
  }
}

/** A run makes its folder before it begins, and its record with the first trial. */
export async function refuseWithoutRecord(
  { fs }: Pick<World, 'fs'>,
  directories: readonly string[],
): Promise<void> {
  for (const directory of directories) {
    const stats = await fs.stat(join(directory, RAW_NAME)).catch(() => null);
    if (stats === null) continue;
    throw new BenchError('E_RECORD_UNREADABLE', `${directory} has no record: its run has no trial yet`, {
      fix: 'If that run was killed, start it again and delete the folder: there is nothing to resume or to report.',
    });
  }
}

/** Absolute path of the record that a reference means. It may still not exist. */
async function resolveReference(
  world: StoreWorld,
  resultsDirectory: string,
  reference: string,
): Promise<string> {
  const available = await foldersWithRecord(world, resultsDirectory);
  const recordOf = async (name: string) => {
    const path = await recordIn(world, join(resultsDirectory, name));
    if (path === null) throw missingRun(reference, resultsDirectory, available);
    return path;
  };
  if (reference === 'latest') {
    const newest = available.filter((name) => RUN_ID_PATTERN.test(name)).at(-1);
    if (newest === undefined) throw missingRun(reference, resultsDirectory, available);
    return recordOf(newest);
  }
  if (available.includes(reference)) return recordOf(reference);
  const path = isAbsolute(reference) ? reference : resolve(world.cwd, reference);
  const stats = await world.fs.stat(path).catch(() => null);
  if (stats?.isDirectory()) {
    // Such as `results`: a folder that contains runs but is not one.
    const file = await recordIn(world, path);
    if (file !== null) return file;
  } else if (stats !== null) return path;
  // A record that was compressed, or unpacked, since somebody noted its path.
  if (/^run\.json(?:\.gz)?$/.test(basename(path))) {
    const file = await recordIn(world, dirname(path));
    if (file !== null) return file;
  }
  await refuseImported(world, [path, join(resultsDirectory, reference)]);
  await refuseWithoutRecord(world, reference === '' ? [] : [path, join(resultsDirectory, reference)]);
  const matching = available.filter((name) => reference !== '' && name.startsWith(reference));
  const [only] = matching;
  if (only !== undefined && matching.length === 1) return recordOf(only);
  throw missingRun(reference, resultsDirectory, matching.length > 1 ? matching : available);
}

function checked<R extends { readonly id: string }>({ schema }: RecordKind<R>, record: R): R {
  const result = schema.safeParse(record);
  if (result.success) return record;
  throw new BenchError('E_INTERNAL', `the record of run ${record.id} violates its schema`, {
    fix: 'This is a bug in bench: please report it with the lines above. Everything saved earlier is kept.',
    evidence: listProblems(result.error),
    cause: result.error,
  });
}

/** The store of runs under `resultsDirectory` (relative to the working directory). Touches nothing yet. */
export function createStore(world: StoreWorld, resultsDirectory: string): RunStore {
  const root = resolve(world.cwd, resultsDirectory);
  const { fs } = world;
  const write = (path: string, content: string | Uint8Array) =>
    writeWhole(fs, world.processes.ownPid, path, content);
  const store: RunStore = {
    resultsDirectory: root,
    directoryOf: (id) => join(root, basename(id)),
    async makeRawDirectory(directory) {
      const path = join(directory, RAW_NAME);
      await makeDirectories(fs, path).catch((error) => {
        throw writeError(path, error);
      });
      return path;
    },
    async saveAs(kind, record, directory = store.directoryOf(record.id)) {
      await write(join(directory, RECORD_NAME), formatJson(checked(kind, record)));
    },
    async writeBeside(directory, name, content) {
      const path = join(directory, name);
      await write(path, content);
      return path;
    },
    async list() {
      return (await foldersWithRecord(world, root)).filter((name) => RUN_ID_PATTERN.test(name));
    },
    async find(reference) {
      const path = await resolveReference(world, root, reference);
      const text = await readRecordText(world, path);
      return { text, path, experiment: experimentNameIn(text), directory: dirname(path) };
    },
    async loadAs(kind, reference) {
      const { text, path, directory } = await store.find(reference);
      return { record: parseRecordAs(kind, text, path), directory };
    },
    lock: (directory) => lockRun(world, directory),
  };
  return store;
}
