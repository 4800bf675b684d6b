/** The end of what the trials shared: every error of it is said, and none hides why the run ended. */
import { messageOf } from '@dinodns-bench/program';
import { BenchError } from '../errors.ts';

/** What failed, in the order in which it happened: several steps of a disposal may have, and what came before it. */
export function errorsOf(error: unknown): readonly unknown[] {
  return error instanceof SuppressedError
    ? [...errorsOf(error.suppressed), ...errorsOf(error.error)]
    : [error];
}

/** Resolves with its errors, in their order; empty when everything was closed. */
export async function close(opened: AsyncDisposable): Promise<readonly unknown[]> {
  try {
    await opened[Symbol.asyncDispose]();
    return [];
  } catch (error) {
    return errorsOf(error);
  }
}

/** One error that says all: the first is why it ended, so its code counts. */
export function joined(errors: readonly unknown[]): unknown {
  if (errors.length < 2) return errors[0];
  const known = errors.filter((error) => error instanceof BenchError);
  return new BenchError(known[0]?.code ?? 'E_INTERNAL', errors.map(messageOf).join('; '), {
    evidence: known.flatMap(({ evidence }) => evidence),
    fix: [...new Set(known.map(({ fix }) => fix))].join(' ') || 'Report this bug.',
    cause: errors[0],
  });
}

/** The end of what was opened before `error`: rejects with it, and with what closing failed with. */
export async function closedAfter(error: unknown, end: () => Promise<unknown>): Promise<never> {
  const [ended] = await Promise.allSettled([end()]);
  throw joined([error, ...(ended.status === 'rejected' ? errorsOf(ended.reason) : [])]);
}

/** What `work` resolves with, once `end` is over as well: its errors are said beside that of `work`, and hide none. */
export async function endedAfter<T>(
  work: () => Promise<T>,
  end: () => Promise<readonly unknown[]>,
): Promise<T> {
  const [done] = await Promise.allSettled([work()]);
  const errors = [...(done.status === 'rejected' ? [done.reason] : []), ...(await end())];
  if (done.status === 'rejected' || errors.length > 0) throw joined(errors);
  return done.value;
}
