/** `bench reproduce lookup`: the figures of a published sample beside those of a run of bench lookup. */

import { renderOptions } from '../engine/write-reports.ts';
import { BenchError } from '../errors.ts';
import { lookupKind } from '../experiments/lookup/record.ts';
import { reproducedFigures, reproductionDocument } from '../experiments/lookup/reproduce.ts';
import { findRun } from '../history/resolve.ts';
import { documentMarkdown } from '../report/document/markdown.ts';
import { documentText } from '../report/document/terminal.ts';
import { createStore } from '../results/store.ts';
import type { World } from '../world.ts';
import { knownRuns, printJson } from './history-options.ts';

export interface ReproduceLookupOptions {
  readonly run: string;
  readonly out: string;
  readonly format: string;
}

/** Prints both; a difference is no verdict, so the status is 0. */
export async function reproduceLookup(
  world: World,
  { run, out, format }: ReproduceLookupOptions,
): Promise<number> {
  const found = findRun(await knownRuns(world, out), run, { experiments: [lookupKind.experiment] });
  if (found === undefined && run === 'latest') {
    throw new BenchError('E_RECORD_UNREADABLE', `there is no run of bench lookup in ${out}`, {
      fix: 'Make one, for example: bench lookup --url http://www.example.com --duration 60.',
    });
  }
  const { record } = await createStore(world, out).loadAs(lookupKind, found?.path ?? run);
  const document = reproductionDocument(record);
  if (format === 'json')
    printJson(world, { publication: 'lookup', run: record.id, figures: reproducedFigures(record) });
  else if (format === 'text') world.stdout.write(documentText(document, renderOptions(world, 'relative')));
  else world.stdout.write(documentMarkdown(document));
  return 0;
}
