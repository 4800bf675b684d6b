/** What was published about the capacity of a cluster's DNS, beside our runs of bench capacity. */

import { BenchError } from '../../errors.ts';
import { POOL_SIGN } from '../../history/pool.ts';
import type { Publication } from '../../history/reproduce/publication.ts';
import { locateRun, type RunIndex } from '../../history/resolve.ts';
import type { RecordKind } from '../../results/record-kind.ts';
import { createStore, type RunStore } from '../../results/store.ts';
import type { World } from '../../world.ts';
import { CACHING, cachingKind, THROUGHPUT, throughputKind } from './cases/evidence.ts';
import { memoryKind } from './memory/evidence.ts';
import { madeHere, ownRecords } from './own-records.ts';
import { capacityReproduction, missingLines } from './reproduce/document.ts';
import {
  CAPACITY_PUBLICATIONS,
  type CapacityPublication,
  reproducedConditions,
  reproducedRows,
} from './reproduce/publications.ts';
import type { Sources } from './reproduce/rows.ts';

type What = keyof Sources;
type Source = NonNullable<Sources[What]>;

const KINDS: Readonly<Record<What, RecordKind<Source>>> = {
  throughput: throughputKind,
  caching: cachingKind,
  memory: memoryKind,
};

/** What each publication measured. */
const MEASURED: Readonly<Record<CapacityPublication, readonly What[]>> = {
  scaling: ['throughput', 'memory'],
  'kube-dns': ['caching', 'memory'],
};

/** The newest of this machine of each kind. */
async function latestSources(
  world: World,
  store: RunStore,
  wanted: readonly What[],
): Promise<Map<What, Source>> {
  const found = new Map<What, Source>();
  for (const what of wanted)
    for await (const record of ownRecords(store, KINDS[what], madeHere(world))) {
      found.set(what, record);
      break;
    }
  return found;
}

/** Runs that are named, all of what the publication measured. */
async function namedSources(
  world: World,
  known: RunIndex,
  names: string,
  publication: CapacityPublication,
): Promise<Map<What, Source>> {
  const wanted = MEASURED[publication];
  const store = createStore(world, known.resultsDirectory);
  const found = new Map<What, Source>();
  for (const name of names.split(POOL_SIGN)) {
    const path = await locateRun(world, known, name);
    const { experiment } = await store.find(path);
    const what = experiment === THROUGHPUT ? 'throughput' : experiment === CACHING ? 'caching' : 'memory';
    if (!wanted.includes(what))
      throw new BenchError('E_USAGE', `${name} is a run of ${what}, which ${publication} did not publish`, {
        fix: `Name runs of bench capacity ${wanted.join(' or ')}.`,
      });
    const other = found.get(what);
    if (other !== undefined)
      throw new BenchError('E_USAGE', `two runs of ${what} were named: ${other.id} and ${name}`, {
        fix: 'Name one run of each measurement, or run the command once for each.',
      });
    found.set(what, (await store.loadAs(KINDS[what], path)).record);
  }
  return found;
}

function capacityPublication(name: CapacityPublication): Publication {
  return {
    name,
    /** Of `latest` the newest of this machine of each measurement; else one run, or several with a plus between them. */
    async reproduce({ world, known, run }) {
      const found =
        run === 'latest'
          ? await latestSources(world, createStore(world, known.resultsDirectory), MEASURED[name])
          : await namedSources(world, known, run, name);
      // Each is of its own kind.
      const sources: Sources = Object.fromEntries(
        MEASURED[name].flatMap((what) => (found.has(what) ? [[what, found.get(what)]] : [])),
      );
      const rows = reproducedRows(name, sources);
      const conditions = reproducedConditions(name, sources);
      const missing = missingLines(rows);
      const json = { publication: name, figures: rows, missing, runs: Object.keys(sources), conditions };
      return { document: capacityReproduction(name, sources, rows, conditions), json };
    },
  };
}

export const capacityPublications: readonly Publication[] = CAPACITY_PUBLICATIONS.map(capacityPublication);
