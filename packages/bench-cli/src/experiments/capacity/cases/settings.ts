/** The settings of `bench capacity throughput` and `bench capacity caching`. */
import { z } from 'zod';
import type { Setting, SettingsOf } from '../../../config/setting.ts';
import { list, number, seconds } from '../../../config/value-schemas.ts';
import { SERVERS, TRIALS } from '../common-settings.ts';
import { CONFIGURATION_NAMES } from '../configurations.ts';

const LOOKUPS = ['internal', 'external'] as const;
const CACHES = ['cached', 'off', 'overflow'] as const;

const oneOf = (values: readonly string[]) => `must be a list of ${values.join(', ')}`;
const delayMessage = 'must be milliseconds from 0 to 1000';

const common = {
  lookups: {
    flag: '--lookup <list>',
    description: `which names are looked up: ${LOOKUPS.join(', ')}`,
    schema: list(z.enum(LOOKUPS, oneOf(LOOKUPS)), oneOf(LOOKUPS)),
    default: [...LOOKUPS],
  },
  trials: TRIALS,
  duration: {
    flag: '--duration <seconds>',
    description: 'measured time of a trial',
    schema: seconds(1, 'must be at least one second'),
    default: 5,
  },
  upstreamDelay: {
    flag: '--upstream-delay <milliseconds>',
    description: 'how long the upstream for external names takes to answer',
    schema: number(z.number(delayMessage).min(0, delayMessage).max(1000, delayMessage)),
    default: 2,
  },
  servers: SERVERS,
} as const satisfies Record<string, Setting>;

export type CommonSettings = SettingsOf<typeof common>;

export const THROUGHPUT_SETTINGS = {
  configurations: {
    flag: '--config <list>',
    description: `configurations of CoreDNS: ${CONFIGURATION_NAMES.join(', ')}`,
    schema: list(z.enum(CONFIGURATION_NAMES, oneOf(CONFIGURATION_NAMES)), oneOf(CONFIGURATION_NAMES)),
    default: ['default', 'autopath', 'nocache'],
  },
  ...common,
} as const satisfies Record<string, Setting>;
export type ThroughputSettings = SettingsOf<typeof THROUGHPUT_SETTINGS>;

export const CACHING_SETTINGS = {
  caches: {
    flag: '--cache <list>',
    description: 'cached; off; overflow: three times as many names as the cache holds',
    schema: list(z.enum(CACHES, oneOf(CACHES)), oneOf(CACHES)),
    default: [...CACHES],
  },
  ...common,
  servers: {
    ...SERVERS,
    flag: '--servers <server>',
    description: 'version of CoreDNS: coredns-cluster@1.11.3',
    // A case is a cache, not a version: those of two would have the same names.
    schema: SERVERS.schema.refine((servers) => servers.length === 1, 'takes one version; run it for each'),
  },
} as const satisfies Record<string, Setting>;
export type CachingSettings = SettingsOf<typeof CACHING_SETTINGS>;
