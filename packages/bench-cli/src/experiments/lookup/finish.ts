/** The end of a run: reports beside the record, the result on stdout, the exit status. */
import { relative } from 'node:path';
import { EXIT_STATUS } from '@dinodns-bench/program';
import { documentFormats } from '../../report/document/index.ts';
import { filesOf, findRenderer } from '../../report/index.ts';
import type { RunStore } from '../../results/store.ts';
import type { World } from '../../world.ts';
import { renderOptions, routineFormats, writeFiles } from '../write-reports.ts';
import type { LookupRecord } from './record.ts';
import { lookupDocument } from './text/document.ts';

export const LOOKUP_FORMATS = documentFormats(lookupDocument);

/** Writes the reports, prints the tables or the record, and resolves with the exit status: 0 unless a trial failed. */
export async function finishLookup(
  world: World,
  store: RunStore,
  directory: string,
  record: LookupRecord,
  json: boolean,
): Promise<number> {
  const options = renderOptions(world, 'relative');
  const paths = await writeFiles(store, directory, filesOf(routineFormats(LOOKUP_FORMATS), record, options));
  world.stdout.write(findRenderer(json ? 'json' : 'terminal', LOOKUP_FORMATS)?.render(record, options) ?? '');
  const shown = [`${directory}/run.json`, ...paths].map((path) => relative(world.cwd, path) || path);
  world.stderr.write(`\nWritten: ${shown.join(', ')}\n`);
  const failed = record.trials.some(({ failure }) => failure !== null);
  return failed ? EXIT_STATUS.failedTrials : EXIT_STATUS.success;
}
