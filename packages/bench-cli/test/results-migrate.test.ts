import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { BenchError } from '../src/errors.ts';
import { formatJson } from '../src/results/json-text.ts';
import { migrate, OLDEST_VERSION } from '../src/results/migrate.ts';
import { parseRecord } from '../src/results/parse-record.ts';
import { recordSchema, SCHEMA_VERSION } from '../src/results/record.ts';
import { makeRecord } from './fixtures/make-record.ts';

/** Records as they were written by the versions of bench that wrote their schema version. */
const STORED = ['version-1.json'].map((name) => new URL(`fixtures/records/${name}`, import.meta.url));
const REFERENCE = new URL('../../../results/reference/local-tier1-both/run.json', import.meta.url);

function errorOf(value: unknown): BenchError {
  try {
    parseRecord(JSON.stringify(value), 'run.json');
  } catch (error) {
    if (error instanceof BenchError) return error;
    throw error;
  }
  throw new Error('expected an error');
}

describe('a stored record', () => {
  it.each([...STORED, REFERENCE])('of an older version loads, with all that it held: %s', async (file) => {
    const text = await readFile(file, 'utf8');
    const stored = JSON.parse(text);
    const record = parseRecord(text, 'run.json');
    expect(record.schemaVersion).toBe(SCHEMA_VERSION);
    // Nothing that was stored is lost or changed; what is new is null, false or empty.
    expect({ ...record, schemaVersion: stored.schemaVersion }).toMatchObject(stored);
    expect(parseRecord(formatJson(record), 'run.json')).toEqual(record);
  });

  it('exists for every version that can be read but the newest', async () => {
    const versions = await Promise.all(
      STORED.map(async (file) => JSON.parse(await readFile(file, 'utf8')).schemaVersion),
    );
    expect(versions).toEqual(
      Array.from({ length: SCHEMA_VERSION - OLDEST_VERSION }, (_, index) => OLDEST_VERSION + index),
    );
  });

  it('of version 1 knows nothing of what version 2 brought', async () => {
    const [file] = STORED;
    const record = parseRecord(await readFile(file ?? '', 'utf8'), 'run.json');
    expect(record).toMatchObject({ noiseFloors: null, drift: null, until: null });
    expect(record.environment.cluster).toBeNull();
    const [trial] = record.trials;
    expect(trial).toMatchObject({
      status: 'ok',
      instanceObservations: null,
      steadyState: null,
      load: { latencyPercentiles: null },
      loads: [{ latencyPercentiles: null }],
    });
    expect(record.cases[1]).toMatchObject({
      aa: false,
      outliers: [],
      latencyHistogram: null,
      summary: { latencyPercentiles: null },
      comparison: { qps: { pValue: null, adjustedPValue: null, effectSize: null, belowNoiseFloor: null } },
    });
  });

  it('with failed trials, without comparisons and without summaries migrates too', async () => {
    const [file] = STORED;
    const stored = JSON.parse(await readFile(file ?? '', 'utf8'));
    const { load, loads, server, loader, metrics, limitedBy, checkedAnswers, ...base } = stored.trials[0];
    const failure = { code: 'E_ALL_LOST', message: 'lost', fix: 'Look.', evidence: [] };
    stored.trials[0] = { ...base, status: 'failed', failure };
    stored.cases[0] = { ...stored.cases[0], summary: null, comparison: null };
    expect(parseRecord(JSON.stringify(stored), 'run.json')).toMatchObject(migrate(stored, 1));
  });

  it('that was damaged by hand is refused at the place of the damage, whatever its version', async () => {
    const [file] = STORED;
    const stored = JSON.parse(await readFile(file ?? '', 'utf8'));
    for (const [damage, place] of [
      [{ trials: null }, 'trials: '],
      [{ environment: 'a machine' }, 'environment: '],
      [{ cases: [3, ...stored.cases.slice(1)] }, 'cases[0]: '],
    ] as const) {
      const error = errorOf({ ...stored, ...damage });
      expect(error.code).toBe('E_RECORD_UNREADABLE');
      expect(error.evidence[0]).toContain(place);
    }
  });
});

describe('a record of a version that is not known', () => {
  const record = makeRecord({ cases: [{ server: 'coredns', trials: [{ qps: 100 }] }] });
  const generator = { name: 'dinodns-bench', version: '9.9' };

  it.each([SCHEMA_VERSION + 1, 99])('is refused if newer: %s', (schemaVersion) => {
    const error = errorOf({ ...record, schemaVersion, generator });
    expect(error.code).toBe('E_RECORD_VERSION');
    expect(error.message).toContain(`schema version ${schemaVersion}, this version of bench reads 1 to`);
    expect(error.fix).toContain('9.9, which is newer: update');
    expect(error.exitStatus).toBe(6);
  });

  it.each([0, 1.5, '2', null])('is refused if it is none: %s', (schemaVersion) => {
    expect(errorOf({ ...record, schemaVersion, generator }).code).toBe('E_RECORD_VERSION');
  });
});

it('a record of this version passes as it is', () => {
  const record = makeRecord({ cases: [{ server: 'coredns', trials: [{ qps: 100 }] }] });
  expect(migrate(record, SCHEMA_VERSION)).toEqual(record);
  expect(recordSchema.parse(record)).toEqual(record);
});
