/** The settings of `bench capacity memory`: the axes, the place, and how much of it may be used. */
import { z } from 'zod';
import type { Setting, SettingsOf } from '../../../config/setting.ts';
import { SETTINGS } from '../../../config/settings.ts';
import { numberList, quantityFromText, wholeNumber, yesOrNo } from '../../../config/value-schemas.ts';
import { pick } from '../../../engine/settings.ts';
import { CLUSTER_SETTINGS } from '../cluster/settings.ts';
import { CONFIGURATIONS_SETTING, objectsList, SERVERS } from '../common-settings.ts';

const share = (what: string) =>
  numberList(0, 1, `must be a list of ${what}, each from 0 to 1, for example 0.1,0.5`);

const memoryMessage = 'must be an amount of memory of at least 256 MiB, for example 4Gi or 4G';
const MIN_MEMORY_BYTES = 256 * 2 ** 20;

/** The published proportion: 820 services and 15,000 pods. */
export const PUBLISHED_SERVICE_SHARE = 820 / 15_820;

export const MEMORY_SETTINGS = {
  objects: {
    flag: '--objects <list>',
    description: 'pods and services together (default: 0,15820,63280,158200; on a cluster 0,2000)',
    schema: objectsList,
    distinct: true,
  },
  configurations: {
    ...CONFIGURATIONS_SETTING,
    description: `${CONFIGURATIONS_SETTING.description} (default: default,autopath; on a cluster default)`,
  },
  servers: SERVERS,
  serviceShare: {
    flag: '--service-share <list>',
    description:
      'share of the objects that are services; the others are pods (default: 0.0518, as published)',
    schema: share('shares'),
    default: [PUBLISHED_SERVICE_SHARE],
    distinct: true,
  },
  endpointsPerPod: {
    flag: '--endpoints-per-pod <list>',
    description: 'how many services each pod belongs to',
    schema: numberList(0, 10, 'must be a list of numbers from 0 to 10, for example 1,2'),
    default: [1],
    distinct: true,
  },
  headless: {
    flag: '--headless <list>',
    description: 'share of the services that are headless',
    schema: share('shares of the services'),
    default: [0.1],
    distinct: true,
    targets: ['local'],
  },
  rate: {
    flag: '--rate <qps>',
    description: 'queries per second while memory under load is measured (default: 30000; on a cluster 2000)',
    schema: wholeNumber(100, 1_000_000),
  },
  quick: {
    flag: '--quick',
    description: 'a first look: every part of a start lasts a second at most',
    schema: yesOrNo,
    default: false,
  },
  sideBySide: {
    flag: '--side-by-side <n>',
    description: 'starts at the same time, as far as --memory allows (default: two for each CPU)',
    schema: wholeNumber(1, 1000),
    targets: ['local'],
  },
  memory: {
    flag: '--memory <amount>',
    description: 'memory budget for everything that runs at once (default: half the memory of the machine)',
    schema: z.preprocess(quantityFromText, z.number(memoryMessage).min(MIN_MEMORY_BYTES, memoryMessage)),
    targets: ['local'],
  },
  ...pick(['loader', 'corednsVersion', 'provision'], {
    // On a cluster, the program beside CoreDNS asks.
    loader: { targets: ['local'] },
    corednsVersion: { description: 'version of CoreDNS where --servers names none' },
  }),
  trials: {
    ...SETTINGS.trials,
    description: 'starts of CoreDNS at each point, interleaved with the others',
    default: 5,
    formerly: '--starts',
  },
  ...CLUSTER_SETTINGS,
} as const satisfies Record<string, Setting>;

export type MemorySettings = SettingsOf<typeof MEMORY_SETTINGS>;
