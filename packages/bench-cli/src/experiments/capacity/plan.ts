/** How much memory and how many replicas the DNS of a cluster needs. Pure. Every line names its basis. */
import {
  type Configuration,
  fittedLine,
  MAX_PUBLISHED_OBJECTS,
  megabytesOf,
  PUBLISHED_BASIS,
  PUBLISHED_LINES,
  PUBLISHED_POINTS,
  PUBLISHED_QPS,
} from './published.ts';

/** What the DNS has to serve. Counts are whole numbers from 0. */
export interface Demand {
  readonly pods: number;
  readonly services: number;
  /** Addresses behind the services; null: every pod is behind one. */
  readonly endpoints: number | null;
  /** Lookups that programs make, per second over the whole cluster. */
  readonly internalLookups: number;
  readonly externalLookups: number;
  readonly autopath: boolean;
  /** 2 where programs ask for A and AAAA. */
  readonly families: 1 | 2;
  /** Domains of the search list. */
  readonly searchDomains: number;
  /** The memory limit of the DNS pods today; null if it is not known, or there is none. */
  readonly memoryLimitBytes: number | null;
  /** Replicas today; null if it is not known. */
  readonly replicas: number | null;
  /** Nodes of the cluster; null if it is not known. */
  readonly nodes: number | null;
}

/** A figure and where it comes from. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: 'MB' | 'objects' | 'queries/s' | 'replicas';
  readonly basis: string;
}

export type Fit = 'fits' | 'does not fit' | 'cannot tell';

export interface Verdict {
  readonly about: 'memory' | 'replicas';
  readonly fit: Fit;
  /** One sentence. */
  readonly because: string;
}

export interface CapacityPlan {
  readonly demand: Demand;
  readonly configuration: Configuration;
  readonly objects: number;
  readonly figures: readonly Figure[];
  /** Of all replicas together. */
  readonly queriesPerSecond: number;
  readonly replicas: number;
  readonly memoryRequestMegabytes: number;
  readonly memoryLimitMegabytes: number;
  readonly verdicts: readonly Verdict[];
  /** What a reader must know before he uses it, as sentences. */
  readonly notes: readonly string[];
}

/** Share of a replica's throughput that is planned for: above, latency grows and a burst finds no room. */
const UTILIZATION = 0.7;

/** One replica may be missing: a node fails, or is drained. */
const SPARE_REPLICAS = 1;

/**
 * Peak ÷ steady while CoreDNS reads all objects again. The published measurements have no peak; 82 MB steady did not fit
 * into 170 MiB at such a moment (kubernetes/kubernetes#139117), so it is at least 2.17.
 */
const ASSUMED_PEAK_RATIO = 2.17;

/** The limit above the largest peak: for growth, and for what no measurement has seen. */
const LIMIT_MARGIN = 1.25;

/** A line is used up to twice the range that it was measured over. */
export const EXTRAPOLATION = 2;

const BYTES_PER_MEGABYTE = 1e6;

/** The largest number of objects that may be planned for without `--extrapolate`. */
export function maxPlannedObjects(): number {
  return EXTRAPOLATION * MAX_PUBLISHED_OBJECTS;
}

/** Queries that the lookups make: an external name is searched for in every domain first, unless autopath finds it. */
function queriesOf(demand: Demand): { internal: number; external: number } {
  const { internalLookups, externalLookups, families, searchDomains, autopath } = demand;
  return {
    internal: internalLookups * families,
    external: externalLookups * families * (autopath ? 1 : searchDomains + 1),
  };
}

/** At least two, so that one may be missing. */
function replicasFor(demand: Demand, configuration: Configuration): number {
  const queries = queriesOf(demand);
  const qps = PUBLISHED_QPS[configuration];
  const busy = (queries.internal / qps.internal + queries.external / qps.external) / UTILIZATION;
  return Math.max(1, Math.ceil(busy)) + SPARE_REPLICAS;
}

const round = (megabytes: number) => Number(megabytes.toFixed(2));

function memoryVerdict(demand: Demand, steady: number, limit: number): Verdict {
  const { memoryLimitBytes } = demand;
  if (memoryLimitBytes === null) {
    return {
      about: 'memory',
      fit: 'cannot tell',
      because: 'the memory limit of today is not known; give --memory-limit',
    };
  }
  const today = memoryLimitBytes / BYTES_PER_MEGABYTE;
  const told = `the limit is ${round(today)} MB`;
  if (today < steady)
    return {
      about: 'memory',
      fit: 'does not fit',
      because: `${told}, less than the ${round(steady)} MB of steady use`,
    };
  if (today >= limit)
    return { about: 'memory', fit: 'fits', because: `${told}, at least the recommended ${round(limit)} MB` };
  return {
    about: 'memory',
    fit: 'cannot tell',
    because: `${told}: more than steady use, less than the recommended ${round(limit)} MB, and the peak is assumed, not measured`,
  };
}

