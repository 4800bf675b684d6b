/** Records in an SQLite database of one table, through the module that Node.js has for it. */
import { DatabaseSync } from 'node:sqlite';
import { messageOf } from '@dinodns-bench/program';
import { ServerError } from '../errors.ts';
import type { RecordDatabase } from './record-database.ts';

/** A worker waits this long for another one that fills the database. */
const BUSY_MILLISECONDS = 60_000;

/** Opens or makes the database. Throws `E_UNREADABLE`. */
export function openSqlite(file: string): RecordDatabase {
  let database: DatabaseSync;
  try {
    database = new DatabaseSync(file);
    database.exec(`PRAGMA busy_timeout = ${BUSY_MILLISECONDS}`);
    // Readers do not wait for a writer.
    database.exec('PRAGMA journal_mode = WAL');
    database.exec(
      'CREATE TABLE IF NOT EXISTS records (name TEXT PRIMARY KEY, sets TEXT NOT NULL) WITHOUT ROWID',
    );
  } catch (error) {
    throw new ServerError(
      'E_UNREADABLE',
      `The database ${file} cannot be used: ${messageOf(error)}`,
      'Give the path of an SQLite database, or of a file that can be made.',
      error,
    );
  }
  const select = database.prepare('SELECT sets FROM records WHERE name = ?');
  const textOf = (name: string) => {
    const row = select.get(name);
    return row === undefined ? null : String(row.sets);
  };
  return {
    // The database is in this process: names in turn cost no more than names at once.
    read: (names) => names.map(textOf),
    fill(entries) {
      database.exec('BEGIN IMMEDIATE');
      database.exec('DELETE FROM records');
      const insert = database.prepare('INSERT INTO records (name, sets) VALUES (?, ?)');
      for (const [name, sets] of entries) insert.run(name, sets);
      database.exec('COMMIT');
    },
    close: () => database.close(),
  };
}
