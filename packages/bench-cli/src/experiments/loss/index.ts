/** Loss: how much load does a server take until it loses queries, and what does it do beyond that? */
import type { Experiment } from '../experiment.ts';
import { recordsOf } from '../records.ts';
import { addLossCommands } from './commands.ts';
import { lossFormats } from './finish.ts';
import { lossKind } from './record.ts';
import { headlineOf } from './text/document.ts';

export const loss: Experiment = {
  name: 'loss',
  question: 'How much load does a server take until it loses queries, and what does it do beyond that?',
  addCommands: addLossCommands,
  records: recordsOf({ kind: lossKind, formats: lossFormats, summarize: headlineOf }),
};
