/** What is kept of lookups. */
import { recordsOf } from '../../engine/records.ts';
import { LOOKUP_FORMATS } from './finish.ts';
import { lookupKind } from './record.ts';
import { headlineOf } from './text/document.ts';

export const lookupRecords = recordsOf({
  kind: lookupKind,
  formats: LOOKUP_FORMATS,
  summarize: headlineOf,
  trialsOf: ({ trials }) => trials,
});
