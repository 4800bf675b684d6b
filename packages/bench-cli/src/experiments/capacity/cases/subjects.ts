/** The caching tiers that are compared: their names, in records and for people, and their cases. Pure. */
import type { Subject } from '../../../engine/experiment.ts';
import { dnsmasq } from '../../../servers/dnsmasq/index.ts';
import type { Server } from '../../../servers/server.ts';
import type { LookupKind } from '../../../workload/cluster-names.ts';
import type { CasesPlan } from './evidence.ts';
import type { CachingSettings } from './settings.ts';

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

export const isNegative = (subject: string) => subject.endsWith(NEGATIVE);

/** For people. */
export function tierName(subject: string): string {
  const kind = isNegative(subject) ? subject.slice(0, -NEGATIVE.length) : subject;
  return `${TITLES[kind] ?? kind}${isNegative(subject) ? ' (negative cache)' : ''}`;
}

/** `--cache off` is a point of its own. */
export type CacheState = 'cached' | 'uncached' | 'overflow';

/** The cache of CoreDNS, where that is all that caches. */
export function corednsCache(subject: string, cache: CacheState): 'on' | 'off' | 'no-denial' {
  if (cache === 'uncached') return 'off';
  return subject.endsWith(NO_DENIAL) ? 'no-denial' : 'on';
}

/** Entries of kube-dns's dnsmasq. */
export const DNSMASQ_ENTRIES = 1000;
export const dnsmasqEntries = (cache: CacheState) => (cache === 'uncached' ? 0 : DNSMASQ_ENTRIES);

/** What is asked, and whether it is in the cache. */
export interface TierPoint {
  readonly lookup: LookupKind;
  readonly cache: CacheState;
  /** Of a machine. */
  readonly tier?: number;
}

/** Without a cache, the negative one makes no difference; NodeLocal DNSCache has a cache for everything. */
const isVaried = ({ name }: Subject, { cache }: TierPoint) =>
  cache !== 'uncached' || !(name.includes('+') || name === NODE_LOCAL);

/** CoreDNS, alone and without a negative cache, and the tiers of these names, at every point. */
export function planTiers(
  { name, title }: Pick<Server, 'name' | 'title'>,
  tiers: readonly string[],
  { cache, lookup: lookups }: Pick<CachingSettings, 'cache' | 'lookup'>,
  limits: readonly Pick<TierPoint, 'tier'>[],
  expectedSeconds: number,
): Omit<CasesPlan, 'decided'> {
  const subjects = [
    { name, title },
    { name: `${name}${NO_DENIAL}`, title: `${title} (no negative cache)` },
    ...tiers.map((tier) => ({ name: tier, title: tierName(tier) })),
  ];
  const states = cache.map((word) => (word === 'off' ? 'uncached' : word));
  const points = states.flatMap((state) =>
    lookups.flatMap((lookup) => limits.map((limit): TierPoint => ({ lookup, cache: state, ...limit }))),
  );
  return {
    subjects,
    baseline: name,
    cases: points.flatMap((point) =>
      subjects
        .filter((subject) => isVaried(subject, point))
        .map((subject) => {
          const { lookup, cache: state, tier } = point;
          const limit = tier === undefined ? [] : [`tier=${tier}`];
          const key = [subject.name, lookup, state, ...limit].join('/');
          return { key, subject: subject.name, point: { ...point }, expectedSeconds };
        }),
    ),
  };
}

/** Of a case or a trial, whose plan has no others. */
export const tierPoint = ({ point }: { readonly point: object }) => point as TierPoint;
