/** The reports of this experiment: one document for each of its measurements. Pure. */
import { documentFormats, type ReportDocument } from '../../report/document/index.ts';
import { planDocument } from './plan-document.ts';
import { propagationDocument, propagationSummaryLine } from './propagation/document.ts';
import type { CapacityRecord } from './record.ts';

function documentOf(record: CapacityRecord): ReportDocument {
  const { measured } = record;
  switch (measured.what) {
    case 'propagation':
      return propagationDocument(record, measured);
  }
}

export const capacityFormats = documentFormats(documentOf);

/** The result in one line, for lists of runs. */
export function summarizeCapacity({ measured }: CapacityRecord): string {
  switch (measured.what) {
    case 'propagation':
      return propagationSummaryLine(measured);
  }
}

export const planFormats = documentFormats(planDocument);
