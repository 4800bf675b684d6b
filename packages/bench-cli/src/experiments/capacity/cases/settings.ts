/** The settings of `bench capacity throughput` and `bench capacity caching`. */
import type { Setting, SettingsOf } from '../../../config/setting.ts';
import { listOf, numberFrom, text } from '../../../config/value-schemas.ts';
import { pick } from '../../../engine/settings.ts';
import { CONFIGURATIONS_SETTING, SERVERS } from '../common-settings.ts';

const LOOKUPS = ['internal', 'external'] as const;
const CACHES = ['cached', 'off', 'overflow'] as const;

const LOAD = {
  lookup: {
    flag: '--lookup <list>',
    description: `which names are looked up: ${LOOKUPS.join(', ')}`,
    schema: listOf(LOOKUPS),
    default: [...LOOKUPS],
    distinct: true,
  },
  upstreamDelay: {
    flag: '--upstream-delay <milliseconds>',
    description: 'how long the upstream for external names takes to answer',
    schema: numberFrom(0, 1000, 'milliseconds'),
    default: 2,
  },
} as const satisfies Record<string, Setting>;

/** Of both commands. */
const SHARED = {
  ...pick(
    ['tier', 'trials', 'duration', 'warmup', 'timeout', 'cpu', 'corednsVersion', 'provision', 'target'],
    {
      // So that on a machine of two cores CoreDNS is the limit, and not the load generator.
      tier: { default: [0.5], description: 'vCPUs of the server, fractions allowed: 0.5,1' },
      trials: { default: 5, description: 'trials of each case, each with a new server' },
      duration: { default: 5, description: 'how long each of the two loads of a trial lasts' },
      warmup: { default: 1 },
    },
  ),
  ...pick(
    [
      ...(['context', 'serverNode', 'serverTolerations', 'corednsImage', 'dinodnsImage'] as const),
      ...(['loaderImage', 'pullPolicy', 'pullSecrets', 'namespacePrefix', 'runAsUser'] as const),
      ...(['scheduleTime', 'readyTime'] as const),
    ],
    { loaderImage: { description: 'image of the load generator: built from k8s/images/load' } },
  ),
} as const;

export const THROUGHPUT_SETTINGS = {
  configurations: {
    ...CONFIGURATIONS_SETTING,
    default: ['default', 'autopath', 'nocache'],
  },
  servers: SERVERS,
  ...LOAD,
  ...SHARED,
  // For caching, server and load generator are one pod.
  ...pick(['loaderNode', 'loaderTolerations', 'cpuRequest', 'loaderCpu']),
} as const satisfies Record<string, Setting>;
export type ThroughputSettings = SettingsOf<typeof THROUGHPUT_SETTINGS>;

const image = (flag: string, description: string) =>
  ({
    flag: `${flag} <image>`,
    description,
    schema: text,
    targets: ['kubernetes'],
  }) as const satisfies Setting;

export const CACHING_SETTINGS = {
  cache: {
    flag: '--cache <list>',
    description: 'cached; off; overflow: three times as many names as the cache holds (on one machine)',
    schema: listOf(CACHES),
    default: [...CACHES],
    distinct: true,
  },
  servers: {
    ...SERVERS,
    flag: '--servers <server>',
    description: 'version of CoreDNS: coredns-cluster@1.11.3',
    // A case is a tier, not a version: those of two would have the same names.
    schema: SERVERS.schema.refine((servers) => servers.length === 1, 'takes one version; run it for each'),
  },
  ...LOAD,
  ...SHARED,
  // On a cluster the containers of a tier have no limit that they could share.
  tier: { ...SHARED.tier, targets: ['local'] },
  warmup: { ...SHARED.warmup, targets: ['local'] },
  dnsmasqImage: image('--dnsmasq-image', 'an image whose entry point is dnsmasq'),
  kubeDnsImage: image(
    '--kube-dns-image',
    'with the next two, kube-dns itself: registry.k8s.io/dns/k8s-dns-kube-dns:1.26.7',
  ),
  kubeDnsDnsmasqImage: image(
    '--kube-dns-dnsmasq-image',
    'its dnsmasq: registry.k8s.io/dns/k8s-dns-dnsmasq-nanny:1.26.7',
  ),
  kubeDnsSidecarImage: image(
    '--kube-dns-sidecar-image',
    'its sidecar: registry.k8s.io/dns/k8s-dns-sidecar:1.26.7',
  ),
} as const satisfies Record<string, Setting>;
export type CachingSettings = SettingsOf<typeof CACHING_SETTINGS>;

/** A trial's two loads with what surrounds them, besides `duration` twice: starting, checking, stopping. */
const OVERHEAD_SECONDS = 4;

export const secondsPerTrial = ({ duration, warmup }: Record<'duration' | 'warmup', number>) =>
  2 * duration + warmup + OVERHEAD_SECONDS;
