/** The settings of `bench lookup`: its own, and those of other commands that it takes as well. */
import { nearest } from '@dinodns-bench/program';
import { z } from 'zod';
import { KUBERNETES_SETTINGS } from '../../config/kubernetes-settings.ts';
import type { Setting, SettingsOf } from '../../config/setting.ts';
import {
  booleanFromText,
  list,
  number,
  secondsFromText,
  seconds as secondsOf,
  text,
  wholeNumber,
} from '../../config/value-schemas.ts';
import { pick } from '../../engine/settings.ts';
import { parseQuantity } from '../../quantity.ts';
import { POLICY_KINDS } from './pods/dns-policy.ts';
import { POLICY_MODES } from './policy/modes.ts';
import { CLIENTS } from './sampling/sampler.ts';

/** Also `0.2` and `200ms`: seconds. */
function time(max: number) {
  const message = `must be a time from 0 to ${max} s, for example 500ms or 1s`;
  const fromText = (value: unknown) => {
    const milliseconds = /^\s*(\d+(?:\.\d+)?)\s*ms\s*$/.exec(String(value))?.[1];
    return milliseconds === undefined ? secondsFromText(value) : Number(milliseconds) / 1000;
  };
  return z.preprocess(fromText, z.number(message).min(0, message).max(max, message));
}

/** One of `known`, in upper or lower case. */
function oneOf<const T extends readonly [string, ...string[]]>(known: T) {
  const same = (value: unknown) => known.find((word) => word.toLowerCase() === String(value).toLowerCase());
  const error = ({ input }: { readonly input?: unknown }) => {
    const suggestion = nearest(String(input), [...known]);
    return `must be one of ${known.join(', ')}${suggestion === undefined ? '' : `. Did you mean "${suggestion}"?`}`;
  };
  return z.preprocess((value) => same(value) ?? value, z.enum(known, { error }));
}

function listOf<const T extends readonly [string, ...string[]]>(known: T) {
  return list(oneOf(known), `must be a list of ${known.join(', ')}`);
}

const flagSchema = z.preprocess(booleanFromText, z.boolean('must be true or false'));
const textList = (example: string) => list(text, `must be a list, for example ${example}`);

/** As many as a range of Services of a large cluster holds. */
const MAX_SERVICES = 20_000;
const MAX_STANDING_PODS = 1000;

/** Fewer than one sample a minute tell nothing. */
const MAX_PACE_SECONDS = 60;

/** curl gives up after 8 s. */
const MAX_DELAY_SECONDS = 5;

const domainsMessage = 'must be 1 or more: the name of --url is the first';
const leaseMessage = 'must be a time from 10 s to 10m';

const MEASURED = {
  url: {
    flag: '--url <url>',
    description:
      'page behind a name ; http://*.example.com is a new name in each sample (default: http://www.example.com; with --local http://site.example.com)',
    schema: text,
  },
  ...pick(['trials', 'out', 'corednsVersion', 'provision'], {
    trials: { default: 6, description: 'rounds, in which everything takes its turn' },
    out: { description: 'where results go' },
    corednsVersion: { description: 'with --local: version of CoreDNS' },
    provision: { description: 'use only programs that are there' },
  }),
  duration: {
    flag: '--duration <time>',
    description: 'time of each resolver, mode or client, over all trials',
    schema: secondsOf(1, 'must be a time of at least a second, for example 60s or 2m'),
    default: 60,
  },
  pace: {
    flag: '--pace <time>',
    description:
      'from the start of a sample to that of the next, at least (default: 0; with --simulate-policy that of the slowest mode)',
    schema: time(MAX_PACE_SECONDS),
  },
  client: {
    flag: '--client <list>',
    description: `what takes samples: ${CLIENTS.join(', ')}`,
    schema: listOf(CLIENTS),
    default: ['curl'],
  },
  capture: {
    flag: '--no-capture',
    description: 'do not capture packets: no duplicates, no queries',
    schema: flagSchema,
    default: true,
  },
  domains: {
    flag: '--domains <n>',
    description: 'names that a DNS policy allows, the first of them that of --url',
    schema: number(z.int(domainsMessage).min(1, domainsMessage)),
    default: 1,
  },
} as const satisfies Record<string, Setting>;

