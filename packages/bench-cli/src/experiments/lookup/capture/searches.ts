/** The DNS queries of a capture: what the lookups of a name cost. */
import type { CapturedQuery } from '@dinodns-bench/load';
import type { Packets } from '../evidence.ts';

export type Searches = NonNullable<Packets['searches']>;

/** A search list makes at most seven names of one (glibc's MAXDNSRCH and the name itself), each for A and AAAA. */
export const MAX_QUESTIONS = 20;

export async function countSearches(
  captured: AsyncIterable<CapturedQuery> | Iterable<CapturedQuery>,
): Promise<Searches> {
  const sent = new Set<string>();
  const counts = new Map<string, { name: string; type: string; queries: number }>();
  let queries = 0;
  for await (const { client, message, name, type } of captured) {
    queries += 1;
    const id = (message[0] ?? 0) * 256 + (message[1] ?? 0);
    const question = `${name.toLowerCase()} ${type}`;
    sent.add(`${client.address}.${client.port} ${id} ${question}`);
    const entry = counts.get(question) ?? { name: name.toLowerCase(), type, queries: 0 };
    entry.queries += 1;
    counts.set(question, entry);
  }
  const questions = [...counts.values()].sort((a, b) => b.queries - a.queries).slice(0, MAX_QUESTIONS);
  return { queries, repeated: queries - sent.size, questions };
}
