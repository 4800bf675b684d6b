/** `bench reproduce lookup`: the figures of a published sample beside those of a run of bench lookup, or of tiger-bench itself. */

import { renderOptions } from '../engine/write-reports.ts';
import { BenchError } from '../errors.ts';
import { type LookupRecord, lookupKind } from '../experiments/lookup/evidence.ts';
import {
  type Reproducing,
  reproducedConditions,
  reproducedFigures,
  reproducingImport,
  reproducingRun,
  reproductionDocument,
} from '../experiments/lookup/reproduce.ts';
import { IMPORTED_NAME, parseImported } from '../history/imported.ts';
import { findRun, type RunIndex, recordAt } from '../history/resolve.ts';
import { documentMarkdown } from '../report/document/markdown.ts';
import { documentText } from '../report/document/terminal.ts';
import { createStore } from '../results/store.ts';
import type { World } from '../world.ts';
import { knownRuns, printJson } from './history-options.ts';

export interface ReproduceLookupOptions {
  /** `latest`: the newest of a cluster, else the newest that is no simulation, else the newest import of tiger-bench. */
  readonly run: string;
  readonly out: string;
  readonly format: string;
}

async function readImport(world: World, path: string): Promise<Reproducing | undefined> {
  return reproducingImport(parseImported(await world.fs.readFile(path, 'utf8'), path));
}

async function latest(world: World, known: RunIndex, out: string): Promise<Reproducing> {
  const store = createStore(world, out);
  let other: LookupRecord | undefined;
  for (const { experiment, path } of known.runs) {
    if (experiment !== lookupKind.experiment) continue;
    const { record } = await store.loadAs(lookupKind, path);
    if (record.settings.simulatePolicy !== undefined) continue;
    if (record.settings.target === 'kubernetes') return reproducingRun(record);
    other ??= record;
  }
  if (other !== undefined) return reproducingRun(other);
  for (const { kind, path } of known.runs) {
    const found = kind === 'imported' ? await readImport(world, path) : undefined;
    if (found !== undefined) return found;
  }
  throw new BenchError('E_RECORD_UNREADABLE', `there is no run of bench lookup in ${out}`, {
    fix: 'Make one, for example: bench lookup --target kubernetes --url http://www.example.com --services 1000 --duration 60 (simulations do not count).',
  });
}

async function named(
  world: World,
  known: RunIndex,
  { run, out }: ReproduceLookupOptions,
): Promise<Reproducing> {
  const found =
    findRun(known, run, { isWanted: ({ experiment }) => experiment === lookupKind.experiment }) ??
    findRun(known, run);
  const path = found?.path ?? (await recordAt(world, run)) ?? run;
  if (path.endsWith(IMPORTED_NAME)) {
    const reproducing = await readImport(world, path);
    if (reproducing !== undefined) return reproducing;
    throw new BenchError('E_USAGE', `${run} has no tests of the kind dnsperf of tiger-bench`, {
      fix: 'Import its results.json with `bench import`, and give the ID that this prints.',
    });
  }
  const { record } = await createStore(world, out).loadAs(lookupKind, path);
  if (record.settings.simulatePolicy === undefined) return reproducingRun(record);
  throw new BenchError('E_USAGE', `run ${record.id} is a simulation, which says nothing about any product`, {
    fix: 'Give a run of a cluster or of a machine.',
  });
}

/** Prints both; a difference is no verdict, so the status is 0. */
export async function reproduceLookup(world: World, options: ReproduceLookupOptions): Promise<number> {
  const { run, out, format } = options;
  const known = await knownRuns(world, out);
  const reproducing = run === 'latest' ? await latest(world, known, out) : await named(world, known, options);
  const document = reproductionDocument(reproducing);
  if (format === 'json') {
    const figures = reproducedFigures(reproducing);
    const conditions = reproducedConditions(reproducing);
    printJson(world, { publication: 'lookup', run: reproducing.id, figures, conditions });
  } else if (format === 'text') {
    world.stdout.write(documentText(document, renderOptions(world, 'relative')));
  } else world.stdout.write(documentMarkdown(document));
  return 0;
}
