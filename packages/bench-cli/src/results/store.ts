/**
 * Runs on disk: `results/<run id>/run.json`, the record (`record-file.ts`); `raw/`, the output of every tool; and the reports made from
 * the record. The record is saved after every trial and is always complete.
 */

import { basename, dirname, join, resolve } from 'node:path';
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
   * Finds a run of any experiment by `latest`, the name of its folder, or the path of its folder or file; for what a person may
   * call it besides, see `locateRun`. Rejects with `E_RECORD_UNREADABLE`.
   */
  find(reference: string): Promise<FoundRun>;
  /**
   * Finds and reads a run of an experiment; `directory` is the absolute path of its folder.
   * Rejects with `E_RECORD_UNREADABLE`, `E_RECORD_FOREIGN` (also for a run of another experiment) or `E_RECORD_VERSION`.
   */
  loadAs<R>(kind: RecordKind<R>, reference: string): Promise<{ record: R; directory: string }>;
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

/** Absolute path of the record that a reference means. */
async function resolveReference(
  world: StoreWorld,
  resultsDirectory: string,
  reference: string,
): Promise<string> {
  const isNewest = reference === 'latest';
  const names = isNewest ? await foldersWithRecord(world, resultsDirectory) : [];
  const name = isNewest ? names.findLast((each) => RUN_ID_PATTERN.test(each)) : reference;
  for (const path of name ? [join(resultsDirectory, name), resolve(world.cwd, name)] : []) {
    const stats = await world.fs.stat(path).catch(() => null);
    // Such as `results`: a folder that contains runs but is not one.
    const file = stats?.isDirectory() ? await recordIn(world, path) : stats && path;
    if (file !== null) return file;
  }
  throw new BenchError(
    'E_RECORD_UNREADABLE',
    `there is no run ${JSON.stringify(reference)} in ${resultsDirectory}`,
    {
      fix: '`bench history` lists the runs; another directory can be given with --out.',
    },
  );
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
