/** What the scripts about comparisons of equal servers share: reading records, and the pairs of a baseline and its twin. */
import { readFile } from 'node:fs/promises';
import { type OkTrial, type RunRecord, recordSchema } from '../src/results/record.ts';
import { pairsOf } from '../src/stats/comparisons.ts';
import type { ComparedMetric } from '../src/stats/metrics.ts';
import type { Pair } from '../src/stats/summarize.ts';

export function readRecords(paths: readonly string[]): Promise<RunRecord[]> {
  return Promise.all(paths.map(async (path) => recordSchema.parse(JSON.parse(await readFile(path, 'utf8')))));
}

export function okTrialsOf({ trials }: RunRecord): OkTrial[] {
  return trials.filter((trial): trial is OkTrial => trial.status === 'ok');
}

/** Pairs of the baseline's twin and the baseline, in the order of the rounds. */
export function twinPairs(record: RunRecord, metric: ComparedMetric): Pair[] {
  const ok = okTrialsOf(record);
  return record.cases
    .filter(({ aa }) => aa)
    .flatMap(({ key }) =>
      pairsOf(
        ok.filter(({ caseKey }) => caseKey === key),
        ok.filter(({ caseKey }) => caseKey === key.replace('(aa)', '')),
        metric,
      ),
    );
}

/** Whole groups of consecutive pairs; a rest is omitted. */
export function groupsOf(pairs: readonly Pair[], size: number): Pair[][] {
  return Array.from({ length: Math.floor(pairs.length / size) }, (_, index) =>
    pairs.slice(index * size, (index + 1) * size),
  );
}
