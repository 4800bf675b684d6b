/** The settings of `bench lookup`: its own, and those of other commands that it takes as well. */
import { z } from 'zod';
import { KUBERNETES_SETTINGS } from '../../config/kubernetes-settings.ts';
import type { Setting, SettingsOf, SettingTable } from '../../config/setting.ts';
import {
  choice,
  list,
  listOf,
  number,
  secondsFrom,
  seconds as secondsOf,
  text,
  wholeNumber,
  yesOrNo,
} from '../../config/value-schemas.ts';
import { grouped, only, pick, TRIAL_NAMES } from '../../engine/settings.ts';
import { parseQuantity } from '../../quantity.ts';
import { DNS_CHANGE_SETTINGS, DNS_LOADER_SETTINGS } from '../../targets/kubernetes/dns-copy/settings.ts';
import { POLICY_MODES } from './policy/modes.ts';
import { CLIENTS } from './sampling/sampler.ts';

/** Policies by DNS name that there are: of Calico Enterprise, and of Cilium. */
const POLICY_KINDS = ['calico', 'cilium'] as const;
export type PolicyKind = (typeof POLICY_KINDS)[number];

const textList = (example: string) => list(text, `must be a list, for example ${example}`);
const domainsMessage = 'must be 1 or more: the name of --url is the first';

/** As many as a range of Services of a large cluster holds. */
const MAX_SERVICES = 20_000;
const MAX_STANDING = 1000;
/** Fewer than one sample a minute tell nothing, and the loop counts in hundredths of a second. */
const [MIN_PACE_SECONDS, MAX_PACE_SECONDS] = [0.01, 60];
/** curl gives up after 8 s. */
const MAX_DELAY_SECONDS = 5;

const rareSwitch = (flag: string, description: string) =>
  ({ flag, rare: true, description, schema: yesOrNo, default: false }) as const;

/** How many of something stand beside what is measured. */
const standing = (flag: string, description: string) =>
  ({ flag, rare: true, description, schema: wholeNumber(0, MAX_STANDING), default: 0 }) as const;

const MEASURED = {
  url: {
    flag: '--url <url>',
    description:
      'page behind a name; http://*.example.com is a new name in each sample (default: http://www.example.com; with --local http://site.example.com)',
    schema: text,
  },
  ...pick(['trials'], { trials: { default: 6, description: 'rounds, in which everything takes its turn' } }),
  duration: {
    flag: '--duration <time>',
    description: 'time of each resolver, mode or client, over all --trials',
    schema: secondsOf(1, 'must be a time of at least a second, for example 60s or 2m'),
    default: 60,
  },
  pace: {
    flag: '--pace <time>',
    rare: true,
    description:
      'from the start of a sample to that of the next, at least (default: 0; with --simulate-policy that of the slowest mode)',
    schema: secondsFrom(0, MAX_PACE_SECONDS).refine(
      (seconds) => seconds === 0 || seconds >= MIN_PACE_SECONDS,
      `must be 0, or a duration from ${MIN_PACE_SECONDS} to ${MAX_PACE_SECONDS} seconds`,
    ),
  },
  client: {
    flag: '--client <list>',
    description: `client that takes the samples: ${CLIENTS.join(', ')}`,
    schema: listOf(CLIENTS),
    default: ['curl'],
    distinct: true,
  },
  capture: {
    flag: '--no-capture',
    rare: true,
    description: 'do not capture packets: no duplicates, no queries',
    schema: yesOrNo,
    default: true,
  },
} as const satisfies SettingTable;

const needs: Setting['needs'] = { give: '--local', met: ({ local }) => local === true };

const CORE_DNS: Setting['needs'] = {
  give: '--local --servers coredns',
  met: ({ local, servers }) => local === true && String(servers).includes('coredns'),
};

