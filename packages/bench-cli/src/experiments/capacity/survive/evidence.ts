/** What `bench capacity survive` records of each search. Base units; nothing is rounded. */

import { z } from 'zod';
import { type EngineCase, type EngineRecord, engineKind, okTrials } from '../../../engine/record.ts';
import { bytes, count } from '../../../results/record-units.ts';
import { containerEndSchema } from '../cluster/created.ts';
import { type Variant, variantNamed } from './points.ts';

/** What CoreDNS has to survive, in this order, in each start. */
export const SCENARIOS = ['cold start', 'relist', 'replaced endpoints', 'API server outage'] as const;
export type Scenario = (typeof SCENARIOS)[number];

const scenarioSchema = z.object({
  name: z.enum(SCENARIOS),
  /** From its beginning (of an outage: its end) until answers were right; null if they were not in time. */
  rightSeconds: z.number().nonnegative().nullable(),
  /** Meanwhile. Of a cold start none: nothing answers before it. */
  queries: z.object({ sent: count, lost: count, servfail: count }).nullable(),
});
export type ScenarioResult = z.output<typeof scenarioSchema>;

const startSchema = z.object({
  limitBytes: bytes,
  /**
   * - `killed`: by the kernel, for its memory: the control group counted it, or the kubelet says `OOMKilled`;
   * - `stuck`: it lived, but its answers were not right in time.
   */
  outcome: z.enum(['survived', 'killed', 'stuck']),
  /** In which it was killed or stuck; null if it survived. */
  during: z.enum(SCENARIOS).nullable(),
  /** The most anonymous memory; null if it was killed. */
  peakBytes: bytes.nullable(),
  /** Those that it came through. */
  scenarios: z.array(scenarioSchema),
  /** How its container ended, as the kubelet says; absent on a machine. */
  container: containerEndSchema.optional(),
});
export type StartResult = z.output<typeof startSchema>;

export const surviveEvidenceSchema = z.object({
  /** The smallest limit under which every start survived. */
  limitBytes: bytes,
  /** The largest limit under which one did not; null if none that was tried was too small. */
  killedBytes: bytes.nullable(),
  /** Of the whole search, in their order. */
  starts: z.array(startSchema),
  /** Starts that failed for another reason than memory, with it, and were made again. */
  repeated: z.array(z.string()).default([]),
  /** Resources that CoreDNS read as streams; it read the others as lists. */
  streamed: z.array(z.string()),
});
export type SurviveEvidence = z.output<typeof surviveEvidenceSchema>;

export const SURVIVE_NAME = 'capacity-survive';

/** The condition that says that limits hold the pages of the program as well. Not on a cluster: who was charged for them is not known. */
export const COUNTED = 'counted against the limit';

/** For commands that read its records. */
export const surviveKind = engineKind<typeof surviveEvidenceSchema, Readonly<Record<string, unknown>>>(
  SURVIVE_NAME,
  surviveEvidenceSchema,
);
export type SurviveRecord<Settings = Readonly<Record<string, unknown>>> = EngineRecord<
  SurviveEvidence,
  Settings
>;

/**
 * Whether what a start used under one limit says something of smaller limits. With GOMEMLIMIT it does not: Go then collects the sooner, the
 * smaller the limit is.
 */
export function isPeakOwn({ gomemlimit }: Pick<Variant, 'gomemlimit'>): boolean {
  return gomemlimit === 'none';
}

/** The starts under the limit that was found. */
export function decisive({ starts, limitBytes }: SurviveEvidence): readonly StartResult[] {
  return starts.filter((start) => start.limitBytes === limitBytes);
}

/** A limit that nothing contradicts. */
export interface ConfirmedLimit {
  readonly limitBytes: number;
  /** Starts that it rests on, in all searches of the case: under it, or under a smaller one that none contradicts. All survived. */
  readonly starts: number;
}

/**
 * The largest limit that a search of a case has found: smaller ones are ruled out by starts of another search, or were luckier. If a start
 * under a larger limit used more than that, the smallest limit that was tried above what it used. Null if a search has found none, or
 * if it rests on fewer starts than a search asks for.
 */
export function confirmedLimit(
  record: Pick<SurviveRecord, 'trials'>,
  { key, trials, subject }: Pick<EngineCase, 'key' | 'trials' | 'subject'>,
): ConfirmedLimit | null {
  const searches = okTrials(record, key).map(({ evidence }) => evidence);
  if (searches.length === 0 || trials.failed > 0) return null;
  const found = Math.max(...searches.map((search) => search.limitBytes));
  const above = searches.flatMap(({ starts }) => starts).filter((start) => start.limitBytes >= found);
  const used = isPeakOwn(variantNamed(subject))
    ? Math.max(...above.map(({ peakBytes }) => peakBytes ?? 0))
    : 0;
  const enough = above.map((start) => start.limitBytes).filter((limit) => limit > used);
  if (enough.length === 0) return null;
  const limitBytes = Math.min(...enough);
  const starts = enough.filter((limit) => limit <= limitBytes).length;
  return starts < Math.min(...searches.map((search) => decisive(search).length))
    ? null
    : { limitBytes, starts };
}
