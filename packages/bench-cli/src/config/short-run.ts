/**
 * What a run on this machine is made of if nobody says how to measure, but for `--duet`: many short trials, which give intervals
 * of a few percent within two minutes (three servers at one point). docs/method.md has the measurements behind each figure. Pure.
 */
import { SHORT_DUET, SHORT_RUN } from './presets.ts';
import type { SettingName, Settings } from './settings.ts';

type Given = { [K in SettingName]?: Settings[K] | undefined };

/** Who gives one of these says how to measure. */
const SAID: readonly SettingName[] = [
  'duration',
  'warmup',
  'slice',
  'trials',
  'rate',
  'objective',
  'openLoop',
  'loaders',
  'answers',
];

/** The settings of a short run; null where `given` says something else, or there is nothing to compare. */
export function shortRunOf(given: Given): Given | null {
  const { servers, aa = false, target = 'local', until, duet = 'off' } = given;
  const isPlain = SAID.every((name) => given[name] === undefined) && target === 'local';
  if (!isPlain || (servers?.length === 1 && !aa)) return null;
  const { trials, ...others } = duet === 'off' ? SHORT_RUN : SHORT_DUET;
  // With `until`, it is the minimum.
  return until === undefined ? { ...others, trials } : others;
}
