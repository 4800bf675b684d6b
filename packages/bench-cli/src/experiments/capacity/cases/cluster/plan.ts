/** The cases of `bench capacity caching --target kubernetes`, and what is asked in each. Pure. */
import { type Cluster, defineExternal } from '@dinodns-bench/cluster-objects';
import type { CannonInput } from '@dinodns-bench/load';
import { SEGMENTATION } from '../../../../loaders/builtin/options.ts';
import type { LookupKind } from '../../../../workload/cluster-names.ts';
import { CACHING_COREDNS, CACHING_DNSMASQ, DNSMASQ_NAME } from '../caching-cases.ts';
import type { CapacityCase, CaseTrial } from '../cases-record.ts';
import type { CachingSettings } from '../settings.ts';
import { LOOKUP_RULES } from '../throughput-cases.ts';
import { KUBE_DNS_NAME, type TierImages } from './tiers.ts';

/** Services of the run: each takes an address of the cluster, and all fit into every cache. */
export const SERVICES = 100;

const EXTERNAL = defineExternal();

/** As in the published measurements; latency at saturation mirrors it. */
const IN_FLIGHT = 100;

function serversOf(coredns: string, images: TierImages) {
  return [
    ...(images.kubeDns === null ? [] : [{ server: KUBE_DNS_NAME, configurations: CACHING_DNSMASQ }]),
    ...(images.dnsmasq === null ? [] : [{ server: DNSMASQ_NAME, configurations: CACHING_DNSMASQ }]),
    { server: coredns, configurations: CACHING_COREDNS },
  ];
}

/** Without a cache, the negative one makes no difference: that case is measured once. */
export function clusterCachingCases(
  { caches, lookups }: Pick<CachingSettings, 'caches' | 'lookups'>,
  coredns: string,
  images: TierImages,
): CapacityCase[] {
  return caches.flatMap((cache) =>
    lookups.flatMap((lookup) =>
      serversOf(coredns, images).flatMap(({ server, configurations }) =>
        Object.values(configurations)
          .slice(0, cache === 'off' ? 1 : undefined)
          .map((configuration) => ({
            key: `${server}/${configuration}/${lookup}/${cache}`,
            server,
            configuration,
            lookup,
            cache,
            names: SERVICES,
            queriesPerLookup: null,
          })),
      ),
    ),
  );
}

export interface PlannedCase {
  readonly item: CapacityCase;
  /** From 0. */
  readonly round: number;
}

/** Every second round runs backwards, so that a drift of the node meets all cases alike. */
export function clusterCachingTrials(
  cases: readonly CapacityCase[],
  rounds: number,
  done: readonly CaseTrial[],
): PlannedCase[] {
  const complete = new Set(done.map((trial) => `${trial.case}#${trial.round}`));
  return Array.from({ length: rounds }, (_, round) =>
    (round % 2 === 0 ? cases : cases.toReversed()).map((item) => ({ item, round })),
  )
    .flat()
    .filter(({ item, round }) => !complete.has(`${item.key}#${round}`));
}

function namesOf(kind: LookupKind, cluster: Cluster): string[] {
  return Array.from({ length: SERVICES }, (_, index) =>
    kind === 'internal' ? cluster.service(index).name : EXTERNAL.name(index),
  );
}

export interface CaseLoad {
  readonly lookup: LookupKind;
  readonly cluster: Cluster;
  readonly namespace: string;
  readonly port: number;
  readonly durationSeconds: number;
}

/** What the generator is told: lookups as the resolver of a pod of the namespace makes them. */
export function caseLoad({ lookup, cluster, namespace, port, durationSeconds }: CaseLoad): CannonInput {
  const { search, ndots, types } = LOOKUP_RULES;
  return {
    server: `127.0.0.1:${port}`,
    transport: 'udp',
    workload: {
      kind: 'kubernetes',
      names: namesOf(lookup, cluster),
      namespace,
      clusterDomain: cluster.spec.domain,
      search,
      ndots,
      types: [...types],
    },
    load: { kind: 'closed', outstanding: IN_FLIGHT, maxRate: null },
    durationSeconds,
    workers: 1,
    timeoutSeconds: 5,
    segmentation: SEGMENTATION,
  };
}
