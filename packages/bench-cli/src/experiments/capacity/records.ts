/** What is kept of measurements of capacity, and of plans that were verified. */
import { recordsOf } from '../../engine/records.ts';
import { caching, throughput } from './cases/index.ts';
import { capacityMemory } from './memory/index.ts';
import { planFormats, planSummary } from './plan-document.ts';
import { planKind } from './plan-record.ts';
import { propagation } from './propagation/index.ts';
import { capacitySurvive } from './survive/index.ts';

export const capacityRecords = [
  ...[throughput, caching, propagation, capacitySurvive].flatMap(({ records }) => records ?? []),
  ...[capacityMemory.records ?? []].flat(),
  recordsOf({ kind: planKind, formats: planFormats, summarize: planSummary }),
];
