/** The end of a run: reports beside the record, the result on stdout, the exit status. */
import { relative } from 'node:path';
import { renderOptions, routineFormats, withRawOutput, writeFiles } from '../../engine/write-reports.ts';
import { formats, runStatus } from '../../report/index.ts';
import { filesOf, findRenderer } from '../../report/renderer.ts';
import type { RunRecord } from '../../results/record.ts';
import type { RunStore } from '../../results/store.ts';
import type { World } from '../../world.ts';

/** Writes the reports, prints the table or the record, and resolves with the exit status. */
export async function finishRun(
  world: World,
  store: RunStore,
  directory: string,
  record: RunRecord,
  json: boolean,
): Promise<number> {
  const options = renderOptions(world, record.deltaDefinition);
  const withRaw = await withRawOutput(world, options, directory, record.trials);
  const paths = await writeFiles(store, directory, filesOf(routineFormats(formats), record, withRaw));
  world.stdout.write(findRenderer(json ? 'json' : 'terminal', formats)?.render(record, options) ?? '');
  const shown = [`${directory}/run.json`, ...paths].map((path) => relative(world.cwd, path) || path);
  world.stderr.write(`\nWritten: ${shown.join(', ')}\n`);
  return runStatus(record).exitStatus;
}
