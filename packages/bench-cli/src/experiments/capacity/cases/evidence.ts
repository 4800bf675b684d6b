/** What a trial of `bench capacity throughput` and `caching` leaves in the record. Base units, nothing rounded. */
import { z } from 'zod';
import { type EngineRecord, engineKind } from '../../../engine/record.ts';
import { bytes, count, limitedBySchema, ratio, seconds } from '../../../results/record-units.ts';
import type { CachingSettings, ThroughputSettings } from './settings.ts';

const nonnegative = z.number().nonnegative();

const loadSchema = z.object({
  /** Null for as fast as the server answers. */
  wantedLookupsPerSecond: nonnegative.nullable(),
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
  memoryBytes: bytes.nullable(),
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
