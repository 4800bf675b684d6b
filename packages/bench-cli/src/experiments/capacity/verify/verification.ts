/** Whether a recommendation held: what was tried, what was seen, and the verdict. Pure. */
import { beside, formatBytes, formatCount } from '../../../report/numbers.ts';
import type { PhaseFigures, QueryCounts } from '../beside/phases.ts';
import { PROGRAM_BYTES } from '../figures.ts';
import type { Size } from '../memory-basis.ts';
import type { Attempt, Verification } from '../plan-record.ts';
import { patienceSeconds } from '../survive/patience.ts';

/** What a CoreDNS was put through under the limit: queries go on while the API server is away and everything is read again. */
export const VERIFIED_PHASES = ['cold-start', 'cache', 'load', 'relist'] as const;

/**
 * More than this is not asked: the program that asks runs beside it and would take the CPU from it. Memory hardly depends on
 * the rate; how many queries a replica can answer is measured by `bench capacity throughput`.
 */
const MAX_QUERIES_PER_SECOND = 2000;

/** Asked where the lookups of the cluster are not known. */
const DEFAULT_QUERIES_PER_SECOND = 500;

/** The share of one replica, all spare ones aside. */
export function queriesForOne(queriesPerSecond: number, replicas: number): number {
  if (queriesPerSecond === 0) return DEFAULT_QUERIES_PER_SECOND;
  const share = Math.ceil(queriesPerSecond / Math.max(1, replicas - 1));
  return Math.min(MAX_QUERIES_PER_SECOND, share);
}

/** What is created beside what a cluster has: CoreDNS reads both. Endpoints belong to Services and pods of ours, one at least. */
export function restOf(wanted: Size, own: Size): Size {
  const more = (of: keyof Size) => Math.max(0, wanted[of] - own[of]);
  const endpoints = more('endpoints');
  const least = Math.min(1, endpoints);
  return { services: Math.max(least, more('services')), pods: Math.max(least, more('pods')), endpoints };
}

/** Where CoreDNS did not read what the plan is for; pods are read with autopath only. */
export function sizeWarnings(wanted: Size, read: Size, readsPods: boolean): string[] {
  return (['services', 'pods', 'endpoints'] as const)
    .filter((of) => readsPods || of !== 'pods')
    .filter((of) => read[of] !== wanted[of])
    .map(
      (of) => `The plan is for ${formatCount(wanted[of])} ${of}, and CoreDNS read ${formatCount(read[of])}.`,
    );
}

function sumOf(phases: readonly PhaseFigures[]): QueryCounts {
  const total = (of: keyof QueryCounts) => phases.reduce((sum, { queries }) => sum + queries[of], 0);
  return { sent: total('sent'), answered: total('answered'), lost: total('lost'), wrong: total('wrong') };
}

/** Why it held. */
export function heldReason({
  memoryLimitBytes,
  peakBytes,
  queries,
}: Pick<Verification, 'memoryLimitBytes' | 'peakBytes' | 'queries'>): string {
  const all = beside(memoryLimitBytes, peakBytes ?? 0);
  const used = peakBytes === null ? 'an unknown part' : formatBytes(peakBytes, all);
  return `used ${used} of anonymous memory at most under a limit of ${formatBytes(memoryLimitBytes, all)}, was not killed, and answered all ${formatCount(queries.sent)} queries`;
}

function reasonOf(
  { memoryLimitBytes }: Attempt,
  death: string | null,
  queries: QueryCounts,
  peakBytes: number | null,
): string {
  if (death !== null) return `under a limit of ${formatBytes(memoryLimitBytes)} ${death}`;
  if (queries.lost > 0)
    return `${formatCount(queries.lost)} of ${formatCount(queries.sent)} queries had no answer within 5 seconds`;
  if (queries.wrong > 0)
    return `${formatCount(queries.wrong)} of ${formatCount(queries.answered)} answers had a wrong response code`;
  return heldReason({ memoryLimitBytes, peakBytes, queries });
}

/** Which part of a limit the peak and the pages of the program, which count as well, have left; null without a peak. */
export const marginOf = (memoryLimitBytes: number, peakBytes: number | null): number | null =>
  peakBytes === null ? null : 1 - (peakBytes + PROGRAM_BYTES) / memoryLimitBytes;

/** How long CoreDNS may take to read everything: with too little memory, the kernel drops pages of the program instead of killing it. */
export function readPatience(size: Size) {
  const seconds = Math.ceil(patienceSeconds('relist', {}, size, 0));
  const env = {
    PATIENCE: JSON.stringify({ 'cold-start': seconds, relist: seconds }),
    READY_SECONDS: String(2 * seconds),
  };
  return { seconds, env };
}

/** What a start has shown. */
export interface Shown {
  readonly phases: readonly PhaseFigures[];
  /** Of all phases; null if they did not come to their end. */
  readonly queries: QueryCounts | null;
  /** Why CoreDNS ended before all phases were over; null if it did not. */
  readonly death: string | null;
}

export function judge(trial: Attempt, { phases, queries: total, death }: Shown): Verification {
  const queries = total ?? sumOf(phases);
  const peakBytes = phases.length === 0 ? null : Math.max(...phases.map((phase) => phase.peakBytes));
  return {
    ...trial,
    held: death === null && queries.lost === 0 && queries.wrong === 0,
    because: reasonOf(trial, death, queries, peakBytes),
    peakBytes,
    marginRatio: marginOf(trial.memoryLimitBytes, peakBytes),
    queries,
    phases: [...phases],
  };
}
