/** The end of what the trials shared: every error of it is said, and none hides why the run ended. */
import { errorsOf, joined } from '../errors.ts';

/** Resolves with its errors, in their order; empty when everything was closed. */
export async function close(opened: AsyncDisposable): Promise<readonly unknown[]> {
  try {
    await opened[Symbol.asyncDispose]();
    return [];
  } catch (error) {
    return errorsOf(error);
  }
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
