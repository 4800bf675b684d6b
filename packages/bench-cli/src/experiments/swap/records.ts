/** What a swap keeps of its runs, and how it is rendered. */

import { recordsOf } from '../../engine/records.ts';
import { documentFormats } from '../../report/document/index.ts';
import { swapEntry } from './comparable.ts';
import { summaryOf, swapDocument } from './document.ts';
import { readingsCsv } from './readings.ts';
import { swapKind } from './record.ts';

export const SWAP_FORMATS = [...documentFormats(swapDocument), readingsCsv];

export const swapRecords = recordsOf({
  kind: swapKind,
  formats: SWAP_FORMATS,
  summarize: summaryOf,
  entryOf: swapEntry,
});
