/** Puts everything back at the end of an in-place swap, and verifies it. */
import { describeChange } from '../../../cluster-changes/change.ts';
import type { ChangeSession } from '../../../cluster-changes/session.ts';
import { BenchError } from '../../../errors.ts';
import type { Clock } from '../../../world.ts';

const POLL_SECONDS = 0.5;

/**
 * Resolves when everything is as before, with what somebody else has changed meanwhile.
 * @throws BenchError `E_POD_TIMEOUT` if pods do not come back; LeaseLost, JournalLost if the guard has taken over.
 */
export async function restoreCluster(
  {
    world: { clock },
    settings: { readyTime: seconds },
    say,
  }: {
    readonly world: { readonly clock: Clock };
    readonly settings: { readonly readyTime: number };
    readonly say: (text: string) => void;
  },
  session: ChangeSession,
): Promise<string[]> {
  const superseded = await session.revertAll();
  const startedAt = clock.monotonicSeconds();
  for (let shown = ''; ; ) {
    session.signal.throwIfAborted();
    const [problem] = await session.unsettled();
    if (problem === undefined) break;
    if (problem !== shown) say(`restoring: ${problem}`);
    shown = problem;
    if (clock.monotonicSeconds() - startedAt > seconds) {
      throw new BenchError(
        'E_POD_TIMEOUT',
        `not everything was as before within ${seconds} seconds: ${problem}`,
        {
          fix: 'The guard in the cluster goes on; `bench swap status` shows what is left.',
        },
      );
    }
    await clock.sleep(POLL_SECONDS, session.signal);
  }
  say('restored: everything is as before');
  return superseded.map(
    (change) => `${describeChange(change)} (${change.found ?? 'changed by somebody else'})`,
  );
}
