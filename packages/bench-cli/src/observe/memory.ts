/**
 * Memory of a set of processes. The proportional set size divides each shared page among the processes that share
 * it, so the sum over the workers of a cluster is what they really use. Where it may not be read (a server that
 * changed its user), the resident set size is used, and the record says so.
 */

import { bytesIn, readIfThere } from '../machine/proc-files.ts';
import type { World } from '../world.ts';

export interface MemoryMeter {
  /** Sum over `pids`; null if none of them could be read. Ended processes are omitted. */
  read(pids: readonly number[]): Promise<{ bytes: number | null; processes: number }>;
  /** `rss` once one process had to be measured that way. */
  readonly source: 'pss' | 'rss';
}

/** A meter that starts with the proportional set size. */
export function createMemoryMeter(world: World): MemoryMeter {
  let source: 'pss' | 'rss' = 'pss';

  const readOne = async (pid: number): Promise<number | null> => {
    if (source === 'pss') {
      const pss = bytesIn(await readIfThere(world, `/proc/${pid}/smaps_rollup`), 'Pss');
      if (pss !== null) return pss;
    }
    const rss = bytesIn(await readIfThere(world, `/proc/${pid}/status`), 'VmRSS');
    // A process that has just ended has neither; one with a resident set denied us the proportional one.
    if (rss !== null) source = 'rss';
    return rss;
  };

  return {
    read: async (pids) => {
      const known = (await Promise.all(pids.map(readOne))).filter((bytes) => bytes !== null);
      const bytes = known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
      return { bytes, processes: known.length };
    },
    get source() {
      return source;
    },
  };
}