const LOCAL = {
  local: {
    flag: '--local',
    description:
      'measure between two network namespaces of this machine, with servers of bench as resolvers (root)',
    schema: yesOrNo,
    default: false,
    targets: ['local'],
  },
  servers: {
    flag: '--servers <list>',
    description: 'the resolvers',
    schema: textList('dinodns,unbound'),
    default: ['dinodns'],
    distinct: true,
    needs,
  },
  ...pick(['corednsVersion', 'provision'], {
    corednsVersion: { description: 'version of CoreDNS', needs: CORE_DNS },
    provision: { description: 'use only installed tools, install nothing', needs },
  }),
  search: {
    flag: '--search <domains>',
    description: 'search list of the client (default: none)',
    schema: textList('example.com'),
    needs,
  },
  ndots: {
    flag: '--ndots <n>',
    rare: true,
    description: 'ndots of the client',
    schema: wholeNumber(0, 15),
    default: 1,
    needs,
  },
  ipv6: { ...rareSwitch('--ipv6', 'the site has an IPv6 address, too'), needs },
  ecn: { ...rareSwitch('--ecn', 'the client asks for ECN'), needs },
  simulatePolicy: {
    flag: '--simulate-policy <modes>',
    description: `simulate DNS policy: ${POLICY_MODES.join(', ')}`,
    schema: listOf(POLICY_MODES),
    distinct: true,
    needs,
  },
  programDelay: {
    flag: '--program-delay <time>',
    rare: true,
    description: 'delay of the simulated policy agent, in seconds',
    schema: secondsFrom(0, MAX_DELAY_SECONDS),
    default: 0.2,
    needs: { give: '--simulate-policy', met: ({ simulatePolicy }) => simulatePolicy !== undefined },
  },
} as const satisfies SettingTable;

/** Only changes of the cluster are put back. */
const CHANGES: Setting['needs'] = {
  give: '--policy-modes or --calico-node-cpu',
  met: ({ policyModes, calicoNodeCpu }) => (policyModes ?? calicoNodeCpu) !== undefined,
};

const CLUSTER = {
  ...pick(['target', 'pullPolicy', 'keep'], {
    target: { description: 'where samples are taken: local (this machine) or kubernetes' },
  }),
  context: DNS_LOADER_SETTINGS.context,
  ...only('kubernetes', {
    services: {
      flag: '--services <list>',
      description: 'numbers of standing Services that are compared',
      schema: list(wholeNumber(0, MAX_SERVICES), 'must be a list of numbers, for example 0,1000'),
      default: [0],
      distinct: true,
    },
    standingPods: standing('--standing-pods <n>', 'further pods that only exist'),
    standingPolicies: {
      ...standing('--standing-policies <n>', 'NetworkPolicies of these pods, which let everything through'),
      needs: { give: '--standing-pods', met: ({ standingPods }) => standingPods !== 0 },
    },
    idlePolicies: standing('--idle-policies <n>', 'NetworkPolicies of no pod'),
    stress: rareSwitch('--stress', 'a Deployment goes from 0 to 24 pods and back every 10 s'),
    podPerSample: {
      flag: '--pod-per-sample',
      description: 'a new pod for each sample, one after the other on each node',
      schema: yesOrNo,
      default: false,
    },
    webAddress: {
      flag: '--web-address <address>',
      rare: true,
      description: 'the web pods answer at this address, too: for a name without a server',
      schema: text,
    },
    policy: {
      flag: '--policy <kind>',
      description: `a policy by DNS name: ${POLICY_KINDS.join(', ')}, none (default: calico with --policy-modes, otherwise none)`,
      schema: choice([...POLICY_KINDS, 'none']),
    },
    domains: {
      flag: '--domains <n>',
      rare: true,
      description: 'names that a DNS policy allows, the first of them that of --url',
      schema: number(z.int(domainsMessage).min(1, domainsMessage)),
      default: 1,
      needs: {
        give: '--policy',
        met: ({ policy, policyModes }) => policy !== 'none' && (policy ?? policyModes) !== undefined,
      },
    },
    policyModes: {
      flag: '--policy-modes <modes>',
      description: `with Calico Enterprise: modes that are compared: ${POLICY_MODES.join(', ')}`,
      schema: listOf(POLICY_MODES),
      distinct: true,
      // Cilium has none.
      needs: { give: '--policy calico', met: ({ policy }) => policy !== 'cilium' },
    },
    calicoNodeCpu: {
      flag: '--calico-node-cpu <quantity>',
      rare: true,
      description: 'with Calico Enterprise: CPU limit of calico-node; 0 removes it',
      schema: text.refine(
        (value) => (parseQuantity(value) ?? -1) >= 0,
        'is not a quantity of CPU, for example 500m or 2; 0 removes the limit',
      ),
    },
    nodes: {
      flag: '--nodes <selector>',
      rare: true,
      description: 'the nodes with a sampler pod: a name, or pool=dns (default: all)',
      schema: KUBERNETES_SETTINGS.loaderNode.schema,
    },
    image: {
      flag: '--image <image>',
      rare: true,
      description: 'image with curl, tcpdump and Node.js (default: that of the built-in loader)',
      schema: text,
    },
    leaseNamespace: { ...DNS_CHANGE_SETTINGS.leaseNamespace, needs: CHANGES },
    lease: {
      flag: '--lease <time>',
      rare: true,
      description: 'changes are put back after this time without a sign of life',
      schema: secondsFrom(10, 600),
      default: 60,
      needs: CHANGES,
    },
    tigerTest: {
      flag: '--tiger-test <json>',
      rare: true,
      description: 'the tiger-bench test that this run belongs to; set by --config',
      schema: text,
      inCommand: 'never',
    },
  }),
} as const satisfies SettingTable;

