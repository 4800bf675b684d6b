/**
 * Every run and imported measurement of a results directory. `entry.json` beside a record has what lists and trends need of it,
 * so that records are read once. It is never the only copy of anything: one that is missing, that cannot be read, or whose
 * record has changed is made again from the record; where it cannot be written, that only costs time.
 */
import { dirname, join, sep } from 'node:path';
import { BenchError } from '../errors.ts';
import { type EstimandFacts, summaryOfFigure, valuesOf } from '../report/estimand.ts';
import type { SummaryStatistic } from '../results/record.ts';
import { type FoundFile, fileIn } from '../results/record-file.ts';
import { writeWhole } from '../results/write-whole.ts';
import type { World } from '../world.ts';
import { conditionSettings, type Entry, type EntryCase } from './entry.ts';
import { IMPORTED_NAME } from './imported.ts';

const ENTRY_NAME = 'entry.json';

/** Incremented whenever the content of `entry.json` changes. */
const ENTRY_VERSION = 9;

/** How many folders are read at a time: system calls wait for each other, not for us. */
const LANES = 32;

/** A figure of a case over its trials. */
export interface ListedFigure extends SummaryStatistic {
  /** True if something other than the subject kept it from being better in a trial. */
  readonly isBound: boolean;
  /** See `EntryCase.foreign`. */
  readonly isForeign: boolean;
  /** Those of two trials, whose interval would say nothing; absent for more or fewer. */
  readonly both?: readonly number[];
}

export type ListedCase = Pick<EntryCase, 'key' | 'subject' | 'title' | 'point'> & {
  /** By the names of the estimands; those that were measured. */
  readonly figures: Readonly<Record<string, ListedFigure>>;
};

/** A run as lists and trends need it. */
export interface RunRow
  extends Pick<Entry, 'id' | 'experiment' | 'status' | 'startedAt' | 'machine' | 'servers' | 'summary'> {
  /** Of the record. */
  readonly path: string;
  /** `published` for those that ship with bench. */
  readonly kind: 'run' | 'imported' | 'published';
  readonly commit: string | null;
  readonly branch: string | null;
  readonly dirty: boolean;
  readonly okTrials: number;
  readonly failedTrials: number;
  /** See `conditionSettings`. */
  readonly settings: Readonly<Record<string, string>>;
  readonly estimands: readonly EstimandFacts[];
  readonly cases: readonly ListedCase[];
}

/** Reads the record at a path, of any experiment. */
export type EntryReader = (path: string) => Promise<Entry>;

/** Files that cannot be read, with the reason. */
export interface Problem {
  readonly path: string;
  readonly problem: string;
}

interface Listing {
  /** The newest first, each once. */
  readonly runs: readonly RunRow[];
  readonly problems: readonly Problem[];
}

function listedCase(item: EntryCase, estimands: readonly EstimandFacts[]): ListedCase {
  const figures = estimands.flatMap((estimand) => {
    const { name } = estimand;
    const values = valuesOf(item.trials, name);
    const summary = summaryOfFigure(estimand, item.trials);
    if (summary === null) return [];
    return [
      [
        name,
        {
          ...summary,
          isBound: item.bounds.includes(name),
          isForeign: item.foreign.includes(name),
          ...(values.length === 2 && { both: values }),
        },
      ] as const,
    ];
  });
  const { key, subject, title, point } = item;
  return { key, subject, title, point, figures: Object.fromEntries(figures) };
}

export function rowOf(entry: Entry, path: string): RunRow {
  const { id, kind, experiment, status, startedAt, machine, servers, summary, estimands, git } = entry;
  const count = (of: (item: EntryCase) => number) => entry.cases.reduce((sum, item) => sum + of(item), 0);
  return {
    ...{ id, path, kind, experiment, status, startedAt, machine, servers, summary, estimands },
    settings: conditionSettings(entry),
    commit: git?.commit ?? null,
    branch: git?.branch ?? null,
    dirty: git?.dirty === true,
    okTrials: count(({ trials }) => trials.length),
    failedTrials: count(({ failedTrials }) => failedTrials),
    cases: entry.cases.map((item) => listedCase(item, estimands)),
  };
}

