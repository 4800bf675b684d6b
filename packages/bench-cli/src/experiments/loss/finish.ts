/** The end of a loss run: reports beside the record, the tables or the record on stdout, the exit status. */
import { relative } from 'node:path';
import { EXIT_STATUS } from '@dinodns-bench/program';
import { documentFormats } from '../../report/document/index.ts';
import { filesOf, findRenderer } from '../../report/index.ts';
import type { RunStore } from '../../results/store.ts';
import type { World } from '../../world.ts';
import { renderOptions, routineFormats, writeFiles } from '../write-reports.ts';
import type { LossRecord } from './record.ts';
import { lossDocument } from './text/document.ts';

export const lossFormats = documentFormats(lossDocument);

export async function finishLoss(
  world: World,
  store: RunStore,
  directory: string,
  record: LossRecord,
  json: boolean,
): Promise<number> {
  const options = renderOptions(world, 'relative');
  const paths = await writeFiles(store, directory, filesOf(routineFormats(lossFormats), record, options));
  world.stdout.write(findRenderer(json ? 'json' : 'terminal', lossFormats)?.render(record, options) ?? '');
  const shown = [`${directory}/run.json`, ...paths].map((path) => relative(world.cwd, path) || path);
  world.stderr.write(`\nWritten: ${shown.join(', ')}\n`);
  const failed = record.repetitions.some(({ status }) => status === 'failed');
  return failed ? EXIT_STATUS.failedTrials : EXIT_STATUS.success;
}
