/** From a user's reference to a run. */
import { basename, dirname, join, resolve } from 'node:path';
import { nearest } from '@dinodns-bench/program';
import { BenchError } from '../errors.ts';
import { RAW_NAME } from '../results/raw-output.ts';
import { fileIn, isRecordName, recordIn } from '../results/record-file.ts';
import { counted } from '../text.ts';
import type { World } from '../world.ts';
import type { Entry } from './entry.ts';
import { IMPORTED_NAME } from './imported.ts';
import type { EntryReader, Problem, RunRow } from './listing.ts';
import { isPublished, publishedEntry } from './published.ts';

/** What is known of a results directory. */
export interface RunIndex {
  readonly resultsDirectory: string;
  /** The newest first. */
  readonly runs: readonly RunRow[];
  /** Records that cannot be read. */
  readonly problems: readonly Problem[];
  /** Ids by name, from `bench history tag`. */
  readonly tags: ReadonlyMap<string, string>;
  readonly read: EntryReader;
}

/** How many runs an error lists. */
const MAX_RUNS = 5;
/** A shorter reference is more likely something else. */
const MIN_COMMIT_LENGTH = 7;

/** The path of a record that a path of the user leads to; null for none. */
async function recordAt(world: Pick<World, 'fs' | 'cwd'>, reference: string): Promise<string | null> {
  if (reference === '') return null;
  const path = resolve(world.cwd, reference);
  const stats = await world.fs.stat(path).catch(() => null);
  if (stats?.isDirectory()) return (await fileIn(world, path, [IMPORTED_NAME]))?.path ?? null;
  if (stats !== null) return path;
  // A record that was compressed, or unpacked, since somebody noted its path.
  return isRecordName(basename(path)) ? recordIn(world, dirname(path)) : null;
}

/** What `latest`, a branch and a commit may mean; an ID, a name or a path means its run in any case. */
export interface Wanted {
  /** The ID of a run to skip: the gated run is not its own reference. Default: none. */
  readonly except?: string | null;
  /** Which runs may be meant. Default: all. */
  readonly isWanted?: (run: RunRow) => boolean;
}

/** The newest complete run of a branch or commit, or the newest one if none is complete. */
function newest(runs: readonly RunRow[]): RunRow | undefined {
  return runs.find(({ status }) => status === 'complete') ?? runs[0];
}

/** The folder of a run, which usually has the name of its ID. */
const folderOf = ({ path }: RunRow) => dirname(path);

/**
 * The run that `reference` means, from the index alone. In this order: a name given with `bench history tag`; `latest`;
 * the ID of a run or the name of its folder; the newest complete run of a git branch; the beginning of one ID; the newest of a
 * git commit.
 */
export function findRun(
  { runs, tags, resultsDirectory }: Pick<RunIndex, 'runs' | 'tags' | 'resultsDirectory'>,
  reference: string,
  { except = null, isWanted = () => true }: Wanted = {},
): RunRow | undefined {
  const others = runs.filter((run) => run.id !== except && isWanted(run));
  const tagged = tags.get(reference);
  if (tagged !== undefined) return runs.find(({ id }) => id === tagged);
  if (reference === 'latest') {
    const made = others.filter(({ kind }) => kind === 'run');
    // One's own come before those in folders one level deeper, such as the published ones.
    return made.find((run) => dirname(folderOf(run)) === resultsDirectory) ?? made[0];
  }
  const exact =
    runs.find(({ id }) => id === reference) ?? runs.find((run) => basename(folderOf(run)) === reference);
  if (exact !== undefined) return exact;
  const ofBranch = newest(others.filter(({ branch }) => branch === reference));
  if (ofBranch !== undefined) return ofBranch;
  const beginning = runs.filter(({ id }) => reference !== '' && id.startsWith(reference));
  if (beginning.length === 1) return beginning[0];
  return reference.length >= MIN_COMMIT_LENGTH
    ? newest(others.filter(({ commit }) => commit?.startsWith(reference) === true))
    : undefined;
}

/** Why a directory has no run to show, and what to do about it, as sentences. */
export async function whyNoRuns(
  { fs }: Pick<World, 'fs'>,
  { problems, resultsDirectory }: RunIndex,
): Promise<{ readonly why: string; readonly fix: string }> {
  const reasons = problems.length === 1 ? 'the reason' : 'the reasons';
  if (problems.length > 0)
    return {
      why: `no run in ${resultsDirectory} can be read: it has ${counted(problems.length, 'record')}, skipped for ${reasons} above`,
      fix: 'Restore the files from a copy, measure again, or give another directory with --out.',
    };
  const exists = (await fs.stat(resultsDirectory).catch(() => null)) !== null;
  return {
    why: exists ? `there are no runs in ${resultsDirectory} yet` : `${resultsDirectory} does not exist`,
    fix: 'Make a run with `bench run`, import some with `bench import`, or give another directory with --out.',
  };
}

