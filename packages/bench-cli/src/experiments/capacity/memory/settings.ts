/** The settings of `bench capacity memory`: the axes, and how much of the machine it may use. */
import { z } from 'zod';
import { defaultsOf, flagName, type Setting, type SettingsOf } from '../../../config/setting.ts';
import { list, number, text, wholeNumber } from '../../../config/value-schemas.ts';
import { BenchError } from '../../../errors.ts';
import { parseQuantity } from '../../../quantity.ts';
import { CONFIGURATION_NAMES } from '../configurations.ts';

/** As many as the generator of objects makes. */
const MAX_OBJECTS = 1_000_000;

const share = (what: string) => {
  const message = `must be a list of ${what}, each from 0 to 1, for example 0.1,0.5`;
  return list(number(z.number(message).min(0, message).max(1, message)), message);
};

const objectsMessage = `must be a list of whole numbers from 0 to ${MAX_OBJECTS.toLocaleString('en')}, for example 0,15820,63280`;
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
    schema: list(
      number(
        z.number(objectsMessage).int(objectsMessage).min(0, objectsMessage).max(MAX_OBJECTS, objectsMessage),
      ),
      objectsMessage,
    ),
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
  servers: {
    flag: '--servers <list>',
    description: 'versions of CoreDNS: coredns-cluster@1.11.3,coredns-cluster@1.15.0',
    schema: list(text, 'must be a list of servers, for example coredns-cluster@1.15.0'),
    default: ['coredns-cluster'],
  },
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
    description:
      'memory that all that runs side by side may use, as expected before (default: half of what the machine has)',
    schema: memory,
  },
} as const satisfies Record<string, Setting>;

export type MemorySettings = SettingsOf<typeof MEMORY_SETTINGS>;

/** One line for each problem; the settings that have none are in `values`. */
function check(given: Readonly<Record<string, unknown>>): {
  values: Record<string, unknown>;
  problems: string[];
} {
  const problems: string[] = [];
  const values: Record<string, unknown> = { ...defaultsOf(MEMORY_SETTINGS) };
  for (const [name, setting] of Object.entries<Setting>(MEMORY_SETTINGS)) {
    if (given[name] === undefined) continue;
    const { success, data, error } = setting.schema.safeParse(given[name]);
    const typed = `${flagName(setting)}: ${JSON.stringify(given[name])}`;
    if (!success) problems.push(`${typed} ${error.issues[0]?.message}`);
    else if (Array.isArray(data) && new Set(data).size < data.length)
      problems.push(`${typed} names something twice`);
    else values[name] = data;
  }
  return { values, problems };
}

/**
 * The settings of a measurement, complete.
 * @throws BenchError `E_CONFIG` with every problem.
 */
export function memorySettings(given: Readonly<Record<string, unknown>>): MemorySettings {
  const { values, problems } = check(given);
  if (problems.length === 0) return values as MemorySettings;
  const message = problems.length === 1 ? (problems[0] ?? '') : `${problems.length} settings are wrong`;
  throw new BenchError('E_CONFIG', message, {
    evidence: problems.length === 1 ? [] : problems,
    fix: 'Correct it; `bench capacity memory --help` shows every setting.',
  });
}
