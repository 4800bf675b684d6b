/** The settings of `bench loss`: its own, and those of `bench run` that it takes as well. */
import { z } from 'zod';
import type { Setting, SettingsOf } from '../../config/setting.ts';
import type { SettingName } from '../../config/settings.ts';
import { list, number, percentText, ratioFromText } from '../../config/value-schemas.ts';

const bandMessage = 'must be a list of percentages with their sign, for example 0%,0.1%,1%,5%';
const band = z.preprocess(ratioFromText, z.number(bandMessage).min(0, bandMessage).max(0.5, bandMessage));

const precisionMessage = 'must be a percentage from 1% to 50%, with its sign';
const overloadMessage = 'must be a number from 1.5 to 10';

export const LOSS_SETTINGS = {
  bands: {
    flag: '--bands <list>',
    description: 'shares of lost queries, up to 50%; the highest rate is searched for each (0%: none lost)',
    schema: list(band, bandMessage),
    default: [0, 0.001, 0.01, 0.05],
    show: (bands: readonly number[]) => bands.map(percentText).join(','),
  },
  precision: {
    flag: '--precision <share>',
    description: 'the search ends when a rate is known this closely',
    schema: z.preprocess(
      ratioFromText,
      z.number(precisionMessage).min(0.01, precisionMessage).max(0.5, precisionMessage),
    ),
    default: 0.05,
    show: percentText,
  },
  overload: {
    flag: '--overload <n>',
    description: 'how far beyond the limit the load goes, as a multiple of it',
    schema: number(z.number(overloadMessage).min(1.5, overloadMessage).max(10, overloadMessage)),
    default: 3,
  },
} as const satisfies Record<string, Setting>;
export type LossSettings = SettingsOf<typeof LOSS_SETTINGS>;

/** Those of `bench run` that mean the same here. */
export const SHARED_SETTINGS = [
  'servers',
  'baseline',
  'tier',
  'mode',
  'workload',
  'zones',
  'types',
  'order',
  'duration',
  'trials',
  'warmup',
  'timeout',
  'clients',
  'threads',
  'loaders',
  'ip',
  'cpu',
  'corednsVersion',
  'out',
  'provision',
] as const satisfies readonly SettingName[];

/** Where the defaults differ from those of `bench run`. The built-in loader alone sends at a rate come what may. */
export const LOSS_BASE = {
  duration: 2,
  trials: 5,
  warmup: 2,
  timeout: 1,
  loader: 'builtin',
  calibrate: false,
} as const;

/** What these settings mean here, where that is not what `bench run` says. */
export const DESCRIPTIONS: Readonly<Partial<Record<SettingName, string>>> = {
  duration: 'how long each rate is tried',
  trials: 'repetitions, each with the server started anew and a search of its own',
  timeout: 'a query without an answer after this time is lost',
};
