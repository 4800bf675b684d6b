import { compareKind } from '../../src/results/compare-kind.ts';
import { parseRecordAs } from '../../src/results/parse-record.ts';
import type { RunRecord } from '../../src/results/record.ts';

/** The record of the experiment `compare` in `text`. */
export function parseRecord(text: string, path: string): RunRecord {
  return parseRecordAs(compareKind, text, path);
}
