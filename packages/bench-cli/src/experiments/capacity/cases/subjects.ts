/** The names of caching tiers, in records and for people. Pure. */
import { dnsmasq } from '../../../servers/dnsmasq/index.ts';

/** Debian's dnsmasq with kube-dns's flags in front of CoreDNS: never called kube-dns. `+negative`: with a negative cache. */
export const DNSMASQ = dnsmasq.name;
/** kube-dns's own three containers, on a cluster. */
export const KUBE_DNS = 'kube-dns';
/** CoreDNS with the Corefile of NodeLocal DNSCache in front of CoreDNS: it is not node-cache. */
export const NODE_LOCAL = 'node-local';
/** Behind the name of a tier that keeps negative answers. */
export const NEGATIVE = '+negative';
/** Behind CoreDNS without negative answers in its cache: the variant's name. */
export const NO_DENIAL = '+no-denial';

const TITLES: Readonly<Record<string, string>> = {
  [DNSMASQ]: 'dnsmasq + CoreDNS backend',
  [KUBE_DNS]: 'kube-dns',
  [NODE_LOCAL]: 'CoreDNS as NodeLocal DNSCache + CoreDNS',
};

/** For people. */
export function tierName(subject: string): string {
  const isNegative = subject.endsWith(NEGATIVE);
  const kind = isNegative ? subject.slice(0, -NEGATIVE.length) : subject;
  return `${TITLES[kind] ?? kind}${isNegative ? ' (negative cache)' : ''}`;
}