function unknownRun(index: RunIndex, reference: string): BenchError {
  const { runs, tags } = index;
  const beginning = runs.filter(({ id }) => reference !== '' && id.startsWith(reference));
  const branches = runs.flatMap(({ branch }) => branch ?? []);
  const suggestion = nearest(reference, [
    ...new Set([...tags.keys(), ...branches, 'latest', ...runs.map(({ id }) => id)]),
  ]);
  const dangling = tags.get(reference);
  const message =
    dangling !== undefined
      ? `${JSON.stringify(reference)} is the name of run ${dangling}, which is gone`
      : beginning.length > 1
        ? `${beginning.length} runs begin with ${JSON.stringify(reference)}`
        : `there is no run ${JSON.stringify(reference)}`;
  const fix =
    beginning.length > 1
      ? 'Give more of the id.'
      : suggestion !== undefined && suggestion !== reference
        ? `Did you mean "${suggestion}"?`
        : 'Give the id of a run, its path, `latest`, a name from `bench history tag`, a git branch or a commit.';
  return new BenchError('E_RECORD_UNREADABLE', message, {
    fix,
    evidence: (beginning.length > 1 ? beginning : runs)
      .slice(0, MAX_RUNS)
      .map(({ id, branch, servers }) => `${id}  ${branch ?? '-'}  ${servers.join(', ')}`),
  });
}

/** A run makes its folder before it begins, and its record with the first trial. */
async function refuseWithoutRecord({ fs }: Pick<World, 'fs'>, directories: readonly string[]): Promise<void> {
  for (const directory of directories) {
    const stats = await fs.stat(join(directory, RAW_NAME)).catch(() => null);
    if (stats === null) continue;
    throw new BenchError('E_RECORD_UNREADABLE', `${directory} has no record: its run has no trial yet`, {
      fix: 'If that run was killed, start it again and delete the folder: there is nothing to resume or to report.',
    });
  }
}

type ResolveWorld = Pick<World, 'fs' | 'cwd'>;

/** The path of the record that `reference` means; null if the publications may have it. */
async function locate(
  world: ResolveWorld,
  index: RunIndex,
  reference: string,
  wanted: Wanted = {},
): Promise<string | null> {
  const path =
    findRun(index, reference, wanted)?.path ??
    (await recordAt(world, reference)) ??
    // A record that cannot be read is not in the index: to read it says why.
    (reference === '' ? null : await recordAt(world, join(index.resultsDirectory, reference)));
  if (path !== null || isPublished(reference)) return path;
  const named = [join(index.resultsDirectory, reference), resolve(world.cwd, reference)];
  if (reference !== '') await refuseWithoutRecord(world, named);
  if (index.runs.length > 0) throw unknownRun(index, reference);
  const { why, fix } = await whyNoRuns(world, index);
  throw new BenchError('E_RECORD_UNREADABLE', `there is no run ${JSON.stringify(reference)}: ${why}`, {
    fix,
  });
}

/** The path of the record of a run, or of an import. Rejects with `E_RECORD_UNREADABLE` or, for what has no file, `E_RECORD_FOREIGN`. */
export async function locateRecord(world: ResolveWorld, index: RunIndex, reference: string): Promise<string> {
  const path = await locate(world, index, reference);
  if (path === null) throw notOfBench(reference);
  return path;
}

const notOfBench = (what: string) =>
  new BenchError('E_RECORD_FOREIGN', `${what} is a measurement of another program`, {
    fix: 'Use `bench history`, `bench compare` or `bench trend`; reports exist only for runs of bench.',
  });

/** The path of the record of a run that bench made. Rejects with `E_RECORD_UNREADABLE` or `E_RECORD_FOREIGN`. */
export async function locateRun(world: ResolveWorld, index: RunIndex, reference: string): Promise<string> {
  const path = await locateRecord(world, index, reference);
  if (basename(path) === IMPORTED_NAME) throw notOfBench(dirname(path));
  return path;
}

/** Reads the run that `reference` means. Rejects with `E_RECORD_UNREADABLE` and the like. */
export async function loadEntry(
  world: ResolveWorld,
  index: RunIndex,
  reference: string,
  wanted: Wanted = {},
): Promise<Entry> {
  const path = await locate(world, index, reference, wanted);
  return path === null ? publishedEntry(reference) : index.read(path);
}
