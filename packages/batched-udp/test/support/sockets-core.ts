/** What threads without the test runner need too. */
import type { Batch } from '../../src/index.ts';

/** Echoes every datagram. */
export function echo(batch: Batch): void {
  for (let i = 0; i < batch.count; i++) batch.reply(i, batch.lengths[i] ?? 0);
}

/** One turn of the event loop. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
