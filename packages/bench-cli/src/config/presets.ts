/** Settings to start from, by name; anything else that is given overrides them. */
import type { Settings } from './settings.ts';

export const PRESETS = {
  /** The defaults. */
  quick: {},
  /** The published method: ten minutes per trial, the whole matrix, dnsperf's limit far above any server. */
  blog: { duration: 600, tier: [1, 2, 4], mode: 'both', rate: [1_000_000] },
} as const satisfies Record<string, Partial<Settings>>;

/** A preset by its name; undefined if there is none. */
export function findPreset(name: string): Partial<Settings> | undefined {
  return Object.hasOwn(PRESETS, name) ? PRESETS[name as keyof typeof PRESETS] : undefined;
}
