/** Results that others have published, as records that ship with bench: `published/NAME.json`. */
import { BenchError, choiceFix } from '../errors.ts';
import { ownText } from '../own-files.ts';
import { type Entry, entryOf } from './entry.ts';
import { type ImportedRecord, type PublicationFacts, parseImported } from './imported.ts';
import { type RunRow, rowOf } from './listing.ts';

export const PUBLICATIONS = ['blog', 'swap', 'scaling', 'kube-dns', 'lookup'] as const;
export type PublicationName = (typeof PUBLICATIONS)[number];

/** How `bench compare` names them: `published/blog`. */
const PREFIX = 'published/';

export interface Published {
  readonly record: ImportedRecord;
  readonly facts: PublicationFacts;
  readonly entry: Entry;
}

/** The record of a publication. */
export function publishedRecord(name: PublicationName): Published {
  const file = new URL(`published/${name}.json`, import.meta.url);
  const record = parseImported(ownText(file), file.pathname);
  if (record.publication === undefined) {
    throw new BenchError('E_INTERNAL', `${file.pathname} does not say what it is from`, {
      fix: 'Install bench again.',
    });
  }
  return { record, facts: record.publication, entry: entryOf(record) };
}

/**
 * The publication of that name.
 * @throws BenchError `E_USAGE` with the nearest name there is.
 */
export function findPublication(name: string): PublicationName {
  const found = PUBLICATIONS.find((candidate) => candidate === name);
  if (found !== undefined) return found;
  throw new BenchError('E_USAGE', `there is no publication ${JSON.stringify(name)}`, {
    fix: choiceFix(name, PUBLICATIONS),
  });
}

/** The publications as rows of the history, under the names that commands take. */
export function publishedRows(): RunRow[] {
  return PUBLICATIONS.map((name) => {
    const { facts, entry } = publishedRecord(name);
    return {
      ...rowOf(entry, facts.url ?? ''),
      id: `${PREFIX}${name}`,
      kind: 'published',
      status: 'published',
      startedAt: facts.date ?? '',
    };
  });
}

export const isPublished = (reference: string) => reference.startsWith(PREFIX);

/** The entry that `published/blog` means. Throws `E_USAGE` for an unknown one. */
export function publishedEntry(reference: string): Entry {
  return publishedRecord(findPublication(reference.slice(PREFIX.length))).entry;
}
