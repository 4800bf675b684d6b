/**
 * Changes of a cluster by this process, each written into the journal before it is made. If this process ends, sleeps or
 * loses the cluster, its Lease expires and the guard puts everything back.
 */
import type { ClusterRun } from '../targets/kubernetes/cluster-run.ts';
import { managedLabels, runLabels } from '../targets/kubernetes/objects/labels.ts';
import type { Clock } from '../world.ts';
import {
  asMade,
  type Change,
  type ChangeState,
  describeChange,
  findingOf,
  forwardPatch,
  inversePatch,
  markOf,
  markPatch,
  type PlannedEdit,
  testMark,
  unmarkPatch,
} from './change.ts';
import { type ClusterApi, patch, read } from './cluster-api.ts';
import {
  createJournal,
  isPending,
  type Journal,
  JournalLost,
  readJournal,
  removeJournal,
  type StoredJournal,
  withChange,
  writeJournal,
} from './journal.ts';
import { readLease } from './lease.ts';
import { isStale, keepLease, type LeaseKeeper, LeaseLost } from './lease-keeper.ts';
import { revert, revertAll, unsettled } from './restore.ts';

export interface SessionRequest {
  readonly run: Pick<ClusterRun, 'world' | 'runId' | 'namespace'>;
  /** The cluster, with requests that end with a signal: also after Ctrl-C, when everything is put back. */
  apiUntil(signal: AbortSignal): ClusterApi;
  /** The second Ctrl-C. It ends the session's requests, but not before the session is open: nobody would close half a session. */
  readonly force: AbortSignal;
  /** Of the Lease and the journal. */
  readonly leaseNamespace: string;
  readonly leaseSeconds: number;
  readonly experiment: string;
  /** For people: what happens to the journal. */
  readonly say: (text: string) => void;
}

/** A change that the cluster did not accept, because it is not as it was when the change was planned. */
export class ChangeRefused extends Error {
  override readonly name = 'ChangeRefused';
}

export interface ChangeSession {
  /** Aborted with a `LeaseLost`; from then on nothing is changed. */
  readonly signal: AbortSignal;
  /** Asks whose the Lease is. @throws LeaseLost */
  confirm(): Promise<void>;
  /**
   * Writes a change into the journal and makes it. Resolves with its number.
   * @param onSend Called just before the request that makes it.
   * @throws ChangeRefused if the object is not as planned, before or afterwards; LeaseLost, JournalLost.
   */
  apply(edit: PlannedEdit, onSend?: () => void): Promise<number>;
  /** Puts one change back. Resolves with what became of it. @throws LeaseLost, JournalLost. */
  revert(number: number, onSend?: () => void): Promise<Change>;
  /**
   * Puts all changes back, the last one first. Resolves with those that somebody else has changed since.
   * @throws LeaseLost, JournalLost if the guard is doing so.
   */
  revertAll(): Promise<readonly Change[]>;
  /** What is not as before yet, in words. */
  unsettled(): Promise<readonly string[]>;
  /**
   * Removes the journal and gives the Lease back: only when everything was put back. A second Ctrl-C does not end it at once,
   * since a journal without a guard would keep all other runs out.
   */
  close(): Promise<void>;
  /** Leaves everything to the guard. */
  abandon(): void;
  /** All changes so far, with what became of them. */
  changes(): readonly Change[];
  /** Whether no change is pending. */
  isUnchanged(): boolean;
}

/** For closing after a second Ctrl-C. */
const FORCED_CLOSE_SECONDS = 10;

/** Another run has changes that were not undone, or is about to make them. */
export class JournalPending extends Error {
  override readonly name = 'JournalPending';

  constructor({ runId, changes }: Journal) {
    super(
      changes.length === 0
        ? `run ${runId} is about to change the cluster`
        : `run ${runId} has changed the cluster, and not everything is put back`,
    );
  }
}

/**
 * @returns A journal that may be removed once the Lease is ours: its run was killed before its first change. Null without one.
 * @throws JournalPending if another run, or this one before it was killed, has not put everything back
 */
export async function demandNoJournal(
  api: ClusterApi,
  leaseNamespace: string,
  now: Date,
): Promise<StoredJournal | null> {
  const found = await readJournal(api, leaseNamespace);
  if (found === null) return null;
  const lease = await readLease(api, leaseNamespace);
  const isLeft = found.journal.changes.length === 0 && (lease === null || isStale(lease, now));
  if (!isLeft) throw new JournalPending(found.journal);
  return found;
}

async function mark(api: ClusterApi, edit: PlannedEdit, token: string): Promise<void> {
  const object = await read(api, edit.object.path);
  const finding = findingOf(edit, object);
  if (finding.kind !== 'before') {
    const found = finding.kind === 'foreign' ? finding.found : 'it is so already';
    throw new ChangeRefused(`${edit.object.title} is not as it was found: ${found}`);
  }
  if (markOf(object) === token) return;
  const marked = await patch(api, edit.object.path, markPatch(edit, object, token));
  if (marked !== null) return;
  // The answer to the first attempt was lost, but it counted.
  if (markOf(await read(api, edit.object.path)) === token) return;
  throw new ChangeRefused(`${edit.object.title} was written by somebody else meanwhile`);
}

