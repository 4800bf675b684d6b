/**
 * One listing of all processes, shared by the groups of a run that have no control group. A listing reads one file
 * per process of the machine, so all groups share it briefly; members are then read again.
 */

import { readAllProcessStats } from '../machine/proc-files.ts';
import type { ProcessStat } from '../machine/proc-stat.ts';
import type { World } from '../world.ts';

/** Long enough for all groups of one sample to share a listing, short enough not to miss relevant children. */
const LOOK_SECONDS = 0.2;

export interface ProcessTable {
  /** All processes as of a moment ago, and whether they were listed just now. */
  all(): Promise<{ readonly stats: readonly ProcessStat[]; readonly fresh: boolean }>;
  /** Makes the next `all` list them again. */
  forget(): void;
}

export function createProcessTable(world: World): ProcessTable {
  let looked: { at: number; stats: Promise<readonly ProcessStat[]> } | undefined;
  return {
    all: async () => {
      const now = world.clock.monotonicSeconds();
      const fresh = looked === undefined || now - looked.at >= LOOK_SECONDS;
      if (looked === undefined || fresh) looked = { at: now, stats: readAllProcessStats(world) };
      return { stats: await looked.stats, fresh };
    },
    forget: () => {
      looked = undefined;
    },
  };
}
