/** What is kept of a comparison. */
import { recordsOf } from '../../engine/records.ts';
import { entryOf } from '../../history/entry.ts';
import { formats, runStatus } from '../../report/index.ts';
import { compareKind } from '../../results/compare-kind.ts';

export const compareRecords = recordsOf({
  kind: compareKind,
  formats,
  summarize: (record) => runStatus(record).headline,
  deltaOf: ({ deltaDefinition }) => deltaDefinition,
  trialsOf: ({ trials }) => trials,
  entryOf: (record) => entryOf(record),
});
