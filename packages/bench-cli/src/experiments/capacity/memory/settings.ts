/** The settings of `bench capacity memory`: the axes, and how much of the machine it may use. */
import { z } from 'zod';
import type { Setting, SettingsOf } from '../../../config/setting.ts';
import { list, number, wholeNumber } from '../../../config/value-schemas.ts';
import { parseQuantity } from '../../../quantity.ts';
import { SERVERS } from '../common-settings.ts';
import { CONFIGURATION_NAMES } from '../configurations.ts';
import { objectsList } from '../object-counts.ts';
import { decideSettings } from '../settings.ts';

const share = (what: string) => {
  const message = `must be a list of ${what}, each from 0 to 1, for example 0.1,0.5`;
  return list(number(z.number(message).min(0, message).max(1, message)), message);
};

const configurationsMessage = `must be a list of ${CONFIGURATION_NAMES.join(', ')}`;
const ratioMessage = 'must be a list of numbers from 0 to 10, for example 1,2';
const memoryMessage = 'must be an amount of memory of at least 256 MiB, for example 4Gi or 4G';
const MIN_MEMORY_BYTES = 256 * 2 ** 20;

const memory = z.preprocess(
  (value) => (typeof value === 'string' ? (parseQuantity(value) ?? value) : value),
  z.number(memoryMessage).min(MIN_MEMORY_BYTES, memoryMessage),
);

/** The published proportion: 820 services and 15,000 pods. */
export const PUBLISHED_SERVICE_SHARE = 820 / 15_820;

export const MEMORY_SETTINGS = {
  objects: {
    flag: '--objects <list>',
    description: 'pods and services together',
    schema: objectsList,
    default: [0, 15_820, 63_280, 158_200],
  },
  configurations: {
    flag: '--config <list>',
    description: `configurations of CoreDNS: ${CONFIGURATION_NAMES.join(', ')}`,
    schema: list(z.enum(CONFIGURATION_NAMES, configurationsMessage), configurationsMessage),
    default: ['default', 'autopath'],
  },
  starts: {
    flag: '--starts <n>',
    description: 'how often each point is measured, from a new start of CoreDNS',
    schema: wholeNumber(1, 100),
    default: 5,
  },
  servers: SERVERS,
  serviceShares: {
    flag: '--service-share <list>',
    description:
      'which part of the objects are services; the others are pods (default: 0.0518, as published)',
    schema: share('shares'),
    default: [PUBLISHED_SERVICE_SHARE],
  },
  endpointsPerPod: {
    flag: '--endpoints-per-pod <list>',
    description: 'in how many services a pod is',
    schema: list(number(z.number(ratioMessage).min(0, ratioMessage).max(10, ratioMessage)), ratioMessage),
    default: [1],
  },
  headless: {
    flag: '--headless <list>',
    description: 'which part of the services is headless',
    schema: share('shares of the services'),
    default: [0.1],
  },
  rate: {
    flag: '--rate <qps>',
    description: 'queries per second while memory under load is measured',
    schema: wholeNumber(100, 1_000_000),
    default: 30_000,
  },
  quick: {
    flag: '--quick',
    description: 'a first look: every part of a start lasts a second at most',
    schema: z.boolean('must be true or false'),
    default: false,
  },
  sideBySide: {
    flag: '--side-by-side <n>',
    description: 'starts at the same time, as far as --memory allows (default: two for each CPU)',
    schema: wholeNumber(1, 1000),
  },
  memory: {
    flag: '--memory <amount>',
    description: 'memory budget for everything that runs at once (default: half the memory of the machine)',
    schema: memory,
  },
} as const satisfies Record<string, Setting>;

export type MemorySettings = SettingsOf<typeof MEMORY_SETTINGS>;

/**
 * The settings of a measurement, complete.
 * @throws BenchError `E_CONFIG` with every problem.
 */
export function memorySettings(given: Readonly<Record<string, unknown>>): MemorySettings {
  // Checked by the table.
  return decideSettings(MEMORY_SETTINGS, given, 'bench capacity memory') as MemorySettings;
}
