/**
 * The defaults of a run on this machine: many short trials, which give intervals of a few percent within two minutes (three
 * servers at one point). docs/method.md has the measurements behind each figure. Pure.
 */
import { SHORT_DUET, SHORT_RUN } from './presets.ts';
import { type Setting, shownValue } from './setting.ts';
import type { SettingName, Settings } from './settings.ts';

type Given = { [K in SettingName]?: Settings[K] | undefined };

/** The defaults that differ from those on a cluster; null there, and where another figure is searched for. */
export function shortRunOf({ target = 'local', objective, until, duet = 'off' }: Given): Given | null {
  if (target !== 'local' || objective === 'max-rate') return null;
  const { trials, ...others } = duet === 'off' ? SHORT_RUN : SHORT_DUET;
  // With `until`, it is the minimum.
  return until === undefined ? { ...others, trials } : others;
}

/** The default of a setting of `bench run` as people write it; undefined where there is none. */
export function shownDefault(name: string, setting: Setting): string | undefined {
  if (setting.default === undefined) return undefined;
  const shown = shownValue(setting, setting.default);
  const short: Readonly<Record<string, unknown>> = SHORT_RUN;
  // A slice is one of a duet.
  const here = name === 'slice' ? SHORT_DUET.slice : short[name];
  return here === undefined ? shown : `${shownValue(setting, here)}; on a cluster ${shown}`;
}
