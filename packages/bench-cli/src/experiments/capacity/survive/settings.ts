/** The settings of `bench capacity survive`. */
import { z } from 'zod';
import type { Setting, SettingsOf } from '../../../config/setting.ts';
import { SETTINGS } from '../../../config/settings.ts';
import {
  choice,
  list,
  percentText,
  ratioFromText,
  seconds,
  wholeNumber,
} from '../../../config/value-schemas.ts';
import { type Factor, type Factors, factorsSchema, showFactors, words } from '../../../engine/factors.ts';
import { pick } from '../../../engine/settings.ts';
import { CLUSTER_SETTINGS } from '../cluster/settings.ts';
import { objectsList, SERVERS } from '../common-settings.ts';
import { CONFIGURATION_NAMES } from '../configurations.ts';
import { MEMORY_SETTINGS } from '../memory/settings.ts';
import type { Size } from '../memory-basis.ts';
import { PLAN_SETTINGS } from '../plan-settings.ts';

/**
 * As the load test of Kubernetes makes them: 8,000 Services with 75,000 addresses at 5,000 nodes (kubernetes/kubernetes#68613), and
 * 30 pods on a node (kubernetes/perf-tests#1826). Smaller ones in proportion.
 */
const ofNodes = (nodes: number): Size => ({ services: 1.6 * nodes, pods: 30 * nodes, endpoints: 15 * nodes });

export const SIZES = {
  '100-nodes': ofNodes(100),
  '1000-nodes': ofNodes(1000),
  '5000-nodes': ofNodes(5000),
} as const;
const SIZE_NAMES = ['100-nodes', '1000-nodes', '5000-nodes'] as const;

/** On a cluster that belongs to others, what `--max-objects` allows. */
export const DEFAULT_SIZES = { local: ['1000-nodes'], kubernetes: ['100-nodes'] } as const;

const everywhere = { targets: ['local', 'kubernetes'] } as const;

/**
 * How CoreDNS reads:
 * - `default`: the API server offers streamed lists, and CoreDNS decides, as in a cluster: client-go asks for them by itself from
 *   0.35, which is CoreDNS 1.14.2;
 * - `paged`: the API server offers none; on a cluster, `STREAMS_VARIABLE` keeps CoreDNS from asking for them;
 * - `streamed`: it offers them, and `STREAMS_VARIABLE` makes versions since client-go 0.30 ask for them. For 0.29 (CoreDNS 1.11), any
 *   value of `ENABLE_CLIENT_GO_WATCH_LIST_ALPHA` does: with it, 1.11.3 never came through a relist, so nobody could set it.
 */
export const LISTS = ['default', 'paged', 'streamed'] as const;

/** Set to `true` or `false` in the environment of CoreDNS: a feature gate of client-go. */
export const STREAMS_VARIABLE = 'KUBE_FEATURE_WatchListClient';

export const FACTORS = {
  lists: { ...everywhere, ...words(...LISTS) },
  /** A share of the limit. */
  gomemlimit: {
    ...everywhere,
    read: (text: string) => (/^(none|[1-9]\d%|100%)$/.test(text) ? text : null),
    values: 'none and percentages of the limit from 10% to 100%',
  },
  config: { ...everywhere, ...words(...CONFIGURATION_NAMES) },
} as const satisfies Record<string, Factor>;

const resolutionMessage = 'must be a percentage from 1% to 50%, with its sign';
const counts = { schema: objectsList } as const;

export const SURVIVE_SETTINGS = {
  size: {
    flag: '--size <list>',
    description: `sizes of clusters: ${SIZE_NAMES.join(', ')} (default: 1000-nodes; on a cluster 100-nodes)`,
    schema: list(choice(SIZE_NAMES), `must be a list of ${SIZE_NAMES.join(', ')}`),
    distinct: true,
  },
  objects: {
    ...counts,
    flag: '--objects <list>',
    description:
      'pods and services together, instead of --size (on a cluster, 0 creates none: CoreDNS reads what the cluster has)',
  },
  services: {
    ...counts,
    flag: '--services <list>',
    description: 'how many of the objects are services, one for each of --objects (default: 5.18 %)',
  },
  endpoints: {
    ...counts,
    flag: '--endpoints <list>',
    description: 'addresses behind the services, one for each of --objects (default: as many as pods)',
  },
  fromCluster: {
    ...PLAN_SETTINGS.fromCluster,
    description:
      'pods, services and addresses as many as a cluster has (read rights only), instead of --size',
    targets: ['local'],
  },
  servers: SERVERS,
  factors: {
    flag: '--factors <list>',
    description: `what is varied: lists=${LISTS.join(',')} (streamed sets ${STREAMS_VARIABLE}=true); gomemlimit=none,80%; config=${CONFIGURATION_NAMES.join(',')} (default: lists=default;gomemlimit=none;config=default)`,
    schema: factorsSchema(FACTORS),
    default: {} as Factors<typeof FACTORS>,
    show: (value: unknown) => showFactors(value as Factors),
  },
  starts: {
    flag: '--starts <n>',
    description: 'starts that must all survive under a limit',
    schema: wholeNumber(1, 1000),
    default: 5,
  },
  resolution: {
    flag: '--resolution <share>',
    description: 'the search ends when the limit is known this closely, or to 4 MiB',
    schema: z.preprocess(
      ratioFromText,
      z.number(resolutionMessage).min(0.01, resolutionMessage).max(0.5, resolutionMessage),
    ),
    default: 0.05,
    show: percentText,
  },
  outage: {
    flag: '--outage <time>',
    description: 'how long the API server is away',
    schema: seconds(1, 'must be a duration of at least 1 second', 1),
    default: 120,
  },
  rate: {
    flag: '--rate <qps>',
    description: 'queries per second meanwhile',
    schema: wholeNumber(1, 100_000),
    default: 1000,
  },
  sideBySide: MEMORY_SETTINGS.sideBySide,
  memory: {
    ...MEMORY_SETTINGS.memory,
    description: `${MEMORY_SETTINGS.memory.description}; on a cluster the largest limit (default: 4Gi)`,
    targets: everywhere.targets,
  },
  ...pick(['corednsVersion', 'provision'], {
    corednsVersion: { description: 'version of CoreDNS where --servers names none' },
  }),
  trials: {
    ...SETTINGS.trials,
    description: 'searches at each point, interleaved with the others',
    default: 3,
  },
  ...CLUSTER_SETTINGS,
  target: {
    ...CLUSTER_SETTINGS.target,
    description:
      'local: a control group of this machine has the limit; kubernetes: the pod of a private CoreDNS, which reads synthetic objects',
  },
  context: {
    ...CLUSTER_SETTINGS.context,
    needs: {
      give: '--from-cluster',
      met: ({ fromCluster, target }) => fromCluster === true || target === 'kubernetes',
    },
  },
} as const satisfies Record<string, Setting>;
export type SurviveSettings = SettingsOf<typeof SURVIVE_SETTINGS>;

/** Whether limits with GOMEMLIMIT are compared with those without, so that one rule has to find them all: peaks say nothing of the former. */
export const variesGomemlimit = ({ factors }: Pick<SurviveSettings, 'factors'>) =>
  (factors.gomemlimit ?? []).length > 1;
