/** Swap: does another version of CoreDNS cost more in this cluster, and is everything as it was? */
import type { Experiment } from '../../engine/registered.ts';
import { addSwapCommands } from './commands.ts';
import { swapRecords } from './records.ts';

export const swap: Experiment = {
  name: 'swap',
  question: 'Does another version of CoreDNS cost more in this cluster, and is everything as it was?',
  addCommands: addSwapCommands,
  records: swapRecords,
};