/** Those that are only for `--local` have no default: giving one without it is refused. */
const LOCAL = {
  local: {
    flag: '--local',
    description:
      'measure between two network namespaces of this machine, with servers of bench as resolvers (root)',
    schema: flagSchema,
    default: false,
  },
  servers: {
    flag: '--servers <list>',
    description: 'with --local: the resolvers (default: dinodns)',
    schema: textList('dinodns,unbound'),
  },
  search: {
    flag: '--search <domains>',
    description: 'with --local: search list of the client (default: none)',
    schema: textList('example.com'),
  },
  ndots: {
    flag: '--ndots <n>',
    description: 'with --local: ndots of the client (default: 1)',
    schema: wholeNumber(0, 15),
  },
  ipv6: {
    flag: '--ipv6',
    description: 'with --local: the site has an IPv6 address, too',
    schema: flagSchema,
  },
  ecn: {
    flag: '--ecn',
    description: 'with --local: the client asks for ECN',
    schema: flagSchema,
  },
  simulatePolicy: {
    flag: '--simulate-policy <modes>',
    description: `with --local: simulate DNS policy: ${POLICY_MODES.join(', ')}`,
    schema: listOf(POLICY_MODES),
  },
  programDelay: {
    flag: '--program-delay <time>',
    description: 'delay of the simulated policy agent (default: 200ms)',
    schema: time(MAX_DELAY_SECONDS),
  },
} as const satisfies Record<string, Setting>;

const CLUSTER = {
  ...pick(['target', 'context', 'pullPolicy', 'keep'], {
    target: { description: 'where samples are taken: local (this machine) or kubernetes' },
    context: { description: 'on a cluster: context of the kubeconfig (default: its current one)' },
    pullPolicy: { description: 'on a cluster: IfNotPresent, Always or Never' },
    keep: { description: "on a cluster: leave the run's namespace" },
  }),
  services: {
    flag: '--services <list>',
    description: 'on a cluster: numbers of standing Services that are compared',
    schema: list(wholeNumber(0, MAX_SERVICES), 'must be a list of numbers, for example 0,1000'),
    default: [0],
  },
  standingPods: {
    flag: '--standing-pods <n>',
    description: 'on a cluster: further pods that only exist',
    schema: wholeNumber(0, MAX_STANDING_PODS),
    default: 0,
  },
  stress: {
    flag: '--stress',
    description: 'on a cluster: a Deployment goes from 0 to 24 pods and back every 10 s',
    schema: flagSchema,
    default: false,
  },
  podPerSample: {
    flag: '--pod-per-sample',
    description: 'on a cluster: a new pod for each sample, one after the other on each node',
    schema: flagSchema,
    default: false,
  },
  webAddress: {
    flag: '--web-address <address>',
    description: 'on a cluster: the web pods answer at this address, too: for a name without a server',
    schema: text,
  },
  policy: {
    flag: '--policy <kind>',
    description: `on a cluster: a policy by DNS name: ${POLICY_KINDS.join(', ')}`,
    schema: oneOf(POLICY_KINDS),
  },
  policyModes: {
    flag: '--policy-modes <modes>',
    description: `with Calico Enterprise: modes that are compared: ${POLICY_MODES.join(', ')}`,
    schema: listOf(POLICY_MODES),
  },
  calicoNodeCpu: {
    flag: '--calico-node-cpu <quantity>',
    description: 'with Calico Enterprise: CPU limit of calico-node; 0 removes it',
    schema: text.refine(
      (value) => (parseQuantity(value) ?? -1) >= 0,
      'is not a quantity of CPU, for example 500m or 2; 0 removes the limit',
    ),
  },
  nodes: {
    flag: '--nodes <selector>',
    description: 'on a cluster: the nodes with a sampler pod: a name, or pool=dns (default: all)',
    schema: KUBERNETES_SETTINGS.loaderNode.schema,
  },
  image: {
    flag: '--image <image>',
    description: 'on a cluster: image with curl, tcpdump and Node.js (default: that of the built-in loader)',
    schema: text,
  },
  leaseNamespace: {
    flag: '--lease-namespace <name>',
    description: 'on a cluster: namespace of the journal of changes',
    schema: text,
    default: 'kube-system',
  },
  lease: {
    flag: '--lease <time>',
    description: 'on a cluster: after this without a sign of life, changes are put back',
    schema: z.preprocess(
      secondsFromText,
      z.number(leaseMessage).min(10, leaseMessage).max(600, leaseMessage),
    ),
    default: 60,
  },
} as const satisfies Record<string, Setting>;

export const LOOKUP_SETTINGS = {
  ...MEASURED,
  ...LOCAL,
  ...CLUSTER,
  format: {
    flag: '--format <name>',
    description: 'what is printed: terminal, json or tiger-bench',
    schema: oneOf(['terminal', 'json', 'tiger-bench']),
    default: 'terminal',
  },
} as const satisfies Record<string, Setting>;
export type LookupSettings = SettingsOf<typeof LOOKUP_SETTINGS>;
