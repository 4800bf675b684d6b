/** Reads any record as the history sees it. */
import { basename, dirname } from 'node:path';
import { orNull } from '../errors.ts';
import { type Entry, entryOf, entryOfHeader } from '../history/entry.ts';
import { IMPORTED_NAME, parseImported } from '../history/imported.ts';
import { experimentNameIn, parseHeader } from '../results/parse-record.ts';
import { readRecordText } from '../results/record-file.ts';
import type { World } from '../world.ts';
import { findRecords, unknownExperiment } from './registry.ts';

/**
 * A run of any experiment, or an imported measurement, as the history sees it. Of an experiment that this version does not
 * know, what every record says.
 */
export async function readEntry(world: Pick<World, 'fs'>, path: string): Promise<Entry> {
  const text = await readRecordText(world, path);
  if (basename(path) === IMPORTED_NAME) return entryOf(parseImported(text, path));
  const experiment = experimentNameIn(text);
  const records = await findRecords(experiment);
  if (records !== undefined) return records.open({ text, path }).entry();
  const readHeader = async () => parseHeader(text, path);
  const header = await orNull(['E_RECORD_UNREADABLE'], readHeader());
  // Another experiment's fields may be others: that it is unknown is what a person can mend.
  if (header === null) throw await unknownExperiment({ experiment, directory: dirname(path) });
  return entryOfHeader(header, experiment, null);
}