export const LOOKUP_SETTINGS = { ...MEASURED, ...LOCAL, ...CLUSTER } as const;
/** Of its help. */
export const LOOKUP_GROUPS = grouped(LOOKUP_SETTINGS, {
  Samples: ['url', 'client', 'duration', 'pace', 'capture'],
  Trials: TRIAL_NAMES,
  'This machine, with --local': Object.keys(LOCAL) as (keyof typeof LOCAL)[],
  Cluster: 'others',
  Output: ['out', 'tigerTest'],
});
export type LookupSettings = SettingsOf<typeof LOOKUP_SETTINGS>;

/** Where samples are taken. */
export type PlaceKind = 'machine' | 'lab' | 'cluster';

export function placeKind({ target, local }: Pick<LookupSettings, 'target' | 'local'>): PlaceKind {
  return target === 'kubernetes' ? 'cluster' : local ? 'lab' : 'machine';
}

export const urlOf = ({ url, local }: Pick<LookupSettings, 'url' | 'local'>) =>
  url ?? (local ? 'http://site.example.com' : 'http://www.example.com');

/** The kind of the policy that sampler pods are under. Modes are those of Calico. */
export function policyKind({ target, policy, policyModes }: LookupSettings): PolicyKind | null {
  if (target !== 'kubernetes' || policy === 'none') return null;
  return policy ?? (policyModes === undefined ? null : 'calico');
}

/** Whether the first packets of a pod are those of its first sample: under a policy, which sees them. */
export function asksNothingBefore(settings: LookupSettings): boolean {
  return settings.target === 'kubernetes' && (settings.podPerSample || policyKind(settings) !== null);
}

export const trialSeconds = ({ duration, trials }: Pick<LookupSettings, 'duration' | 'trials'>) =>
  duration / trials;

/** Settings that may explain a difference between two runs. */
export function conditionsOfSettings(settings: LookupSettings): Record<string, string> {
  const { stress, podPerSample, calicoNodeCpu } = settings;
  const isCluster = settings.target === 'kubernetes';
  const policy = policyKind(settings);
  return {
    page: urlOf(settings),
    client: settings.client.join(', '),
    ...(policy === null ? {} : { policy }),
    ...(isCluster && stress ? { stress: 'yes' } : {}),
    ...(isCluster && podPerSample ? { 'a pod for each sample': 'yes' } : {}),
    ...(isCluster && calicoNodeCpu !== undefined ? { 'CPU limit of calico-node': calicoNodeCpu } : {}),
  };
}
