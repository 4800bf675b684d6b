/** From a definition to an experiment: its command with its flags, and what commands do with its records. */
import type { z } from 'zod';
import type { SettingTable } from '../config/setting.ts';
import { headlineOf } from './document.ts';
import { engineEntry } from './entry.ts';
import type { ExperimentDefinition } from './experiment.ts';
import { addProcedure } from './flags.ts';
import { engineForm } from './form.ts';
import { recordsOf } from './records.ts';
import type { Experiment } from './registered.ts';

/** An experiment as `bench` knows it. */
export function defineExperiment<T extends SettingTable, D, C, V extends z.ZodType>(
  definition: ExperimentDefinition<T, D, C, V>,
): Experiment {
  const form = engineForm(definition);
  return {
    name: definition.name,
    question: definition.question,
    publications: definition.publications ?? [],
    addCommands: (program, call) => addProcedure(program, call, definition, () => form),
    records: recordsOf({
      ...form,
      summarize: (record) => headlineOf(record, definition.document(record)),
      trialsOf: ({ trials }) => trials,
      entryOf: (record, summary) => engineEntry(record, summary),
    }),
  };
}
