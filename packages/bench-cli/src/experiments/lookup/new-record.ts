/** The record of a run before its first trial, and with one more. Pure. */
import type { Environment } from '../../results/record-environment.ts';
import { runHead } from '../../results/run-head.ts';
import { comparisonsOf } from './comparisons.ts';
import { LOOKUP_SCHEMA_VERSION, type LookupRecord, type LookupTrial } from './record.ts';
import { type Pooled, resultsOf } from './results.ts';

export type RecordStart = Pick<
  LookupRecord,
  | 'id'
  | 'argv'
  | 'warnings'
  | 'target'
  | 'url'
  | 'durationSeconds'
  | 'rounds'
  | 'paceSeconds'
  | 'simulation'
  | 'resolvConf'
  | 'tools'
  | 'serverRecords'
  | 'subjects'
> & { readonly startedAt: Date; readonly environment: Environment };

/** What the others are compared with: the first, or the first policy that adds nothing. */
function baselineOf(subjects: LookupRecord['subjects']): string {
  return (subjects.find(({ policy }) => policy === 'Inline') ?? subjects[0])?.key ?? '';
}

export function newLookupRecord({ startedAt, environment, ...start }: RecordStart): LookupRecord {
  return {
    ...start,
    schemaVersion: LOOKUP_SCHEMA_VERSION,
    experiment: 'lookup',
    ...runHead(start.argv, startedAt.toISOString()),
    environment,
    servers: start.serverRecords.map(({ name }) => name),
    baseline: baselineOf(start.subjects),
    trials: [],
    results: [],
    comparisons: [],
    tigerBench: null,
  };
}

/** With the results and comparisons of these trials. */
export function withTrials(
  record: LookupRecord,
  trials: readonly LookupTrial[],
  pooled: Pooled,
): LookupRecord {
  const results = resultsOf(record.subjects, trials, pooled);
  const comparisons = comparisonsOf(record.baseline, results, trials);
  return { ...record, trials: [...trials], results, comparisons };
}
