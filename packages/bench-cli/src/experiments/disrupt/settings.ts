/** The settings of `bench disrupt`: its own, and those of `bench run` that it takes as well. */
import { POD_FAULTS } from '../../cluster-changes/pod-faults.ts';
import { KUBERNETES_SETTINGS } from '../../config/kubernetes-settings.ts';
import type { Setting, SettingsOf } from '../../config/setting.ts';
import { choice, list, numberFrom, secondsFrom, yesOrNo } from '../../config/value-schemas.ts';
import { type Factors, factorsSchema, showFactors } from '../../engine/factors.ts';
import { grouped, only, pick, TRIAL_NAMES } from '../../engine/settings.ts';
import {
  DNS_CHANGE_SETTINGS,
  DNS_CHOICE_SETTINGS,
  DNS_COPY_SETTINGS,
  DNS_LOADER_SETTINGS,
} from '../../targets/kubernetes/dns-copy/settings.ts';
import { FACTORS } from './factors.ts';
import { FAULT_NAMES, LOCAL_FAULTS } from './faults.ts';

const isOfCluster = (fault: unknown) =>
  Array.isArray(fault) && fault.every((name) => POD_FAULTS.includes(name));

export const DISRUPT_SETTINGS = {
  fault: {
    flag: '--fault <list>',
    description: `${LOCAL_FAULTS.join(', ')} (default: restart); on a cluster ${POD_FAULTS.join(', ')} (default: rollout)`,
    schema: list(choice(FAULT_NAMES), `must be a list of ${FAULT_NAMES.join(', ')}`),
    distinct: true,
  },
  factors: {
    flag: '--factors <list>',
    description: 'measure every combination: lameduck=0,5,30;replicas=1,2;sockets=reused,fresh',
    schema: factorsSchema(FACTORS),
    default: {} as Factors<typeof FACTORS>,
    show: (value: unknown) => showFactors(value as Factors),
  },
  rate: {
    flag: '--rate <n>',
    description: 'queries per second, sent on schedule whether or not answers come',
    schema: numberFrom(10, 100_000, 'a number of queries per second'),
    default: 500,
  },
  ...only('local', {
    outage: {
      flag: '--outage <time>',
      description: 'how long the upstream fails, or a restarted server is down (0: started at once)',
      schema: secondsFrom(0, 60),
      default: 3,
    },
    delay: {
      flag: '--delay <time>',
      description: 'how long a slow upstream takes to answer',
      schema: secondsFrom(0.001, 10),
      default: 1.5,
      needs: {
        give: '--fault upstream-slow',
        met: ({ fault }: Readonly<Record<string, unknown>>) =>
          Array.isArray(fault) && fault.includes('upstream-slow'),
      },
    },
    ...pick(['servers', 'tier', 'zones', 'warmup', 'threads', 'ip', 'cpu', 'corednsVersion'], {
      servers: { default: ['coredns', 'dinodns'] },
      warmup: { default: 1 },
    }),
  }),
  ...pick(['duration', 'trials', 'timeout', 'clients', 'provision'], {
    duration: { default: 12, description: 'how long each load lasts; the fault begins after 2 seconds' },
    trials: { default: 5, description: 'trials of each fault and of its control, each with a new server' },
    timeout: { default: 10, description: 'a query unanswered for this long is lost, not late' },
  }),
  target: {
    ...KUBERNETES_SETTINGS.target,
    description:
      "local, or kubernetes: copies of the cluster's DNS in a namespace of the run (default: kubernetes for faults of a cluster and with --in-place, otherwise local)",
    defaultFor: (_servers: readonly string[], { fault, inPlace }: Readonly<Record<string, unknown>>) =>
      inPlace === true || isOfCluster(fault) ? 'kubernetes' : undefined,
  },
  ...only('kubernetes', {
    ...DNS_CHOICE_SETTINGS,
    ...DNS_COPY_SETTINGS,
    inPlace: {
      flag: '--in-place',
      description: 'roll out the DNS of the cluster itself instead of a copy; with a journal and a guard',
      schema: yesOrNo,
      default: false,
    },
    ...DNS_CHANGE_SETTINGS,
    yesChangeClusterDns: {
      ...DNS_CHANGE_SETTINGS.yesChangeClusterDns,
      needs: {
        give: '--in-place',
        met: ({ inPlace }: Readonly<Record<string, unknown>>) => inPlace === true,
      },
    },
    conntrack: {
      flag: '--conntrack',
      rare: true,
      description:
        'read where the connection tracking of nodes sends clients: a pod in their network, as root',
      schema: yesOrNo,
      default: false,
    },
  }),
  ...DNS_LOADER_SETTINGS,
  serverNode: KUBERNETES_SETTINGS.serverNode,
  serverTolerations: KUBERNETES_SETTINGS.serverTolerations,
} as const satisfies Record<string, Setting>;
/** Of its help. */
export const DISRUPT_GROUPS = grouped(DISRUPT_SETTINGS, {
  Faults: ['fault', 'factors', 'outage', 'delay'],
  Servers: ['servers', 'tier', 'zones', 'corednsVersion', 'provision', 'ip', 'cpu'],
  Load: ['rate', 'duration', 'warmup', 'timeout', 'clients', 'threads'],
  Trials: TRIAL_NAMES,
  Cluster: 'others',
  Output: ['out'],
});
export type DisruptSettings = SettingsOf<typeof DISRUPT_SETTINGS>;
