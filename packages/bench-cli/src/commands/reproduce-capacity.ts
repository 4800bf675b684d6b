/** `bench reproduce scaling` and `bench reproduce kube-dns`: published figures beside those of our runs of bench capacity. */

import { renderOptions } from '../engine/write-reports.ts';
import { type MemoryRecord, memoryKind } from '../experiments/capacity/memory/evidence.ts';
import { madeHere, ownRecords } from '../experiments/capacity/own-records.ts';
import { type CapacityRecord, capacityKind } from '../experiments/capacity/record.ts';
import { capacityReproduction, missingLines } from '../experiments/capacity/reproduce/document.ts';
import { type CapacityPublication, reproducedRows } from '../experiments/capacity/reproduce/publications.ts';
import type { Sources } from '../experiments/capacity/reproduce/rows.ts';
import { POOL_SIGN } from '../history/pool.ts';
import { findRun, type RunIndex } from '../history/resolve.ts';
import { documentMarkdown } from '../report/document/markdown.ts';
import { documentText } from '../report/document/terminal.ts';
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

type AnyRecord = CapacityRecord | MemoryRecord;

async function latestRecords(world: World, store: RunStore): Promise<AnyRecord[]> {
  const records: AnyRecord[] = [];
  for await (const record of ownRecords(store, capacityKind, madeHere(world))) records.push(record);
  for await (const record of ownRecords(store, memoryKind, madeHere(world))) records.push(record);
  return records;
}

async function namedRecords(store: RunStore, known: RunIndex, names: string): Promise<AnyRecord[]> {
  return Promise.all(
    names.split(POOL_SIGN).map(async (name) => {
      const path = findRun(known, name)?.path ?? name;
      const isMemory = (await store.find(path)).experiment === memoryKind.experiment;
      return (await (isMemory ? store.loadAs(memoryKind, path) : store.loadAs(capacityKind, path))).record;
    }),
  );
}

function sourcesOf(records: readonly AnyRecord[]): Sources {
  const sources: { -readonly [W in keyof Sources]: Sources[W] } = {
    memory: undefined,
    throughput: undefined,
    caching: undefined,
  };
  for (const record of records) {
    if (!('measured' in record)) sources.memory ??= { record };
    else if (record.measured.what === 'throughput')
      sources.throughput ??= { record, measured: record.measured };
    else if (record.measured.what === 'caching') sources.caching ??= { record, measured: record.measured };
  }
  return sources;
}

/** Prints both, and what would measure the rest; every verdict is a result, so the status is 0. */
export async function reproduceCapacity(
  world: World,
  { publication, run, out, format }: ReproduceCapacityOptions,
): Promise<number> {
  const store = createStore(world, out);
  const records =
    run === 'latest'
      ? await latestRecords(world, store)
      : await namedRecords(store, await knownRuns(world, out), run);
  const sources = sourcesOf(records);
  const rows = reproducedRows(publication, sources);
  const document = capacityReproduction(publication, sources, rows);
  if (format === 'json') printJson(world, { publication, figures: rows, missing: missingLines(rows) });
  else if (format === 'text') world.stdout.write(documentText(document, renderOptions(world, 'relative')));
  else world.stdout.write(documentMarkdown(document));
  return 0;
}
