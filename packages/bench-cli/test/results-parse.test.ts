import { describe, expect, it } from 'vitest';
import { BenchError } from '../src/errors.ts';
import { formatJson, jsonErrorOffset } from '../src/results/json-text.ts';
import { parseRecord } from '../src/results/parse-record.ts';
import { SCHEMA_VERSION } from '../src/results/record.ts';
import { makeRecord } from './fixtures/make-record.ts';

const record = makeRecord({
  cases: [{ server: 'coredns', trials: Array.from({ length: 20 }, (_, round) => ({ qps: 100 + round })) }],
});

function errorOf(text: string): BenchError {
  try {
    parseRecord(text, 'results/x/run.json');
  } catch (error) {
    if (error instanceof BenchError) return error;
    throw error;
  }
  throw new Error('expected an error');
}

describe('a record', () => {
  it('is read as it was written', () => {
    expect(parseRecord(formatJson(record), 'run.json')).toEqual(record);
  });

  it('may have fields that this version does not know', () => {
    expect(parseRecord(JSON.stringify({ ...record, added: 1 }), 'run.json')).toEqual(record);
  });

  it('that was cut off is damaged at its end', () => {
    const text = formatJson(record).trimEnd();
    const lines = text.split('\n').length;
    const error = errorOf(text.slice(0, -1));
    expect(error.code).toBe('E_RECORD_UNREADABLE');
    expect(error.message).toContain(`damaged at line ${lines}, column 1`);
  });

  it('that was changed by hand is damaged where the change is', () => {
    const error = errorOf('{\n  "id": "x",\n  "status": complete\n}');
    expect(error.message).toBe('results/x/run.json is damaged at line 3, column 13: not JSON');
    expect(errorOf('{"a": [1, 2,, 3]}').message).toContain('line 1, column 13');
  });

  it('that was damaged in a value is refused at the place of the damage', () => {
    for (const [damage, place] of [
      [{ trials: null }, 'trials: '],
      [{ environment: 'a machine' }, 'environment: '],
      [{ cases: [3, ...record.cases.slice(1)] }, 'cases[0]: '],
    ] as const) {
      const error = errorOf(JSON.stringify({ ...record, ...damage }));
      expect(error.code).toBe('E_RECORD_UNREADABLE');
      expect(error.evidence[0]).toContain(place);
    }
  });

  it.each([SCHEMA_VERSION - 1, 0, 1.5, '2', null])('of any other version is refused: %s', (schemaVersion) => {
    expect(errorOf(JSON.stringify({ ...record, schemaVersion })).code).toBe('E_RECORD_VERSION');
  });

  it('that is empty is called so', () => {
    expect(errorOf(' \n').message).toBe('results/x/run.json is empty');
  });

  it('of a newer schema version names the version that wrote it, and the way out', () => {
    const error = errorOf(
      JSON.stringify({ ...record, schemaVersion: 4, generator: { ...record.generator, version: '9.9' } }),
    );
    expect(error.code).toBe('E_RECORD_VERSION');
    expect(error.message).toContain('schema version 4, this version of bench reads 3');
    expect(error.fix).toBe(
      'It was written by bench 9.9, which is newer: update this one (git pull), or use that one.',
    );
  });

  it('that breaks the schema lists the places, ten at most', () => {
    const trials = record.trials.map((trial) => ({ ...trial, order: -1 }));
    const error = errorOf(JSON.stringify({ ...record, trials }));
    expect(error.code).toBe('E_RECORD_UNREADABLE');
    expect(error.message).toContain('in 20 places');
    expect(error.evidence).toHaveLength(11);
    expect(error.evidence[0]).toMatch(/^trials\[0\]\.order: /);
    expect(error.evidence.at(-1)).toBe('… and 10 more');
  });
});

describe('a foreign file', () => {
  const foreign: readonly (readonly [string, string])[] = [
    ['[{"config": {"TestKind": "dnsperf"}, "ClusterDetails": {}, "status": "success"}]', 'tiger-bench'],
    ['{"totalRequests": 1, "questionTypes": {}, "queriesPerSecond": 1.5, "latencyStats": {}}', 'dnspyre'],
    ['{"version": 20200527, "stats_sum": {}, "stats_periodic": []}', 'DNS Shotgun'],
    ['{"version": "v1", "dataItems": []}', 'kubernetes/perf-tests'],
    ['{"results": [{"command": "sleep 1", "mean": 1, "times": [1]}]}', 'hyperfine'],
    ['{"metrics": {}, "root_group": {}}', 'k6'],
    ['{"summary": {}, "responseTimeHistogram": {}}', 'oha'],
    ['DNS Performance Testing Tool\nVersion 2.10.0\n', 'the text output of dnsperf'],
    ['<!doctype html><html></html>', 'HTML'],
    ['# CoreDNS, DinoDNS\n', 'Markdown'],
    ['{"hello": 1}', 'an object with "hello"'],
    ['{}', 'an empty object'],
    ['[1, 2]', 'a list of 2 items'],
    ['null', 'the value null'],
    ['42', 'a single number'],
  ];

  it.each(foreign)('is refused, and named by what it looks like: %s', (text, description) => {
    const error = errorOf(text);
    expect(error.code).toBe('E_RECORD_FOREIGN');
    expect(error.message).toContain(description);
  });

  it('with a schemaVersion of its own is foreign all the same', () => {
    expect(errorOf('{"schemaVersion": 1, "generator": {"name": "other"}}').code).toBe('E_RECORD_FOREIGN');
  });
});

describe('the place of an error in JSON', () => {
  it('is none exactly where JSON.parse has none', () => {
    const seeds = [
      '{"a": [1, 2, {"b": null}], "c": "x\\n\\u00e4"}',
      '[-1.5e3, true, ""]',
      '"a"',
      ' {"k": {}} ',
    ];
    const inserts = [...'{}[],:"\\ue1.-0 tnx\n\t', '', '\u0001', '\u00a0'];
    for (const seed of seeds) {
      for (let start = 0; start <= seed.length; start++) {
        for (const insert of inserts) {
          for (const removed of [0, 1, 2]) {
            const text = seed.slice(0, start) + insert + seed.slice(start + removed);
            const offset = jsonErrorOffset(text);
            let isValid = true;
            try {
              JSON.parse(text);
            } catch {
              isValid = false;
            }
            expect(offset === null, text).toBe(isValid);
            if (offset !== null) expect(offset).toBeLessThanOrEqual(text.length);
          }
        }
      }
    }
  });

  it('is found in a large file', () => {
    const text = JSON.stringify(
      Array.from({ length: 200_000 }, (_, index) => ({ index, text: 'x'.repeat(20) })),
    );
    const damaged = `${text.slice(0, -1)}oops]`;
    expect(jsonErrorOffset(damaged)).toBe(text.length - 1);
  });
});

describe('formatted JSON', () => {
  it('parses to the same value, whatever is in it', () => {
    const value = {
      a: [],
      b: {},
      c: [1, [2, { d: 'x'.repeat(200) }]],
      e: '"\n\\',
      f: null,
      g: [[[]]],
      'h i': true,
    };
    expect(JSON.parse(formatJson(value))).toEqual(value);
    expect(
      formatJson(value)
        .split('\n')
        .every((line) => line.length < 230),
    ).toBe(true);
  });

  it('treats undefined as JSON.stringify does', () => {
    const value = { a: undefined, b: [undefined] };
    expect(JSON.parse(formatJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
  });
});
