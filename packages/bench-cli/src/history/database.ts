/**
 * `results/history.db`: an index of all records, so that listing and trends need not read them all. It is never the
 * only copy of anything: it is built from the records, and rebuilt automatically when it is missing, damaged, or of
 * another version.
 *
 * It is the only file that bench opens outside `World.fs`: SQLite reads, writes and locks it itself.
 */
import { DatabaseSync } from 'node:sqlite';
import { median, medianInterval } from '../stats/intervals.ts';
import { COMPARED_METRICS, type ComparedMetric } from '../stats/metrics.ts';
import { type Entry, type EntryCase, valuesOf } from './entry.ts';

/** Incremented whenever a table or its content changes; an index of another version is rebuilt. */
export const INDEX_VERSION = 7;

/** How long to wait for another bench that is writing. */
const BUSY_MILLISECONDS = 10_000;

const SCHEMA = `
  CREATE TABLE files (path TEXT PRIMARY KEY, stamp TEXT NOT NULL, run_id TEXT, problem TEXT, summary TEXT) STRICT;
  CREATE TABLE runs (
    id TEXT PRIMARY KEY, path TEXT NOT NULL, kind TEXT NOT NULL, status TEXT NOT NULL, started_at TEXT NOT NULL,
    machine TEXT NOT NULL, git_commit TEXT, git_branch TEXT, git_dirty INTEGER, experiment TEXT NOT NULL,
    servers TEXT NOT NULL
  ) STRICT;
  CREATE TABLE cases (
    run_id TEXT NOT NULL, key TEXT NOT NULL, server TEXT, tier REAL, mode TEXT, workload TEXT, transport TEXT,
    rate_per_second REAL, is_baseline INTEGER NOT NULL, limited_by TEXT, contended INTEGER, ok INTEGER NOT NULL, failed INTEGER NOT NULL,
    PRIMARY KEY (run_id, key)
  ) STRICT;
  CREATE TABLE figures (
    run_id TEXT NOT NULL, case_key TEXT NOT NULL, metric TEXT NOT NULL,
    median REAL NOT NULL, low REAL, high REAL, n INTEGER NOT NULL, PRIMARY KEY (run_id, case_key, metric)
  ) STRICT;
  CREATE INDEX runs_by_time ON runs (started_at);
  CREATE INDEX cases_by_server ON cases (server);
  PRAGMA user_version = ${INDEX_VERSION};
`;

export interface RunRow {
  readonly id: string;
  readonly path: string;
  /** `published` for those that ship with bench, which no index has. */
  readonly kind: 'run' | 'imported' | 'published';
  readonly experiment: string;
  readonly status: string;
  readonly startedAt: string;
  readonly machine: string;
  readonly commit: string | null;
  readonly branch: string | null;
  readonly dirty: boolean;
  readonly servers: readonly string[];
  readonly cases: number;
  readonly okTrials: number;
  readonly failedTrials: number;
  /** What its experiment says of it in a line; null if nobody has asked yet. */
  readonly summary: string | null;
}

/** The figure of one case of one run. */
export interface FigureRow {
  readonly runId: string;
  readonly startedAt: string;
  readonly machine: string;
  readonly commit: string | null;
  readonly caseKey: string;
  readonly server: string | null;
  readonly tier: number | null;
  readonly mode: string | null;
  readonly workload: string | null;
  readonly transport: string | null;
  /** Null for no limit. */
  readonly ratePerSecond: number | null;
  readonly isBaseline: boolean;
  readonly median: number;
  readonly low: number | null;
  readonly high: number | null;
  readonly n: number;
}

type Row = Readonly<Record<string, unknown>>;

const text = (row: Row, name: string) => (typeof row[name] === 'string' ? row[name] : null);
const number = (row: Row, name: string) => (typeof row[name] === 'number' ? row[name] : null);

