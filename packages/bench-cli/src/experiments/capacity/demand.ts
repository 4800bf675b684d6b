/** What the flags of `bench capacity plan` say of a cluster, checked. Pure. */
import { BenchError } from '../../errors.ts';
import { parseQuantity } from '../../quantity.ts';
import type { Demand } from './plan.ts';

/** Flags as commander gives them. */
export interface DemandFlags {
  readonly pods?: string;
  readonly services?: string;
  readonly endpoints?: string;
  readonly lookupsInternal?: string;
  readonly lookupsExternal?: string;
  readonly families?: string;
  readonly searchDomains?: string;
  readonly memoryLimit?: string;
  readonly replicas?: string;
  readonly nodes?: string;
  readonly autopath?: boolean;
  readonly extrapolate?: boolean;
}

/** What a cluster says of itself; what is not known is null. */
export interface ClusterCounts {
  /** Address of its API server. */
  readonly server: string;
  /** `counted: cluster NAME`. */
  readonly source: string;
  readonly pods: number;
  readonly services: number;
  /** Null where EndpointSlices may not be read. */
  readonly endpoints: number | null;
  readonly nodes: number;
  readonly replicas: number | null;
  readonly memoryLimitBytes: number | null;
  readonly autopath: boolean;
}

/** As `dnsPolicy: ClusterFirst` makes them: three of the cluster, and one of the node. */
const SEARCH_DOMAINS = 4;

const usage = (message: string, fix: string) => new BenchError('E_USAGE', message, { fix });

/** A whole number from `least`; `missing` where the flag was not given. */
export function wholeNumber<T>(flag: string, text: string | undefined, missing: T, least = 0): number | T {
  if (text === undefined) return missing;
  const value = Number(text);
  if (text.trim() !== '' && Number.isInteger(value) && value >= least) return value;
  throw usage(
    `${flag}: "${text}" must be a whole number from ${least}`,
    'Give digits only: no sign, fraction or unit.',
  );
}

function familiesOf(text: string | undefined): 1 | 2 {
  if (text === undefined || text === '2') return 2;
  if (text === '1') return 1;
  throw usage(`--families: "${text}" must be 1 or 2`, '1: programs ask for A only; 2: for A and AAAA.');
}

/** An amount of memory in bytes; null where the flag was not given. */
export function bytesOf(flag: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  const bytes = parseQuantity(text);
  if (bytes !== null && bytes > 0) return bytes;
  throw usage(`${flag}: "${text}" must be an amount of memory`, 'Write it as Kubernetes does: 170Mi.');
}

/** Endpoints need services and pods that they belong to. */
function endpointsOf(
  text: string | undefined,
  { pods, services }: { readonly pods: number; readonly services: number },
  cluster: ClusterCounts | null,
): number | null {
  const endpoints = wholeNumber('--endpoints', text, cluster?.endpoints ?? null);
  if (endpoints === null || endpoints === 0 || (pods > 0 && services > 0)) return endpoints;
  throw usage(
    `--endpoints: ${endpoints} endpoints need pods and services, but there are ${pods} pods and ${services} services`,
    'Give at least one of each, or no endpoints.',
  );
}

/** @throws BenchError `E_USAGE` for what is not a count, and for too little. */
export function demandOf(flags: DemandFlags, cluster: ClusterCounts | null): Demand {
  const pods = wholeNumber('--pods', flags.pods, cluster?.pods ?? null);
  const services = wholeNumber('--services', flags.services, cluster?.services ?? null);
  if (pods === null || services === null) {
    throw usage(
      'a plan needs the number of pods and of services',
      'Give --pods and --services, or --from-cluster to count them.',
    );
  }
  const isGiven = flags.pods !== undefined && flags.services !== undefined;
  return {
    pods,
    services,
    source: isGiven ? 'given' : (cluster?.source ?? 'given'),
    endpoints: endpointsOf(flags.endpoints, { pods, services }, cluster),
    internalLookups: wholeNumber('--lookups-internal', flags.lookupsInternal, 0),
    externalLookups: wholeNumber('--lookups-external', flags.lookupsExternal, 0),
    autopath: flags.autopath ?? cluster?.autopath ?? false,
    families: familiesOf(flags.families),
    searchDomains: wholeNumber('--search-domains', flags.searchDomains, SEARCH_DOMAINS),
    memoryLimitBytes: bytesOf('--memory-limit', flags.memoryLimit) ?? cluster?.memoryLimitBytes ?? null,
    replicas: wholeNumber('--replicas', flags.replicas, cluster?.replicas ?? null, 1),
    nodes: wholeNumber('--nodes', flags.nodes, cluster?.nodes ?? null, 1),
  };
}
