/**
 * Finds what a plan rests on, for memory and for throughput: runs that were named, the newest ones on its cluster or of this
 * machine that fit, else what was published.
 */
import { BenchError } from '../../errors.ts';
import { POOL_SIGN } from '../../history/pool.ts';
import { formatCount } from '../../report/numbers.ts';
import type { Environment } from '../../results/record.ts';
import { commandMaking, type RecordHeader, type RecordKind } from '../../results/record-kind.ts';
import { createStore, type RunStore } from '../../results/store.ts';
import type { World } from '../../world.ts';
import { type CasesRecord, throughputKind } from './cases/evidence.ts';
import { measuredBasis } from './measured-basis.ts';
import { type MemoryRecord, memoryKind } from './memory/evidence.ts';
import { memoryLines } from './memory/lines.ts';
import { beyond, EXTRAPOLATION, type MemoryBasis, publishedBasis, type Size } from './memory-basis.ts';
import { type IsWanted, madeHere, madeOn, ownRecords } from './own-records.ts';
import type { Configuration } from './published.ts';
import { type SurviveRecord, surviveKind } from './survive/evidence.ts';
import { type SurvivedLimit, survivedLimit } from './survived-limit.ts';
import { publishedThroughput, type ThroughputBasis, throughputBasis } from './throughput-basis.ts';

