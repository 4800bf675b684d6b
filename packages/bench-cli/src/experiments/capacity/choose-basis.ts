/**
 * Finds what a plan rests on, for memory and for throughput: runs that were named, the newest ones on its cluster or of this
 * machine that fit, else what was published.
 */
import { BenchError } from '../../errors.ts';
import { POOL_SIGN } from '../../history/pool.ts';
import { formatCount } from '../../report/numbers.ts';
import type { RecordHeader, RecordKind } from '../../results/record-kind.ts';
import { createStore, type RunStore } from '../../results/store.ts';
import type { World } from '../../world.ts';
import { throughputKind } from './cases/evidence.ts';
import { measuredBasis } from './measured-basis.ts';
import { type MemoryRecord, memoryKind } from './memory/evidence.ts';
import { memoryLines } from './memory/lines.ts';
import {
  covers,
  EXTRAPOLATION,
  type MemoryBasis,
  objectsOf,
  publishedBasis,
  type Size,
} from './memory-basis.ts';
import { type IsWanted, madeHere, madeOn, ownRecords } from './own-records.ts';
import type { Configuration } from './published.ts';
import { type SurviveRecord, surviveKind } from './survive/evidence.ts';
import { type SurvivedLimit, survivedLimit } from './survived-limit.ts';
import { publishedThroughput, type ThroughputBasis, throughputBasis } from './throughput-basis.ts';

export interface BasisRequest {
  readonly configuration: Configuration;
  readonly size: Size;
  /** Of CoreDNS; null: any. */
  readonly version: string | null;
  /** Address of the API server of the cluster that is planned for; null where it is not known. */
  readonly cluster: string | null;
  /** `--basis`: a run, one of memory and one of throughput with a plus between them, or `published`; undefined to look for them. */
  readonly wanted: string | undefined;
  /** Directory of the runs. */
  readonly out: string;
  readonly extrapolate: boolean;
}

export interface ChosenBasis {
  readonly basis: MemoryBasis;
  readonly throughput: ThroughputBasis;
  /** Null where no search for a limit fits. */
  readonly survived: SurvivedLimit | null;
  /** Runs that were found and not used, and why, as sentences. */
  readonly notes: readonly string[];
}

