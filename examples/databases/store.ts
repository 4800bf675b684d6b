/** The databases by their names on the command line. */
import type { DatabaseStore, DatabaseStoreOptions } from './database-store.ts';
import { fillRedis, RedisStore } from './redis-store.ts';
import { fillSqlite, SqliteStore } from './sqlite-store.ts';

function placeOf(text: string): { readonly kind: string; readonly place: string } {
  const [, kind, place] = /^(redis|sqlite):(.+)$/.exec(text) ?? [];
  if (kind !== undefined && place !== undefined) return { kind, place };
  throw new Error(`--store "${text}" names no database. Pass sqlite:FILE, redis:HOST:PORT or redis:/SOCKET.`);
}

/** Opens `sqlite:FILE`, `redis:HOST:PORT` or `redis:/SOCKET` for questions. Throws only for another text. */
export function openStore(text: string, options?: DatabaseStoreOptions): DatabaseStore {
  const { kind, place } = placeOf(text);
  return kind === 'redis' ? new RedisStore(place, options) : new SqliteStore(place, options);
}

/** Replaces the content of the database. Rejects with the reason, and then the database keeps what it had. */
export async function fillStore(text: string, entries: ReadonlyMap<string, string>): Promise<void> {
  const { kind, place } = placeOf(text);
  await (kind === 'redis' ? fillRedis(place, entries) : fillSqlite(place, entries));
}
