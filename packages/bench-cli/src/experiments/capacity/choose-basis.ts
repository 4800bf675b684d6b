/** Finds the basis of a plan: a run that was named, the newest one of this machine that fits, else what was published. */
import { BenchError } from '../../errors.ts';
import { formatCount } from '../../report/numbers.ts';
import { createStore, type RunStore } from '../../results/store.ts';
import type { World } from '../../world.ts';
import { measuredBasis } from './measured-basis.ts';
import {
  covers,
  EXTRAPOLATION,
  type MemoryBasis,
  objectsOf,
  publishedBasis,
  type Size,
} from './memory-basis.ts';
import { ownRecords } from './own-records.ts';
import type { Configuration } from './published.ts';
import { capacityKind } from './record.ts';

export interface BasisRequest {
  readonly configuration: Configuration;
  readonly size: Size;
  /** Of CoreDNS; null: any. */
  readonly version: string | null;
  /** `--basis`: a run, or `published`; undefined to look for one. */
  readonly wanted: string | undefined;
  /** Directory of the runs. */
  readonly out: string;
  readonly extrapolate: boolean;
}

export interface ChosenBasis {
  readonly basis: MemoryBasis;
  /** Runs that were found and not used, and why, as sentences. */
  readonly notes: readonly string[];
}

function tooFar({ maxObjects, kind, source }: MemoryBasis, objects: number): BenchError {
  const measured = `${formatCount(maxObjects)} objects`;
  const what = kind === 'published' ? measured : `${measured}: ${source}`;
  return new BenchError(
    'E_USAGE',
    `${formatCount(objects)} objects are more than ${EXTRAPOLATION.text} what was measured (${what})`,
    { fix: 'Add --extrapolate to use the line beyond its range, and verify the result.' },
  );
}

async function namedBasis(store: RunStore, wanted: string, request: BasisRequest): Promise<MemoryBasis> {
  const { record } = await store.loadAs(capacityKind, wanted);
  const found = measuredBasis(record, { ...request, origin: 'measured' });
  if (found !== null) return found;
  const version = request.version === null ? '' : ` of CoreDNS ${request.version}`;
  throw new BenchError(
    'E_USAGE',
    `--basis: run ${record.id} has no memory line${version} in the configuration ${request.configuration}`,
    { fix: 'Measure it with `bench capacity memory`, or give --basis published.' },
  );
}

/**
 * @throws BenchError `E_USAGE` for a size of more than twice what the basis was measured with, unless `extrapolate`; and as the
 * store does for a run that cannot be read.
 */
export async function chooseBasis(world: World, request: BasisRequest): Promise<ChosenBasis> {
  const { configuration, size, wanted, extrapolate } = request;
  const store = createStore(world, request.out);
  const objects = objectsOf(size);
  const usable = (basis: MemoryBasis) => extrapolate || covers(basis, objects);
  const published = publishedBasis(configuration);
  const notes: string[] = [];
  if (wanted !== undefined) {
    const basis = wanted === 'published' ? published : await namedBasis(store, wanted, request);
    if (!usable(basis)) throw tooFar(basis, objects);
    return { basis, notes };
  }
  for await (const record of ownRecords(world, store)) {
    const basis = measuredBasis(record, { ...request, origin: "this machine's history" });
    if (basis === null) continue;
    if (usable(basis)) return { basis, notes };
    notes.push(
      `Run ${record.id} was not used, because it measured ${formatCount(basis.maxObjects)} objects at most: a line is used up to ${EXTRAPOLATION.text} its range.`,
    );
  }
  if (!usable(published)) throw tooFar(published, objects);
  return { basis: published, notes };
}
