/** How much memory and how many replicas the DNS of a cluster needs. Pure. Every line names its basis. */
import { formatCount } from '../../report/numbers.ts';
import { BYTES_PER_MEGABYTE, limitToSet, PROGRAM_BYTES, wholeMebibytes } from './figures.ts';
import type { Expected, MemoryBasis, Size } from './memory-basis.ts';
import type { CapacityPlan, Demand, Figure, Verdict } from './plan-record.ts';
import {
  type Configuration,
  fittedLine,
  megabytesOf,
  PUBLISHED_BASIS,
  PUBLISHED_LINES,
  PUBLISHED_POINTS,
} from './published.ts';
import type { SurvivedLimit } from './survived-limit.ts';
import type { ThroughputBasis } from './throughput-basis.ts';

/** Share of a replica's throughput that is planned for: above, latency grows and a burst finds no room. */
const UTILIZATION = 0.7;

/** One replica may be missing: a node fails, or is drained. */
const SPARE_REPLICAS = 1;

/**
 * Peak ÷ steady while CoreDNS reads all objects again. The published measurements have no peak; 82 MB steady did not fit
 * into 170 MiB at such a moment (kubernetes/kubernetes#139117), so it is at least 2.17.
 */
export const ASSUMED_PEAK_RATIO = 2.17;

/** The limit above the largest peak: for growth, and for what no measurement has seen. */
const LIMIT_MARGIN = 1.25;

/** Queries that the lookups make: an external name is searched for in every domain first, unless autopath finds it. */
function queriesOf(demand: Demand): { internal: number; external: number } {
  const { internalLookups, externalLookups, families, searchDomains, autopath } = demand;
  return {
    internal: internalLookups * families,
    external: externalLookups * families * (autopath ? 1 : searchDomains + 1),
  };
}

/** For people: `with autopath`. */
export function configurationText({
  configuration,
  demand,
}: Pick<CapacityPlan, 'configuration' | 'demand'>): string {
  if (configuration === 'default') return 'default configuration';
  return demand.autopath ? 'with autopath (pods verified)' : 'with pods verified';
}

/** By what CoreDNS keeps in memory. */
export const configurationOf = ({ autopath, watchesPods }: Demand): Configuration =>
  autopath || watchesPods === true ? 'autopath' : 'default';

/** Every pod is behind one service, where that is not known. */
export function sizeOf({ services, pods, endpoints }: Demand): Size {
  return { services, pods, endpoints: endpoints ?? (services === 0 ? 0 : pods) };
}

/** At least two, so that one may be missing. */
function replicasFor(demand: Demand, { qps }: ThroughputBasis): number {
  const queries = queriesOf(demand);
  const busy = (queries.internal / qps.internal + queries.external / qps.external) / UTILIZATION;
  return Math.max(1, Math.ceil(busy)) + SPARE_REPLICAS;
}

const round = (megabytes: number) => Number(megabytes.toFixed(2));

/** What the plan says of the memory of one replica. Megabytes. */
interface Memory {
  readonly steady: Expected;
  /** The largest peak, or `steady` where that is more. */
  readonly peak: Expected;
  /** Pages of the program, which may count besides. */
  readonly program: number;
  readonly isPeakMeasured: boolean;
  /** In whole mebibytes, as people write them. */
  readonly request: number;
  readonly limit: number;
}

/** At least as much, in mebibytes without a fraction. */
const whole = (megabytes: number) => (wholeMebibytes(megabytes) * 2 ** 20) / BYTES_PER_MEGABYTE;

const toSet = ({ megabytes }: SurvivedLimit) =>
  limitToSet(megabytes * BYTES_PER_MEGABYTE) / BYTES_PER_MEGABYTE;

function memoryOf(basis: MemoryBasis, size: Size, survived: SurvivedLimit | null): Memory {
  const steady = basis.steady(size);
  const peaks = [basis.coldStartPeak(size), basis.relistPeak(size)].filter((peak) => peak !== null);
  const largest = peaks.toSorted((a, b) => b.high - a.high)[0];
  const assumed = {
    value: steady.value * ASSUMED_PEAK_RATIO,
    low: steady.value,
    high: steady.high * ASSUMED_PEAK_RATIO,
  };
  // Steady memory with a full cache can be more than the peaks of a small cluster.
  const peak = largest === undefined ? assumed : largest.high < steady.high ? steady : largest;
  // Published figures are of whole containers, measured ones are anonymous memory.
  const program = basis.kind === 'measured' ? PROGRAM_BYTES / BYTES_PER_MEGABYTE : 0;
  // Less than is requested cannot be a limit.
  const limit =
    survived === null ? peak.high * LIMIT_MARGIN + program : Math.max(toSet(survived), steady.high);
  const amounts = { request: whole(steady.high), limit: whole(limit) };
  return { steady, peak, program, isPeakMeasured: largest !== undefined, ...amounts };
}

