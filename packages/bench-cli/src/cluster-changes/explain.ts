/** Failures of changes, as errors that say what to do. */
import { messageOf } from '@dinodns-bench/program';
import { BenchError, type ErrorCode, errorsOf, joined } from '../errors.ts';
import { explainRefusal } from './connected-api.ts';
import { JournalDamaged } from './journal.ts';
import { LeaseTaken } from './lease-keeper.ts';
import { ChangeRefused, isLost, JournalPending } from './session.ts';
import { NotSettled } from './take-over.ts';

/** What `act` rejects with, as such an error. */
export async function explained<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw explainFailures(error);
  }
}

/** With what closing failed with after it. */
export function explainFailures(error: unknown): unknown {
  return joined(errorsOf(error).map(explainFailure));
}

const STATUS = '`bench swap status` shows';

/** By what went wrong. */
const EXPLAINED: readonly (readonly [(error: unknown) => boolean, ErrorCode, fix: string])[] = [
  [
    (error) => error instanceof LeaseTaken,
    'E_CLUSTER_BUSY',
    `Wait for its end; ${STATUS} what it does. Nothing was changed.`,
  ],
  [
    (error) => error instanceof JournalPending,
    'E_CLUSTER_BUSY',
    `${STATUS} what is left, and \`bench swap restore\` puts it back. Nothing was changed.`,
  ],
  [
    (error) => error instanceof NotSettled,
    'E_POD_TIMEOUT',
    'Find out why: `kubectl get events`. Repeat `bench swap restore`, with a longer --ready-time if the pods only need more time.',
  ],
  [
    (error) => error instanceof JournalDamaged,
    'E_CLUSTER_BUSY',
    'Put back by hand what is changed, as docs/swap.md says, and delete the journal then. The same version of bench may still read it.',
  ],
  [
    (error) => error instanceof ChangeRefused,
    'E_CLUSTER_CHANGED',
    'Find out who writes it, and repeat the swap. What this run had changed was put back.',
  ],
  [isLost, 'E_LEASE_LOST', `The guard in the cluster puts everything back; ${STATUS} how far it is.`],
];

export function explainFailure(error: unknown): unknown {
  const [, code, fix] = EXPLAINED.find(([isIt]) => isIt(error)) ?? [];
  if (code === undefined || fix === undefined) return explainRefusal(error);
  return new BenchError(code, messageOf(error), { fix, cause: error });
}
