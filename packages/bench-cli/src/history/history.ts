/**
 * The history: the index of `database.ts`, brought up to date with the records whenever it is opened. Several benches
 * may do so at the same time.
 */

import { join } from 'node:path';
import { messageOf } from '@dinodns-bench/program';
import { BenchError } from '../errors.ts';
import type { World } from '../world.ts';
import { type HistoryDatabase, openDatabase } from './database.ts';
import { findRecords, readEntry } from './read-entry.ts';

export const DATABASE_NAME = 'history.db';

type HistoryWorld = Pick<World, 'fs' | 'processes'>;

export interface OpenedHistory {
  readonly database: HistoryDatabase;
  /** What a user should know: the index was rebuilt, or is not kept. Normally null. */
  readonly notice: string | null;
}

/** Reads what is new or has changed, and forgets what is gone. */
export async function synchronize(
  world: HistoryWorld,
  database: HistoryDatabase,
  resultsDirectory: string,
): Promise<void> {
  const found = await findRecords(world, resultsDirectory);
  const known = database.files();
  // First: a run that was moved is known by its old path, and to forget that one later would remove the run.
  const present = new Set(found.map(({ path }) => path));
  database.forget([...known.keys()].filter((path) => !present.has(path)));
  for (const { path, stamp } of found) {
    if (known.get(path) === stamp) continue;
    const entry = await readEntry(world, path).catch((error: unknown) => {
      if (error instanceof BenchError) return { problem: error.message };
      throw error;
    });
    database.put(path, stamp, entry);
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && /database is locked|busy/i.test(error.message);
}

/**
 * Rebuilds the index from the records beside the old one, and replaces it atomically: readers of the old one are not
 * disturbed, and of two concurrent rebuilds the last one wins with the same content. Without records there is no
 * index. Resolves with the number of records read.
 */
export async function rebuild(world: HistoryWorld, resultsDirectory: string): Promise<number> {
  const path = join(resultsDirectory, DATABASE_NAME);
  const temporary = `${path}.${world.processes.ownPid}.tmp`;
  const clean = () => world.fs.rm(temporary, { force: true });
  await clean();
  try {
    const database = openDatabase(temporary);
    try {
      await synchronize(world, database, resultsDirectory);
      const count = database.files().size;
      database.close();
      // A leftover journal of the old file would be applied to the new one.
      await world.fs.rm(`${path}-journal`, { force: true });
      await world.fs.rename(temporary, path);
      return count;
    } catch (error) {
      try {
        database.close();
      } catch {
        // Closed already, before the renaming failed.
      }
      throw error;
    }
  } finally {
    await clean();
  }
}

/**
 * Opens the history of a results directory, up to date. Rebuilds a damaged index; makes it in memory where nothing can
 * be written. Rejects only if even that fails.
 */
export async function openHistory(world: HistoryWorld, resultsDirectory: string): Promise<OpenedHistory> {
  const path = join(resultsDirectory, DATABASE_NAME);
  const inMemory = async (reason: string | null): Promise<OpenedHistory> => {
    const database = openDatabase(':memory:');
    await synchronize(world, database, resultsDirectory);
    return { database, notice: reason };
  };
  const exists = (await world.fs.stat(resultsDirectory).catch(() => null))?.isDirectory() === true;
  // Without results there is no index: reading must not create folders.
  if (!exists) return inMemory(null);
  const open = async (): Promise<HistoryDatabase> => {
    const database = openDatabase(path);
    try {
      await synchronize(world, database, resultsDirectory);
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  };
  try {
    return { database: await open(), notice: null };
  } catch (first) {
    if (isBusy(first)) return inMemory(`${path} has been in use for too long; read the records instead`);
    try {
      await rebuild(world, resultsDirectory);
      return { database: await open(), notice: `${path} was rebuilt (${messageOf(first)})` };
    } catch (second) {
      return inMemory(`${path} cannot be written (${messageOf(second)}); read the records instead`);
    }
  }
}

/**
 * Updates the index after a run or an import. Resolves with null, or with the reason why it failed. Nothing is lost:
 * the next command that needs the history updates it.
 */
export async function updateHistory(world: HistoryWorld, resultsDirectory: string): Promise<string | null> {
  try {
    const { database, notice } = await openHistory(world, resultsDirectory);
    database.close();
    return notice;
  } catch (error) {
    return `the history was not brought up to date: ${messageOf(error)}`;
  }
}

/**
 * Keeps what experiments say of their runs, by the path of the record, so that the next listing need not read them. Without an index that
 * can be written, they are read each time.
 */
export function keepSummaries(resultsDirectory: string, summaries: ReadonlyMap<string, string>): void {
  try {
    const database = openDatabase(join(resultsDirectory, DATABASE_NAME));
    try {
      for (const [path, summary] of summaries) database.summarize(path, summary);
    } finally {
      database.close();
    }
  } catch {
    // It was opened and brought up to date a moment ago; whatever is wrong with it was said then.
  }
}