const textOf = (megabytes: number) => `${round(megabytes)} MB`;

function memoryFit(
  { steady, peak, program, isPeakMeasured, limit }: Memory,
  today: number,
  survived: SurvivedLimit | null,
): [Verdict['fit'], string] {
  if (today < steady.value) return ['does not fit', `less than the ${textOf(steady.value)} of steady use`];
  if (today >= limit) return ['fits', `at least the recommended ${textOf(limit)}`];
  // A line that cannot count endpoints may say more than starts of this size need.
  const hasSurvivors = survived !== null && today >= survived.megabytes;
  if (isPeakMeasured && today < peak.low && !hasSurvivors) {
    return ['does not fit', `less than the ${textOf(peak.value)} of the peak while all objects are read`];
  }
  const killed = survived?.killedMegabytes ?? 0;
  // It may have been in a larger cluster, so that this is not enough to say that it does not fit.
  if (today <= killed)
    return ['cannot tell', `more than steady use, but a start did not survive ${textOf(killed)}`];
  const largest = peak === steady ? 'steady memory' : 'the peak';
  const withProgram = program === 0 ? '' : ` and the ${textOf(program)} of the program`;
  if (isPeakMeasured && today >= peak.high + program) {
    const above = `above ${largest} of ${textOf(peak.value)}${withProgram}`;
    return ['fits', `${above}, but below the recommended ${textOf(limit)}`];
  }
  const why = hasSurvivors
    ? `only a few starts survived ${textOf(survived.megabytes)}`
    : isPeakMeasured
      ? today >= peak.high
        ? `it may not hold ${largest}${withProgram}`
        : `it is within the interval of ${largest}`
      : 'the peak is assumed, not measured';
  return ['cannot tell', `more than steady use, less than the recommended ${textOf(limit)}, and ${why}`];
}

function memoryVerdict(
  { memoryLimitBytes }: Demand,
  memory: Memory,
  survived: SurvivedLimit | null,
): Verdict {
  const about = 'memory';
  if (memoryLimitBytes === null)
    return { about, fit: 'cannot tell', because: "today's memory limit is unknown; pass --memory-limit" };
  const today = memoryLimitBytes / BYTES_PER_MEGABYTE;
  const [fit, because] = memoryFit(memory, today, survived);
  const link = because.startsWith('more') ? ': ' : ', ';
  return { about, fit, because: `the limit is ${textOf(today)}${link}${because}` };
}

function replicaVerdict({ replicas, internalLookups, externalLookups }: Demand, needed: number): Verdict {
  const about = 'replicas';
  const unknown = (because: string): Verdict => ({ about, fit: 'cannot tell', because });
  if (replicas === null) return unknown('the replicas of today are not known; give --replicas');
  if (internalLookups + externalLookups === 0)
    return unknown('the lookups are not known; give --lookups-internal and --lookups-external');
  const because = `there are ${replicas}, ${needed} are needed`;
  return { about, fit: replicas >= needed ? 'fits' : 'does not fit', because };
}

function memoryNotes(
  configuration: Configuration,
  basis: MemoryBasis,
  { limit, peak, program }: Memory,
  survived: SurvivedLimit | null,
): string[] {
  const data = fittedLine(PUBLISHED_POINTS[configuration]);
  const published = `The published formula is of CoreDNS 1.2.5 and was made from ${PUBLISHED_POINTS[configuration].length} sizes; least squares through its own data gives (pods + services) ÷ ${formatCount(data.objectsPerMegabyte)} + ${data.baseMegabytes.toFixed(1)} MB.`;
  if (basis.kind === 'measured') {
    const room =
      limit < peak.high + program
        ? 'the limit has no room for all of them, so the kernel drops some and reads them again, as in the starts that survived'
        : 'the limit has room for them';
    const upper = `Steady memory and peaks are anonymous memory. The pages of the program count against the limit of the container that reads them first, and ${room}. ${survived === null ? 'Request and limit use' : 'The request uses'} the upper end of the interval that 95 % of all starts are in.`;
    return [upper, published];
  }
  return [
    published,
    `The peak while all objects are read again was not published: it is assumed to be ${ASSUMED_PEAK_RATIO} times the steady use, because 82 MB did not fit into 170 MiB (kubernetes/kubernetes#139117).`,
  ];
}

function figure(name: string, value: number, unit: Figure['unit'], basis: string): Figure {
  return { name, value: unit === 'MB' ? round(value) : value, unit, basis };
}

function withRange({ low, high }: Expected): string {
  return low === high ? '' : `; 95 % of all starts: ${round(low)} to ${textOf(high)}`;
}

