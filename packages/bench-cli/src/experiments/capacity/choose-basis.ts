/**
 * Finds what a plan rests on, for memory and for throughput: runs that were named, the newest ones of this machine that fit,
 * else what was published.
 */
import { BenchError } from '../../errors.ts';
import { POOL_SIGN } from '../../history/pool.ts';
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
import { type CapacityRecord, capacityKind } from './record.ts';
import { measuredThroughput, publishedThroughput, type ThroughputBasis } from './throughput-basis.ts';

export interface BasisRequest {
  readonly configuration: Configuration;
  readonly size: Size;
  /** Of CoreDNS; null: any. */
  readonly version: string | null;
  /** `--basis`: a run, one of memory and one of throughput with a plus between them, or `published`; undefined to look for them. */
  readonly wanted: string | undefined;
  /** Directory of the runs. */
  readonly out: string;
  readonly extrapolate: boolean;
}

export interface ChosenBasis {
  readonly basis: MemoryBasis;
  readonly throughput: ThroughputBasis;
  /** Runs that were found and not used, and why, as sentences. */
  readonly notes: readonly string[];
}

interface Found {
  readonly basis?: MemoryBasis;
  readonly throughput?: ThroughputBasis;
}

const HISTORY = "this machine's history";

function tooFar({ maxObjects, kind, source }: MemoryBasis, objects: number): BenchError {
  const measured = `${formatCount(maxObjects)} objects`;
  const what = kind === 'published' ? measured : `${measured}: ${source}`;
  return new BenchError(
    'E_USAGE',
    `${formatCount(objects)} objects are more than ${EXTRAPOLATION.text} what was measured (${what})`,
    { fix: 'Add --extrapolate to use the line beyond its range, and verify the result.' },
  );
}

/** What a plan could have used of a measurement. */
const USED = { memory: 'memory line', throughput: 'throughput for both kinds of lookups' } as const;

function useless({ id, measured: { what } }: CapacityRecord, request: BasisRequest): BenchError {
  if (what !== 'memory' && what !== 'throughput') {
    return new BenchError('E_USAGE', `--basis: run ${id} is one of bench capacity ${what}`, {
      fix: 'Name a run of bench capacity memory or throughput, or give --basis published.',
    });
  }
  const version = request.version === null ? '' : ` of CoreDNS ${request.version}`;
  return new BenchError(
    'E_USAGE',
    `--basis: run ${id} has no ${USED[what]}${version} in the configuration ${request.configuration}`,
    { fix: `Measure it with \`bench capacity ${what}\`, or give --basis published.` },
  );
}

/** What the named runs have; a later one does not replace an earlier one. */
async function namedRuns(store: RunStore, wanted: string, request: BasisRequest): Promise<Found> {
  const found: { basis?: MemoryBasis; throughput?: ThroughputBasis } = {};
  for (const name of wanted.split(POOL_SIGN)) {
    const { record } = await store.loadAs(capacityKind, name);
    const options = { ...request, origin: 'measured' };
    const [basis, throughput] = [measuredBasis(record, options), measuredThroughput(record, options)];
    if (basis === null && throughput === null) throw useless(record, request);
    if (basis !== null) found.basis ??= basis;
    if (throughput !== null) found.throughput ??= throughput;
  }
  return found;
}

/** What was not named, from the newest runs of this machine. */
async function ownRuns(
  world: World,
  store: RunStore,
  request: BasisRequest,
  named: Found,
  isUsable: (basis: MemoryBasis) => boolean,
): Promise<Found & Pick<ChosenBasis, 'notes'>> {
  let { basis, throughput } = named;
  const notes: string[] = [];
  const options = { ...request, origin: HISTORY };
  for await (const record of ownRecords(world, store)) {
    if (basis !== undefined && throughput !== undefined) break;
    throughput ??= measuredThroughput(record, options) ?? undefined;
    const found = basis === undefined ? measuredBasis(record, options) : null;
    if (found === null) continue;
    if (isUsable(found)) basis = found;
    else {
      notes.push(
        `Run ${record.id} was not used, because it measured ${formatCount(found.maxObjects)} objects at most: a line is used up to ${EXTRAPOLATION.text} its range.`,
      );
    }
  }
  return { ...(basis && { basis }), ...(throughput && { throughput }), notes };
}

/**
 * @throws BenchError `E_USAGE` for a size of more than twice what the basis was measured with, unless `extrapolate`, and for a
 * named run that has nothing for the plan; and as the store does for one that cannot be read.
 */
export async function chooseBasis(world: World, request: BasisRequest): Promise<ChosenBasis> {
  const { configuration, size, wanted, extrapolate } = request;
  const store = createStore(world, request.out);
  const objects = objectsOf(size);
  const isUsable = (basis: MemoryBasis) => extrapolate || covers(basis, objects);
  const published = { basis: publishedBasis(configuration), throughput: publishedThroughput(configuration) };
  const named = wanted === undefined || wanted === 'published' ? {} : await namedRuns(store, wanted, request);
  const own = wanted === 'published' ? { notes: [] } : await ownRuns(world, store, request, named, isUsable);
  const { notes, ...chosen } = { ...published, ...own };
  if (!isUsable(chosen.basis)) throw tooFar(chosen.basis, objects);
  return { ...chosen, notes };
}
