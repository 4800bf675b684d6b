/** What a server answers that goes through a search list by itself. */
import { describe, expect, it } from 'vitest';
import { completedBy } from '../src/workload/search-list.ts';
import type { BenchWorkload } from '../src/workload/workload.ts';

const ADDRESS = { type: 'A', data: '198.18.0.1' };
const workload: BenchWorkload = {
  name: 'w',
  description: 'w',
  size: 0,
  queries: () => [],
  expectation: (query) =>
    query.name === 'www1.example.org' || query.name === 'web.team.svc.cluster.local'
      ? { query, code: 'NOERROR', records: [ADDRESS] }
      : { query, code: 'NXDOMAIN', records: [] },
};
const completed = completedBy(workload, ['team.svc.cluster.local', 'svc.cluster.local', 'cluster.local']);
const answer = (name: string, type = 'A') => {
  const { code, records } = completed.expectation?.({ name, type }) ?? {};
  return [code, ...(records ?? []).map((record) => `${record.type} ${String(record.data)}`)];
};

describe('through autopath', () => {
  it('the first query of a lookup is answered with the name that exists, and an alias to it', () => {
    expect(answer('www1.example.org.team.svc.cluster.local')).toEqual([
      'NOERROR',
      'CNAME www1.example.org',
      'A 198.18.0.1',
    ]);
  });

  it('a name that exists as it is has no alias', () => {
    expect(answer('web.team.svc.cluster.local')).toEqual(['NOERROR', 'A 198.18.0.1']);
    expect(answer('www1.example.org')).toEqual(['NOERROR', 'A 198.18.0.1']);
  });

  it('later candidates, other types and names that nobody has are answered as ever', () => {
    expect(answer('www1.example.org.svc.cluster.local')).toEqual(['NXDOMAIN']);
    expect(answer('www1.example.org.team.svc.cluster.local', 'SRV')).toEqual(['NXDOMAIN']);
    expect(answer('gone.example.org.team.svc.cluster.local')).toEqual(['NXDOMAIN']);
  });
});
