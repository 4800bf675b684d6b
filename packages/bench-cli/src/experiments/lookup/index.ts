/** Lookup: how long does a client wait for a name and a connection, and what does a DNS policy do to it? */

import { recordsOf } from '../../engine/records.ts';
import type { Experiment } from '../../engine/registered.ts';
import { addLookupCommands } from './commands.ts';
import { LOOKUP_FORMATS } from './finish.ts';
import { lookupKind } from './record.ts';
import { headlineOf } from './text/document.ts';

export const lookup: Experiment = {
  name: 'lookup',
  question: 'How long does a client wait for a name and a connection, and what does a DNS policy do to it?',
  addCommands: addLookupCommands,
  records: recordsOf({
    kind: lookupKind,
    formats: LOOKUP_FORMATS,
    summarize: headlineOf,
    trialsOf: ({ trials }) => trials,
  }),
};
