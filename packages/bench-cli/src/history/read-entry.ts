/** Reads what can be compared from a folder in the results directory: `run.json`, else `imported.json`. */

import { join } from 'node:path';
import { messageOf } from '@dinodns-bench/program';
import { BenchError } from '../errors.ts';
import { compareKind } from '../results/compare-kind.ts';
import { experimentNameIn, listProblems, parseHeader, parseRecord } from '../results/parse-record.ts';
import { readRecordText, recordIn } from '../results/record-file.ts';
import type { World } from '../world.ts';
import { type Entry, entryOf, entryOfHeader } from './entry.ts';
import { IMPORTED_SCHEMA_VERSION, type ImportedRecord, importedRecordSchema } from './imported.ts';

const IMPORTED_NAME = 'imported.json';

/** The checked imported record in `text`. Throws `E_RECORD_UNREADABLE` or `E_RECORD_VERSION`. */
export function parseImported(text: string, path: string): ImportedRecord {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new BenchError('E_RECORD_UNREADABLE', `${path} is damaged: ${messageOf(cause)}`, {
      fix: 'Import the original files again with `bench import`.',
      cause,
    });
  }
  const version =
    typeof value === 'object' && value !== null && 'schemaVersion' in value ? value.schemaVersion : undefined;
  if (typeof version === 'number' && version > IMPORTED_SCHEMA_VERSION) {
    throw new BenchError(
      'E_RECORD_VERSION',
      `${path} has schema version ${version}, this version of bench reads ${IMPORTED_SCHEMA_VERSION}`,
      { fix: 'Use a newer version of bench.' },
    );
  }
  const record = importedRecordSchema.safeParse(value);
  if (record.success) return record.data;
  throw new BenchError('E_RECORD_UNREADABLE', `${path} is not an imported record`, {
    fix: 'Import the original files again with `bench import`.',
    evidence: listProblems(record.error),
  });
}

/** The record in the file at `path`, imported or of a run by the file's name, of any experiment. */
export async function readEntry(world: Pick<World, 'fs'>, path: string): Promise<Entry> {
  const text = await readRecordText(world, path);
  if (path.endsWith(IMPORTED_NAME)) return entryOf(parseImported(text, path));
  const experiment = experimentNameIn(text);
  return experiment === compareKind.experiment
    ? entryOf(parseRecord(text, path))
    : entryOfHeader(parseHeader(text, path), experiment);
}

export interface FoundFile {
  readonly path: string;
  /** Changes whenever the file does: size and modification time. */
  readonly stamp: string;
}

/** The record of a run, or of an imported measurement, in a folder; null for neither. */
export function recordOrImportIn(world: Pick<World, 'fs'>, directory: string): Promise<string | null> {
  return recordIn(world, directory, [IMPORTED_NAME]);
}

async function foundIn(world: Pick<World, 'fs'>, directory: string): Promise<FoundFile[]> {
  const path = await recordOrImportIn(world, directory);
  if (path === null) return [];
  // Null if somebody has removed it since.
  const stats = await world.fs.stat(path).catch(() => null);
  return stats === null ? [] : [{ path, stamp: `${stats.size} ${stats.mtimeMs}` }];
}

/**
 * Every record in the results directory and one folder deeper (`reference/NAME/run.json`). None if there is no such
 * directory.
 */
export async function findRecords(world: Pick<World, 'fs'>, resultsDirectory: string): Promise<FoundFile[]> {
  const foldersOf = async (directory: string) => {
    const items = await world.fs.readdir(directory, { withFileTypes: true }).catch(() => []);
    return items.filter((item) => item.isDirectory()).map(({ name }) => join(directory, name));
  };
  const folders = await foldersOf(resultsDirectory);
  const found: FoundFile[] = [];
  for (const folder of folders) {
    const here = await foundIn(world, folder);
    if (here.length > 0) found.push(...here);
    else for (const deeper of await foldersOf(folder)) found.push(...(await foundIn(world, deeper)));
  }
  return found;
}
