/** The end of a run of this experiment: reports beside the record, the table or the record on stdout, the exit status. */
import { relative } from 'node:path';
import { EXIT_STATUS } from '@dinodns-bench/program';
import { renderOptions, routineFormats, writeFiles } from '../../engine/write-reports.ts';
import { filesOf, findRenderer } from '../../report/renderer.ts';
import type { RunStore } from '../../results/store.ts';
import type { World } from '../../world.ts';
import type { CapacityRecord } from './record.ts';
import { capacityFormats } from './report.ts';

/** Resolves with the exit status: whether something that should have been measured was not. */
export async function finishCapacityRun(
  world: World,
  store: RunStore,
  directory: string,
  record: CapacityRecord,
  failures: number,
  json: boolean,
): Promise<number> {
  const options = renderOptions(world, 'relative');
  const paths = await writeFiles(store, directory, filesOf(routineFormats(capacityFormats), record, options));
  world.stdout.write(
    findRenderer(json ? 'json' : 'terminal', capacityFormats)?.render(record, options) ?? '',
  );
  const shown = [`${directory}/run.json`, ...paths].map((path) => relative(world.cwd, path) || path);
  world.stderr.write(`\nWritten: ${shown.join(', ')}\n`);
  return failures > 0 ? EXIT_STATUS.failedTrials : EXIT_STATUS.success;
}
