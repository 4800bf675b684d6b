/** The settings of `bench swap`: its own, and those of `bench run` that it takes as well. */
import { z } from 'zod';
import type { Setting, SettingsOf } from '../../config/setting.ts';
import { choice, number, seconds, text, yesOrNo } from '../../config/value-schemas.ts';
import { grouped, pick, TRIAL_NAMES } from '../../engine/settings.ts';
import {
  DNS_CHANGE_SETTINGS,
  DNS_CHOICE_SETTINGS,
  DNS_COPY_SETTINGS,
  DNS_LOADER_SETTINGS,
} from '../../targets/kubernetes/dns-copy/settings.ts';

const atLeast = (minimum: number) =>
  seconds(minimum, `must be a duration of at least ${minimum} seconds, for example 90s or 2m`);

const rateMessage = 'must be a whole number of queries per second above 0, for example 2000';
const sequenceMessage =
  'cannot be paired: give pairs of one A and one B each, in any order, for example AB, ABBA or ABBAABBA';

const isPaired = (sequence: string) => /^(?:AB|BA)+$/.test(sequence);

const IN_PLACE: Setting['needs'] = {
  give: '--method in-place',
  met: ({ method }) => method === 'in-place',
};

/** Its pods send little. */
const { loaderCpu: _, ...CANARY_SETTINGS } = DNS_LOADER_SETTINGS;

/** Also of `bench swap canary`. */
export const PLACE_SETTINGS = {
  ...DNS_CHOICE_SETTINGS,
  ...CANARY_SETTINGS,
} as const satisfies Record<string, Setting>;

/** Also of `bench swap status` and `bench swap restore`. */
export const JOURNAL_SETTINGS = {
  context: DNS_LOADER_SETTINGS.context,
  leaseNamespace: DNS_CHANGE_SETTINGS.leaseNamespace,
} as const satisfies Record<string, Setting>;

/** Defaults as published. */
export const SWAP_SETTINGS = {
  to: {
    flag: '--to <version>',
    description: 'version or image to compare with the one that runs: 1.13.1',
    schema: text,
  },
  method: {
    flag: '--method <name>',
    description:
      "shadow: beside the cluster's DNS, which is not touched; in-place: change its image, and put it back",
    schema: choice(['shadow', 'in-place']),
    default: 'shadow',
  },
  placements: {
    flag: '--placements <sequence>',
    description:
      'A: the version that runs, B: the other; in this order instead of as many pairs as --trials says (default: ABBA again and again)',
    schema: z.preprocess(
      (value) => (typeof value === 'string' ? value.toUpperCase() : value),
      z.string(sequenceMessage).refine(isPaired, sequenceMessage),
    ),
  },
  rate: {
    flag: '--rate <n>',
    description: 'queries per second',
    schema: number(z.int(rateMessage).positive(rateMessage)),
    default: 2000,
  },
  idle: {
    flag: '--idle <time>',
    description: 'length of each window without load; 0: net CPU is not measured',
    schema: atLeast(0),
    default: 60,
  },
  loadPerNode: {
    flag: '--load-per-node',
    rare: true,
    description:
      'send from every node that runs DNS, all at once, each its share of the rate: for a Service that prefers the pod of the node',
    schema: yesOrNo,
    default: false,
  },
  loader: {
    flag: '--loader <name>',
    rare: true,
    description: 'builtin, whose load keeps to a schedule; or dnsperf, which needs an image of its own',
    schema: choice(['builtin', 'dnsperf']),
    default: 'builtin',
  },
  dnsperfImage: {
    flag: '--dnsperf-image <image>',
    rare: true,
    description: 'image with dnsperf: built from k8s/images/dnsperf',
    schema: text,
    needs: { give: '--loader dnsperf', met: ({ loader }) => loader === 'dnsperf' },
  },
  settle: {
    flag: '--settle <time>',
    rare: true,
    description: 'time to settle after each rollout',
    schema: atLeast(0),
    default: 30,
  },
  queriesInternal: {
    flag: '--queries-internal <file>',
    description:
      'queries to send, a name and a type on each line, instead of names of Services (default: those of the cluster)',
    schema: text,
  },
  queriesExternal: {
    flag: '--queries-external <file>',
    description: 'the same for names outside the cluster (default: six, which a cache soon answers)',
    schema: text,
  },
  container: DNS_COPY_SETTINGS.container,
  readRole: {
    ...DNS_COPY_SETTINGS.readRole,
    needs: { give: '--method shadow', met: ({ method }) => method === 'shadow' },
  },
  leaseNamespace: { ...DNS_CHANGE_SETTINGS.leaseNamespace, needs: IN_PLACE },
  lease: { ...DNS_CHANGE_SETTINGS.lease, needs: IN_PLACE },
  yesChangeClusterDns: { ...DNS_CHANGE_SETTINGS.yesChangeClusterDns, needs: IN_PLACE },
  ...PLACE_SETTINGS,
  loaderCpu: DNS_LOADER_SETTINGS.loaderCpu,
  ...pick(['duration', 'loaders', 'observe', 'until', 'maxTrials', 'aa'], {
    duration: { default: 60, description: 'length of each load' },
    until: {
      needs: {
        give: 'net CPU, which it waits for (not --idle 0, nor --observe none)',
        met: ({ idle, observe }) => idle !== 0 && observe !== 'none',
      },
    },
    loaders: {
      description:
        'load generators at once, a pod each, which start together and share the rate; with --load-per-node, on each node',
    },
  }),
  trials: {
    ...pick(['trials'], { trials: { default: 4, description: 'pairs of placements, one of each version' } })
      .trials,
    needs: {
      give: 'the usual sequence (no --placements)',
      met: ({ placements }) => placements === undefined,
    },
  },
} as const satisfies Record<string, Setting>;
/** Of its help. */
export const SWAP_GROUPS = grouped(SWAP_SETTINGS, {
  Versions: ['to', 'method', 'yesChangeClusterDns'],
  Load: [
    'rate',
    'duration',
    'idle',
    'settle',
    'queriesInternal',
    'queriesExternal',
    'loader',
    'dnsperfImage',
    'loaders',
    'loadPerNode',
  ],
  Trials: [...TRIAL_NAMES, 'placements'],
  Cluster: 'others',
  Output: ['out'],
});
export type SwapSettings = SettingsOf<typeof SWAP_SETTINGS>;

/** The sides of the placements, as far as they are dictated: then `ABBA` again and again. */
export const sequenceOf = ({ placements = 'ABBA' }: Pick<SwapSettings, 'placements'>) => placements;
