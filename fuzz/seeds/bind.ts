/** Messages of BIND's fuzzing corpora, which are not in the repository. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { conformanceDirectory } from '@dinodns-bench/test-support/requirements';

function isSeed(value: unknown): value is { readonly base64: string } {
  return typeof value === 'object' && value !== null && 'base64' in value && typeof value.base64 === 'string';
}

/** As they are, and as queries; none where the file is missing. */
export function bindSeeds(): Buffer[] {
  const path = join(conformanceDirectory(), 'bind9-fuzz-seeds.ndjson.gz');
  if (!existsSync(path)) return [];
  const lines = gunzipSync(readFileSync(path)).toString('utf8').trim().split('\n');
  return lines.flatMap((line) => {
    const seed: unknown = JSON.parse(line);
    if (!isSeed(seed)) return [];
    const message = Buffer.from(seed.base64, 'base64');
    if (message.length < 12) return [message];
    // Most of them are responses, which the reader of queries ignores.
    const asQuery = Buffer.from(message);
    asQuery.writeUInt16BE(message.readUInt16BE(2) & 0x01ff, 2);
    return [message, asQuery];
  });
}