export interface BasisRequest {
  /** By what CoreDNS keeps in memory. */
  readonly configuration: Configuration;
  /** By how it answers lookups. */
  readonly lookups: Configuration;
  readonly size: Size;
  /** Of CoreDNS; null: any. */
  readonly version: string | null;
  /** Address of the API server of the cluster that is planned for; null where it is not known. */
  readonly cluster: string | null;
  /** `--basis`: a run, one of memory and one of throughput with a plus between them, or `published`; undefined to look for them. */
  readonly wanted: string | undefined;
  /** The path of a run that `wanted` names. */
  readonly pathOf: (name: string) => Promise<string>;
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

const HISTORY = "this machine's history";

type Beyond = NonNullable<ReturnType<typeof beyond>>;

function tooFar({ kind, source }: MemoryBasis, { of, wanted, measured }: Beyond): BenchError {
  const most = `${formatCount(measured)} ${of}`;
  const what = kind === 'published' ? most : `${most}: ${source}`;
  return new BenchError(
    'E_USAGE',
    `${formatCount(wanted)} ${of} are more than ${EXTRAPOLATION.text} what was measured (${what})`,
    { fix: 'Add --extrapolate to use the line beyond its range, and verify the result.' },
  );
}

/** What a plan could have used of a measurement. */
const USED = {
  memory: 'memory line',
  throughput: 'CPU-bound throughput for both kinds of lookups',
  survive: 'limit',
} as const;

function useless(id: string, what: keyof typeof USED, request: BasisRequest): BenchError {
  const version = request.version === null ? '' : ` of CoreDNS ${request.version}`;
  return new BenchError(
    'E_USAGE',
    `--basis: run ${id} has no ${USED[what]}${version} in the configuration ${request.configuration}`,
    { fix: `Measure it with \`bench capacity ${what}\`, or give --basis published.` },
  );
}

/** Of the version that the memory is of: request, limit and throughput of one pod are those of one program. */
const sameVersion = <R extends BasisRequest>(
  request: R,
  other: { version: string | null } | undefined,
): R => ({
  ...request,
  version: request.version ?? other?.version ?? null,
});

function otherExperiment(path: string, experiment: string): BenchError {
  return new BenchError('E_RECORD_FOREIGN', `--basis: ${path} is a run of \`${commandMaking(experiment)}\``, {
    fix: 'Give a run of `bench capacity memory`, `survive` or `throughput`.',
  });
}

/** What `--basis` names. */
async function namedRuns(store: RunStore, paths: readonly string[]) {
  const found = {
    memory: [] as MemoryRecord[],
    throughput: [] as CasesRecord[],
    survive: [] as SurviveRecord[],
  };
  for (const path of paths) {
    const { experiment } = await store.find(path);
    if (experiment === surviveKind.experiment)
      found.survive.push((await store.loadAs(surviveKind, path)).record);
    else if (experiment === memoryKind.experiment)
      found.memory.push((await store.loadAs(memoryKind, path)).record);
    else if (experiment === throughputKind.experiment)
      found.throughput.push((await store.loadAs(throughputKind, path)).record);
    else throw otherExperiment(path, experiment);
  }
  return found;
}

/** What a run has for a plan: null if it is none for it, or a sentence's end on why it is not used. */
type FoundIn<T> = T | string | null;

/** What the first of the named runs has; all of them must have it. @throws BenchError `E_USAGE` */
function fromNamed<R extends { readonly id: string }, T extends object>(
  what: keyof typeof USED,
  records: readonly R[],
  request: BasisRequest,
  find: (record: R, options: BasisRequest & { readonly origin: string }) => FoundIn<T>,
): T | undefined {
  const [first] = records.map((record) => {
    const found = find(record, { ...request, origin: 'measured' });
    if (found === null) throw useless(record.id, what, request);
    if (typeof found !== 'string') return found;
    throw new BenchError('E_USAGE', `--basis: run ${record.id} cannot be used: ${found}`, {
      fix: `Measure what the plan is for with the defaults of \`bench capacity ${what}\`, or omit the run.`,
    });
  });
  return first;
}

/** A line that may be used. */
function usableBasis(record: MemoryRecord, request: BasisRequest & { origin: string }): FoundIn<MemoryBasis> {
  const found = measuredBasis(record, request);
  const far = found === null ? null : tooMuchOf(found, request);
  if (far !== null)
    return `it measured ${formatCount(far.measured)} ${far.of} at most: a line is used up to ${EXTRAPOLATION.text} its range`;
  if (found === null && memoryLines(record).length === 0)
    return 'there is no line through its starts: it takes at least two numbers of objects';
  return found;
}

/** Throughput is that of how lookups are answered, whatever is kept in memory. */
const forLookups = (request: BasisRequest): BasisRequest => ({ ...request, configuration: request.lookups });

/** Where a run was made, for people. */
const placeOf = ({ cluster, hostname }: Environment) =>
  cluster === null ? `the machine ${hostname}` : `the cluster at ${cluster.server ?? 'an unknown address'}`;

const tooMuchOf = (basis: MemoryBasis, { size, extrapolate }: BasisRequest) =>
  extrapolate ? null : beyond(basis, size);

/**
 * @throws BenchError `E_USAGE` for a size of more than twice what the basis was measured with, unless `extrapolate`, and for a
 * named run that has nothing for the plan; and as the store does for one that cannot be read.
 */
export async function chooseBasis(world: World, request: BasisRequest): Promise<ChosenBasis> {
  const { configuration, lookups, wanted, cluster } = request;
  const store = createStore(world, request.out);
  const notes: string[] = [];
  /** Where the run was made that is used, by its experiment. */
  const madeAt = new Map<string, string>();
  const used = ({ experiment }: { experiment: string }, record?: Pick<RecordHeader, 'environment'>) => {
    if (record !== undefined) madeAt.set(experiment, placeOf(record.environment));
  };
  /** What the newest run has that has anything; `notes` say why newer ones are not used. */
  async function newest<R extends Pick<RecordHeader, 'id' | 'environment'>, T extends object>(
    kind: RecordKind<R>,
    isWanted: IsWanted,
    find: (record: R) => FoundIn<T>,
  ): Promise<T | undefined> {
    if (wanted === 'published') return undefined;
    for await (const record of ownRecords(store, kind, isWanted)) {
      const found = find(record);
      if (typeof found === 'string') {
        const reason = `was not used, because ${found}.`;
        // Of several runs, only the newest says it.
        if (!notes.some((note) => note.endsWith(reason))) notes.push(`Run ${record.id} ${reason}`);
      } else if (found !== null) {
        used(kind, record);
        return found;
      }
    }
    return undefined;
  }
  const names = wanted === undefined || wanted === 'published' ? [] : wanted.split(POOL_SIGN);
  const named = await namedRuns(store, await Promise.all(names.map(request.pathOf)));
  let basis = fromNamed('memory', named.memory, request, measuredBasis);
  const throughput = fromNamed('throughput', named.throughput, forLookups(request), throughputBasis);
  let survived = fromNamed('survive', named.survive, sameVersion(request, basis), survivedLimit);
  used(memoryKind, named.memory[0]);
  used(surviveKind, named.survive[0]);
  const here = madeHere(world);
  const places = [
    ...(cluster === null ? [] : [["this cluster's history", madeOn(cluster)] as const]),
    [HISTORY, here] as const,
  ];
  for (const [origin, isWanted] of places)
    basis ??= await newest(memoryKind, isWanted, (record) =>
      usableBasis(record, { ...sameVersion(request, survived), origin }),
    );
  for (const [origin, isWanted] of places)
    survived ??= await newest(surviveKind, isWanted, (record) =>
      survivedLimit(record, { ...sameVersion(request, basis), origin }),
    );
  // Of another cluster: said, and left to whoever plans.
  const isElsewhere: IsWanted = (environment) =>
    environment.cluster !== null && places.every(([, isWanted]) => !isWanted(environment));
  if (survived === undefined)
    await newest(surviveKind, isElsewhere, (record) =>
      typeof survivedLimit(record, { ...sameVersion(request, basis), origin: '' }) === 'string'
        ? null
        : `it was made on ${placeOf(record.environment)}: plan with --from-cluster for that cluster, or name the run with --basis`,
    );
  const [line, limit] = [madeAt.get(memoryKind.experiment), madeAt.get(surviveKind.experiment)];
  if (line !== undefined && limit !== undefined && line !== limit)
    notes.push(`The line of memory was measured on ${line}, but the limit was survived on ${limit}.`);
  const own = { ...sameVersion(forLookups(request), survived ?? basis), origin: HISTORY };
  const chosen = basis ?? publishedBasis(configuration);
  const made = {
    basis: chosen,
    throughput:
      throughput ??
      (await newest(throughputKind, here, (record) => throughputBasis(record, own))) ??
      publishedThroughput(lookups),
    survived: survived ?? null,
  };
  const far = tooMuchOf(chosen, request);
  if (far !== null) throw tooFar(chosen, far);
  return { ...made, notes };
}
