/**
 * Puts back what a journal holds, in reverse. Idempotent: whoever is interrupted, or is not the only one, begins again.
 * Never overwrites what somebody else has changed since. Needs nothing: the guard runs this file, too.
 */
import {
  type Change,
  type Finding,
  findingOf,
  inversePatch,
  markOf,
  testMark,
  unmarkPatch,
} from './change.ts';
import { type ClusterApi, patch, read } from './cluster-api.ts';
import { isPending, type Journal, type StoredJournal, withChange, writeJournal } from './journal.ts';
import { rolloutOf } from './rollout.ts';

/** Each attempt fails only if somebody wrote the object between reading and patching it. */
const MAX_ATTEMPTS = 10;

/** Removes our mark, if it is there. */
async function unmark(api: ClusterApi, path: string, token: string, object: unknown): Promise<boolean> {
  if (markOf(object) !== token) return true;
  return (await patch(api, path, unmarkPatch(token))) !== null;
}

async function attempt(
  api: ClusterApi,
  change: Change,
  token: string,
  onSend: () => void,
): Promise<{ readonly finding: Finding; readonly done: boolean }> {
  const { path } = change.object;
  const object = await read(api, path);
  const finding = findingOf(change, object);
  if (finding.kind !== 'after') {
    const done = object === null || (await unmark(api, path, token, object));
    return { finding, done };
  }
  const marked = markOf(object) === token;
  const inverse = marked
    ? [testMark(token), ...inversePatch(change), ...unmarkPatch(token)]
    : inversePatch(change);
  onSend();
  const done = (await patch(api, path, inverse)) !== null;
  return { finding, done };
}

/**
 * Puts one change back, and removes the mark from its object. Resolves with its new state.
 * @param onSend Called just before each request that may do so.
 */
export async function revert(
  api: ClusterApi,
  change: Change,
  token: string,
  onSend: () => void = () => undefined,
): Promise<Pick<Change, 'state' | 'found'>> {
  for (let attempts = 1; ; attempts += 1) {
    const { finding, done } = await attempt(api, change, token, onSend);
    if (done && finding.kind === 'foreign') return { state: 'superseded', found: finding.found };
    if (done) return { state: 'reverted', found: null };
    if (attempts === MAX_ATTEMPTS) {
      throw new Error(`${change.object.title} is written by somebody else all the time`);
    }
  }
}

/** Puts back all pending changes, the last one first; the journal says at once what is done. */
export async function revertAll(
  api: ClusterApi,
  stored: StoredJournal,
  onReverted: (change: Change) => void = () => undefined,
): Promise<StoredJournal> {
  let current = stored;
  for (let index = current.journal.changes.length - 1; index >= 0; index -= 1) {
    const change = current.journal.changes[index];
    if (change === undefined || !isPending(change)) continue;
    const next = await revert(api, change, current.journal.token);
    current = await writeJournal(api, current, withChange(current.journal, index, next));
    onReverted({ ...change, ...next });
  }
  return current;
}

/** What of the restored objects is not as before yet, in words; empty when all of it is. */
export async function unsettled(api: ClusterApi, { changes, token }: Journal): Promise<string[]> {
  const problems: string[] = [];
  // A value may have been changed several times; what counts is the first one.
  const seen = new Set<string>();
  for (const change of changes) {
    const place = [change.object.path, ...change.edits.map(({ pointer }) => pointer)].join(' ');
    if (change.state === 'superseded' || seen.has(place)) continue;
    seen.add(place);
    const object = await read(api, change.object.path);
    const finding = findingOf(change, object);
    if (finding.kind === 'foreign') problems.push(`${change.object.title}: ${finding.found}`);
    if (finding.kind === 'after') problems.push(`${change.what} in ${change.object.title} is not put back`);
    if (markOf(object) === token) problems.push(`${change.object.title} still carries the mark of the run`);
    const rollout = rolloutOf(object);
    if (rollout !== null) problems.push(`${change.object.title}: ${rollout}`);
  }
  return problems;
}
