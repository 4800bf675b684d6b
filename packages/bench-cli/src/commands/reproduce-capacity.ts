/** `bench reproduce scaling` and `bench reproduce kube-dns`: published figures beside those of our runs of bench capacity. */

import { renderOptions } from '../engine/write-reports.ts';
import { CACHING, cachingKind, THROUGHPUT, throughputKind } from '../experiments/capacity/cases/evidence.ts';
import { memoryKind } from '../experiments/capacity/memory/evidence.ts';
import { madeHere, ownRecords } from '../experiments/capacity/own-records.ts';
import { capacityReproduction, missingLines } from '../experiments/capacity/reproduce/document.ts';
import { type CapacityPublication, reproducedRows } from '../experiments/capacity/reproduce/publications.ts';
import type { Sources } from '../experiments/capacity/reproduce/rows.ts';
import { POOL_SIGN } from '../history/pool.ts';
import { findRun, type RunIndex } from '../history/resolve.ts';
import { documentMarkdown } from '../report/document/markdown.ts';
import { documentText } from '../report/document/terminal.ts';
import type { RecordHeader, RecordKind } from '../results/record-kind.ts';
import { createStore, type RunStore } from '../results/store.ts';
import type { World } from '../world.ts';
import { knownRuns, printJson } from './history-options.ts';

export interface ReproduceCapacityOptions {
  readonly publication: CapacityPublication;
  /** `latest`: the newest of this machine of each measurement; else one run, or several with a plus between them. */
  readonly run: string;
  readonly out: string;
  readonly format: string;
}

type Found = { -readonly [W in keyof Sources]: Sources[W] };

/** The newest of this machine of each kind. */
async function latestSources(world: World, store: RunStore): Promise<Sources> {
  const newest = async <R extends Pick<RecordHeader, 'environment'>>(kind: RecordKind<R>) => {
    for await (const record of ownRecords(store, kind, madeHere(world))) return record;
    return undefined;
  };
  const memory = await newest(memoryKind);
  return {
    memory: memory && { record: memory },
    throughput: await newest(throughputKind),
    caching: await newest(cachingKind),
  };
}

async function namedSources(store: RunStore, known: RunIndex, names: string): Promise<Sources> {
  const found: Found = { memory: undefined, throughput: undefined, caching: undefined };
  for (const name of names.split(POOL_SIGN)) {
    const path = findRun(known, name)?.path ?? name;
    const { experiment } = await store.find(path);
    if (experiment === THROUGHPUT) found.throughput ??= (await store.loadAs(throughputKind, path)).record;
    else if (experiment === CACHING) found.caching ??= (await store.loadAs(cachingKind, path)).record;
    else found.memory ??= { record: (await store.loadAs(memoryKind, path)).record };
  }
  return found;
}

/** Prints both, and what would measure the rest; every verdict is a result, so the status is 0. */
export async function reproduceCapacity(
  world: World,
  { publication, run, out, format }: ReproduceCapacityOptions,
): Promise<number> {
  const store = createStore(world, out);
  const sources =
    run === 'latest'
      ? await latestSources(world, store)
      : await namedSources(store, await knownRuns(world, out), run);
  const rows = reproducedRows(publication, sources);
  const document = capacityReproduction(publication, sources, rows);
  if (format === 'json') printJson(world, { publication, figures: rows, missing: missingLines(rows) });
  else if (format === 'text') world.stdout.write(documentText(document, renderOptions(world, 'relative')));
  else world.stdout.write(documentMarkdown(document));
  return 0;
}
