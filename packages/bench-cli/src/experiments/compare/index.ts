/** The comparison: how fast is server A compared with server B, at what cost, and how sure are we? */

import { recordsOf } from '../../engine/records.ts';
import type { Experiment } from '../../engine/registered.ts';
import { entryOf } from '../../history/entry.ts';
import { formats, runStatus } from '../../report/index.ts';
import { compareKind } from '../../results/compare-kind.ts';
import { addCompareCommands } from './commands.ts';

export const compare: Experiment = {
  name: 'compare',
  question: 'How fast does DNS server A answer compared with B, at what cost, and how sure are we?',
  addCommands: addCompareCommands,
  records: recordsOf({
    kind: compareKind,
    formats,
    summarize: (record) => runStatus(record).headline,
    deltaOf: ({ deltaDefinition }) => deltaDefinition,
    trialsOf: ({ trials }) => trials,
    casesOf: (record) => entryOf(record).cases,
  }),
};