function replicaVerdict({ replicas, internalLookups, externalLookups }: Demand, needed: number): Verdict {
  if (replicas === null)
    return {
      about: 'replicas',
      fit: 'cannot tell',
      because: 'the replicas of today are not known; give --replicas',
    };
  if (internalLookups + externalLookups === 0) {
    const because = 'the lookups are not known; give --lookups-internal and --lookups-external';
    return { about: 'replicas', fit: 'cannot tell', because };
  }
  const because = `there are ${replicas}, ${needed} are needed`;
  return { about: 'replicas', fit: replicas >= needed ? 'fits' : 'does not fit', because };
}

function notesOf(configuration: Configuration): string[] {
  const data = fittedLine(PUBLISHED_POINTS[configuration]);
  return [
    `The published formula is of CoreDNS 1.2.5 and was made from ${PUBLISHED_POINTS[configuration].length} sizes; least squares through its own data gives (pods + services) ÷ ${Math.round(data.objectsPerMegabyte)} + ${data.baseMegabytes.toFixed(1)} MB.`,
    `The peak while all objects are read again was not published: it is assumed to be ${ASSUMED_PEAK_RATIO} times the steady use, because 82 MB did not fit into 170 MiB (kubernetes/kubernetes#139117).`,
    `Throughput was measured on nodes with two vCPUs, and ${UTILIZATION * 100} % of it is planned for; one replica is to spare.`,
  ];
}

/** The plan for a demand, from the published measurements. */
export function planCapacity(demand: Demand): CapacityPlan {
  const configuration: Configuration = demand.autopath ? 'autopath' : 'default';
  const objects = demand.pods + demand.services;
  const steady = megabytesOf(PUBLISHED_LINES[configuration], objects);
  const fromData = megabytesOf(fittedLine(PUBLISHED_POINTS[configuration]), objects);
  const peak = steady * ASSUMED_PEAK_RATIO;
  const limit = peak * LIMIT_MARGIN;
  const queries = queriesOf(demand);
  const replicas = replicasFor(demand, configuration);
  const formula =
    configuration === 'autopath' ? '(pods + services) ÷ 250 + 56' : '(pods + services) ÷ 1000 + 54';
  const given = 'given';
  const figures: Figure[] = [
    { name: 'pods and services', value: objects, unit: 'objects', basis: given },
    {
      name: 'queries for names of the cluster',
      value: queries.internal,
      unit: 'queries/s',
      basis: `lookups × ${demand.families}`,
    },
    {
      name: 'queries for other names',
      value: queries.external,
      unit: 'queries/s',
      basis: demand.autopath
        ? `lookups × ${demand.families}: autopath finds them at once`
        : `lookups × ${demand.families} × ${demand.searchDomains + 1}: ${demand.searchDomains} search domains, then the name`,
    },
    { name: 'steady memory', value: round(steady), unit: 'MB', basis: `${PUBLISHED_BASIS}: ${formula}` },
    {
      name: 'steady memory, by the published data',
      value: round(fromData),
      unit: 'MB',
      basis: 'least squares through the published points',
    },
    {
      name: 'peak while objects are read again',
      value: round(peak),
      unit: 'MB',
      basis: `assumed: ${ASSUMED_PEAK_RATIO} × steady`,
    },
    { name: 'memory request', value: round(steady), unit: 'MB', basis: 'steady memory' },
    { name: 'memory limit', value: round(limit), unit: 'MB', basis: `${LIMIT_MARGIN} × peak` },
    {
      name: 'replicas',
      value: replicas,
      unit: 'replicas',
      basis: `${PUBLISHED_BASIS}: throughput of one, ${UTILIZATION * 100} % used, one to spare`,
    },
  ];
  return {
    demand,
    configuration,
    objects,
    figures,
    queriesPerSecond: queries.internal + queries.external,
    replicas,
    memoryRequestMegabytes: round(steady),
    memoryLimitMegabytes: round(limit),
    verdicts: [memoryVerdict(demand, steady, limit), replicaVerdict(demand, replicas)],
    notes: notesOf(configuration),
  };
}
