/** The settings of `bench disrupt`: its own, and those of `bench run` that it takes as well. */
import { z } from 'zod';
import { POD_FAULTS } from '../../cluster-changes/pod-faults.ts';
import { KUBERNETES_SETTINGS } from '../../config/kubernetes-settings.ts';
import type { Setting, SettingsOf } from '../../config/setting.ts';
import { booleanFromText, choice, list, number, seconds } from '../../config/value-schemas.ts';
import { type Factors, factorsSchema, showFactors } from '../../engine/factors.ts';
import { pick } from '../../engine/settings.ts';
import {
  DNS_CHANGE_SETTINGS,
  DNS_CHOICE_SETTINGS,
  DNS_COPY_SETTINGS,
  DNS_LOADER_SETTINGS,
} from '../../targets/kubernetes/dns-copy/settings.ts';
import { FACTORS } from './factors.ts';
import { FAULT_NAMES, LOCAL_FAULTS } from './faults.ts';

const rateMessage = 'must be a number of queries per second from 10 to 100000';
const outageMessage = 'must be a duration of at most 60 seconds';
const delayMessage = 'must be a duration from 0.001 to 10 seconds';

const onCluster = ['kubernetes'] as const;
const here = { targets: ['local'] } as const;

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
    schema: number(z.number(rateMessage).min(10, rateMessage).max(100_000, rateMessage)),
    default: 500,
  },
  outage: {
    flag: '--outage <time>',
    description: 'how long the upstream fails, or a restarted server is down (0: started at once)',
    schema: seconds(0, outageMessage).refine((value) => value <= 60, outageMessage),
    default: 3,
    ...here,
  },
  delay: {
    flag: '--delay <time>',
    description: 'how long a slow upstream takes to answer',
    schema: seconds(0.001, delayMessage).refine((value) => value <= 10, delayMessage),
    default: 1.5,
    ...here,
  },
  ...pick(
    [
      ...(['servers', 'tier', 'zones', 'duration', 'trials', 'warmup', 'timeout'] as const),
      ...(['clients', 'threads', 'ip', 'cpu', 'corednsVersion', 'provision'] as const),
    ],
    {
      servers: { default: ['coredns', 'dinodns'], ...here },
      tier: here,
      zones: here,
      duration: { default: 12, description: 'how long each load lasts; the fault begins after 2 seconds' },
      trials: { default: 5, description: 'trials of each fault and of its control, each with a new server' },
      warmup: { default: 1, ...here },
      timeout: { default: 10, description: 'a query unanswered for this long is lost, not late' },
      threads: here,
      ip: here,
      cpu: here,
      corednsVersion: here,
    },
  ),
  target: {
    ...KUBERNETES_SETTINGS.target,
    description: 'local, or kubernetes: copies of the cluster’s DNS in a namespace of the run',
  },
  workload: { ...DNS_CHOICE_SETTINGS.workload, targets: onCluster },
  service: { ...DNS_CHOICE_SETTINGS.service, targets: onCluster },
  container: { ...DNS_COPY_SETTINGS.container, targets: onCluster },
  readRole: { ...DNS_COPY_SETTINGS.readRole, targets: onCluster },
  inPlace: {
    flag: '--in-place',
    description: 'roll out the DNS of the cluster itself instead of a copy; with a journal and a guard',
    schema: z.preprocess(booleanFromText, z.boolean('must be true or false')),
    default: false,
    targets: onCluster,
  },
  yesChangeClusterDns: {
    ...DNS_CHANGE_SETTINGS.yesChangeClusterDns,
    needs: { give: '--in-place', met: ({ inPlace }: Readonly<Record<string, unknown>>) => inPlace === true },
  },
  lease: { ...DNS_CHANGE_SETTINGS.lease, targets: onCluster },
  leaseNamespace: { ...DNS_CHANGE_SETTINGS.leaseNamespace, targets: onCluster },
  ...DNS_LOADER_SETTINGS,
  serverNode: KUBERNETES_SETTINGS.serverNode,
  serverTolerations: KUBERNETES_SETTINGS.serverTolerations,
} as const satisfies Record<string, Setting>;
export type DisruptSettings = SettingsOf<typeof DISRUPT_SETTINGS>;
