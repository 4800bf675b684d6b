/** The settings of `bench loss`: its own, and those of `bench run` that it takes as well. */
import { z } from 'zod';
import type { Setting, SettingsOf } from '../../config/setting.ts';
import { list, numberFrom, percentText, ratioFromText } from '../../config/value-schemas.ts';
import { pick } from '../../engine/settings.ts';

const bandMessage =
  'must be a list of percentages with their sign, from 0% to 50%, for example 0%,0.1%,1%,5%';
const band = z.preprocess(ratioFromText, z.number(bandMessage).min(0, bandMessage).max(0.5, bandMessage));

const precisionMessage = 'must be a percentage from 1% to 50%, with its sign';

export const LOSS_SETTINGS = {
  bands: {
    flag: '--bands <list>',
    description: 'shares of lost queries, up to 50%; the highest rate is searched for each (0%: none lost)',
    schema: list(band, bandMessage),
    default: [0, 0.001, 0.01, 0.05],
    show: (bands: readonly number[]) => bands.map(percentText).join(','),
    distinct: true,
    identityOf: (band) => percentText(Number(band)),
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
    schema: numberFrom(1.5, 10),
    default: 3,
  },
  ...pick(
    [
      ...([
        'servers',
        'baseline',
        'tier',
        'mode',
        'workload',
        'zones',
        'types',
        'order',
        'duration',
      ] as const),
      ...(['trials', 'warmup', 'timeout', 'clients', 'threads', 'loaders', 'ip', 'cpu'] as const),
      ...(['corednsVersion', 'provision'] as const),
    ],
    {
      duration: { default: 2, description: 'how long each rate is tried' },
      trials: {
        default: 5,
        description: 'trials, each with the server started anew and a search of its own',
      },
      warmup: { default: 2 },
      timeout: { default: 1, description: 'a query without an answer after this time is lost' },
    },
  ),
} as const satisfies Record<string, Setting>;
export type LossSettings = SettingsOf<typeof LOSS_SETTINGS>;

/** Rates that are tried besides those of the search, as multiples of the limit: well below it, and beyond. */
const MULTIPLES: readonly number[] = [0.5, 1.25, 1.5, 2];

/** In rising order, with the limit itself, up to the overload. */
export function multiplesFor(overload: number): readonly number[] {
  return [...MULTIPLES.filter((multiple) => multiple < overload), 1, overload].toSorted((a, b) => a - b);
}