export interface HistoryDatabase {
  /** Path and stamp of every file that is indexed, or is known to be no record. */
  files(): Map<string, string>;
  /** Replaces the file's rows with this entry, or with the reason why it cannot be read. */
  put(path: string, stamp: string, entry: Entry | { readonly problem: string }): void;
  /** Keeps the summary of the run in a file until that file changes. */
  summarize(path: string, summary: string): void;
  /** Forgets files that are gone. */
  forget(paths: readonly string[]): void;
  /** Runs by time, the newest first. */
  runs(): RunRow[];
  /** The figures of a metric by time, the oldest first. */
  figures(metric: ComparedMetric): FigureRow[];
  /** Files that cannot be read, with the reason. */
  problems(): { path: string; problem: string }[];
  close(): void;
}

function figureOf(item: EntryCase, metric: ComparedMetric) {
  const values = valuesOf(item, metric);
  if (values.length === 0) return null;
  const interval = medianInterval(values);
  return {
    median: median(values),
    low: interval?.low ?? null,
    high: interval?.high ?? null,
    n: values.length,
  };
}

/** The figures of a run, as `HistoryDatabase.figures` has them. */
export function figureRows(entry: Entry, metric: ComparedMetric): FigureRow[] {
  const { id: runId, startedAt, machine, git } = entry;
  return entry.cases.flatMap((item) => {
    const { key: caseKey, server, tier, mode, workload, transport, ratePerSecond, isBaseline } = item;
    const axes = { caseKey, server, tier, mode, workload, transport, ratePerSecond, isBaseline };
    const figure = figureOf(item, metric);
    return figure === null
      ? []
      : [{ runId, startedAt, machine, commit: git?.commit ?? null, ...axes, ...figure }];
  });
}

