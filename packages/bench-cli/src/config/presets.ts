/** Settings to start from, by name; anything else that is given overrides them. */
import type { Settings } from './settings.ts';

export const PRESETS = {
  /** The defaults. */
  quick: {},
  /** The published method: ten minutes per trial, the whole matrix, dnsperf's limit far above any server. */
  blog: { duration: 600, tier: [1, 2, 4], mode: 'both', rate: [1_000_000] },
} as const satisfies Record<string, Partial<Settings>>;

/** A run on this machine of which nobody says how to measure: see `short-run.ts`. */
export const SHORT_RUN = {
  duet: 'auto',
  // In three slices. What differs between two starts of a server is as large as what differs within one.
  duration: 1.5,
  slice: 0.5,
  // After that, no slice of any of the three servers was slower than the later ones.
  warmup: 1.5,
  // The fewest with which a test without assumptions can show two differences.
  trials: 7,
} as const;

/** A preset by its name; undefined if there is none. */
export function findPreset(name: string): Partial<Settings> | undefined {
  return Object.hasOwn(PRESETS, name) ? PRESETS[name as keyof typeof PRESETS] : undefined;
}
