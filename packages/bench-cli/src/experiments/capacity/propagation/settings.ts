/** The settings of `bench capacity propagation`. */
import type { Setting, SettingsOf } from '../../../config/setting.ts';
import { listOf, numberFrom, numberList, seconds, wholeNumber } from '../../../config/value-schemas.ts';
import { pick } from '../../../engine/settings.ts';
import { BenchError } from '../../../errors.ts';
import { CLUSTER_SETTINGS, demandBounded } from '../cluster/settings.ts';
import { objectsList, SERVERS } from '../common-settings.ts';

/** A negative answer in the cache would be asked for and measured instead: CoreDNS keeps it for 30 seconds. */
const CONFIGURATIONS = ['no-denial', 'nocache'] as const;
const configurationsMessage = `must be a list of ${CONFIGURATIONS.join(', ')}: others keep negative answers, which would be measured instead`;

/** As many changes as the API server makes. */
const MAX_CHURN = 1000;
const churnMessage = `must be a list of changes a second, each from 0 to ${MAX_CHURN.toLocaleString('en')}`;

const MIN_POLL_MILLISECONDS = 0.1;

export const PROPAGATION_SETTINGS = {
  objects: {
    flag: '--objects <list>',
    description: 'pods and services together (default: 0,158200; on a cluster 0)',
    schema: objectsList,
    distinct: true,
  },
  churn: {
    flag: '--churn <list>',
    description: 'Services that are created and deleted a second, besides those that are measured',
    schema: numberList(0, MAX_CHURN, churnMessage),
    default: [0, 10, 100],
    distinct: true,
  },
  configurations: {
    flag: '--configurations <list>',
    description: `configurations of CoreDNS without negative answers in the cache: ${CONFIGURATIONS.join(', ')}`,
    schema: listOf(CONFIGURATIONS, configurationsMessage),
    default: ['no-denial'],
    distinct: true,
  },
  services: {
    flag: '--services <n>',
    description: 'new Services of a trial, one after the other',
    schema: wholeNumber(1, 10_000),
    default: 100,
  },
  poll: {
    flag: '--poll <milliseconds>',
    description:
      'time between two queries for a Service that does not resolve yet (default: 0.5; on a cluster 1, and whole)',
    schema: numberFrom(MIN_POLL_MILLISECONDS, 1000, 'milliseconds'),
  },
  timeout: {
    flag: '--timeout <seconds>',
    description: 'time after which a Service counts as not resolved',
    schema: seconds(0.1, 'must be at least 0.1 seconds'),
    default: 30,
  },
  servers: SERVERS,
  ...pick(['trials', 'corednsVersion', 'provision'], { trials: { default: 5 } }),
  ...CLUSTER_SETTINGS,
} as const satisfies Record<string, Setting>;

export type PropagationSettings = SettingsOf<typeof PROPAGATION_SETTINGS>;

/** Without `--objects`: on a cluster what it has, and nothing else. */
export function objectsOf({ objects, target }: PropagationSettings): readonly number[] {
  return objects ?? (target === 'local' ? [0, 158_200] : [0]);
}

/** On a cluster, timers are whole milliseconds. */
const CLUSTER_POLL_MILLISECONDS = 1;

export function pollSecondsOf({ poll, target }: Pick<PropagationSettings, 'poll' | 'target'>): number {
  return (poll ?? (target === 'local' ? 0.5 : CLUSTER_POLL_MILLISECONDS)) / 1000;
}

/** Half of them create: 50 creations a second, as for all objects of bench on a cluster. */
const MAX_CLUSTER_CHURN = 100;

/** @throws BenchError `E_CONFIG` for what a cluster is not asked */
export function demandPossible(settings: PropagationSettings): void {
  const { churn, poll, target, maxObjects } = settings;
  if (target === 'local') return;
  const refuse = (message: string) => {
    throw new BenchError('E_CONFIG', message, {
      fix: 'Correct it; `bench capacity propagation --help` shows every setting.',
    });
  };
  const tooMany = churn.find((perSecond) => perSecond > MAX_CLUSTER_CHURN);
  if (tooMany !== undefined)
    refuse(
      `--churn: "${tooMany}" must be a list of changes a second, each from 0 to ${MAX_CLUSTER_CHURN} on a cluster`,
    );
  if (poll !== undefined && (poll < CLUSTER_POLL_MILLISECONDS || !Number.isInteger(poll)))
    refuse(
      `--poll: "${poll}" must be whole milliseconds from ${CLUSTER_POLL_MILLISECONDS} to 1000 on a cluster`,
    );
  for (const objects of objectsOf(settings)) demandBounded(objects, maxObjects);
}