function insertEntry(db: DatabaseSync, path: string, entry: Entry): void {
  const { git } = entry;
  db.prepare('INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)').run(
    entry.id,
    path,
    entry.kind,
    entry.status,
    entry.startedAt,
    entry.machine,
    git?.commit ?? null,
    git?.branch ?? null,
    git === null ? null : Number(git.dirty),
    entry.experiment,
    entry.servers.join(','),
  );
  const insertCase = db.prepare(
    'INSERT OR REPLACE INTO cases VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const insertFigure = db.prepare('INSERT OR REPLACE INTO figures VALUES (?, ?, ?, ?, ?, ?, ?)');
  for (const item of entry.cases) {
    insertCase.run(
      entry.id,
      item.key,
      item.server,
      item.tier,
      item.mode,
      item.workload,
      item.transport,
      item.ratePerSecond,
      Number(item.isBaseline),
      item.limitedBy,
      item.contended === null ? null : Number(item.contended),
      item.trials.length,
      item.failedTrials,
    );
    for (const metric of COMPARED_METRICS) {
      const figure = figureOf(item, metric);
      if (figure === null) continue;
      insertFigure.run(entry.id, item.key, metric, figure.median, figure.low, figure.high, figure.n);
    }
  }
}

function removeRun(db: DatabaseSync, id: string): void {
  for (const [table, column] of [
    ['runs', 'id'],
    ['cases', 'run_id'],
    ['figures', 'run_id'],
  ]) {
    db.prepare(`DELETE FROM ${table} WHERE ${column} = ?`).run(id);
  }
}

function inTransaction(db: DatabaseSync, work: () => void): void {
  db.exec('BEGIN IMMEDIATE');
  try {
    work();
    db.exec('COMMIT');
  } catch (error) {
    db.exec('ROLLBACK');
    throw error;
  }
}

const RUNS = `
  SELECT runs.*, files.summary, count(cases.key) AS cases,
    coalesce(sum(cases.ok), 0) AS ok, coalesce(sum(cases.failed), 0) AS failed
  FROM runs LEFT JOIN cases ON cases.run_id = runs.id LEFT JOIN files ON files.path = runs.path GROUP BY runs.id ORDER BY started_at DESC, runs.id DESC`;

const FIGURES = `
  SELECT figures.*, runs.started_at, runs.machine, runs.git_commit, cases.server, cases.tier, cases.mode,
    cases.workload, cases.transport, cases.rate_per_second, cases.is_baseline
  FROM figures JOIN runs ON runs.id = figures.run_id
    JOIN cases ON cases.run_id = figures.run_id AND cases.key = figures.case_key
  WHERE metric = ? ORDER BY started_at, runs.id, cases.key`;

function runRow(row: Row): RunRow {
  return {
    id: text(row, 'id') ?? '',
    path: text(row, 'path') ?? '',
    kind: row.kind === 'imported' ? 'imported' : 'run',
    experiment: text(row, 'experiment') ?? '',
    status: text(row, 'status') ?? '',
    startedAt: text(row, 'started_at') ?? '',
    machine: text(row, 'machine') ?? '',
    commit: text(row, 'git_commit'),
    branch: text(row, 'git_branch'),
    dirty: row.git_dirty === 1,
    servers: (text(row, 'servers') ?? '').split(',').filter((name) => name !== ''),
    cases: number(row, 'cases') ?? 0,
    okTrials: number(row, 'ok') ?? 0,
    failedTrials: number(row, 'failed') ?? 0,
    summary: text(row, 'summary'),
  };
}

function figureRow(row: Row): FigureRow {
  return {
    runId: text(row, 'run_id') ?? '',
    startedAt: text(row, 'started_at') ?? '',
    machine: text(row, 'machine') ?? '',
    commit: text(row, 'git_commit'),
    caseKey: text(row, 'case_key') ?? '',
    server: text(row, 'server'),
    tier: number(row, 'tier'),
    mode: text(row, 'mode'),
    workload: text(row, 'workload'),
    transport: text(row, 'transport'),
    ratePerSecond: number(row, 'rate_per_second'),
    isBaseline: row.is_baseline === 1,
    median: number(row, 'median') ?? Number.NaN,
    low: number(row, 'low'),
    high: number(row, 'high'),
    n: number(row, 'n') ?? 0,
  };
}

function wrap(db: DatabaseSync): HistoryDatabase {
  return {
    files: () =>
      new Map(
        db
          .prepare('SELECT path, stamp FROM files')
          .all()
          .map((row) => [text(row, 'path') ?? '', text(row, 'stamp') ?? '']),
      ),
    put(path, stamp, entry) {
      inTransaction(db, () => {
        const before = db.prepare('SELECT run_id FROM files WHERE path = ?').get(path);
        const known = before === undefined ? null : text(before, 'run_id');
        if (known !== null) removeRun(db, known);
        const [id, problem] = 'problem' in entry ? [null, entry.problem] : [entry.id, null];
        if (!('problem' in entry)) {
          removeRun(db, entry.id);
          insertEntry(db, path, entry);
        }
        db.prepare('INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, NULL)').run(path, stamp, id, problem);
      });
    },
    summarize(path, summary) {
      db.prepare('UPDATE files SET summary = ? WHERE path = ?').run(summary, path);
    },
    forget(paths) {
      if (paths.length === 0) return;
      inTransaction(db, () => {
        for (const path of paths) {
          const row = db.prepare('SELECT run_id FROM files WHERE path = ?').get(path);
          const id = row === undefined ? null : text(row, 'run_id');
          if (id !== null) removeRun(db, id);
          db.prepare('DELETE FROM files WHERE path = ?').run(path);
        }
      });
    },
    runs: () => db.prepare(RUNS).all().map(runRow),
    figures: (metric) => db.prepare(FIGURES).all(metric).map(figureRow),
    problems: () =>
      db
        .prepare('SELECT path, problem FROM files WHERE problem IS NOT NULL ORDER BY path')
        .all()
        .map((row) => ({ path: text(row, 'path') ?? '', problem: text(row, 'problem') ?? '' })),
    close: () => db.close(),
  };
}

/**
 * Opens the index at `path` (`:memory:` for none on disk) and makes its tables if it is new. Throws where it is
 * damaged, of another version, or cannot be written to.
 */
export function openDatabase(path: string): HistoryDatabase {
  const db = new DatabaseSync(path, { timeout: BUSY_MILLISECONDS });
  try {
    inTransaction(db, () => {
      const version = number(db.prepare('PRAGMA user_version').get() ?? {}, 'user_version');
      if (version === 0) db.exec(SCHEMA);
      else if (version !== INDEX_VERSION) throw new Error(`index version ${version}, not ${INDEX_VERSION}`);
    });
    const [check] = db.prepare('PRAGMA quick_check(1)').all();
    if (check?.quick_check !== 'ok') throw new Error(`quick_check: ${String(check?.quick_check)}`);
    return wrap(db);
  } catch (error) {
    db.close();
    throw error;
  }
}
