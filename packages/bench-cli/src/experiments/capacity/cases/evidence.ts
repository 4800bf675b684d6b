/** What a trial of `bench capacity throughput` and `caching` leaves in the record, and its figures. Base units, nothing rounded. */
import { z } from 'zod';
import { type Estimand, lessOf, moreOf } from '../../../engine/estimand.ts';
import type { DecidedTarget, ExperimentPlan } from '../../../engine/experiment.ts';
import { type EngineRecord, engineKind } from '../../../engine/record.ts';
import { bytes, count, limitedBySchema, ratio, seconds } from '../../../results/record-units.ts';
import type { CachingSettings, ThroughputSettings } from './settings.ts';

const nonnegative = z.number().nonnegative();

/**
 * Which memory: the sum of proportional or of resident set sizes, as on this machine; the kubelet's working set; or anonymous
 * memory, without pages of files, which a program in the pod reads.
 */
const memorySourceSchema = z.enum(['pss', 'rss', 'working-set', 'anonymous']);
export type MemorySource = z.output<typeof memorySourceSchema>;

const loadSchema = z.object({
  queriesPerSecond: nonnegative,
  lookupsPerSecond: nonnegative,
  /** Of a lookup, from its first query to its last answer. */
  lookupLatencySeconds: z.object({ mean: seconds, p99: seconds.nullable() }),
  queryLatencySeconds: seconds.nullable(),
  /**
   * CPUs that the server used over the time of the load, and in older records over the time in which it was observed, which
   * is longer; of a caching tier, with the server behind it. Null where that was not seen.
   */
  cpuCores: nonnegative.nullable(),
  /** Its mean. */
  memoryBytes: bytes.nullable(),
  /** Absent without memory, and in older records. */
  memorySource: memorySourceSchema.optional(),
  lostRatio: ratio,
  limitedBy: limitedBySchema,
});
export type LoadFigures = z.output<typeof loadSchema>;

/** Counters of CoreDNS, by their names in records: each is the sum over the labels of a metric. */
export const COUNTERS = {
  autopath_success: { title: 'Completed by autopath', metric: 'coredns_autopath_success_total' },
  cache_hits: { title: 'Cache hits', metric: 'coredns_cache_hits_total' },
  cache_misses: { title: 'Cache misses', metric: 'coredns_cache_misses_total' },
  forwarded: { title: 'Forwarded', metric: 'coredns_proxy_request_duration_seconds_count' },
} as const;

export const casesEvidenceSchema = z.object({
  /** Names that are looked up. */
  names: count,
  /** As fast as the server answers 100 lookups in flight. */
  saturation: loadSchema,
  /** Half of the lookups a second of the saturation, from the same server right after it. Null where it was not measured. */
  half: loadSchema.nullable(),
  /** `COUNTERS` from its start to the end of the saturation, as far as they could be read. */
  counters: z.record(z.string(), nonnegative),
  checkedAnswers: count,
});
export type CasesEvidence = z.output<typeof casesEvidenceSchema>;

export type CasesRecord = EngineRecord<CasesEvidence, ThroughputSettings | CachingSettings>;

/** Of records, for readers of several kinds. */
export const THROUGHPUT = 'capacity-throughput';
export const CACHING = 'capacity-caching';
const kindOf = (name: string) =>
  engineKind<typeof casesEvidenceSchema, CasesRecord['settings']>(name, casesEvidenceSchema);
export const throughputKind = kindOf(THROUGHPUT);
export const cachingKind = kindOf(CACHING);

/** Whether the server's CPU was the limit of all trials. */
export function isCpuBound(evidences: readonly CasesEvidence[]): boolean {
  return evidences.length > 0 && evidences.every(({ saturation }) => saturation.limitedBy === 'server');
}

/** What is decided: servers of a target, or pods of a cluster. */
export type CasesPlan = ExperimentPlan<DecidedTarget<unknown, CasesEvidence>>;

/** Anything but the server's CPU kept the rate from being higher. */
const unlessBound =
  (figure: (load: LoadFigures) => number) =>
  ({ saturation }: CasesEvidence) => {
    const value = figure(saturation);
    return saturation.limitedBy === 'server' ? value : { bound: value };
  };

const less = lessOf<CasesEvidence>;
const lookups = unlessBound(({ lookupsPerSecond }) => lookupsPerSecond);
const queries = unlessBound(({ queriesPerSecond }) => queriesPerSecond);

export const ESTIMANDS: readonly Estimand<CasesEvidence>[] = [
  moreOf('lookups', 'lookups per second', 'lookups/s', 'ratio', lookups),
  moreOf('queries', 'queries per second', 'queries/s', 'no', queries),
  // Both over the time of the load.
  less('cpu', 'CPU per lookup', 'CPU seconds', 'ratio', ({ saturation: { cpuCores, lookupsPerSecond } }) =>
    cpuCores === null ? null : cpuCores / lookupsPerSecond,
  ),
  less('memory', 'memory', 'bytes', 'ratio', ({ saturation }) => saturation.memoryBytes),
  less('cores', 'CPUs used', 'cores', 'no', ({ saturation }) => saturation.cpuCores),
  less('lost', 'lost', 'ratio', 'no', ({ saturation }) => saturation.lostRatio),
  less('halfLatency', 'mean at half load', 'seconds', 'no', ({ half }) => half?.lookupLatencySeconds.mean),
  less('halfP99', 'p99 at half load', 'seconds', 'no', ({ half }) => half?.lookupLatencySeconds.p99),
  less('latency', 'mean at saturation', 'seconds', 'no', (each) => each.saturation.lookupLatencySeconds.mean),
  less('p99', 'p99 at saturation', 'seconds', 'no', ({ saturation }) => saturation.lookupLatencySeconds.p99),
];