interface Found {
  readonly basis?: MemoryBasis;
  readonly throughput?: ThroughputBasis;
  readonly survived?: SurvivedLimit;
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
const USED = {
  memory: 'memory line',
  throughput: 'CPU-bound throughput for both kinds of lookups',
  survive: 'limit for a cluster of at least this size, and at most twice it,',
} as const;

function useless(id: string, what: string, request: BasisRequest): BenchError {
  if (what !== 'memory' && what !== 'throughput' && what !== 'survive') {
    return new BenchError('E_USAGE', `--basis: run ${id} is one of bench capacity ${what}`, {
      fix: 'Name a run of bench capacity memory, survive or throughput, or give --basis published.',
    });
  }
  const version = request.version === null ? '' : ` of CoreDNS ${request.version}`;
  return new BenchError(
    'E_USAGE',
    `--basis: run ${id} has no ${USED[what]}${version} in the configuration ${request.configuration}`,
    { fix: `Measure it with \`bench capacity ${what}\`, or give --basis published.` },
  );
}

/** Of the version that the memory is of: request and limit of one pod are those of one program. */
const sameVersion = <R extends BasisRequest>(
  request: R,
  other: { version: string | null } | undefined,
): R => ({
  ...request,
  version: request.version ?? other?.version ?? null,
});

/** The limit of a named run. @throws BenchError `E_USAGE` if it has none */
function demandLimit(record: SurviveRecord, request: BasisRequest): SurvivedLimit {
  const found = survivedLimit(record, request.size, { ...request, origin: 'measured' });
  if (found === null) throw useless(record.id, 'survive', request);
  if ('limit' in found) return found.limit;
  throw new BenchError('E_USAGE', `--basis: run ${record.id} cannot be used: ${found.unusable}`, {
    fix: 'Measure it again with the defaults of `bench capacity survive`, or omit the run.',
  });
}

/** What the named runs have; a later one does not replace an earlier one. */
async function namedRuns(store: RunStore, wanted: string, request: BasisRequest): Promise<Found> {
  const found: { -readonly [K in keyof Found]: Found[K] } = {};
  const searched: SurviveRecord[] = [];
  const options = { ...request, origin: 'measured' };
  for (const name of wanted.split(POOL_SIGN)) {
    const { experiment } = await store.find(name);
    if (experiment === surviveKind.experiment) {
      searched.push((await store.loadAs(surviveKind, name)).record);
    } else if (experiment === memoryKind.experiment) {
      const { record } = await store.loadAs(memoryKind, name);
      const basis = measuredBasis(record, options);
      if (basis === null) throw useless(record.id, 'memory', request);
      found.basis ??= basis;
    } else {
      const { record } = await store.loadAs(throughputKind, name);
      const throughput = throughputBasis(record, options);
      if (throughput === null) throw useless(record.id, 'throughput', request);
      found.throughput ??= throughput;
    }
  }
  const [survived] = searched.map((record) => demandLimit(record, sameVersion(request, found.basis)));
  return { ...found, ...(survived && { survived }) };
}

/** What a run has for a plan: null if it is none for it, or a sentence's end on why it is not used. */
type FoundIn<T> = T | string | null;

/** A line that may be used. */
function usableBasis(record: MemoryRecord, request: BasisRequest, origin: string): FoundIn<MemoryBasis> {
  const found = measuredBasis(record, { ...request, origin });
  if (found !== null && !isUsable(found, request))
    return `it measured ${formatCount(found.maxObjects)} objects at most: a line is used up to ${EXTRAPOLATION.text} its range`;
  if (found === null && memoryLines(record).length === 0)
    return 'there is no line through its starts: it takes at least two numbers of objects';
  return found;
}

function usableLimit(record: SurviveRecord, { size, ...options }: BasisRequest): FoundIn<SurvivedLimit> {
  const found = survivedLimit(record, size, { ...options, origin: HISTORY });
  return found === null ? null : 'limit' in found ? found.limit : found.unusable;
}

/** What was not named, from the newest runs on the cluster of the plan, else of this machine. */
async function ownRuns(
  world: World,
  store: RunStore,
  request: BasisRequest,
  named: Found,
): Promise<Found & Pick<ChosenBasis, 'notes'>> {
  const notes: string[] = [];
  /** What the newest run has that has anything; `notes` say why newer ones are not used. */
  async function newest<R extends Pick<RecordHeader, 'id' | 'environment'>, T extends object>(
    kind: RecordKind<R>,
    isWanted: IsWanted,
    find: (record: R) => FoundIn<T>,
  ): Promise<T | undefined> {
    for await (const record of ownRecords(store, kind, isWanted)) {
      const found = find(record);
      if (typeof found === 'string') notes.push(`Run ${record.id} was not used, because ${found}.`);
      else if (found !== null) return found;
    }
    return undefined;
  }
  const { cluster } = request;
  const here = madeHere(world);
  const places = [
    ...(cluster === null ? [] : [["this cluster's history", madeOn(cluster)] as const]),
    [HISTORY, here] as const,
  ];
  let { basis } = named;
  const likeLimit = sameVersion(request, named.survived);
  for (const [origin, isWanted] of places)
    basis ??= await newest(memoryKind, isWanted, (record) => usableBasis(record, likeLimit, origin));
  const measured = { ...request, origin: HISTORY };
  const throughput =
    named.throughput ?? (await newest(throughputKind, here, (record) => throughputBasis(record, measured)));
  const likeMemory = sameVersion(request, basis);
  const survived =
    named.survived ?? (await newest(surviveKind, here, (record) => usableLimit(record, likeMemory)));
  return {
    ...(basis && { basis }),
    ...(throughput && { throughput }),
    ...(survived && { survived }),
    notes,
  };
}

const isUsable = (basis: MemoryBasis, { size, extrapolate }: BasisRequest) =>
  extrapolate || covers(basis, objectsOf(size));

/**
 * @throws BenchError `E_USAGE` for a size of more than twice what the basis was measured with, unless `extrapolate`, and for a
 * named run that has nothing for the plan; and as the store does for one that cannot be read.
 */
export async function chooseBasis(world: World, request: BasisRequest): Promise<ChosenBasis> {
  const { configuration, size, wanted } = request;
  const store = createStore(world, request.out);
  const published = {
    basis: publishedBasis(configuration),
    throughput: publishedThroughput(configuration),
    survived: null,
  };
  const named = wanted === undefined || wanted === 'published' ? {} : await namedRuns(store, wanted, request);
  const own = wanted === 'published' ? { notes: [] } : await ownRuns(world, store, request, named);
  const { notes, ...chosen } = { ...published, ...own };
  if (!isUsable(chosen.basis, request)) throw tooFar(chosen.basis, objectsOf(size));
  return { ...chosen, notes };
}
