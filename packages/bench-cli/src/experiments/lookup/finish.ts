/** The end of a run: reports beside the record, the result on stdout, the exit status. */
import { relative } from 'node:path';
import { EXIT_STATUS } from '@dinodns-bench/program';
import { renderOptions, routineFormats, writeFiles } from '../../engine/write-reports.ts';
import { documentFormats } from '../../report/document/index.ts';
import type { Renderer } from '../../report/renderer.ts';
import { filesOf, findRenderer } from '../../report/renderer.ts';
import type { RunStore } from '../../results/store.ts';
import { formatResults } from '../../tiger-bench/results-file.ts';
import type { World } from '../../world.ts';
import type { LookupRecord } from './record.ts';
import { lookupDocument } from './text/document.ts';
import { elementsOf } from './tiger/elements.ts';

/** Its elements are one array in a file of several runs, which `tiger/run-tests.ts` writes. */
const tigerBench: Renderer<LookupRecord> = {
  name: 'tiger-bench',
  description: "the results file of tiger-bench's dnsperf tests",
  fileName: 'tiger-bench.json',
  render: (record) => `${formatResults(elementsOf(record))}\n`,
};

export const LOOKUP_FORMATS = [...documentFormats(lookupDocument), tigerBench];

/** What goes to stdout at the end. */
export type Shown = 'terminal' | 'json' | 'tiger-bench' | 'nothing';

/** Writes the reports, prints one of them, and resolves with the exit status: 0 unless a trial failed. */
export async function finishLookup(
  world: World,
  store: RunStore,
  directory: string,
  record: LookupRecord,
  show: Shown,
): Promise<number> {
  const options = renderOptions(world, 'relative');
  const paths = await writeFiles(store, directory, filesOf(routineFormats(LOOKUP_FORMATS), record, options));
  if (show !== 'nothing') {
    world.stdout.write(findRenderer(show, LOOKUP_FORMATS)?.render(record, options) ?? '');
  }
  const shown = [`${directory}/run.json`, ...paths].map((path) => relative(world.cwd, path) || path);
  world.stderr.write(`\nWritten: ${shown.join(', ')}\n`);
  const failed = record.trials.some(({ failure }) => failure !== null);
  return failed ? EXIT_STATUS.failedTrials : EXIT_STATUS.success;
}
