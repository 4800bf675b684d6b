/** Capacity: how much memory and how many replicas does cluster DNS need? */
import type { Experiment } from '../experiment.ts';
import { addCapacityCommands } from './commands.ts';

export const capacity: Experiment = {
  name: 'capacity',
  question: 'How much memory and how many replicas does cluster DNS need?',
  addCommands: addCapacityCommands,
  // A plan is printed, not kept: there is no record to render.
  records: null,
};
