/** From a user's reference to a run. */
import { join, resolve } from 'node:path';
import { nearest } from '@dinodns-bench/program';
import { BenchError } from '../errors.ts';
import { fileIn } from '../results/record-file.ts';
import { refuseWithoutRecord } from '../results/store.ts';
import type { World } from '../world.ts';
import type { Entry } from './entry.ts';
import { IMPORTED_NAME } from './imported.ts';
import type { EntryReader, RunRow } from './listing.ts';
import { publishedEntry } from './published.ts';

/** What is known of a results directory. */
export interface RunIndex {
  readonly resultsDirectory: string;
  /** The newest first. */
  readonly runs: readonly RunRow[];
  /** Ids by name, from `bench history tag`. */
  readonly tags: ReadonlyMap<string, string>;
  readonly read: EntryReader;
}

/** How many runs an error lists. */
const MAX_RUNS = 5;
/** A shorter reference is more likely something else. */
const MIN_COMMIT_LENGTH = 7;

/** The path of a record that a path of the user leads to; null for none. */
export async function recordAt(world: Pick<World, 'fs' | 'cwd'>, reference: string): Promise<string | null> {
  if (reference === '') return null;
  const path = resolve(world.cwd, reference);
  const stats = await world.fs.stat(path).catch(() => null);
  if (stats === null) return null;
  return stats.isDirectory() ? ((await fileIn(world, path, [IMPORTED_NAME]))?.path ?? null) : path;
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

/**
 * The run that `reference` means, from the index alone. In this order: a name given with `bench history tag`; `latest`;
 * the ID of a run or a unique prefix of it; the newest complete run of a git branch; the newest of a git commit.
 */
export function findRun(
  { runs, tags }: Pick<RunIndex, 'runs' | 'tags'>,
  reference: string,
  { except = null, isWanted = () => true }: Wanted = {},
): RunRow | undefined {
  const others = runs.filter((run) => run.id !== except && isWanted(run));
  const tagged = tags.get(reference);
  if (tagged !== undefined) return runs.find(({ id }) => id === tagged);
  if (reference === 'latest') return others.find(({ kind }) => kind === 'run');
  const exact = runs.find(({ id }) => id === reference);
  if (exact !== undefined) return exact;
  const ofBranch = newest(others.filter(({ branch }) => branch === reference));
  if (ofBranch !== undefined) return ofBranch;
  const beginning = runs.filter(({ id }) => reference !== '' && id.startsWith(reference));
  if (beginning.length === 1) return beginning[0];
  return reference.length >= MIN_COMMIT_LENGTH
    ? newest(others.filter(({ commit }) => commit?.startsWith(reference) === true))
    : undefined;
}

function unknownRun(index: RunIndex, reference: string): BenchError {
  const { runs, tags, resultsDirectory } = index;
  const branches = runs.flatMap(({ branch }) => branch ?? []);
  const suggestion = nearest(reference, [
    ...new Set([...tags.keys(), ...branches, 'latest', ...runs.map(({ id }) => id)]),
  ]);
  const dangling = tags.get(reference);
  const message =
    dangling === undefined
      ? `there is no run ${JSON.stringify(reference)}`
      : `${JSON.stringify(reference)} is the name of run ${dangling}, which is gone`;
  const fix =
    runs.length === 0
      ? `There are no runs in ${resultsDirectory} yet: make one with \`bench run\`, or give another directory with --out.`
      : suggestion !== undefined && suggestion !== reference
        ? `Did you mean "${suggestion}"?`
        : 'Give the id of a run, its path, `latest`, a name from `bench history tag`, a git branch or a commit.';
  return new BenchError('E_RECORD_UNREADABLE', message, {
    fix,
    evidence: runs
      .slice(0, MAX_RUNS)
      .map(({ id, branch, servers }) => `${id}  ${branch ?? '-'}  ${servers.join(', ')}`),
  });
}

/** Reads the run that `reference` means. Rejects with `E_RECORD_UNREADABLE` and the like. */
export async function loadEntry(
  world: Pick<World, 'fs' | 'cwd'>,
  index: RunIndex,
  reference: string,
  wanted: Wanted = {},
): Promise<Entry> {
  const found = findRun(index, reference, wanted);
  if (found !== undefined) return index.read(found.path);
  const path = await recordAt(world, reference);
  if (path !== null) return index.read(path);
  const published = publishedEntry(reference);
  if (published !== null) return published;
  await refuseWithoutRecord(world, [join(index.resultsDirectory, reference), resolve(world.cwd, reference)]);
  throw unknownRun(index, reference);
}
