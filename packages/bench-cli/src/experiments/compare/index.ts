/** The comparison: how fast is server A compared with server B, at what cost, and how sure are we? */
import { formats } from '../../report/index.ts';
import type { Experiment } from '../experiment.ts';
import { addCompareCommands } from './commands.ts';

export const compare: Experiment = {
  name: 'compare',
  question: 'How fast does DNS server A answer compared with B, at what cost, and how sure are we?',
  addCommands: addCompareCommands,
  formats,
};
