/** What a swap keeps of its runs, and how it is rendered. */
import { documentFormats } from '../../report/document/index.ts';
import { recordsOf } from '../records.ts';
import { summaryOf, swapDocument } from './document.ts';
import { swapKind } from './record.ts';

export const swapRecords = recordsOf({
  kind: swapKind,
  formats: documentFormats(swapDocument),
  summarize: summaryOf,
});
