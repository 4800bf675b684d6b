/** A server's records in a database: opened and filled when the server loads its zones. */
import type { DNSRequest, DNSResponse } from 'dinodns/types/server.js';
import type { ZoneSource } from '../options.ts';
import { answerFrom } from './database-store.ts';
import { openDatabase } from './open-database.ts';
import { entriesOf, type RecordDatabase } from './record-database.ts';

export interface DatabaseBackend {
  /** Fills the database with these zones, and nothing else. Rejects with a `ServerError`. */
  load(zones: ZoneSource): Promise<void>;
  answer(request: DNSRequest, response: DNSResponse): void;
  close(): void;
}

/** `place` as in `openDatabase`. */
export function serveFrom(place: string): DatabaseBackend {
  let database: RecordDatabase | undefined;
  return {
    async load(zones) {
      database ??= await openDatabase(place);
      await database.fill(entriesOf(zones));
    },
    answer(request, response) {
      // It never rejects: whatever fails is a SERVFAIL.
      if (database === undefined) response.errors.serverFailure();
      else void answerFrom(database, request, response);
    },
    close: () => database?.close(),
  };
}
