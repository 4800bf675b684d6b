/** What is kept of measurements of capacity, and of plans that were verified. */
import { recordsOf } from '../../engine/records.ts';
import { clusterSummary } from './cluster/cluster-document.ts';
import { clusterKind } from './cluster/cluster-record.ts';
import { planSummary } from './plan-document.ts';
import { planKind } from './plan-record.ts';
import { capacityKind } from './record.ts';
import { capacityFormats, clusterFormats, planFormats, summarizeCapacity } from './report.ts';

export const capacityRecords = [
  recordsOf({ kind: capacityKind, formats: capacityFormats, summarize: summarizeCapacity }),
  recordsOf({ kind: clusterKind, formats: clusterFormats, summarize: clusterSummary }),
  recordsOf({ kind: planKind, formats: planFormats, summarize: planSummary }),
];
