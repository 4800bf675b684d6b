/**
 * Puts a cluster back in place of the run that changed it: the guard does this when the Lease has expired, and
 * `restore` by hand at once. Needs nothing: the guard runs this file, too.
 */
import type { Change } from './change.ts';
import type { ClusterApi } from './cluster-api.ts';
import { isPending, type Journal, readJournal, removeJournal } from './journal.ts';
import { createLease, readLease, removeLease, renewLease } from './lease.ts';
import { revertAll, unsettled } from './restore.ts';

/** The part of a clock that is needed. */
export interface Waiting {
  now(): Date;
  sleep(seconds: number): Promise<void>;
}

export interface TakeOverRequest {
  readonly api: ClusterApi;
  readonly clock: Waiting;
  readonly leaseNamespace: string;
  /** For people: who puts the cluster back. */
  readonly holder: string;
  /** How long workloads may take to run what they ran before. */
  readonly settleSeconds: number;
  readonly onReverted: (change: Change) => void;
}

/** How long the Lease is held for restoring; the journal excludes other runs anyway. */
const HOLD_SECONDS = 60;
const POLL_SECONDS = 1;

/** Makes the run that had the Lease stop. False if somebody else was faster. */
async function takeLease({ api, clock, leaseNamespace, holder }: TakeOverRequest): Promise<boolean> {
  const request = { holder, durationSeconds: HOLD_SECONDS, now: clock.now() };
  const lease = await readLease(api, leaseNamespace);
  if (lease === null) return (await createLease(api, leaseNamespace, { ...request, labels: {} })) !== null;
  return (await renewLease(api, leaseNamespace, lease, request)) !== null;
}

/** Everything was put back, but is not as before within the time: pods do not become ready, for example. */
export class NotSettled extends Error {
  override readonly name = 'NotSettled';
}

/** Waits until everything is as before. @throws NotSettled that says what is not. */
async function settle(request: TakeOverRequest, journal: Journal): Promise<void> {
  const { api, clock, settleSeconds, leaseNamespace, holder } = request;
  const begun = clock.now().getTime();
  let renewed = begun;
  for (;;) {
    const problems = await unsettled(api, journal);
    if (problems.length === 0) return;
    const now = clock.now().getTime();
    if (now > begun + settleSeconds * 1000) throw new NotSettled(problems.join('; '));
    // Unless somebody else has taken it over, who does the same.
    if (now > renewed + (HOLD_SECONDS * 1000) / 4) {
      renewed = now;
      if ((await readLease(api, leaseNamespace))?.holder === holder) await takeLease(request);
    }
    await clock.sleep(POLL_SECONDS);
  }
}

/**
 * `done`: everything is as before, but for what somebody else has changed since. The journal and the Lease are gone.
 * `nothing`: there is no journal. `taken`: somebody else is at it.
 */
export type TakeOver =
  | { readonly kind: 'done'; readonly journal: Journal }
  | { readonly kind: 'nothing' | 'taken' };

/** The Lease is given back by whoever holds it. */
async function dropLease({ api, leaseNamespace, holder }: TakeOverRequest): Promise<void> {
  const lease = await readLease(api, leaseNamespace);
  if (lease?.holder === holder) await removeLease(api, leaseNamespace, lease);
}

/**
 * Puts everything back and verifies it. With `keepFindings`, a journal that names changes of others stays, for people
 * to see; it holds nothing that is pending.
 */
export async function takeOver(
  request: TakeOverRequest,
  { keepFindings }: { readonly keepFindings: boolean },
): Promise<TakeOver> {
  const { api, leaseNamespace, onReverted } = request;
  if ((await readJournal(api, leaseNamespace)) === null) return { kind: 'nothing' };
  if (!(await takeLease(request))) return { kind: 'taken' };
  // Read again: the run may have written until now.
  const stored = await readJournal(api, leaseNamespace);
  if (stored === null) {
    await dropLease(request);
    return { kind: 'nothing' };
  }
  const restored = await revertAll(api, stored, onReverted);
  const { journal } = restored;
  await settle(request, journal);
  const isFound = journal.changes.some(({ state }) => state === 'superseded');
  if (!isFound || !keepFindings) await removeJournal(api, restored);
  await dropLease(request);
  return { kind: 'done', journal };
}

/** Nothing is pending, but it names changes of others. */
export const isSettled = ({ changes }: Journal) =>
  !changes.some(isPending) && changes.some(({ state }) => state === 'superseded');
