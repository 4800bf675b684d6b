/** Subjects as people read them; their keys in records stay as they are. Pure. */
import { formatCount } from '../../../report/numbers.ts';
import type { LookupRecord } from '../record.ts';

/** `1000 Services/Inline` → `1,000 Services/Inline`; other keys, and that of a trial after it, are readable as they are. */
export function subjectTitle(key: string): string {
  return key.replace(/^\d+(?= Services?\b)/, (count) => formatCount(Number(count)));
}

/** A copy whose subjects have their titles, wherever they are named. */
export function readable(record: LookupRecord): LookupRecord {
  const { subjects, trials, results, comparisons, baseline } = record;
  return {
    ...record,
    subjects: subjects.map((subject) => ({ ...subject, key: subjectTitle(subject.key) })),
    trials: trials.map((trial) => ({
      ...trial,
      key: subjectTitle(trial.key),
      subject: subjectTitle(trial.subject),
    })),
    results: results.map((result) => ({ ...result, subject: subjectTitle(result.subject) })),
    comparisons: comparisons.map((comparison) => ({
      ...comparison,
      subject: subjectTitle(comparison.subject),
      baseline: subjectTitle(comparison.baseline),
    })),
    baseline: subjectTitle(baseline),
  };
}
