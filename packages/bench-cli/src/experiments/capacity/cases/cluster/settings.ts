/** The settings of `bench capacity caching --target kubernetes`, and its own flags. */
import type { Command } from 'commander';
import { KUBERNETES_SETTINGS } from '../../../../config/kubernetes-settings.ts';
import { BenchError } from '../../../../errors.ts';
import { decideSettings } from '../../settings.ts';
import { CACHING_SETTINGS, type CachingSettings } from '../settings.ts';
import type { TierImages } from './tiers.ts';

/** Three times as many names as a cache holds would be thousands of Services. */
const CACHES = ['cached', 'off'] as const;

/** @throws BenchError `E_CONFIG` with every problem; `E_USAGE` for what one machine has only */
export function clusterCachingSettings(given: Readonly<Record<string, unknown>>): CachingSettings {
  const { servers, ...others } = given;
  if (typeof servers === 'string') {
    throw new BenchError('E_USAGE', '--target kubernetes has no --servers', {
      fix: 'Choose the version with --coredns-version or --coredns-image.',
    });
  }
  const caches = others.caches ?? [...CACHES];
  // Checked by the table.
  const decided = decideSettings(
    CACHING_SETTINGS,
    { ...others, caches },
    'bench capacity caching',
  ) as CachingSettings;
  if (decided.caches.includes('overflow')) {
    throw new BenchError('E_USAGE', '--cache: overflow is measured on one machine only', {
      fix: 'On a cluster, give cached, off or both: so many names would be thousands of Services.',
    });
  }
  return Array.isArray(servers) ? { ...decided, servers: servers.map(String) } : decided;
}

export function addCachingFlags(command: Command): Command {
  return command
    .option(KUBERNETES_SETTINGS.loaderImage.flag, 'built from k8s/images/load')
    .option('--dnsmasq-image <image>', 'on a cluster: an image whose entry point is dnsmasq')
    .option(
      '--kube-dns-image <image>',
      'on a cluster, with the next two: kube-dns itself, registry.k8s.io/dns/k8s-dns-kube-dns:1.26.7',
    )
    .option(
      '--kube-dns-dnsmasq-image <image>',
      'its dnsmasq: registry.k8s.io/dns/k8s-dns-dnsmasq-nanny:1.26.7',
    )
    .option('--kube-dns-sidecar-image <image>', 'its sidecar: registry.k8s.io/dns/k8s-dns-sidecar:1.26.7');
}

const KUBE_DNS_FLAGS = {
  kubedns: ['kubeDnsImage', '--kube-dns-image'],
  dnsmasq: ['kubeDnsDnsmasqImage', '--kube-dns-dnsmasq-image'],
  sidecar: ['kubeDnsSidecarImage', '--kube-dns-sidecar-image'],
} as const;

/** @throws BenchError `E_USAGE` for a part of kube-dns's images */
export function tierImages(flags: Readonly<Record<string, unknown>>, coredns: string): TierImages {
  const text = (name: string) => (flags[name] === undefined ? undefined : String(flags[name]));
  const missing = Object.values(KUBE_DNS_FLAGS).filter(([name]) => text(name) === undefined);
  const dnsmasq = text('dnsmasqImage') ?? null;
  const [kubedns, nanny, sidecar] = [
    text(KUBE_DNS_FLAGS.kubedns[0]),
    text(KUBE_DNS_FLAGS.dnsmasq[0]),
    text(KUBE_DNS_FLAGS.sidecar[0]),
  ];
  if (kubedns !== undefined && nanny !== undefined && sidecar !== undefined) {
    return { coredns, dnsmasq, kubeDns: { kubedns, dnsmasq: nanny, sidecar } };
  }
  if (missing.length === Object.keys(KUBE_DNS_FLAGS).length) return { coredns, dnsmasq, kubeDns: null };
  throw new BenchError('E_USAGE', 'kube-dns is three containers, and not all of their images are given', {
    fix: `Give ${missing.map(([, flag]) => flag).join(' and ')} as well.`,
  });
}