/** Resolves with the change as it came out. */
async function makeChange(
  api: ClusterApi,
  keeper: LeaseKeeper,
  edit: PlannedEdit,
  token: string,
  onSend: () => void = () => undefined,
): Promise<PlannedEdit> {
  const { path, title } = edit.object;
  await keeper.confirm();
  await mark(api, edit, token);
  try {
    // Whoever takes the Lease over from here on removes the mark, and so refuses the patch.
    await keeper.confirm();
  } catch (error) {
    await patch(api, path, unmarkPatch(token));
    throw error;
  }
  onSend();
  const changed = await patch(api, path, [testMark(token), ...forwardPatch(edit)]);
  if (changed !== null) return asMade(edit, changed);
  const object = await read(api, path);
  // The answer to the first attempt was lost, but it counted.
  if (findingOf(edit, object).kind === 'after' && markOf(object) === token) return edit;
  await keeper.confirm();
  throw new ChangeRefused(`${title} was written by somebody else meanwhile`);
}

/** Calls `act` when the signal is aborted, or at once if it is. */
export function onceAborted(signal: AbortSignal, act: () => void): void {
  if (signal.aborted) act();
  else signal.addEventListener('abort', act, { once: true });
}

/** Calls `use` with a signal that is aborted `FORCED_CLOSE_SECONDS` after `force`. */
async function untilLongAfter(
  clock: Clock,
  force: AbortSignal,
  use: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const late = new AbortController();
  let cancel: () => void = () => undefined;
  const begin = () => {
    cancel = clock.after(FORCED_CLOSE_SECONDS, () => late.abort(force.reason));
  };
  onceAborted(force, begin);
  try {
    await use(late.signal);
  } finally {
    force.removeEventListener('abort', begin);
    cancel();
  }
}

/**
 * Takes the Lease and creates the journal.
 * @throws LeaseTaken, JournalPending if another run changes the cluster or has not put everything back.
 */
export async function openSession(
  request: SessionRequest,
  /** For people: which process on which machine. */
  holder: string,
): Promise<ChangeSession> {
  const { run, apiUntil, force, leaseNamespace, leaseSeconds, experiment, say } = request;
  const { runId: token, namespace } = run;
  const { clock } = run.world;
  const labels = { ...managedLabels, ...runLabels(token) };
  const ended = new AbortController();
  const api = apiUntil(ended.signal);
  const left = await demandNoJournal(api, leaseNamespace, clock.now());
  const keeper = await keepLease({
    ...{ api, clock, holder, labels },
    namespace: leaseNamespace,
    durationSeconds: leaseSeconds,
  });
  const close = () =>
    untilLongAfter(clock, force, async (signal) => {
      const closing = apiUntil(signal);
      const found = await readJournal(closing, leaseNamespace);
      // After a lost Lease there may be that of another run.
      if (found?.journal.token === token) await removeJournal(closing, found);
      await keeper.release(closing);
    });
  let stored: StoredJournal;
  try {
    const ours = { runId: token, experiment, namespace, token, labels };
    if (left !== null) await removeJournal(api, left);
    stored = await createJournal(api, leaseNamespace, ours);
    await keeper.confirm();
  } catch (error) {
    await close();
    // Two began at once, and the other one was faster: nothing of this run is there to be put back.
    const other = error instanceof JournalLost ? await readJournal(api, leaseNamespace) : null;
    if (other !== null) throw new JournalPending(other.journal);
    throw error;
  }
  onceAborted(force, () => ended.abort(force.reason));
  const write = async (journal: Journal) => {
    stored = await writeJournal(api, stored, journal);
  };
  const changeAt = (number: number): Change => {
    const change = stored.journal.changes[number];
    if (change === undefined) throw new Error(`there is no change ${number}`);
    return change;
  };
  const tell = (state: ChangeState | 'reverting', change: PlannedEdit, more: string | null = null) =>
    say(`${state}: ${describeChange(change)}${more ?? ''}`);

  return {
    signal: keeper.signal,
    confirm: keeper.confirm,
    async apply(edit, onSend) {
      await keeper.confirm();
      const number = stored.journal.changes.length;
      const change: Change = { ...edit, state: 'planned', inverse: inversePatch(edit), found: null };
      await write({ ...stored.journal, changes: [...stored.journal.changes, change] });
      tell('planned', edit);
      const made = await makeChange(api, keeper, edit, token, onSend);
      const next = { ...made, inverse: inversePatch(made), state: 'applied' } as const;
      await write(withChange(stored.journal, number, next));
      tell('applied', made);
      if (made === edit) return number;
      throw new ChangeRefused(
        `something in the cluster, such as an admission webhook, made another change than asked for: ${describeChange(made)}`,
      );
    },
    async revert(number, onSend) {
      const change = changeAt(number);
      await keeper.confirm();
      tell('reverting', change);
      const next = await revert(api, change, token, onSend === undefined ? {} : { onSend });
      await write(withChange(stored.journal, number, next));
      tell(next.state, change, next.found);
      return { ...change, ...next };
    },
    async revertAll() {
      await keeper.confirm();
      for (const change of stored.journal.changes.toReversed())
        if (isPending(change)) tell('reverting', change);
      stored = await revertAll(api, stored, (change) => tell(change.state, change, change.found));
      return stored.journal.changes.filter(({ state }) => state === 'superseded');
    },
    unsettled: () => unsettled(api, stored.journal),
    close,
    abandon: () => keeper.abandon(),
    changes: () => stored.journal.changes,
    isUnchanged: () => !stored.journal.changes.some(isPending),
  };
}

/** Whether somebody else, usually the guard, has taken over what this process began. */
export function isLost(error: unknown): boolean {
  return error instanceof LeaseLost || error instanceof JournalLost;
}
