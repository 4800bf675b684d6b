/**
 * Puts back what a journal holds, in reverse. Idempotent: whoever is interrupted, or is not the only one, begins again.
 * Never overwrites what somebody else has changed since. Needs nothing: the guard runs this file, too.
 */
import {
  type Change,
  type Finding,
  findingOf,
  inversePatch,
  located,
  markOf,
  testMark,
  unmarkPatch,
} from './change.ts';
import { type ClusterApi, patch, read } from './cluster-api.ts';
import {
  isPending,
  type Journal,
  JournalLost,
  type StoredJournal,
  withChange,
  writeJournal,
} from './journal.ts';
import { rolloutOf } from './rollout.ts';

/** Each attempt fails only if somebody wrote the object between reading and patching it. */
const MAX_ATTEMPTS = 10;

/** Removes our mark, if it is there. */
async function unmark(api: ClusterApi, path: string, token: string, object: unknown): Promise<boolean> {
  if (markOf(object) !== token) return true;
  return (await patch(api, path, unmarkPatch(token))) !== null;
}

interface RevertOptions {
  /** Called just before each request that may do so. */
  readonly onSend?: () => void;
  /** Without a journal, only the mark says that a change is still ours. */
  readonly onlyMarked?: boolean;
}

async function attempt(
  api: ClusterApi,
  change: Change,
  token: string,
  { onSend, onlyMarked = false }: RevertOptions,
): Promise<{ readonly finding: Finding; readonly done: boolean }> {
  const { path } = change.object;
  const object = await read(api, path);
  const marked = markOf(object) === token;
  if (onlyMarked && !marked)
    return { finding: { kind: 'foreign', found: 'it is no longer marked' }, done: true };
  const finding = findingOf(change, object);
  if (finding.kind !== 'after') {
    const done = object === null || (await unmark(api, path, token, object));
    return { finding, done };
  }
  const back = inversePatch(located(change, object));
  const inverse = marked ? [testMark(token), ...back, ...unmarkPatch(token)] : back;
  onSend?.();
  const done = (await patch(api, path, inverse)) !== null;
  return { finding, done };
}

/** Puts one change back, and removes the mark from its object. Resolves with its new state. */
export async function revert(
  api: ClusterApi,
  change: Change,
  token: string,
  options: RevertOptions = {},
): Promise<Pick<Change, 'state' | 'found'>> {
  for (let attempts = 1; ; attempts += 1) {
    const { finding, done } = await attempt(api, change, token, options);
    if (done && finding.kind === 'foreign') return { state: 'superseded', found: finding.found };
    if (done) return { state: 'reverted', found: null };
    if (attempts === MAX_ATTEMPTS) {
      throw new Error(`${change.object.title} is written by somebody else all the time`);
    }
  }
}

/**
 * Of each value its first change, with its number: a value may be changed several times, and what it was at first counts. None of
 * a value that is left to somebody else.
 */
function firstOfEach(changes: readonly Change[]): (readonly [number: number, first: Change])[] {
  const placeOf = ({ object, edits }: Change) =>
    [object.path, ...edits.map(({ pointer }) => pointer)].join(' ');
  return [...Map.groupBy(changes.entries(), ([, change]) => placeOf(change)).values()].flatMap((all) =>
    all.some(([, { state }]) => state === 'superseded') ? [] : all.slice(0, 1),
  );
}

/**
 * Puts back all pending changes, the last one first; the journal says at once what is done, and what somebody else has changed
 * after it was put back.
 * @param isGone The journal is no longer there: only what still has the mark is put back.
 * @throws JournalLost if the journal is lost meanwhile: at the end, since nobody else may know what it held
 */
export async function revertAll(
  api: ClusterApi,
  stored: StoredJournal,
  onReverted: (change: Change) => void = () => undefined,
  { isGone = false } = {},
): Promise<StoredJournal> {
  const { token, changes } = stored.journal;
  let current = stored;
  let lost: JournalLost | null = null;
  const record = async (index: number, change: Change) => {
    const journal = withChange(current.journal, index, change);
    try {
      current = isGone || lost ? { ...current, journal } : await writeJournal(api, current, journal);
    } catch (error) {
      if (!(error instanceof JournalLost)) throw error;
      lost = error;
      current = { ...current, journal };
    }
    onReverted(change);
  };
  for (const [index, change] of [...changes.entries()].toReversed()) {
    if (!isPending(change)) continue;
    const next = await revert(api, change, token, { onlyMarked: isGone || lost !== null });
    await record(index, { ...change, ...next });
  }
  if (lost !== null) throw lost;
  if (isGone) return current;
  for (const [index, change] of firstOfEach(current.journal.changes)) {
    const finding = findingOf(change, await read(api, change.object.path));
    if (finding.kind === 'before') continue;
    const found = finding.kind === 'foreign' ? finding.found : 'somebody else has made the same change';
    await record(index, { ...change, state: 'superseded', found });
  }
  return current;
}

/** What of the restored objects is not as before yet, in words; empty when all of it is. */
export async function unsettled(api: ClusterApi, { changes, token }: Journal): Promise<string[]> {
  const problems: string[] = [];
  for (const [, change] of firstOfEach(changes)) {
    const object = await read(api, change.object.path);
    const finding = findingOf(change, object);
    if (markOf(object) === token) problems.push(`${change.object.title} still carries the mark of the run`);
    // Somebody else has changed it since: theirs stays.
    if (change.state === 'reverted' && finding.kind !== 'before') continue;
    if (finding.kind === 'foreign') problems.push(`${change.object.title}: ${finding.found}`);
    if (finding.kind === 'after') problems.push(`${change.what} in ${change.object.title} is not put back`);
    const rollout = rolloutOf(object);
    if (rollout !== null) problems.push(`${change.object.title}: ${rollout}`);
  }
  return problems;
}
