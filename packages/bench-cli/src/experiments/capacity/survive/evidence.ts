/** What `bench capacity survive` records of each search. Base units; nothing is rounded. */

import { z } from 'zod';
import { type EngineCase, type EngineRecord, engineKind, okTrials } from '../../../engine/record.ts';
import { bytes, count } from '../../../results/record-units.ts';
import { containerEndSchema } from '../cluster/created.ts';
import { type Variant, variantNamed } from './points.ts';
import { ruledOut, type Tried } from './search.ts';

/** What CoreDNS has to survive, in this order, in each start. */
export const SCENARIOS = ['cold start', 'relist', 'replaced endpoints', 'API server outage'] as const;
export type Scenario = (typeof SCENARIOS)[number];

/** What has a deadline of its own: besides them, the cache is filled before the relist. */
export const STEPS = [...SCENARIOS, 'full cache'] as const;

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

const searchedSchema = z.object({
  /** Of the whole search, in their order. */
  starts: z.array(startSchema),
  /** Starts that failed for another reason than memory, with it, and were made again. */
  repeated: z.array(z.string()).default([]),
  /** Resources that CoreDNS read as streams; it read the others as lists. */
  streamed: z.array(z.string()),
});

export const surviveEvidenceSchema = searchedSchema.extend({
  /** The smallest limit under which every start survived. */
  limitBytes: bytes,
  /** The largest limit under which one did not; null if none that was tried was too small. */
  killedBytes: bytes.nullable(),
  /** What CoreDNS read on a cluster, which has objects of its own; absent on a machine, where the point says it. */
  read: z.object({ services: count, pods: count, endpoints: count }).optional(),
});
export type SurviveEvidence = z.output<typeof surviveEvidenceSchema>;

/** What a search that has not ended leaves in the record. */
export const keptSchema = searchedSchema.extend({
  /** What its deadlines go by: how long the steps of a start took that survived. */
  usual: z.partialRecord(z.enum(STEPS), z.number()),
});
export type KeptSearch = z.output<typeof keptSchema>;

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

/** What a search for the next limit makes of a start. */
export function triedAs({ limitBytes, outcome, peakBytes }: StartResult, isByPeak: boolean): Tried {
  return { limitBytes, survived: outcome === 'survived', peakBytes: isByPeak ? peakBytes : null };
}

/** The starts under the limit that was found. */
export function decisive({ starts, limitBytes }: SurviveEvidence): readonly StartResult[] {
  return starts.filter((start) => start.limitBytes === limitBytes);
}

/** Starts of the searches of a case, also of those that have not ended. */
export function searchesOf(
  record: Pick<SurviveRecord, 'trials' | 'unfinished'>,
  key: string,
): readonly (Pick<SurviveEvidence, 'starts'> & { readonly round: number; readonly hasEnded: boolean })[] {
  return [
    ...okTrials(record, key).map(({ round, evidence: { starts } }) => ({ round, starts, hasEnded: true })),
    ...Object.entries(record.unfinished ?? {}).flatMap(([trial, found]) => {
      const [of, round] = trial.split(/#(?=\d+$)/);
      const { data } = keptSchema.safeParse(found);
      return of !== key || data === undefined ? [] : [{ ...data, round: Number(round), hasEnded: false }];
    }),
  ];
}

/** A limit that nothing contradicts. */
export interface ConfirmedLimit {
  readonly limitBytes: number;
  /** Starts that it rests on, in all searches of the case. All survived. */
  readonly starts: number;
}

/**
 * The largest limit that a search of a case has found: smaller ones are ruled out by starts of another search, or were luckier. If a start
 * of any search contradicts that, the smallest limit that was tried above. Null if a search has found none, or if it rests on fewer
 * starts than a search asks for.
 */
export function confirmedLimit(
  record: Pick<SurviveRecord, 'trials' | 'unfinished' | 'subjects'>,
  { key, trials, subject }: Pick<EngineCase, 'key' | 'trials' | 'subject'>,
): ConfirmedLimit | null {
  const searches = okTrials(record, key).map(({ evidence }) => evidence);
  if (searches.length === 0 || trials.failed > 0) return null;
  const found = Math.max(...searches.map((search) => search.limitBytes));
  const all = searchesOf(record, key).flatMap(({ starts }) => starts);
  // As the search did: by one rule with and without GOMEMLIMIT.
  const isByPeak =
    isPeakOwn(variantNamed(subject)) && record.subjects.every(({ name }) => isPeakOwn(variantNamed(name)));
  const low = ruledOut(all.map((start) => triedAs(start, isByPeak)));
  const enough = all.map((start) => start.limitBytes).filter((limit) => limit >= found && limit > low);
  if (enough.length === 0) return null;
  const limitBytes = Math.min(...enough);
  const starts = enough.filter((limit) => limit <= limitBytes).length;
  return starts < Math.min(...searches.map((search) => decisive(search).length))
    ? null
    : { limitBytes, starts };
}
