/** Settings to start from, by name; anything else that is given overrides them. */
import type { Settings } from './settings.ts';

export const PRESETS = {
  /** The defaults. */
  quick: {},
  /**
   * The published method: ten minutes per trial, the whole matrix, a worker of DinoDNS for each core of the node, and dnsperf with
   * its defaults: one client and one thread. Several pods behind a Service get more of both (see `loadFor`), as published. Its rate
   * of 1,000,000 never bound, so it was none.
   */
  blog: {
    duration: 600,
    tier: [1, 2, 4],
    mode: 'both',
    loader: 'dnsperf',
    clients: 1,
    threads: 1,
    loaderCpu: 'published',
    workers: 'node',
  },
} as const satisfies Record<string, Partial<Settings>>;

/** A run on this machine of which nobody says how to measure: see `short-run.ts`. */
export const SHORT_RUN = {
  // What differs between two starts of a server is as large as what differs within one: many short trials, not few long ones.
  duration: 2.5,
  // In the first second of load, DinoDNS and the stock framework need up to 39 % more CPU per query than later.
  warmup: 1.5,
  // The fewest with which a test without assumptions can show two differences.
  trials: 7,
} as const;

/** The same as a duet, in as much time. */
export const SHORT_DUET = { ...SHORT_RUN, duration: 1.5, slice: 0.5 } as const;

/** A preset by its name; undefined if there is none. */
export function findPreset(name: string): Partial<Settings> | undefined {
  return Object.hasOwn(PRESETS, name) ? PRESETS[name as keyof typeof PRESETS] : undefined;
}