interface EntryFile {
  readonly version: typeof ENTRY_VERSION;
  /** Of the record that it was made from. */
  readonly stamp: string;
  readonly run: Omit<RunRow, 'path'>;
}

type ListingWorld = Pick<World, 'fs' | 'processes'>;

async function keptRow({ fs }: ListingWorld, { path, stamp }: FoundFile): Promise<RunRow | null> {
  try {
    // We wrote it, so its version and its stamp say that it is whole.
    const file: EntryFile | null = JSON.parse(await fs.readFile(join(dirname(path), ENTRY_NAME), 'utf8'));
    return file?.version === ENTRY_VERSION && file.stamp === stamp ? { ...file.run, path } : null;
  } catch {
    return null;
  }
}

async function keep({ fs, processes }: ListingWorld, { stamp }: FoundFile, row: RunRow): Promise<void> {
  const { path, ...run } = row;
  const file: EntryFile = { version: ENTRY_VERSION, stamp, run };
  const text = `${JSON.stringify(file)}\n`;
  await writeWhole(fs, processes.ownPid, join(dirname(path), ENTRY_NAME), text).catch(() => undefined);
}

/** What a folder in the results directory has: a record, or folders of records as in `reference/NAME`. */
async function filesIn({ fs }: ListingWorld, folder: string): Promise<FoundFile[]> {
  const own = await fileIn({ fs }, folder, [IMPORTED_NAME]);
  if (own !== null) return [own];
  const deeper = await fs.readdir(folder, { withFileTypes: true }).catch(() => []);
  const found = deeper
    .filter((item) => item.isDirectory())
    .map(({ name }) => fileIn({ fs }, join(folder, name), [IMPORTED_NAME]));
  return (await Promise.all(found)).filter((file) => file !== null);
}

const depthOf = ({ path }: RunRow) => path.split(sep).length;

/**
 * Every record in the results directory and one folder deeper. Nothing if there is no such directory. `isAnew`: all are read
 * again.
 */
export async function listRuns(
  world: ListingWorld,
  resultsDirectory: string,
  read: EntryReader,
  isAnew = false,
): Promise<Listing> {
  const items = await world.fs.readdir(resultsDirectory, { withFileTypes: true }).catch(() => []);
  const folders = items.filter((item) => item.isDirectory()).map(({ name }) => join(resultsDirectory, name));
  const runs = new Map<string, RunRow>();
  const problems: Problem[] = [];
  const take = async (file: FoundFile) => {
    const kept = isAnew ? null : await keptRow(world, file);
    try {
      const row = kept ?? rowOf(await read(file.path), file.path);
      if (kept === null) await keep(world, file, row);
      // A copy is no second run: one that was kept in a folder, as published runs are, stands back.
      const known = runs.get(row.id);
      if (known === undefined || depthOf(row) <= depthOf(known)) runs.set(row.id, row);
    } catch (error) {
      if (!(error instanceof BenchError)) throw error;
      // Those who show it name the path, too.
      problems.push({ path: file.path, problem: error.message.replace(`${file.path} `, '') });
    }
  };
  const waiting = folders.values();
  const lane = async () => {
    for (const folder of waiting) for (const file of await filesIn(world, folder)) await take(file);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  const byTime = (a: RunRow, b: RunRow) => compareText(b.startedAt, a.startedAt) || compareText(b.id, a.id);
  return {
    runs: [...runs.values()].toSorted(byTime),
    problems: problems.toSorted((a, b) => compareText(a.path, b.path)),
  };
}

const compareText = (a: string, b: string) => (a < b ? -1 : Number(a > b));