function steadyFigures(configuration: Configuration, basis: MemoryBasis, size: Size): Figure[] {
  const objects = size.pods + size.services;
  const steady = basis.steady(size);
  const line = `${basis.source}: ${basis.formula}`;
  const published = megabytesOf(PUBLISHED_LINES[configuration], objects);
  const data = megabytesOf(fittedLine(PUBLISHED_POINTS[configuration]), objects);
  return [
    figure('steady memory', steady.value, 'MB', line + withRange(steady)),
    ...(basis.kind === 'published'
      ? []
      : [figure('steady memory, by the published formula', published, 'MB', PUBLISHED_BASIS)]),
    figure('steady memory, by the published data', data, 'MB', 'least squares through the published points'),
  ];
}

function peakFigures(basis: MemoryBasis, size: Size, { peak, isPeakMeasured }: Memory): Figure[] {
  const name = 'peak while objects are read again';
  if (!isPeakMeasured) return [figure(name, peak.value, 'MB', `assumed: ${ASSUMED_PEAK_RATIO} × steady`)];
  const measured = (title: string, expected: Expected | null) =>
    expected === null ? [] : [figure(title, expected.value, 'MB', basis.source + withRange(expected))];
  return [
    ...measured('peak on a cold start', basis.coldStartPeak(size)),
    ...measured(name, basis.relistPeak(size)),
  ];
}

function queryFigures(
  { families, autopath, searchDomains }: Demand,
  queries: ReturnType<typeof queriesOf>,
): Figure[] {
  const external = autopath
    ? `lookups × ${families}: autopath finds them at once`
    : `lookups × ${families} × ${searchDomains + 1}: ${searchDomains} search domains, then the name`;
  return [
    figure('queries for names of the cluster', queries.internal, 'queries/s', `lookups × ${families}`),
    figure('queries for other names', queries.external, 'queries/s', external),
  ];
}

/** The figure that says how many CPUs a replica needs to answer as much. */
export const MEMORY_REQUEST = 'memory request';
export const MEMORY_LIMIT = 'memory limit';
export const REPLICA_CPUS = 'CPUs of one replica';

/** What one replica answers, and how many that makes. */
function replicaFigures({ qps, cores, source }: ThroughputBasis, replicas: number): Figure[] {
  const used = `throughput of one, ${UTILIZATION * 100} % used, one to spare`;
  return [
    figure('of one replica, for names of the cluster', Math.floor(qps.internal), 'queries/s', source),
    figure('of one replica, for other names', Math.floor(qps.external), 'queries/s', source),
    ...(cores === null ? [] : [figure(REPLICA_CPUS, cores, 'CPUs', source)]),
    figure('replicas', replicas, 'replicas', `${source}: ${used}`),
  ];
}

const steadyEnd = (isExact: boolean) => (isExact ? 'steady memory' : 'upper end of steady memory');

/** The limit is not taken below the request. */
function limitBasis({ limit }: Memory, survived: SurvivedLimit | null, isExact: boolean): string {
  if (survived === null) return `${LIMIT_MARGIN} × ${isExact ? 'peak' : 'the largest of these upper ends'}`;
  const size = `the next size above ${textOf(survived.megabytes)}, which was ${survived.source}`;
  return limit === whole(toSet(survived))
    ? size
    : `${steadyEnd(isExact)}, as the memory request: more than ${size}`;
}

/** The plan for a demand, from own measurements, or published ones; `survived`: what the limit goes by, instead of the peak. */
export function planCapacity(
  demand: Demand,
  basis: MemoryBasis,
  throughput: ThroughputBasis,
  survived: SurvivedLimit | null = null,
): CapacityPlan {
  const configuration = configurationOf(demand);
  const size = sizeOf(demand);
  const objects = demand.pods + demand.services;
  const memory = memoryOf(basis, size, survived);
  const queries = queriesOf(demand);
  const replicas = replicasFor(demand, throughput);
  const isExact = memory.steady.low === memory.steady.high;
  const figures: Figure[] = [
    figure('pods and services', objects, 'objects', demand.source),
    ...queryFigures(demand, queries),
    ...steadyFigures(configuration, basis, size),
    ...peakFigures(basis, size, memory),
    figure(MEMORY_REQUEST, memory.request, 'MB', steadyEnd(isExact)),
    figure(MEMORY_LIMIT, memory.limit, 'MB', limitBasis(memory, survived, isExact)),
    ...replicaFigures(throughput, replicas),
  ];
  return {
    demand,
    configuration,
    objects,
    figures,
    queriesPerSecond: queries.internal + queries.external,
    replicas,
    memoryRequestMegabytes: memory.request,
    memoryLimitMegabytes: memory.limit,
    verdicts: [memoryVerdict(demand, memory, survived), replicaVerdict(demand, replicas)],
    notes: [
      ...memoryNotes(configuration, basis, memory, survived),
      ...(survived?.notes ?? []),
      `${throughput.conditions}. ${UTILIZATION * 100} % of it is planned for; one replica is to spare.`,
    ],
  };
}
