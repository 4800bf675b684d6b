/** What a server answers that goes through a search list by itself, as CoreDNS does with `autopath`. Pure. */
import type { BenchWorkload, Expectation } from './workload.ts';

/**
 * The workload with such answers: for a name below the first domain, the answer of the first candidate that exists, and
 * before it a CNAME from the name that was asked for to the one that was found.
 */
export function completedBy(workload: BenchWorkload, search: readonly string[]): BenchWorkload {
  const { expectation } = workload;
  const [first] = search;
  if (expectation === undefined || first === undefined) return workload;
  const ending = `.${first}`;
  return {
    ...workload,
    expectation(query): Expectation | null {
      const isAddress = query.type === 'A' || query.type === 'AAAA';
      if (!isAddress || !query.name.endsWith(ending)) return expectation(query);
      const base = query.name.slice(0, -ending.length);
      const candidates = [...search.map((domain) => `${base}.${domain}`), base];
      for (const name of candidates) {
        const found = expectation({ ...query, name });
        if (found === null || found.code !== 'NOERROR' || found.records === null) continue;
        const alias =
          name === query.name || found.records.length === 0 ? [] : [{ type: 'CNAME', data: name }];
        return { query, code: 'NOERROR', records: [...alias, ...found.records] };
      }
      return expectation(query);
    },
  };
}
