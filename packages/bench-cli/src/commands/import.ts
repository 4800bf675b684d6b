/** `bench import`: brings in measurements of other programs, to compare them. */
import { relative } from 'node:path';
import { IMPORTED_NAME } from '../history/imported.ts';
import { type ImportRequest, importFiles } from '../import/import-files.ts';
import { printJson } from '../output.ts';
import { createStore } from '../results/store.ts';
import { counted } from '../text.ts';
import type { World } from '../world.ts';

export interface ImportOptions extends ImportRequest {
  readonly out: string;
  readonly json?: boolean;
}

export async function importCommand(world: World, options: ImportOptions): Promise<number> {
  const store = createStore(world, options.out);
  const { record, text } = await importFiles(world, options);
  const path = await store.writeBeside(store.directoryOf(record.id), IMPORTED_NAME, text);
  if (options.json === true) {
    printJson(world, record);
    return 0;
  }
  const trials = record.cases.reduce((sum, item) => sum + item.trials.length, 0);
  world.stdout.write(
    `Imported ${counted(trials, 'measurement')} of ${counted(record.cases.length, 'case')} (${record.source.format}) as run ${record.id}\n`,
  );
  for (const note of record.source.notes) world.stderr.write(`Note: ${note}\n`);
  world.stderr.write(`Written: ${relative(world.cwd, path) || path}\n`);
  return 0;
}
