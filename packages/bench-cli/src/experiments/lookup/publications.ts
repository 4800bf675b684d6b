/** A published sample of tiger-bench beside a run of bench lookup, or results of tiger-bench itself. A difference is no verdict. */

import { BenchError } from '../../errors.ts';
import { IMPORTED_NAME, parseImported } from '../../history/imported.ts';
import type { RunRow } from '../../history/listing.ts';
import { missingRun, type Publication } from '../../history/reproduce/publication.ts';
import { findRun, locateRecord, type RunIndex } from '../../history/resolve.ts';
import { createStore } from '../../results/store.ts';
import type { World } from '../../world.ts';
import { type LookupRecord, lookupKind } from './evidence.ts';
import {
  type Reproducing,
  reproducedConditions,
  reproducedFigures,
  reproducingImport,
  reproducingRun,
  reproductionDocument,
} from './reproduce.ts';

const EXAMPLE =
  'bench lookup --target kubernetes --url http://www.example.com --services 1000 --duration 60 (simulations do not count)';

async function readImport(world: World, path: string): Promise<Reproducing | undefined> {
  return reproducingImport(parseImported(await world.fs.readFile(path, 'utf8'), path));
}

async function latest(world: World, known: RunIndex): Promise<Reproducing> {
  const store = createStore(world, known.resultsDirectory);
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
  throw missingRun(known, 'bench lookup', EXAMPLE);
}

async function named(world: World, known: RunIndex, run: string): Promise<Reproducing> {
  const isWanted = ({ experiment }: RunRow) => experiment === lookupKind.experiment;
  const path = findRun(known, run, { isWanted })?.path ?? (await locateRecord(world, known, run));
  if (path.endsWith(IMPORTED_NAME)) {
    const reproducing = await readImport(world, path);
    if (reproducing !== undefined) return reproducing;
    throw new BenchError('E_USAGE', `${run} has no tests of the kind dnsperf of tiger-bench`, {
      fix: 'Import its results.json with `bench import`, and give the ID that this prints.',
    });
  }
  const { record } = await createStore(world, known.resultsDirectory).loadAs(lookupKind, path);
  if (record.settings.simulatePolicy === undefined) return reproducingRun(record);
  throw new BenchError('E_USAGE', `run ${record.id} is a simulation, which says nothing about any product`, {
    fix: 'Give a run of a cluster or of a machine.',
  });
}

export const lookupPublications: readonly Publication[] = [
  {
    name: 'lookup',
    /** For `latest`: the newest run of a cluster; otherwise the newest that is no simulation; otherwise the newest import of tiger-bench. */
    async reproduce({ world, known, run }) {
      const reproducing = run === 'latest' ? await latest(world, known) : await named(world, known, run);
      const figures = reproducedFigures(reproducing);
      const conditions = reproducedConditions(reproducing);
      const json = { publication: 'lookup', run: reproducing.id, figures, conditions };
      return { document: reproductionDocument(reproducing), json };
    },
  },
];
