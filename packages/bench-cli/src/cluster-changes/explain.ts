/** Failures of changes, as errors that say what to do. */
import { messageOf } from '@dinodns-bench/program';
import { BenchError, errorsOf, joined } from '../errors.ts';
import { explainRefusal } from './connected-api.ts';
import { LeaseTaken } from './lease-keeper.ts';
import { ChangeRefused, isLost, JournalPending } from './session.ts';

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

export function explainFailure(error: unknown): unknown {
  const details = { cause: error };
  if (error instanceof LeaseTaken) {
    return new BenchError('E_CLUSTER_BUSY', error.message, {
      ...details,
      fix: 'Wait for its end; `bench swap status` shows what it does. Nothing was changed.',
    });
  }
  if (error instanceof JournalPending) {
    return new BenchError('E_CLUSTER_BUSY', error.message, {
      ...details,
      fix: '`bench swap status` shows what is left, and `bench swap restore` puts it back. Nothing was changed.',
    });
  }
  if (error instanceof ChangeRefused) {
    return new BenchError('E_CLUSTER_CHANGED', error.message, {
      ...details,
      fix: 'Find out who writes it, and repeat the swap. What this run had changed was put back.',
    });
  }
  if (isLost(error)) {
    return new BenchError('E_LEASE_LOST', messageOf(error), {
      ...details,
      fix: 'The guard in the cluster puts everything back; `bench swap status` shows how far it is.',
    });
  }
  return explainRefusal(error);
}
