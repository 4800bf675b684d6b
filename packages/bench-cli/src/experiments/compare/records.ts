/** What is kept of a comparison. */
import { type RecordsDefinition, recordsOf } from '../../engine/records.ts';
import { entryOf } from '../../history/entry.ts';
import { formats, runStatus } from '../../report/index.ts';
import { compareKind } from '../../results/compare-kind.ts';
import type { RunRecord } from '../../results/record.ts';

export const compareDefinition: RecordsDefinition<RunRecord> = {
  kind: compareKind,
  formats,
  summarize: (record) => runStatus(record).headline,
  deltaOf: ({ deltaDefinition }) => deltaDefinition,
  trialsOf: ({ trials }) => trials,
  entryOf: (record) => entryOf(record),
};

export const compareRecords = recordsOf(compareDefinition);
