import { describe, expect, it } from 'vitest';
import { defineWorkload, defineZoneSet, renderQueryFile, workloadFor, ZonesError } from '../src/index.ts';

describe('the published workload', () => {
  const workload = defineWorkload();

  it('asks for example1.com to example200.com, type A, in order', () => {
    const queries = [...workload.queries()];
    expect(queries).toEqual(
      Array.from({ length: 200 }, (_, index) => ({ name: `example${index + 1}.com`, type: 'A' })),
    );
    expect(workload).toMatchObject({ size: 200, name: 'published' });
    expect(workload.description).toBe('example{X}.com for X from 1 to 200, type A, in order: 200 queries');
  });

  it('is a dnsperf query file of 200 lines', () => {
    const text = [...renderQueryFile(workload)].join('');
    expect(text.split('\n')).toHaveLength(201);
    expect(text).toMatch(/^example1\.com A\nexample2\.com A\n/);
    expect(text).toMatch(/\nexample200\.com A\n$/);
  });

  it('is the workload that matches the published zone set', () => {
    const fitting = defineWorkload(workloadFor(defineZoneSet()));
    expect([...fitting.queries()]).toEqual([...workload.queries()]);
  });
});

describe('the workload for a zone set', () => {
  it.each([
    { from: 1, to: 200, parity: 'odd' },
    { from: 4, to: 11, parity: 'even' },
    { from: 5, to: 14, parity: 'all' },
    { from: 0, to: 0, parity: 'all' },
  ] as const)('asks half for names that exist ($parity, $from to $to)', (range) => {
    const zoneSet = defineZoneSet({ ...range, pattern: 'a.b{X}c.example' });
    const queries = [...defineWorkload(workloadFor(zoneSet)).queries()];
    const existing = queries.filter(({ name, type }) => zoneSet.lookup(name, type).kind === 'answer');
    expect(queries).toHaveLength(2 * zoneSet.size);
    expect(existing).toHaveLength(zoneSet.size);
    expect(new Set(queries.map(({ name }) => name)).size).toBe(queries.length);
  });
});

it('the workload for a zone set of one name asks for that', () => {
  const zoneSet = defineZoneSet({ pattern: 'example.com', from: 0, to: 0, parity: 'all' });
  expect([...defineWorkload(workloadFor(zoneSet)).queries()]).toEqual([{ name: 'example.com', type: 'A' }]);
});

describe('a workload', () => {
  it('asks every host for every type', () => {
    const workload = defineWorkload({ from: 1, to: 2, hosts: ['@', 'www'], types: ['A', 'aaaa'] });
    expect([...workload.queries()].map(({ name, type }) => `${name} ${type}`)).toEqual([
      'example1.com A',
      'example1.com AAAA',
      'www.example1.com A',
      'www.example1.com AAAA',
      'example2.com A',
      'example2.com AAAA',
      'www.example2.com A',
      'www.example2.com AAAA',
    ]);
    expect(workload.size).toBe(8);
    expect(workload.name).toBe('exampleX.com-1-2-apex-www-A-AAAA');
  });

  it('has all of its problems reported at once', () => {
    const wrong = () =>
      defineWorkload({ from: 5, to: 1, types: ['A', 'FOO'], pattern: 'x', hosts: ['a b'], name: 'a/b' });
    expect(wrong).toThrow(ZonesError);
    try {
      wrong();
    } catch (error) {
      const { code, problems } = error as ZonesError;
      expect(code).toBe('E_WORKLOAD');
      expect(problems.map(({ problem }) => problem)).toEqual([
        'name cannot be "a/b"',
        expect.stringContaining('host 1 (a b)'),
        'type 2 (FOO): unknown query type "FOO"',
        'the range is reversed: from 5 to 1',
        expect.stringContaining('no {X}'),
      ]);
    }
  });
});
