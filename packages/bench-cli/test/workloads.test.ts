/** The workloads of a run: which queries are sent how often, and what is known of their answers. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import * as fsPromises from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { configure } from '../src/config/configuration.ts';
import { DEFAULTS } from '../src/config/settings.ts';
import { codesProblem } from '../src/measure/response-codes.ts';
import { clusterZoneFiles } from '../src/servers/cluster-names.ts';
import { findServer } from '../src/servers/registry.ts';
import { loadWorkload } from '../src/workload/load-workload.ts';
import {
  existingRatio,
  expectedAnswer,
  predictedCodes,
  sentQueries,
  zoneSetOf,
} from '../src/workload/workload.ts';

const coredns = findServer('coredns', DEFAULTS);
const directory = mkdtempSync(join(tmpdir(), 'bench-workloads-'));
afterAll(() => rmSync(directory, { recursive: true }));

function load(name: string, flags: Record<string, unknown> = {}) {
  const configuration = configure({ env: {}, flags });
  const zoneSet = zoneSetOf(configuration.zones, configuration.types);
  return loadWorkload({ fs: fsPromises, cwd: directory }, name, { ...configuration, zoneSet });
}

function countsOf(queries: Iterable<{ name: string; type: string }>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { name, type } of queries)
    counts.set(`${name} ${type}`, (counts.get(`${name} ${type}`) ?? 0) + 1);
  return counts;
}

describe('names', () => {
  it('are in order by default, and each is sent once in a pass', async () => {
    const half = await load('half', { zones: 2 });
    expect([...sentQueries(half)].map(({ name }) => name)).toEqual([
      'example1.com',
      'example2.com',
      'example3.com',
      'example4.com',
    ]);
  });

  it('are asked for each type; where AAAA is asked for, zones have both addresses', async () => {
    const flags = { zones: 2, types: 'A,AAAA' };
    const existing = await load('existing', flags);
    const queries = [...existing.queries()];
    expect(queries).toHaveLength(4);
    const zoneSet = zoneSetOf(2, ['A', 'AAAA']);
    for (const query of queries) {
      const { code, records } = expectedAnswer(existing, zoneSet, coredns, query);
      expect(code).toBe('NOERROR');
      expect(records).toMatchObject([{ type: query.type, data: query.type === 'A' ? '127.0.0.1' : '::1' }]);
    }
  });

  it('uniform: each about as often, in another order, the same in every run', async () => {
    const flags = { zones: 100, order: 'uniform' };
    const half = await load('half', flags);
    expect(half.size).toBe(200);
    const counts = [...countsOf(sentQueries(half)).values()];
    expect(counts).toHaveLength(200);
    // 500 each are expected; six standard deviations of the binomial distribution are 134.
    for (const count of counts) expect(Math.abs(count - 500)).toBeLessThan(134);
    const again = await load('half', flags);
    expect([...sentQueries(again)].slice(0, 50)).toEqual([...sentQueries(half)].slice(0, 50));
  });

  it('zipf: the first twice as often as the second with exponent 1, and half of them still exist', async () => {
    const half = await load('half', { zones: 1000, order: 'zipf', zipfExponent: 1 });
    expect(half.description).toMatch(/^every name once, half exist, .*, at random by Zipf/);
    const existing = await load('existing', { zones: 1000, order: 'uniform' });
    expect(existing.description).toMatch(/^names that exist, type A.*, at random$/);
    const counts = countsOf(sentQueries(half));
    const of = (number: number) => counts.get(`example${number}.com A`) ?? 0;
    expect((of(1) + of(2)) / (of(3) + of(4))).toBeCloseTo(2, 0);
    expect((of(1) + of(2)) / (of(19) + of(20))).toBeGreaterThan(8);
    expect(existingRatio(zoneSetOf(1000), half)).toBeCloseTo(0.5, 2);
    const codes = predictedCodes(zoneSetOf(1000), coredns, half);
    const sent = [...codes.values()].reduce((sum, count) => sum + count, 0);
    expect((codes.get('NOERROR') ?? 0) / sent).toBeCloseTo(existingRatio(zoneSetOf(1000), half), 10);
  });

  it('a million of them are drawn within seconds and without a list of draws', async () => {
    const half = await load('half', { zones: 500_000, order: 'zipf' });
    let sent = 0;
    for (const _ of sentQueries(half)) sent += 1;
    expect(sent).toBe(1_000_000);
  });
});

describe('lookups', () => {
  it('make five queries of a name that is not in the cluster, and send them as a resolver does', async () => {
    const lookup = await load('lookup', { zones: 1 });
    expect([...lookup.queries()].map(({ name }) => name)).toEqual([
      'example1.com.default.svc.cluster.local',
      'example1.com.svc.cluster.local',
      'example1.com.cluster.local',
      'example1.com.internal',
      'example1.com',
    ]);
    expect(lookup.builtin).toMatchObject({
      isTimed: false,
      source: { kind: 'kubernetes', names: ['example1.com'], search: ['internal'], ndots: 5, types: ['A'] },
    });
  });

  it('may be answered with any code that a query of theirs can have, in any mix, and with no other', () => {
    const predicted = new Map([
      ['NOERROR', 1],
      ['REFUSED', 4],
    ]);
    const seen = (responseCodes: Record<string, number>) =>
      codesProblem(
        {
          ...({} as Parameters<typeof codesProblem>[0]),
          responseCodes,
          queriesCompleted: 100,
          queriesLost: 0,
          queriesInterrupted: 0,
        },
        predicted,
        1,
        'possible',
      );
    expect(seen({ NOERROR: 99, REFUSED: 1 })).toBeNull();
    expect(seen({ NOERROR: 99, SERVFAIL: 1 })).toContain('predicts only NOERROR, REFUSED');
  });

  it('of a cluster: a service of the own namespace is found at once, an outside name after four searches', async () => {
    const internal = await load('lookup-internal');
    const external = await load('lookup-external');
    const codesOf = (workload: typeof internal) =>
      Array.from(workload.queries(), (query) => workload.expectation?.(query)?.code).slice(0, 5);
    expect(codesOf(internal)).toEqual(['NOERROR', 'NXDOMAIN', 'NXDOMAIN', 'NXDOMAIN', 'NXDOMAIN']);
    expect(codesOf(external)).toEqual(['NXDOMAIN', 'NXDOMAIN', 'NXDOMAIN', 'NXDOMAIN', 'NOERROR']);
    expect(external.builtin?.source).toMatchObject({ kind: 'kubernetes', namespace: 'team-000' });
  });

  it('of too many names are refused: each query is checked before every trial', async () => {
    await expect(load('lookup', { zones: 20_001 })).rejects.toThrow('takes at most 20000 zones');
  });
});

describe('files', () => {
  it('a query that is there twice is checked once and sent twice', async () => {
    writeFileSync(join(directory, 'twice.txt'), 'example1.com A\nexample2.com A\nexample1.com A\n');
    const file = await load('twice.txt');
    expect(file.size).toBe(2);
    expect([...sentQueries(file)].map(({ name }) => name)).toEqual([
      'example1.com',
      'example2.com',
      'example1.com',
    ]);
  });

  it.each([
    ['halv', 'E_CONFIG', 'Did you mean "half"'],
    [
      'missing.pcap',
      'E_UNREADABLE',
      'Use one of half, existing, missing, lookup, internal, external, lookup-internal, lookup-external, or the path',
    ],
  ])('%s is neither a workload nor a file: %s', async (name, code, fix) => {
    await expect(load(name)).rejects.toMatchObject({ code, fix: expect.stringContaining(fix) });
  });

  it('a capture without queries is refused', async () => {
    writeFileSync(
      join(directory, 'empty.pcap'),
      Buffer.from('d4c3b2a1020004000000000000000000ffff000001000000', 'hex'),
    );
    await expect(load('empty.pcap')).rejects.toMatchObject({ code: 'E_PCAP' });
  });
});

describe('names of a generated cluster', () => {
  const server = findServer('coredns-cluster', DEFAULTS);
  const zoneSet = zoneSetOf(100);

  it('are its own, in the stated mix, with their answers', async () => {
    const internal = await load('internal');
    const types = [...sentQueries(internal)].map(({ type }) => type);
    const count = (type: string) => types.filter((other) => other === type).length;
    // 45 % + 10 % + 5 % + 4 % of A, and so on.
    expect([count('A'), count('AAAA'), count('SRV'), count('PTR')]).toEqual([1280, 500, 100, 120]);
    expect([...predictedCodes(zoneSet, server, internal)]).toEqual([['NOERROR', 2000]]);
    const first = expectedAnswer(internal, zoneSet, server, {
      name: 'web-00000.team-000.svc.cluster.local',
      type: 'A',
    });
    expect(first).toMatchObject({ code: 'NOERROR', records: [{ type: 'A', data: '10.96.1.0' }] });
  });

  it('are in zone files for servers that read such: every name that is asked for, in one of two zones', async () => {
    const internal = await load('internal');
    const texts = clusterZoneFiles().map(({ path, chunks }) => [path, [...chunks].join('')] as const);
    expect(texts.map(([path]) => path)).toEqual(['cluster.local.zone', '10.in-addr.arpa.zone']);
    const lines = texts.flatMap(([, text]) => text.trimEnd().split('\n'));
    expect(new Set(lines).size).toBe(lines.length);
    const owners = new Set(lines.map((line) => line.split(' ')[0]));
    // Names with other types only, too: a server must not deny them.
    expect([...internal.queries()].filter(({ name }) => !owners.has(`${name}.`))).toEqual([]);
    expect(lines).toContain(
      '_http._tcp.web-00000.team-000.svc.cluster.local. 30 IN SRV 0 100 80 web-00000.team-000.svc.cluster.local.',
    );
  });

  it('are those that it forwards', async () => {
    const external = await load('external');
    const query = { name: 'www7.example.org', type: 'A' };
    expect([...external.queries()]).toContainEqual(query);
    expect(expectedAnswer(external, zoneSet, server, query).records).toEqual([
      { type: 'A', data: '198.18.0.7' },
    ]);
  });
});
