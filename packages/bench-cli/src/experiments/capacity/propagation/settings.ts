/** The settings of `bench capacity propagation`. */
import { z } from 'zod';
import type { Setting, SettingsOf } from '../../../config/setting.ts';
import { list, number, seconds, wholeNumber } from '../../../config/value-schemas.ts';
import { SERVERS, TRIALS } from '../common-settings.ts';
import { objectsList } from '../object-counts.ts';
import { decideSettings } from '../settings.ts';

/** A negative answer in the cache would be asked for and measured instead: CoreDNS keeps it for 30 seconds. */
const CONFIGURATIONS = ['no-denial', 'nocache'] as const;
const configurationsMessage = `must be a list of ${CONFIGURATIONS.join(', ')}: others keep negative answers, which would be measured instead`;

/** As many changes as the API server makes. */
const MAX_CHURN = 1000;
const churnMessage = `must be a list of changes a second, each from 0 to ${MAX_CHURN.toLocaleString('en')}`;

const MIN_POLL_MILLISECONDS = 0.1;
const pollMessage = `must be milliseconds from ${MIN_POLL_MILLISECONDS} to 1000`;

export const PROPAGATION_SETTINGS = {
  objects: {
    flag: '--objects <list>',
    description: 'pods and services together',
    schema: objectsList,
    default: [0, 158_200],
  },
  churn: {
    flag: '--churn <list>',
    description: 'Services that are created and deleted a second, besides those that are measured',
    schema: list(
      number(z.number(churnMessage).min(0, churnMessage).max(MAX_CHURN, churnMessage)),
      churnMessage,
    ),
    default: [0, 10, 100],
  },
  configurations: {
    flag: '--config <list>',
    description: `configurations of CoreDNS without negative answers in the cache: ${CONFIGURATIONS.join(', ')}`,
    schema: list(z.enum(CONFIGURATIONS, configurationsMessage), configurationsMessage),
    default: ['no-denial'],
  },
  services: {
    flag: '--services <n>',
    description: 'new Services of a trial, one after the other',
    schema: wholeNumber(1, 10_000),
    default: 100,
  },
  trials: TRIALS,
  poll: {
    flag: '--poll <milliseconds>',
    description: 'between two queries for a Service that does not resolve yet',
    schema: number(z.number(pollMessage).min(MIN_POLL_MILLISECONDS, pollMessage).max(1000, pollMessage)),
    default: 0.5,
  },
  timeout: {
    flag: '--timeout <seconds>',
    description: 'after which a Service counts as not resolved',
    schema: seconds(0.1, 'must be at least 0.1 seconds'),
    default: 30,
  },
  servers: SERVERS,
} as const satisfies Record<string, Setting>;

export type PropagationSettings = SettingsOf<typeof PROPAGATION_SETTINGS>;

/** @throws BenchError `E_CONFIG` with every problem */
export function propagationSettings(given: Readonly<Record<string, unknown>>): PropagationSettings {
  // Checked by the table.
  return decideSettings(PROPAGATION_SETTINGS, given, 'bench capacity propagation') as PropagationSettings;
}
