/** Records in an SQLite file: the table `records (name, sets)`. A fill is one transaction of another process. */
import { statSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { DatabaseStore, type DatabaseStoreOptions } from './database-store.ts';

/** A fill waits this long for another one. A reader never waits: it would hold up all other questions. */
const FILL_WAITS_MILLISECONDS = 60_000;

interface Opened {
  readonly database: DatabaseSync;
  readonly select: StatementSync;
  /** Inode number of the file. */
  readonly inode: number;
}

export class SqliteStore extends DatabaseStore {
  readonly #file: string;
  #opened: Opened | undefined;

  /** The file may be made later: questions get SERVFAIL until then. */
  constructor(file: string, options?: DatabaseStoreOptions) {
    super(options);
    this.#file = file;
  }

  #open(): Opened {
    const { ino: inode } = statSync(this.#file);
    const database = new DatabaseSync(this.#file, { readOnly: true });
    try {
      const select = database.prepare('SELECT sets FROM records WHERE name = ?');
      this.#opened = { database, select, inode };
      return this.#opened;
    } catch (error) {
      database.close();
      throw error;
    }
  }

  protected override async read(keys: readonly string[]): Promise<readonly (string | null)[]> {
    const { database, select } = this.#opened ?? this.#open();
    // One transaction: all keys are from before a fill, or all from after it.
    database.exec('BEGIN');
    try {
      return keys.map((key) => {
        const sets = select.get(key)?.sets;
        return sets === undefined ? null : String(sets);
      });
    } finally {
      database.exec('COMMIT');
    }
  }

  override async check(): Promise<void> {
    // A file that was removed or replaced could otherwise be read for ever.
    if (this.#opened !== undefined && statSync(this.#file).ino !== this.#opened.inode) this.reopen();
    await super.check();
  }

  protected override reopen(): void {
    this.#opened?.database.close();
    this.#opened = undefined;
  }

  override close(): void {
    super.close();
    this.reopen();
  }
}

/** Replaces the content at once for all readers. If it fails, the file keeps what it had. */
export function fillSqlite(file: string, entries: ReadonlyMap<string, string>): void {
  const database = new DatabaseSync(file, { timeout: FILL_WAITS_MILLISECONDS });
  try {
    // Readers go on with the old content while it is written.
    database.exec('PRAGMA journal_mode = WAL');
    database.exec('BEGIN IMMEDIATE');
    database.exec(
      'CREATE TABLE IF NOT EXISTS records (name TEXT PRIMARY KEY, sets TEXT NOT NULL) WITHOUT ROWID',
    );
    database.exec('DELETE FROM records');
    const insert = database.prepare('INSERT INTO records (name, sets) VALUES (?, ?)');
    for (const [name, sets] of entries) insert.run(name, sets);
    database.exec('COMMIT');
  } finally {
    // Rolls back what is not committed.
    database.close();
  }
}
