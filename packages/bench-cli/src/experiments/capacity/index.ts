/** Capacity: how much memory and how many replicas does cluster DNS need? */
import type { Experiment } from '../experiment.ts';
import { recordsOf } from '../records.ts';
import { addCapacityCommands } from './commands.ts';
import { capacityKind } from './record.ts';
import { capacityFormats, summarizeCapacity } from './report.ts';

export const capacity: Experiment = {
  name: 'capacity',
  question: 'How much memory and how many replicas does cluster DNS need?',
  addCommands: addCapacityCommands,
  records: recordsOf({ kind: capacityKind, formats: capacityFormats, summarize: summarizeCapacity }),
};
