/**
 * The journal: every change of the cluster, written into a ConfigMap of the cluster before it is made. Each write tests
 * that nobody else has written since. Needs nothing: the guard runs this file, too.
 */
import type { Change, ChangeState } from './change.ts';
import { type ClusterApi, create, read, remove, replace } from './cluster-api.ts';
import { isObject, textAt } from './json.ts';

/** There is one journal for a cluster, beside its Lease: so a second run cannot begin before the first is undone. */
export const JOURNAL_NAME = 'dinodns-bench-journal';
const KEY = 'journal.json';
const VERSION = 1;

export interface Journal {
  readonly version: typeof VERSION;
  readonly runId: string;
  /** `swap`, `lookup`. */
  readonly experiment: string;
  /** The namespace of the run, in which the guard runs. */
  readonly namespace: string;
  /** Value of the label on changed objects. */
  readonly token: string;
  /** In the order in which they were made; they are undone in the reverse order. */
  readonly changes: readonly Change[];
}

/** A journal as it was read; `object` holds the version that the next write tests. */
export interface StoredJournal {
  readonly journal: Journal;
  readonly object: Readonly<Record<string, unknown>>;
}

/** Somebody else has written or removed the journal: whoever sees this must make no further change. */
export class JournalLost extends Error {
  override readonly name = 'JournalLost';
}

/** It cannot be read: nobody knows what was changed. */
export class JournalDamaged extends Error {
  override readonly name = 'JournalDamaged';
}

const collection = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps`;
const pathOf = (namespace: string) => `${collection(namespace)}/${JOURNAL_NAME}`;

const STATES: readonly ChangeState[] = ['planned', 'applied', 'reverted', 'superseded'];

function isChange(value: unknown): value is Change {
  return (
    isObject(value) &&
    isObject(value.object) &&
    Array.isArray(value.edits) &&
    Array.isArray(value.pinned) &&
    STATES.some((state) => state === value.state)
  );
}

function isJournal(value: unknown): value is Journal {
  return (
    isObject(value) &&
    value.version === VERSION &&
    typeof value.token === 'string' &&
    Array.isArray(value.changes) &&
    value.changes.every(isChange)
  );
}

function parseJournal(object: unknown): StoredJournal {
  const text = textAt(object, `/data/${KEY}`);
  let journal: unknown;
  try {
    journal = JSON.parse(text);
  } catch (cause) {
    throw new JournalDamaged(`the journal in ConfigMap ${JOURNAL_NAME} is damaged`, { cause });
  }
  if (!isObject(object) || !isJournal(journal))
    throw new JournalDamaged(
      `the journal in ConfigMap ${JOURNAL_NAME} is damaged, or of another version of bench`,
    );
  return { journal, object };
}

/** Null if there is none: no change is pending. */
export async function readJournal(api: ClusterApi, namespace: string): Promise<StoredJournal | null> {
  const object = await read(api, pathOf(namespace));
  return object === null ? null : parseJournal(object);
}

/**
 * Creates the journal of a run, without changes.
 * @throws JournalLost if there is one.
 */
export async function createJournal(
  api: ClusterApi,
  namespace: string,
  request: Pick<Journal, 'runId' | 'experiment' | 'namespace' | 'token'> & {
    readonly labels: Readonly<Record<string, string>>;
  },
): Promise<StoredJournal> {
  const { labels, ...rest } = request;
  const journal: Journal = { version: VERSION, ...rest, changes: [] };
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: JOURNAL_NAME, namespace, labels },
    data: { [KEY]: JSON.stringify(journal, null, 2) },
  };
  const created = await create(api, collection(namespace), object);
  if (created !== null) return parseJournal(created);
  // The answer to the first attempt may have been lost.
  const found = await readJournal(api, namespace);
  if (found?.journal.token === request.token) return found;
  throw new JournalLost('there is a journal of another run');
}

/** @throws JournalLost if somebody else has written or removed it since it was read. */
export async function writeJournal(
  api: ClusterApi,
  { object }: StoredJournal,
  journal: Journal,
): Promise<StoredJournal> {
  const text = JSON.stringify(journal, null, 2);
  const namespace = textAt(object, '/metadata/namespace');
  const written = await replace(api, pathOf(namespace), { ...object, data: { [KEY]: text } });
  if (written !== null) return parseJournal(written);
  const found = await read(api, pathOf(namespace));
  // The answer to the first attempt was lost, but it counted.
  if (found !== null && textAt(found, `/data/${KEY}`) === text) return parseJournal(found);
  throw new JournalLost(found === null ? 'the journal is gone' : 'somebody else has written the journal');
}

/**
 * Removes the journal: only after everything in it was put back.
 * @throws JournalLost if somebody else has written it since it was read.
 */
export async function removeJournal(api: ClusterApi, { object }: StoredJournal): Promise<void> {
  const version = textAt(object, '/metadata/resourceVersion');
  if (await remove(api, pathOf(textAt(object, '/metadata/namespace')), version)) return;
  throw new JournalLost('somebody else has written the journal');
}

export const isPending = ({ state }: Change) => state === 'planned' || state === 'applied';

/** The journal with another state of one of its changes. */
export function withChange(journal: Journal, index: number, next: Partial<Change>): Journal {
  const changes = journal.changes.map((change, at) => (at === index ? { ...change, ...next } : change));
  return { ...journal, changes };
}
