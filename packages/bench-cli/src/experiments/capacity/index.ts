/** Capacity: how much memory and how many replicas does cluster DNS need? */

import { recordsOf } from '../../engine/records.ts';
import type { Experiment } from '../../engine/registered.ts';
import { clusterSummary } from './cluster/cluster-document.ts';
import { clusterKind } from './cluster/cluster-record.ts';
import { addCapacityCommands } from './commands.ts';
import { planSummary } from './plan-document.ts';
import { planKind } from './plan-record.ts';
import { capacityKind } from './record.ts';
import { capacityFormats, clusterFormats, planFormats, summarizeCapacity } from './report.ts';

export const capacity: Experiment = {
  name: 'capacity',
  question: 'How much memory and how many replicas does cluster DNS need?',
  addCommands: addCapacityCommands,
  records: [
    recordsOf({ kind: capacityKind, formats: capacityFormats, summarize: summarizeCapacity }),
    recordsOf({ kind: clusterKind, formats: clusterFormats, summarize: clusterSummary }),
    recordsOf({ kind: planKind, formats: planFormats, summarize: planSummary }),
  ],
};
