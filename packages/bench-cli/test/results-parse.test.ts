import { describe, expect, it } from 'vitest';
import { BenchError } from '../src/errors.ts';
import { formatJson } from '../src/results/json-text.ts';
import { SCHEMA_VERSION } from '../src/results/record.ts';
import { makeRecord } from './fixtures/make-record.ts';
import { parseRecord } from './support/parse-record.ts';

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

  it('that was cut off anywhere is said to end too early', () => {
    const text = '{\n  "a": [1, -2.5e3, {"b": null}],\n  "c": "x\\n\\u00e4",\n  "d": true\n}';
    for (let end = 1; end < text.length; end++) {
      const error = errorOf(text.slice(0, end));
      expect(error.code).toBe('E_RECORD_UNREADABLE');
      expect(error.message).toBe('results/x/run.json is cut off: it ends too early');
    }
    const whole = formatJson(record).trimEnd();
    expect(errorOf(whole.slice(0, -1)).message).toContain('it ends too early');
  });

  it('that was changed by hand is damaged, with a piece of it or its place, on one line', () => {
    const damaged = (text: string) => errorOf(text).message;
    expect(damaged('{\n  "id": "x",\n  "status": complete\n}')).toBe(
      `results/x/run.json is damaged: Unexpected token 'c', ...""status": complete }" is not valid JSON`,
    );
    expect(damaged('{"a": [1, 2,, 3]}')).toContain("is damaged: Unexpected token ','");
    expect(damaged(`${formatJson(record)}oops`)).toMatch(/is damaged: .* at position \d+/);
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
