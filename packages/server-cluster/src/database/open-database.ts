/** The databases that a server can answer from, by how the command line names them. */
import { ServerError } from '../errors.ts';
import type { RecordDatabase } from './record-database.ts';
import { openRedis } from './redis.ts';
import { openSqlite } from './sqlite.ts';

/**
 * `sqlite:FILE`, `redis:HOST:PORT` or `redis:/PATH` (a Unix socket). Rejects with `E_USAGE` for another text, and with
 * `E_UNREADABLE` if the database cannot be opened.
 */
export async function openDatabase(text: string): Promise<RecordDatabase> {
  const [, kind, place = ''] = /^(sqlite|redis):(.+)$/.exec(text) ?? [];
  if (kind === 'sqlite') return openSqlite(place);
  if (kind === 'redis') return openRedis(place);
  throw new ServerError(
    'E_USAGE',
    `--store "${text}" names no database.`,
    'Give sqlite:FILE, redis:HOST:PORT or redis:/PATH-OF-A-SOCKET.',
  );
}
